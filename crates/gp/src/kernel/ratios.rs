//! Kernels of the distance alone, over whole arrays of squared distances, with the factor of their gradients.
//!
//! | symbol | name in code | meaning |
//! |---|---|---|
//! | k(r) | covariance | at distance r in lengthscales |
//! | k'(r)/r | ratio | dk/dx_j = ratio (x_j - y_j)/l_j^2, and dk/d ln l_j = -ratio ((x_j - y_j)/l_j)^2 |

use super::profile::Profile;
use super::{Form, Kernel, bessel, matern::Matern};
use crate::{Error, Result};

/// A kernel of the distance alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Ratios {
    evaluation: Evaluation,
    variance: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Evaluation {
    Closed(Profile),
    General(Matern),
}

impl Kernel {
    /// The kernel as a function of the distance; refused if it is none.
    pub(crate) fn ratios(&self) -> Result<Ratios> {
        let evaluation = match &self.form {
            Form::SquaredExponential => Evaluation::Closed(Profile::SquaredExponential),
            Form::Matern(Matern::Half) => Evaluation::Closed(Profile::Half),
            Form::Matern(Matern::ThreeHalves) => Evaluation::Closed(Profile::ThreeHalves),
            Form::Matern(Matern::FiveHalves) => Evaluation::Closed(Profile::FiveHalves),
            Form::Matern(general) => Evaluation::General(*general),
            Form::Linear => return Err(Error::NotRadial { family: "linear" }),
            Form::Empirical(_) => return Err(Error::NotRadial { family: "empirical" }),
        };
        Ok(Ratios { evaluation, variance: self.variance })
    }
}

impl Ratios {
    /// The same with variance 1.
    pub fn correlation(self) -> Self {
        Self { variance: 1.0, ..self }
    }

    /// From squared distances in lengthscales, which `ratios` holds: the covariances, and k'(r)/r in their place. Where
    /// a rough kernel has no derivative, at r = 0, the ratio is 0.
    pub fn apply(self, ratios: &mut [f64], covariances: &mut [f64]) {
        let general = match self.evaluation {
            Evaluation::Closed(profile) => return profile.apply_with_ratios(self.variance, ratios, covariances),
            Evaluation::General(general) => general,
        };
        let (smoothness, limit) = (general.smoothness(), general.ratio_at_zero().unwrap_or(0.0));
        let rate = (2.0 * smoothness).sqrt();
        for (ratio, covariance) in ratios.iter_mut().zip(covariances) {
            let r = ratio.sqrt();
            *covariance = self.variance * bessel::correlation(smoothness, rate * r);
            *ratio = self.variance * if r > 0.0 { general.slopes(r).ratio } else { limit };
        }
    }
}
