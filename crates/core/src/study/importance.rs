//! How much each parameter matters to what the model has learned: its share of the posterior mean's variance over the domain.
//!
//! | symbol | name | meaning |
//! |---|---|---|
//! | m | posterior mean | on the scale on which the model sees the values: where that is bent, bad ones count less |
//! | T_i | share | the total Sobol index of m: the part of its variance that parameter i has a part in |
//! | S_i | alone | the first-order index: the part that parameter i explains without the others |
//! | low, high | interval | where T_i is for 0.9 of the functions that the model holds possible, and for m itself |
//!
//! Functions are sampled as for an outlook: under hyperparameters drawn around the fit, widened by the record. They vary more
//! than their mean does, so the interval is seldom centred on the share.

use manyhands_gp::{SamplePath, View};
use rand_chacha::ChaCha8Rng;

use super::Study;
use super::certificate::BoundKind;
use super::record::PROBABILITY;
use crate::Result;
use crate::model::informative_rows;
use crate::sensitivity::{ExchangeDesign, SobolIndex};
use crate::tuning::{IMPORTANCE_FEATURES, IMPORTANCE_FUNCTIONS, IMPORTANCE_POINTS, OUTLOOK_VALUES};

/// How much each parameter matters.
///
/// ```
/// use manyhands_core::{Domain, Parameter, Space, Spec, Strategy, Study};
/// # fn main() -> manyhands_core::Result<()> {
/// let parameters = vec![Parameter::float("x", 0.0, 1.0)?, Parameter::float("inert", 0.0, 1.0)?];
/// let mut study = Study::new(Spec::learned(Domain::Space(Space::new(parameters, vec![])?), Strategy::auto())?)?;
/// for _ in 0..5 {
///     for s in study.ask(4)? {
///         study.tell(s.trial, -(s.point[0] - 0.3).powi(2))?;
///     }
/// }
/// let importance = study.importance()?;
/// assert!(importance.shares[0].share > 0.9 && importance.shares[1].share < 0.1);
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Importance {
    /// The parameters that vary, in the domain's order; empty where nothing can be said.
    pub shares: Vec<ParameterShare>,
    /// How many values it is computed from.
    pub values: usize,
    /// Why nothing can be said.
    pub silence: Option<NoImportance>,
}

/// What one parameter has a part in.
#[derive(Debug, Clone, PartialEq)]
pub struct ParameterShare {
    /// Its name.
    pub name: String,
    /// The share of the posterior mean's variance that it has a part in, from 0 to 1. With interactions shares add up to more
    /// than 1.
    pub share: f64,
    /// The share that it explains without the others; none under constraints, where parameters depend on each other.
    pub alone: Option<f64>,
    /// The lower end of the interval of probability 0.9.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

/// Why nothing can be said of the parameters' importance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoImportance {
    /// There are no values yet.
    NoValues,
    /// The domain has no parameters with coordinates, as a pool with a covariance of its rows.
    NoCoordinates,
    /// The posterior mean is the same everywhere.
    Flat,
}

impl NoImportance {
    /// The reason as a phrase.
    pub fn reason(self) -> &'static str {
        match self {
            Self::NoValues => "there are no values yet",
            Self::NoCoordinates => "the model sees no parameters, only a covariance of the candidates",
            Self::Flat => "the posterior mean is the same everywhere",
        }
    }
}

impl Importance {
    fn silent(reason: NoImportance) -> Self {
        Self { shares: vec![], values: 0, silence: Some(reason) }
    }

    /// Which shares are largest, as indices of [`Importance::shares`]; the first of equals first.
    pub fn ranking(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.shares.len()).collect();
        order.sort_by(|&a, &b| self.shares[b].share.total_cmp(&self.shares[a].share));
        order
    }
}

