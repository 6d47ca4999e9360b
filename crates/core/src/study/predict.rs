//! What is known of points, whether they are candidates or not.

use manyhands_gp::Marginal;

use super::Study;
use super::certificate::BoundKind;
use crate::{Direction, Result, Value};

/// What a learned model says in the user's units is kept to this size, so that differences are finite.
const LIMIT: f64 = 0.25 * f64::MAX;

/// What a model says of a value, in the user's units, if it is a number that can be stated: one at the limit of the
/// floats only says that the value is beyond it.
///
/// ```
/// # use manyhands_core::study::representable;
/// assert_eq!([1e300, 0.25 * f64::MAX, f64::INFINITY].map(representable), [Some(1e300), None, None]);
/// ```
pub fn representable(value: f64) -> Option<f64> {
    (value.abs() < LIMIT).then_some(value)
}

/// What is known of one point, in the user's units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prediction {
    /// The mean.
    pub mean: f64,
    /// The standard deviation given observed trials.
    pub sd: f64,
    /// The standard deviation given observed and pending trials.
    pub sd_pending: f64,
    /// The band's lower end.
    pub lower: f64,
    /// The band's upper end.
    pub upper: f64,
    /// What kind of statement the band is.
    pub kind: BoundKind,
}

impl Study {
    /// What is known of some points, which need not be candidates; coordinates are those that the model sees.
    pub fn predict(&self, points: &[Vec<f64>]) -> Result<Vec<Prediction>> {
        if self.is_unfitted() {
            return self.with_fit()?.predict(points);
        }
        let multiplier = self.band_multiplier(self.posterior.information())?;
        let there = self.posterior.predict_all(points.iter().map(Vec::as_slice))?;
        Ok(there.iter().map(|there| self.stated(there, multiplier).0).collect())
    }

    /// What is known of some settings of the parameters, or of some values of a pool's columns.
    pub fn predict_params(&self, params: &[Vec<Value>]) -> Result<Vec<Prediction>> {
        let domain = self.spec.domain();
        let embed = |params: &Vec<Value>| domain.embed_named(&domain.name_values(params)?);
        self.predict(&params.iter().map(embed).collect::<Result<Vec<_>>>()?)
    }

    /// As [`Study::predict_params`], by name; parameters with one value and columns that are no coordinates may be left
    /// out.
    pub fn predict_named(&self, named: &[Vec<(String, Value)>]) -> Result<Vec<Prediction>> {
        let domain = self.spec.domain();
        self.predict(&named.iter().map(|named| domain.embed_named(named)).collect::<Result<Vec<_>>>()?)
    }

    /// A prediction, and the band's lower end for the maximized function in the model's units.
    pub(super) fn stated(&self, there: &Marginal, multiplier: f64) -> (Prediction, f64) {
        let width = multiplier * there.sd_observed;
        let (mean, sd) = self.in_units(there.mean, there.sd_observed);
        let (_, sd_pending) = self.in_units(there.mean, there.sd);
        let mean = self.spec.direction().sign() * mean;
        let secure = there.mean - width;
        let (lower, upper) = if self.learner.is_some() {
            self.ends_in_units(secure, there.mean + width)
        } else {
            // As a user would write it: mean -+ width.
            (mean - width, mean + width)
        };
        (Prediction { mean, sd, sd_pending, lower, upper, kind: self.kind() }, secure)
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
