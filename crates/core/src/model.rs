//! Learning the model: which warp and hyperparameters, from which trials, and when to fit again.

use manyhands_gp::{Fit, Given, Hyperparameters, Kernel, KernelStructure, Points, Prior, Warp};
use rand::Rng;

use crate::maximize::descending;
use crate::tuning::{
    DRAWN_VALUES, FEW_VALUES, FIT_EVALUATIONS, FITTED_VALUES, LIST_DESIGN, REFIT_EVALUATIONS, VERY_FEW_VALUES,
    best_values, design_points, values_until_refit,
};
use crate::{Result, Spec, Tuning};

/// Given numbers are clamped to this many times the values' own scale, and to its inverse: beyond, rounding dominates.
const LARGEST_SCALE: f64 = 1e20;

/// Noise is at least this share of the prior variance. Given noise may be negligible beside an extreme value; then the
/// pivots of nearly equal rows are rounding errors that magnify each other, until numbers are not finite.
const LEAST_NOISE: f64 = 1e-24;

/// What a model is learned over: the kernel's family, and how its lengthscales lie over the coordinates.
#[derive(Debug, Clone)]
pub(crate) struct Learner {
    family: Kernel,
    /// The same, partly as a sum over parameters, where that is tried: with the log density that it must have in addition.
    additive: Option<(Kernel, f64)>,
    groups: Vec<usize>,
    extents: Vec<f64>,
    parameters: usize,
    /// Whether the candidates are a list.
    is_list: bool,
    tuning: Tuning,
    /// Of the maximized function.
    given: Given,
}

impl Learner {
    /// The learner of this study's model; none where all of it is given.
    pub fn new(spec: &Spec) -> Result<Option<Self>> {
        let Some(given) = spec.given() else { return Ok(None) };
        let mean = given.mean.map(|mean| spec.direction().sign() * mean);
        let (given, mut tuning) = (Given { mean, ..given.clone() }, spec.tuning().clone());
        if given.has_values() {
            // Given noise, variance and mean are in the values' units, which only a linear warp can convert.
            tuning.bends = vec![0.0];
        }
        let (domain, family) = (spec.domain(), spec.prior().kernel().clone().with_variance(1.0)?);
        let (groups, extents, parameters) = (domain.groups(), domain.extents(), domain.parameters());
        let additive = match tuning.additive_margin {
            Some(margin) if parameters > 1 && given.lengthscales.is_none() => {
                Some((family.partly_additive(&groups)?, margin))
            }
            _ => None,
        };
        let is_list = domain.is_list();
        Ok(Some(Self { family, additive, groups, extents, parameters, is_list, tuning, given }))
    }

    /// How many lengthscales there are: one for each parameter.
    pub fn parameters(&self) -> usize {
        self.parameters
    }

    /// How many points of a first design come before the model, unless configured.
    pub fn design(&self) -> usize {
        if self.is_list { LIST_DESIGN } else { design_points(self.parameters) }
    }

    /// Whether a fit is due: at every change while values are few, then each time they have grown by a twentieth.
    pub fn is_due(&self, observed: usize, at_last_fit: Option<usize>) -> bool {
        observed > 0 && at_last_fit.is_none_or(|last| observed >= last + values_until_refit(last))
    }

    /// The prior that hyperparameters describe, over the domain's own coordinates.
    pub fn prior(&self, hyperparameters: &Hyperparameters) -> Result<Prior> {
        let unit = hyperparameters.prior(&self.family, &self.groups)?;
        let each: Vec<f64> =
            unit.kernel().lengthscales().iter().zip(&self.extents).map(|(l, extent)| l * extent).collect();
        let noise = unit.noise().max(LEAST_NOISE * unit.kernel().variance());
        Ok(Prior::new(unit.kernel().with_lengthscales(&each)?, unit.mean(), noise)?)
    }

    /// The kernel's family, with this structure.
    fn family(&self, structure: KernelStructure) -> &Kernel {
        match (&self.additive, structure) {
            (Some((additive, _)), KernelStructure::PartlyAdditive) => additive,
            _ => &self.family,
        }
    }

