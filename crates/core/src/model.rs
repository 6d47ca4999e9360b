//! Learning the model: which warp, which hyperparameters, from which trials, and when to learn again.

use manyhands_gp::{Fit, Given, Hyperparameters, Kernel, Points, Prior, Warp};

use crate::{Result, Spec, Tuning};

/// Up to so many values, every bend is tried from several starts at each fit.
const VERY_FEW: usize = 50;

/// Up to so many values, every bend is tried at each fit; above, the last bend is kept and its hyperparameters are
/// refined. A first fit of more looks at so many before it refines.
const FEW: usize = 200;

/// A fit looks at no more than so many values.
const MOST: usize = 1_000;

/// The most evaluations of the density in one climb.
const EVALUATIONS: usize = 60;

/// As [`EVALUATIONS`], where values are many: the next fit goes on where this one ends.
const EVALUATIONS_OF_MANY: usize = 15;

/// Given numbers keep to this many times the values' own scale either way: nothing is told apart beyond.
const LARGEST: f64 = 1e20;

/// Noise is at least this part of the prior variance. Given noise may be nothing beside an extreme value; then the pivots
/// of rows that nearly repeat each other are rounding, each magnifies the ones before it, and no number stays finite.
const LEAST_NOISE: f64 = 1e-24;

/// What a model is learned over: the kernel's family, and how its lengthscales lie over the coordinates.
#[derive(Debug, Clone)]
pub(crate) struct Learner {
    family: Kernel,
    groups: Vec<usize>,
    extents: Vec<f64>,
    parameters: usize,
    tuning: Tuning,
    /// Of the maximized function.
    given: Given,
}

impl Learner {
    /// What learns the model of this study; none where all of it is given.
    pub fn new(spec: &Spec) -> Result<Option<Self>> {
        let Some(given) = spec.given() else { return Ok(None) };
        let mean = given.mean.map(|mean| spec.direction().sign() * mean);
        let (given, mut tuning) = (Given { mean, ..given.clone() }, spec.tuning().clone());
        if given.has_values() {
            // Bent values have no unit in which noise, variance and mean could be told.
            tuning.bends = vec![0.0];
        }
        let (domain, family) = (spec.domain(), spec.prior().kernel().clone().with_variance(1.0)?);
        let (groups, extents, parameters) = (domain.groups(), domain.extents(), domain.parameters());
        Ok(Some(Self { family, groups, extents, parameters, tuning, given }))
    }

    /// How many lengthscales there are: one for each parameter.
    pub fn parameters(&self) -> usize {
        self.parameters
    }

    /// How many quasi-random points come first, unless the strategy says.
    pub fn design(&self) -> usize {
        (4 + 2 * self.parameters).min(10)
    }

    /// Whether to learn again: at every change while values are few, then each time they have grown by a twentieth.
    pub fn is_due(&self, observed: usize, at_last_fit: Option<usize>) -> bool {
        observed > 0 && at_last_fit.is_none_or(|last| observed >= last + (last / 20).max(1))
    }

    /// The prior that hyperparameters describe, over the domain's own coordinates.
    pub fn prior(&self, hyperparameters: &Hyperparameters) -> Result<Prior> {
        let unit = hyperparameters.prior(&self.family, &self.groups)?;
        let each: Vec<f64> =
            unit.kernel().lengthscales().iter().zip(&self.extents).map(|(l, extent)| l * extent).collect();
        let noise = unit.noise().max(LEAST_NOISE * unit.kernel().variance());
        Ok(Prior::new(unit.kernel().with_lengthscales(&each)?, unit.mean(), noise)?)
    }

    /// The warp and the hyperparameters that explain the values best. Values are larger-is-better.
    pub fn learn(
        &self,
        points: &Points,
        values: &[f64],
        last: Option<(&Warp, &Hyperparameters)>,
    ) -> Result<(Warp, Hyperparameters)> {
        if values.len() <= FEW {
            return self.explore(&self.told(points, values, FEW)?, last);
        }
        let first;
        let (warp, warm) = match last {
            Some(last) => last,
            // What few values say at little cost is where a look at many begins.
            None => {
                first = self.explore(&self.told(points, values, FEW)?, None)?;
                (&first.0, &first.1)
            }
        };
        self.refine(&self.told(points, values, MOST)?, self.bend(warp), warm)
    }

