//! The highest bound of mean + multiplier sd over a domain, vectorized, in one fixed order of operations.

use pulp::{Arch, Simd, WithSimd};

use crate::vector::LANES;

/// The bounds (mean + error) + multiplier sqrt(min(variance + slack, cap)) for a multiplier that is not negative.
pub(super) struct HighestUpper<'a> {
    pub means: &'a [f64],
    pub variances: &'a [f64],
    pub multiplier: f64,
    pub error: f64,
    pub slack: f64,
    /// No variance exceeds this, slack or not.
    pub cap: f64,
}

impl HighestUpper<'_> {
    /// The bound of one candidate.
    #[inline(always)]
    pub fn at(&self, index: usize) -> f64 {
        self.bound(self.means[index], self.variances[index])
    }

    #[inline(always)]
    fn bound(&self, mean: f64, variance: f64) -> f64 {
        let most = variance + self.slack;
        let most = if most < self.cap { most } else { self.cap };
        (mean + self.error) + self.multiplier * most.sqrt()
    }

    /// The largest bound; minus infinity if there is none.
    pub fn find(&self) -> f64 {
        Arch::new().dispatch(self)
    }
}

impl WithSimd for &HighestUpper<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> f64 {
        let mut lanes = [f64::NEG_INFINITY; LANES];
        let whole = self.means.len() / LANES * LANES;
        for from in (0..whole).step_by(LANES) {
            let (means, variances) = (&self.means[from..from + LANES], &self.variances[from..from + LANES]);
            for l in 0..LANES {
                let bound = self.bound(means[l], variances[l]);
                lanes[l] = if bound > lanes[l] { bound } else { lanes[l] };
            }
        }
        let mut highest = f64::NEG_INFINITY;
        for lane in lanes {
            highest = highest.max(lane);
        }
        for index in whole..self.means.len() {
            highest = highest.max(self.at(index));
        }
        highest
    }
}
