//! GP-PI, probability of improvement (Kushner 1964): argmax of P(f(x) > tau + zeta s0), by the argument of Phi.
//!
//! | symbol | name | meaning |
//! |---|---|---|
//! | tau | | the highest posterior mean at an observed point; the prior mean before the first value |
//! | zeta | zeta | the strategy's `zeta`: with 0 the rule is greedy and sticks |
//! | s0 | | the square root of the largest k(x,x) over the domain |
//! | z | | (mean - tau - zeta s0)/sd, sd given observed and pending points: Phi(z) is the probability |
//!
//! Pending points enter by the sd alone, which is the paper's hallucination; the source has no batch form.

use manyhands_gp::Acquisition;

use super::{Formulas, RuleState};
use crate::{Choice, Result, Strategy};

pub(super) struct GpPi;

impl Formulas for GpPi {
    fn choose(&self, state: &mut RuleState<'_>, _: f64) -> Result<Choice> {
        let margin = state.strategy().zeta * state.largest_prior_sd();
        if margin == 0.0 && !state.has_values() {
            // All probabilities are 1/2.
            return state.largest_sd().map(|found| found.choice);
        }
        let target = state.highest_observed_mean() + margin;
        state.argmax(&DistanceToTarget { target })
    }

    fn reads(&self, _: &Strategy) -> &'static [&'static str] {
        &["zeta"]
    }
}

/// (mean - target)/sd: how many standard deviations the mean is above a target.
pub(super) struct DistanceToTarget {
    pub target: f64,
}

impl Acquisition for DistanceToTarget {
    fn value(&self, mean: f64, variance: f64) -> f64 {
        if variance > 0.0 { (mean - self.target) / variance.sqrt() } else { f64::NEG_INFINITY }
    }

    fn slopes(&self, mean: f64, variance: f64) -> (f64, f64) {
        if variance > 0.0 { (1.0 / variance.sqrt(), -(mean - self.target) / variance) } else { (0.0, 0.0) }
    }

    // Only below the target: above it, the less uncertain the better.
    fn grows_with_variance(&self) -> bool {
        false
    }

    fn bound(&self, mean: f64, least: f64, most: f64) -> f64 {
        if mean <= self.target {
            self.value(mean, most)
        } else if least > 0.0 {
            self.value(mean, least)
        } else {
            f64::INFINITY
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_are_finite_differences() {
        let acquisition = DistanceToTarget { target: 0.2 };
        for (mean, sd) in [(0.3, 0.5), (-1.0, 0.4), (0.2, 1.0), (-3.0, 0.3), (1.5, 0.3)] {
            let value = |mean: f64, sd: f64| acquisition.value(mean, sd * sd);
            let step = 1e-5 * sd;
            let by_mean = (value(mean + step, sd) - value(mean - step, sd)) / (2.0 * step);
            let by_sd = (value(mean, sd + step) - value(mean, sd - step)) / (2.0 * step);
            let (mean_slope, sd_slope) = acquisition.slopes(mean, sd * sd);
            // Central differences err by the third derivative times step^2, and by rounding over the step.
            let tolerance = 1e-8 * (1.0 + (mean - 0.2).abs() / (sd * sd));
            assert!((mean_slope - by_mean).abs() < tolerance / sd, "{mean}, {sd}: {mean_slope}, {by_mean}");
            assert!((sd_slope - by_sd).abs() < tolerance / sd, "{mean}, {sd}: {sd_slope}, {by_sd}");
        }
    }

    #[test]
    fn bounds_hold_for_all_variances_and_lower_means() {
        let acquisition = DistanceToTarget { target: 0.5 };
        for mean in [-1.0, 0.4, 0.5, 0.6, 2.0] {
            for (least, most) in [(0.0, 1.0), (0.1, 0.2), (0.3, 4.0)] {
                let bound = acquisition.bound(mean, least, most);
                for share in [0.0, 0.3, 0.7, 1.0] {
                    for lower in [0.0, 0.2, 3.0] {
                        let variance = least + share * (most - least);
                        assert!(acquisition.value(mean - lower, variance) <= bound, "{mean} - {lower}, {variance}");
                    }
                }
            }
        }
    }
}