    /// The warp and the hyperparameters that explain the values best. Values are larger-is-better.
    pub fn learn(
        &self,
        points: &Points,
        values: &[f64],
        last: Option<(&Warp, &Hyperparameters)>,
    ) -> Result<(Warp, Hyperparameters)> {
        if values.len() <= FEW_VALUES {
            return self.explore(&self.training_set(points, values, FEW_VALUES)?, last);
        }
        let first;
        let (warp, warm) = match last {
            Some(last) => last,
            // A cheap fit of few values is the start of the fit of many.
            None => {
                first = self.explore(&self.training_set(points, values, FEW_VALUES)?, None)?;
                (&first.0, &first.1)
            }
        };
        self.refine(&self.training_set(points, values, FITTED_VALUES)?, self.bend(warp), warm)
    }

    /// As this, with a linear warp: for the values of a part of the domain.
    pub fn without_bends(mut self) -> Self {
        self.tuning.bends = vec![0.0];
        self
    }

    /// A fit of these values that knows no earlier one: the warp, and the prior over the domain's own coordinates.
    pub fn learn_prior(&self, points: &Points, values: &[f64]) -> Result<(Warp, Prior)> {
        let (warp, hyperparameters) = self.learn(points, values, None)?;
        Ok((warp, self.prior(&hyperparameters)?))
    }

    /// The fit of highest density over all bends. Where values are not very few, only the last bend is fitted from several
    /// starts, and the others from its result.
    fn explore(&self, data: &TrainingSet, last: Option<(&Warp, &Hyperparameters)>) -> Result<(Warp, Hyperparameters)> {
        let mut best: Option<(f64, Warp, Hyperparameters)> = None;
        let bends = &self.tuning.bends;
        let first = last.map_or(bends[0], |(warp, _)| self.bend(warp));
        let mut near: Option<Hyperparameters> = None;
        for bend in std::iter::once(first).chain(bends.iter().copied().filter(|bend| *bend != first)) {
            let (warp, warped) = data.warped(bend);
            let fit = self.fit(FIT_EVALUATIONS, &warp, KernelStructure::Joint);
            let found = match &near {
                Some(near) if data.values.len() > VERY_FEW_VALUES => fit.refine(&data.points, &warped, near)?,
                _ => fit.run(&data.points, &warped, last.map(|(_, hyperparameters)| hyperparameters))?,
            };
            near.get_or_insert_with(|| found.clone());
            let density = found.density + data.values.iter().map(|&y| warp.log_slope(y)).sum::<f64>();
            if self.is_allowed(bend, &found) && best.as_ref().is_none_or(|(highest, _, _)| density > *highest) {
                best = Some((density, warp, found));
            }
        }
        let Some((_, warp, found)) = best else {
            let (warp, joint) = (Warp::identity(), KernelStructure::Joint);
            return Ok((warp, self.fit(0, &warp, joint).medians()));
        };
        let better = self.additive_if_better(data, &warp, &found)?;
        Ok((warp, better.unwrap_or(found)))
    }

    /// The fit of a kernel that is partly a sum over parameters, if it explains the values better by the margin.
    fn additive_if_better(
        &self,
        data: &TrainingSet,
        warp: &Warp,
        joint: &Hyperparameters,
    ) -> Result<Option<Hyperparameters>> {
        let Some((_, margin)) = &self.additive else { return Ok(None) };
        let warped: Vec<f64> = data.values.iter().map(|&y| warp.forward(y)).collect();
        let fit = self.fit(FIT_EVALUATIONS, warp, KernelStructure::PartlyAdditive);
        let found = fit.run(&data.points, &warped, Some(joint))?;
        let is_better = found.density > joint.density + margin && self.is_allowed(warp.bend(), &found);
        Ok(is_better.then_some(found))
    }

    /// A fit with the same bend, unless noise rules it out, started from the hyperparameters of the last fit.
    fn refine(&self, data: &TrainingSet, bend: f64, warm: &Hyperparameters) -> Result<(Warp, Hyperparameters)> {
        let (warp, warped) = data.warped(bend);
        let found = self.fit(REFIT_EVALUATIONS, &warp, warm.structure).refine(&data.points, &warped, warm)?;
        if self.is_allowed(bend, &found) { Ok((warp, found)) } else { self.refine(data, 0.0, &found) }
    }

    /// Priors drawn around a fit, from the values it explains or from the most informative of them.
    pub fn draw(
        &self,
        points: &Points,
        values: &[f64],
        (warp, fitted): (&Warp, &Hyperparameters),
        count: usize,
        rng: &mut impl Rng,
    ) -> Result<Vec<Prior>> {
        let data = self.training_set(points, values, DRAWN_VALUES)?;
        let warped: Vec<f64> = data.values.iter().map(|&y| warp.forward(y)).collect();
        let drawn = self.fit(0, warp, fitted.structure).draw(&data.points, &warped, fitted, count, rng)?;
        drawn.iter().map(|hyperparameters| self.prior(hyperparameters)).collect()
    }

