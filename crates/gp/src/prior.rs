//! The prior: kernel, mean and noise.

use crate::{Error, Kernel, Quantity, Result};

/// Values and means stay below this in size, so that no square leaves the floats.
const LARGEST: f64 = 1e100;

/// Refuses a number that is not finite, or so large that its square would not be.
pub(crate) fn check_size(what: impl Into<Quantity>, value: f64) -> Result<()> {
    if !value.is_finite() {
        return Err(Error::NotFinite { what: what.into(), value });
    }
    if value.abs() > LARGEST {
        return Err(Error::OutOfRange { what: what.into(), low: -LARGEST, high: LARGEST, value });
    }
    Ok(())
}

/// The Gaussian process before any observation: kernel, mean, and the variance of the noise.
#[derive(Debug, Clone, PartialEq)]
pub struct Prior {
    kernel: Kernel,
    mean: f64,
    noise: f64,
}

impl Prior {
    /// A prior with this kernel, a constant `mean`, and noise of variance `noise` > 0.
    pub fn new(kernel: Kernel, mean: f64, noise: f64) -> Result<Self> {
        check_size(Quantity::PriorMean, mean)?;
        if !(noise > 0.0 && noise.is_finite()) {
            return Err(Error::NotPositive { what: Quantity::Noise, value: noise });
        }
        if !(1e-100..=LARGEST).contains(&noise) {
            return Err(Error::OutOfRange { what: Quantity::Noise, low: 1e-100, high: LARGEST, value: noise });
        }
        Ok(Self { kernel, mean, noise })
    }

    /// Refuses values that are not finite or too large to be squared.
    pub fn check_value(&self, value: f64) -> Result<()> {
        check_size("a value", value)
    }

    /// The kernel.
    #[inline]
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// The prior mean.
    #[inline]
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// The variance of the noise, the paper's lambda.
    #[inline]
    pub fn noise(&self) -> f64 {
        self.noise
    }
}
