//! Priors of the hyperparameters, which keep a fit with few observations reasonable.

use super::Given;
use crate::tuning::PRIORS;

/// Priors of the hyperparameters of a kernel on coordinates in the unit cube, for standardized values.
#[derive(Debug, Clone, PartialEq)]
pub struct Priors {
    /// Median and log-sd of a lengthscale.
    pub lengthscale: (f64, f64),
    /// Median and log-sd of the ratio of noise variance to prior variance.
    pub noise_ratio: (f64, f64),
    /// The range of the ratio of noise variance to prior variance.
    pub noise_range: (f64, f64),
    /// Shape and scale, both doubled, of the inverse-gamma prior of the prior variance: worth this many values with
    /// this sum of squares.
    pub variance: (f64, f64),
    /// The prior mean's own sd, in units of the prior sd.
    pub mean_spread: f64,
}

impl Default for Priors {
    /// For one parameter.
    fn default() -> Self {
        PRIORS
    }
}

impl Priors {
    /// These priors, which are for one parameter, for this many: distances in the cube grow as sqrt(d), and so does the
    /// median lengthscale (Hvarfner, Hellsten and Nardi 2024).
    pub fn stretched(&self, count: usize) -> Self {
        let (median, sd) = self.lengthscale;
        Self { lengthscale: (median * (count.max(1) as f64).sqrt(), sd), ..self.clone() }
    }

    /// These priors with flat ones for lengthscales and noise that are given.
    pub(super) fn without_given(&self, given: &Given) -> Self {
        let flat = |(median, sd): (f64, f64), given: bool| (median, if given { f64::INFINITY } else { sd });
        Self {
            lengthscale: flat(self.lengthscale, given.lengthscales.is_some()),
            noise_ratio: flat(self.noise_ratio, given.noise.is_some()),
            ..self.clone()
        }
    }

    /// ln p(theta), up to a constant.
    pub(super) fn log_density(&self, theta: &[f64]) -> f64 {
        theta.iter().enumerate().map(|(i, t)| -0.5 * self.deviation(theta, i, *t).0.powi(2)).sum()
    }

    pub(super) fn add_gradient(&self, theta: &[f64], gradient: &mut [f64]) {
        for (i, t) in theta.iter().enumerate() {
            let (deviation, sd) = self.deviation(theta, i, *t);
            gradient[i] -= deviation / sd;
        }
    }

    /// How many sds parameter `i` is from its median, and the sd.
    fn deviation(&self, theta: &[f64], i: usize, t: f64) -> (f64, f64) {
        let (median, sd) = if i + 1 == theta.len() { self.noise_ratio } else { self.lengthscale };
        ((t - median.ln()) / sd, sd)
    }
}
