//! The Matern family as a function of the scaled distance: closed forms where they exist, Bessel functions elsewhere.
//!
//! | symbol | name in code | meaning |
//! |---|---|---|
//! | nu | smoothness | how rough the functions are, 0 < nu <= 50 |
//! | r | r | distance in lengthscales |
//! | z | z | sqrt(2 nu) r |
//! | M_nu(z) | correlation | see `bessel` |

use super::profile::{FAR, SQRT_3, SQRT_5};
use super::{along_distance::DistanceDerivatives, bessel};
use crate::{Error, Result};

/// The largest smoothness; past it the kernel is the squared exponential for all practical ends.
pub(super) const MAX_SMOOTHNESS: f64 = 50.0;

/// A valid smoothness with the way its correlation is evaluated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Matern {
    /// nu = 1/2.
    Half,
    /// nu = 3/2.
    ThreeHalves,
    /// nu = 5/2.
    FiveHalves,
    /// Any other nu.
    General {
        /// nu.
        smoothness: f64,
        /// sqrt(2 nu).
        rate: f64,
    },
}

impl Matern {
    /// Refuses a smoothness outside (0, 50].
    pub fn new(smoothness: f64) -> Result<Self> {
        if !(smoothness > 0.0 && smoothness <= MAX_SMOOTHNESS) {
            return Err(Error::Smoothness { value: smoothness, limit: MAX_SMOOTHNESS });
        }
        Ok(if smoothness == 0.5 {
            Self::Half
        } else if smoothness == 1.5 {
            Self::ThreeHalves
        } else if smoothness == 2.5 {
            Self::FiveHalves
        } else {
            Self::General { smoothness, rate: (2.0 * smoothness).sqrt() }
        })
    }

    /// nu.
    pub fn smoothness(self) -> f64 {
        match self {
            Self::Half => 0.5,
            Self::ThreeHalves => 1.5,
            Self::FiveHalves => 2.5,
            Self::General { smoothness, .. } => smoothness,
        }
    }

    /// The derivatives of the correlation along the distance, at r > 0.
    pub fn slopes(self, r: f64) -> DistanceDerivatives {
        match self {
            Self::Half => {
                let decay = (-r).exp();
                DistanceDerivatives { first: -decay, ratio: -decay / r, excess: decay * (1.0 + 1.0 / r) }
            }
            Self::ThreeHalves => {
                let z = (SQRT_3 * r).min(FAR);
                let ratio = -3.0 * (-z).exp();
                DistanceDerivatives { first: ratio * r, ratio, excess: -ratio * z }
            }
            Self::FiveHalves => {
                let z = (SQRT_5 * r).min(FAR);
                let decay = 5.0 / 3.0 * (-z).exp();
                let ratio = -decay * (1.0 + z);
                DistanceDerivatives { first: ratio * r, ratio, excess: decay * z * z }
            }
            Self::General { smoothness, rate } => {
                // M' = -c z^nu K_{nu-1}, and M'' - M'/z = c z^nu K_{nu-2}, both times the powers of dz/dr = rate.
                let z = rate * r;
                let first = -rate * bessel::lowered(smoothness, 1, z);
                DistanceDerivatives { first, ratio: first / r, excess: rate * rate * bessel::lowered(smoothness, 2, z) }
            }
        }
    }

    /// k'(r) / r in the limit r -> 0, which exists for nu > 1.
    pub fn ratio_at_zero(self) -> Option<f64> {
        let smoothness = self.smoothness();
        (smoothness > 1.0).then(|| -smoothness / (smoothness - 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::super::profile::Profile;
    use super::*;

    const DISTANCES: [f64; 11] = [1e-300, 1e-20, 1e-9, 1e-4, 0.03, 0.4, 1.0, 2.7, 11.0, 60.0, 250.0];

    #[test]
    fn closed_forms_agree_with_the_bessel_branch() {
        for r in DISTANCES {
            for (smoothness, profile) in
                [(0.5f64, Profile::Half), (1.5, Profile::ThreeHalves), (2.5, Profile::FiveHalves)]
            {
                let mut closed = [r * r];
                profile.apply(1.0, &mut closed);
                let closed = closed[0];
                let general = bessel::correlation(smoothness, (2.0 * smoothness).sqrt() * r);
                assert!((closed / general - 1.0).abs() < 1e-12, "nu {smoothness}, r {r}");
            }
        }
    }

    #[test]
    fn closed_slopes_agree_with_the_bessel_branch() {
        for smoothness in [0.5, 1.5, 2.5] {
            let general = Matern::General { smoothness, rate: (2.0 * smoothness).sqrt() };
            for r in DISTANCES {
                let closed = Matern::new(smoothness).unwrap().slopes(r);
                let slopes = general.slopes(r);
                for (a, b) in
                    [(closed.first, slopes.first), (closed.ratio, slopes.ratio), (closed.excess, slopes.excess)]
                {
                    assert!(a == b || (a / b - 1.0).abs() < 1e-12, "nu {smoothness}, r {r}: {a} against {b}");
                }
            }
        }
    }
}
