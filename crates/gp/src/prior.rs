//! What is believed before any observation.

use crate::{Error, Kernel, Result};

/// What is believed before any observation: kernel, mean, and the variance of the noise.
#[derive(Debug, Clone, PartialEq)]
pub struct Prior {
    kernel: Kernel,
    mean: f64,
    noise: f64,
}

impl Prior {
    /// A prior with this kernel, a constant `mean`, and noise of variance `noise` > 0.
    pub fn new(kernel: Kernel, mean: f64, noise: f64) -> Result<Self> {
        if !mean.is_finite() {
            return Err(Error::NotFinite { what: "the prior mean", value: mean });
        }
        if !(noise > 0.0 && noise.is_finite()) {
            return Err(Error::NotPositive { what: "noise", value: noise });
        }
        Ok(Self { kernel, mean, noise })
    }

    /// The kernel.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// The prior mean.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// The variance of the noise, the paper's lambda.
    pub fn noise(&self) -> f64 {
        self.noise
    }
}
