//! Hyperparameters that are given, so that a fit does not learn them.

use crate::kernel::LENGTHSCALE_RANGE;
use crate::prior::check_size;
use crate::{Error, Quantity, Result};

/// What a learned model takes as given; none of it unless set.
///
/// All numbers are in the units of the points and values that are fitted.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Given {
    /// One lengthscale for every parameter (group of coordinates).
    pub lengthscales: Option<Vec<f64>>,
    /// The variance of the noise.
    pub noise: Option<f64>,
    /// The prior variance.
    pub variance: Option<f64>,
    /// The prior mean.
    pub mean: Option<f64>,
}

impl Given {
    /// Refuses numbers that no prior has, and lengthscales that are not one for each of so many groups.
    pub fn check(&self, groups: usize) -> Result<()> {
        if let Some(each) = &self.lengthscales {
            if each.len() != groups {
                return Err(Error::WrongLength { what: "lengthscales", expected: groups, found: each.len() });
            }
            let (low, high) = (LENGTHSCALE_RANGE.start, LENGTHSCALE_RANGE.end);
            each.iter().try_for_each(|&value| check_positive(Quantity::Lengthscale, value, (low, high)))?;
        }
        let size =
            |what, value: Option<f64>| value.map_or(Ok(()), |value| check_positive(what, value, (1e-100, 1e100)));
        size(Quantity::Noise, self.noise)?;
        size(Quantity::Variance, self.variance)?;
        self.mean.map_or(Ok(()), |mean| check_size(Quantity::PriorMean, mean))
    }

    /// Noise over prior variance, where both are given; clamped to the range that floats resolve.
    pub fn noise_ratio(&self) -> Option<f64> {
        Some((self.noise? / self.variance?).clamp(1e-40, 1e40))
    }

    /// Whether some number has the units of the values.
    pub fn has_values(&self) -> bool {
        self.noise.is_some() || self.variance.is_some() || self.mean.is_some()
    }
}

fn check_positive(what: Quantity, value: f64, (low, high): (f64, f64)) -> Result<()> {
    if !(value > 0.0 && value.is_finite()) {
        return Err(Error::NotPositive { what, value });
    }
    if !(low..=high).contains(&value) {
        return Err(Error::OutOfRange { what, low, high, value });
    }
    Ok(())
}
