//! Posterior predictions at any points, candidates or not.

use manyhands_gp::{Marginal, Warp};

use super::Study;
use super::certificate::BoundKind;
use super::record::INTERVAL_SDS;
use crate::{Direction, Result, Value};

/// A number of a prediction in the user's units, if a float can represent it: one at the clamp of the inverse warp only says
/// that the value is at least as extreme.
///
/// ```
/// # use manyhands_core::study::representable;
/// assert_eq!([1e300, 0.25 * f64::MAX, f64::INFINITY].map(representable), [Some(1e300), None, None]);
/// ```
pub fn representable(value: f64) -> Option<f64> {
    (value.abs() < Warp::LARGEST).then_some(value)
}

/// The posterior at one point, in the user's units.
///
/// ```
/// use manyhands_core::{Domain, Parameter, Space, Spec, Strategy, Study};
/// # fn main() -> manyhands_core::Result<()> {
/// let space = Space::new(vec![Parameter::float("x", 0.0, 2.0)?], vec![])?;
/// let mut study = Study::new(Spec::learned(Domain::Space(space), Strategy::auto())?)?;
/// for x in [0.0, 0.5, 1.0, 1.5, 2.0] {
///     study.include(&[x.into()], Some(x * x))?;
/// }
/// let there = study.predict_params(&[vec![1.25.into()]])?[0];
/// assert!((there.mean - 1.5625).abs() < 0.2 && there.lower < there.upper);
/// # Ok(()) }
/// ```
#[doc(alias = "posterior")]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prediction {
    /// The mean.
    pub mean: f64,
    /// The standard deviation given observed trials.
    pub sd: f64,
    /// The standard deviation given observed and pending trials.
    pub sd_pending: f64,
    /// The lower end of the band, where that is a theorem, which holds everywhere at once; otherwise of the interval of
    /// probability 0.9 at this point, widened by what the [record](Study::record) asks for.
    pub lower: f64,
    /// As `lower`, the upper end.
    pub upper: f64,
    /// What kind of statement band or interval is.
    pub kind: BoundKind,
}

/// A prediction with the lower end of its band, for the maximized function in the model's units.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounded {
    pub prediction: Prediction,
    pub lower_end: f64,
}

impl Study {
    /// Predicts at some points, which need not be candidates. Coordinates are the model's: those of the unit cube on a space.
    pub fn predict(&self, points: &[Vec<f64>]) -> Result<Vec<Prediction>> {
        if self.is_unfitted() {
            return self.with_fit()?.predict(points);
        }
        let multiplier = self.band_multiplier(self.posterior.information())?;
        let there = self.posterior.predict_all(points.iter().map(Vec::as_slice))?;
        Ok(there.iter().map(|there| self.bounded(there, multiplier).prediction).collect())
    }

    /// Predicts at some settings of the parameters, or at some values of a pool's columns.
    pub fn predict_params(&self, params: &[Vec<Value>]) -> Result<Vec<Prediction>> {
        let domain = self.spec.domain();
        let embed = |params: &Vec<Value>| domain.embed_named(&domain.name_values(params)?);
        self.predict(&params.iter().map(embed).collect::<Result<Vec<_>>>()?)
    }

    /// As [`Study::predict_params`], by name; parameters with one value, and columns that are not coordinates, may be
    /// omitted.
    pub fn predict_named(&self, named: &[Vec<(String, Value)>]) -> Result<Vec<Prediction>> {
        let domain = self.spec.domain();
        self.predict(&named.iter().map(|named| domain.embed_named(named)).collect::<Result<Vec<_>>>()?)
    }

    /// The prediction that the model's moments at a point amount to.
    pub(super) fn bounded(&self, there: &Marginal, multiplier: f64) -> Bounded {
        let width = multiplier * there.sd_observed;
        let (mean, sd) = self.in_units(there.mean, there.sd_observed);
        let (_, sd_pending) = self.in_units(there.mean, there.sd);
        let mean = self.spec.direction().sign() * mean;
        let lower_end = there.mean - width;
        let (lower, upper) = if self.learner.is_some() {
            self.ends_in_units(lower_end, there.mean + width)
        } else {
            // Without a warp the band is mean -+ width in the user's units, to the bit.
            (mean - width, mean + width)
        };
        let prediction = Prediction { mean, sd, sd_pending, lower, upper, kind: self.kind() };
        Bounded { prediction, lower_end }
    }

    /// The multiplier of the sd that gives a model's intervals.
    pub(super) fn interval_multiplier(&self) -> f64 {
        INTERVAL_SDS * self.record().widened
    }

    /// The lower and upper end of a band in the user's units.
    pub(super) fn ends_in_units(&self, lower: f64, upper: f64) -> (f64, f64) {
        let (lower, upper) = (self.bound_in_units(lower), self.bound_in_units(upper));
        match self.spec.direction() {
            Direction::Maximize => (lower, upper),
            Direction::Minimize => (-upper, -lower),
        }
    }
}