impl Study {
    /// How much each parameter matters to what the model has learned. Above [`OUTLOOK_VALUES`] values, a learned model is asked
    /// as [`Study::sketched`] has it.
    #[doc(alias = "sensitivity")]
    #[doc(alias = "Sobol")]
    pub fn importance(&self) -> Result<Importance> {
        if self.posterior.observed() == 0 {
            return Ok(Importance::silent(NoImportance::NoValues));
        }
        if let Some(sketch) = self.sketched()? {
            return sketch.importance();
        }
        let parameters = self.spec.domain().parameters();
        let Some(design) = ExchangeDesign::new(self.spec.domain(), points_of_each(parameters, IMPORTANCE_POINTS.0))
        else {
            return Ok(Importance::silent(NoImportance::NoCoordinates));
        };
        let view = self.posterior.past_view(self.posterior.observed());
        let scale = self.posterior.prior().kernel().variance().sqrt();
        let of_mean = view.means(&design.points(usize::MAX)?)?;
        let Some(of_mean) = design.indices(&of_mean, scale) else {
            return Ok(Importance::silent(NoImportance::Flat));
        };
        let sampled = self.sampled_indices(&design, points_of_each(parameters, IMPORTANCE_POINTS.1), scale)?;
        let share = |(i, name): (usize, &String)| {
            let SobolIndex { alone, total } = of_mean[i];
            let (low, high) = ends(sampled.iter().map(|indices| indices[i].total), total);
            let alone = design.is_independent.then_some(alone);
            ParameterShare { name: name.clone(), share: total, alone, low, high }
        };
        let shares = design.names.iter().enumerate().map(share).collect();
        Ok(Importance { shares, values: self.posterior.observed(), silence: None })
    }

    /// The same study as pictures show it, where that is not as it is: with a fit where none was made yet, which predictions
    /// would make each time they are asked for; and above [`OUTLOOK_VALUES`] values with a model of 1,000 of them, a quarter of
    /// them the best, the others at even steps, and nothing pending, as the factor of all values takes long. Where bounds are
    /// theorems, the model keeps all values.
    pub fn sketched(&self) -> Result<Option<Self>> {
        if self.is_unfitted() {
            let fitted = self.with_fit()?;
            return Ok(Some(fitted.sketched()?.unwrap_or(fitted)));
        }
        if self.posterior.observed() <= OUTLOOK_VALUES || self.kind() == BoundKind::Theorem {
            return Ok(None);
        }
        let posterior = self.posterior.given_rows(&informative_rows(&self.warped_values(), OUTLOOK_VALUES));
        let mut sketch = self.clone();
        sketch.discard_tentative();
        sketch.posterior = posterior;
        Ok(Some(sketch))
    }

    /// The indices of functions that the model holds possible, on `count` points of each kind.
    fn sampled_indices(&self, design: &ExchangeDesign, count: usize, scale: f64) -> Result<Vec<Vec<SobolIndex>>> {
        let mut rng: ChaCha8Rng = self.draws_of_log();
        let (_, widened) = self.judged();
        let points = design.points(count)?;
        let (priors, values) = (self.drawn_priors(&mut rng)?, self.warped_values());
        let each = IMPORTANCE_FUNCTIONS.div_ceil(priors.len().max(1));
        let mut found = Vec::with_capacity(IMPORTANCE_FUNCTIONS);
        for prior in priors {
            let posterior = self.posterior.rebuilt(prior, &values)?;
            let view: View<'_> = posterior.past_view(posterior.observed());
            for _ in 0..each {
                let path = SamplePath::draw(view, widened, IMPORTANCE_FEATURES, &mut rng)?;
                found.extend(design.indices(&path.values(&points)?, scale));
            }
        }
        Ok(found)
    }
}

/// How many points of each kind a design has, of about `all` points: a power of two, which a Sobol sequence spreads best.
fn points_of_each(parameters: usize, all: usize) -> usize {
    let most = (all / (parameters + 2)).max(64);
    1 << most.ilog2()
}

/// The interval that holds [`PROBABILITY`] of the numbers, as much below it as above, extended to `own`.
fn ends(numbers: impl Iterator<Item = f64>, own: f64) -> (f64, f64) {
    let mut sorted: Vec<f64> = numbers.collect();
    sorted.sort_by(f64::total_cmp);
    let beyond = (0.5 * (1.0 - PROBABILITY) * sorted.len() as f64) as usize;
    let inner = sorted.get(beyond..sorted.len() - beyond).unwrap_or_default();
    (inner.first().map_or(own, |low| low.min(own)), inner.last().map_or(own, |high| high.max(own)))
}