    /// The best of all bends. Where each look costs more, only the last bend is looked at from several starts, and the
    /// others from what it found.
    fn explore(&self, told: &Told, last: Option<(&Warp, &Hyperparameters)>) -> Result<(Warp, Hyperparameters)> {
        let mut best: Option<(f64, Warp, Hyperparameters)> = None;
        let bends = &self.tuning.bends;
        let first = last.map_or(bends[0], |(warp, _)| self.bend(warp));
        let mut near: Option<Hyperparameters> = None;
        for bend in std::iter::once(first).chain(bends.iter().copied().filter(|bend| *bend != first)) {
            let (warp, warped) = told.warped(bend);
            let fit = self.fit(EVALUATIONS, &warp);
            let found = match &near {
                Some(near) if told.values.len() > VERY_FEW => fit.refine(&told.points, &warped, near)?,
                _ => fit.run(&told.points, &warped, last.map(|(_, hyperparameters)| hyperparameters))?,
            };
            near.get_or_insert_with(|| found.clone());
            let density = found.density + told.values.iter().map(|&y| warp.log_slope(y)).sum::<f64>();
            if self.is_allowed(bend, &found) && best.as_ref().is_none_or(|(highest, _, _)| density > *highest) {
                best = Some((density, warp, found));
            }
        }
        let standard = || (Warp::identity(), self.fit(0, &Warp::identity()).medians());
        Ok(best.map_or_else(standard, |(_, warp, found)| (warp, found)))
    }

    /// The same bend, unless noise has come up, and hyperparameters close to those of the last look.
    fn refine(&self, told: &Told, bend: f64, warm: &Hyperparameters) -> Result<(Warp, Hyperparameters)> {
        let (warp, warped) = told.warped(bend);
        let found = self.fit(EVALUATIONS_OF_MANY, &warp).refine(&told.points, &warped, warm)?;
        if self.is_allowed(bend, &found) { Ok((warp, found)) } else { self.refine(told, 0.0, &found) }
    }

    /// A fit of values under this warp.
    fn fit(&self, evaluations: usize, warp: &Warp) -> Fit<'_> {
        let priors = self.tuning.priors.stretched(self.parameters);
        Fit { family: &self.family, groups: &self.groups, priors, given: self.given_under(warp), evaluations }
    }

    /// What is given, in units of the values under a warp; that warp is linear where there is anything to convert.
    fn given_under(&self, warp: &Warp) -> Given {
        let slope = warp.slope_at_best();
        let square = |variance: f64| (variance * slope * slope).clamp(LARGEST.powi(-2), LARGEST.powi(2));
        Given {
            lengthscales: self.given.lengthscales.clone(),
            noise: self.given.noise.map(square),
            variance: self.given.variance.map(square),
            mean: self.given.mean.map(|mean| warp.forward(mean).clamp(-LARGEST, LARGEST)),
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
    fn told(&self, points: &Points, values: &[f64], most: usize) -> Result<Told> {
        let rows = telling(values, most);
        let unit: Vec<f64> = rows.iter().flat_map(|&i| self.unit(points.get(i))).collect();
        let points = Points::from_flat(points.dimension(), unit)?;
        Ok(Told { points, values: rows.iter().map(|&i| values[i]).collect() })
    }

    fn unit<'a>(&'a self, point: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
        point.iter().zip(&self.extents).map(|(x, extent)| x / extent)
    }
}

/// What a fit looks at.
struct Told {
    points: Points,
    values: Vec<f64>,
}

impl Told {
    /// The standardizing warp with this bend, and the values under it.
    fn warped(&self, bend: f64) -> (Warp, Vec<f64>) {
        let warp = Warp::standardizing(&self.values, bend);
        let warped = self.values.iter().map(|&y| warp.forward(y)).collect();
        (warp, warped)
    }
}

/// The rows that a fit looks at, in order: all of them, or the best quarter of the most and others at even steps.
fn telling(values: &[f64], most: usize) -> Vec<usize> {
    if values.len() <= most {
        return (0..values.len()).collect();
    }
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[b].total_cmp(&values[a]).then(a.cmp(&b)));
    let (best, others) = order.split_at(most / 4);
    let (mut rows, mut others) = (best.to_vec(), others.to_vec());
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
    fn a_fit_of_many_looks_at_the_best_and_at_some_of_the_others() {
        let values: Vec<f64> = (0..5000).map(|i| f64::from((i * 7919) % 5000)).collect();
        let rows = telling(&values, MOST);
        assert_eq!(rows.len(), MOST);
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