    /// A fit of values under this warp.
    fn fit(&self, evaluations: usize, warp: &Warp, structure: KernelStructure) -> Fit<'_> {
        let priors = self.tuning.priors.stretched(self.parameters);
        let family = self.family(structure);
        Fit { family, groups: &self.groups, priors, given: self.given_under(warp), evaluations }
    }

    /// What is given, in units of the values under a warp; that warp is linear where there is anything to convert.
    fn given_under(&self, warp: &Warp) -> Given {
        let slope = warp.slope_at_best();
        let square = |variance: f64| (variance * slope * slope).clamp(LARGEST_SCALE.powi(-2), LARGEST_SCALE.powi(2));
        Given {
            lengthscales: self.given.lengthscales.clone(),
            noise: self.given.noise.map(square),
            variance: self.given.variance.map(square),
            mean: self.given.mean.map(|mean| warp.forward(mean).clamp(-LARGEST_SCALE, LARGEST_SCALE)),
        }
    }

    /// The bend of an earlier fit, if it may be kept.
    fn bend(&self, last: &Warp) -> f64 {
        if self.given.has_values() { 0.0 } else { last.bend() }
    }

    fn is_allowed(&self, bend: f64, found: &Hyperparameters) -> bool {
        bend == 0.0 || found.noise < self.tuning.bend_noise * found.variance
    }

    /// At most so many of the values, with their points in the unit cube.
    fn training_set(&self, points: &Points, values: &[f64], most: usize) -> Result<TrainingSet> {
        let rows = informative_rows(values, most);
        let unit: Vec<f64> = rows.iter().flat_map(|&i| self.unit(points.get(i))).collect();
        let points = Points::from_flat(points.dimension(), unit)?;
        Ok(TrainingSet { points, values: rows.iter().map(|&i| values[i]).collect() })
    }

    fn unit<'a>(&'a self, point: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
        point.iter().zip(&self.extents).map(|(x, extent)| x / extent)
    }
}

/// What a fit reads.
struct TrainingSet {
    points: Points,
    values: Vec<f64>,
}

impl TrainingSet {
    /// The standardizing warp with this bend, and the values under it.
    fn warped(&self, bend: f64) -> (Warp, Vec<f64>) {
        let warp = Warp::standardizing(&self.values, bend);
        let warped = self.values.iter().map(|&y| warp.forward(y)).collect();
        (warp, warped)
    }
}

/// The rows that a fit reads, in order: all of them, or `most`: a quarter of them the best, the others at even steps.
pub(crate) fn informative_rows(values: &[f64], most: usize) -> Vec<usize> {
    if values.len() <= most {
        return (0..values.len()).collect();
    }
    let mut order = descending(values);
    let mut rows: Vec<usize> = order.by_ref().take(best_values(most)).collect();
    let mut others: Vec<usize> = order.collect();
    others.sort_unstable();
    let wanted = most - rows.len();
    rows.extend((0..wanted).map(|k| others[k * others.len() / wanted]));
    rows.sort_unstable();
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Domain, Strategy};

    #[test]
    fn a_fit_of_many_values_reads_the_best_and_some_of_the_others() {
        let values: Vec<f64> = (0..5000).map(|i| f64::from((i * 7919) % 5000)).collect();
        let rows = informative_rows(&values, FITTED_VALUES);
        assert_eq!(rows.len(), FITTED_VALUES);
        assert!(rows.windows(2).all(|pair| pair[0] < pair[1]));
        let best = rows.iter().filter(|&&i| values[i] >= 4750.0).count();
        assert_eq!(best, 250);
        assert!(rows[999] > 4900);
    }

    #[test]
    fn fits_grow_rarer_as_values_grow_many() {
        let domain = Domain::Points(Points::from_rows(&[vec![0.0], vec![1.0]]).unwrap());
        let learner = Learner::new(&Spec::learned(domain, Strategy::auto()).unwrap()).unwrap().unwrap();
        assert!(!learner.is_due(0, None) && learner.is_due(1, None));
        assert!(learner.is_due(6, Some(5)) && !learner.is_due(5, Some(5)));
        assert!(learner.is_due(1050, Some(1000)) && !learner.is_due(1049, Some(1000)));
    }
}
