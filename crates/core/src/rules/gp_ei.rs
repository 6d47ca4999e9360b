//! GP-EI, expected improvement (Mockus 1975): argmax of E max(0, f(x) - tau), tau the highest mean at an observed point.
//!
//! | symbol | name | meaning |
//! |---|---|---|
//! | tau | target | the highest posterior mean at an observed point; the prior mean before the first value |
//! | z | z | (mean - tau)/sd, sd given observed and pending points |
//! | h(z) | | phi(z) + z Phi(z), so that EI = sd h(z) |
//!
//! The score is ln EI, which does not underflow far from the best point. Pending points enter by the sd alone, which is the
//! paper's hallucination; the source has no batch form.

use std::f64::consts::{PI, SQRT_2};

use manyhands_gp::Acquisition;

use super::{Formulas, RuleState};
use crate::normal::{cumulative, density, scaled_erfc};
use crate::{Choice, Result, Strategy};

/// Below this z, h(z) is phi(z)/z^2 up to a relative error of 3/z^2, which no bit of ln h(z) shows.
const FAR: f64 = -1e6;

pub(super) struct GpEi;

impl Formulas for GpEi {
    fn choose(&self, state: &mut RuleState<'_>, _: f64) -> Result<Choice> {
        let target = state.highest_observed_mean();
        state.argmax(&LogExpectedImprovement { target })
    }

    fn reads(&self, _: &Strategy) -> &'static [&'static str] {
        &[]
    }
}

/// ln E max(0, f - target).
pub(super) struct LogExpectedImprovement {
    pub target: f64,
}

impl Acquisition for LogExpectedImprovement {
    fn value(&self, mean: f64, variance: f64) -> f64 {
        let sd = variance.sqrt();
        if sd > 0.0 { sd.ln() + ln_h((mean - self.target) / sd) } else { f64::NEG_INFINITY }
    }

    /// d ln EI/d mean = Phi/(sd h) and d ln EI/d sd = phi/(sd h).
    fn slopes(&self, mean: f64, variance: f64) -> (f64, f64) {
        let sd = variance.sqrt();
        if sd <= 0.0 {
            return (0.0, 0.0);
        }
        let (cumulative, density) = relative_to_h((mean - self.target) / sd);
        (cumulative / sd, density / sd)
    }

    fn grows_with_variance(&self) -> bool {
        true
    }

    /// h(z) <= phi(z)/(1 + z^2) for z <= 0, as Phi(-x) >= phi(x) x/(1 + x^2) (Gordon 1941), and h(z) = z + h(-z) <= z + phi(0) above:
    /// one logarithm.
    fn quick_bound(&self, mean: f64, _: f64, most: f64) -> f64 {
        let (difference, sd) = (mean - self.target, most.sqrt());
        if difference >= 0.0 {
            return with_margin((difference + LARGEST_DENSITY * sd).ln());
        }
        let z = difference / sd;
        with_margin((LARGEST_DENSITY * sd / (1.0 + z * z)).ln() - 0.5 * z * z)
    }
}

/// phi(0), rounded up.
const LARGEST_DENSITY: f64 = 0.398_942_280_401_433;

/// A little more than a bound, so that rounding never puts it below what it bounds.
fn with_margin(bound: f64) -> f64 {
    if bound.is_finite() { bound + 1e-12 * bound.abs().max(1.0) } else { bound }
}

/// ln h(z).
fn ln_h(z: f64) -> f64 {
    if z > -1.0 {
        return (density(z) + z * cumulative(z)).ln();
    }
    let ln_density = -0.5 * z * z - 0.5 * (2.0 * PI).ln();
    if z < FAR { ln_density - 2.0 * z.abs().ln() } else { ln_density + (-ln_mills(z).exp_m1()).ln() }
}

/// ln(|z| Phi(z)/phi(z)) for z < 0, by which h = phi (1 - exp(ln_mills)).
fn ln_mills(z: f64) -> f64 {
    (scaled_erfc(-z / SQRT_2) * z.abs()).ln() + 0.5 * (0.5 * PI).ln()
}

/// Phi(z)/h(z) and phi(z)/h(z).
fn relative_to_h(z: f64) -> (f64, f64) {
    if z > -1.0 {
        let h = density(z) + z * cumulative(z);
        return (cumulative(z) / h, density(z) / h);
    }
    if z < FAR {
        return (z.abs(), z * z);
    }
    let mills = ln_mills(z);
    let inverse = -1.0 / mills.exp_m1();
    (mills.exp() / z.abs() * inverse, inverse)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ln_h_is_that_of_sixty_digits() {
        // ln(phi(z) + z Phi(z)) in 60 digits by mpmath.
        let known = [
            (2.0, 0.697_383_545_788_228_4),
            (0.0, -0.918_938_533_204_672_8),
            (-0.5, -1.620_516_264_387_319_9),
            (-1.0, -2.485_121_025_712_641_3),
            (-1.5, -3.529_935_920_805_71),
            (-3.0, -7.869_686_059_603_029),
            (-10.0, -55.553_122_036_122_35),
            (-100.0, -5_010.129_578_800_25),
            (-1e5, -5_000_000_023.944_79),
            (-2e6, -2_000_000_000_029.936_3),
        ];
        for (z, expected) in known {
            // 1 - exp(ln_mills) is about 1/z^2: the rounding of ln_mills is magnified by z^2, and shows up to 1/eps.
            let magnified = f64::clamp(z * z, 1.0, 1e10) * 8.0 * f64::EPSILON;
            let found = ln_h(z);
            assert!((found - expected).abs() <= magnified.max(4.0 * f64::EPSILON * expected.abs()), "{z}: {found}");
        }
    }

    #[test]
    fn the_score_is_the_logarithm_of_the_integral() {
        for (mean, sd, target) in [(0.3, 0.5, 0.1), (-1.0, 0.7, 0.4), (0.0, 2.0, 3.0), (5.0, 0.1, 4.95)] {
            let (steps, width) = (200_000, 24.0 / 200_000.0);
            let term = |i: i32| {
                let z = -12.0 + (f64::from(i) + 0.5) * width;
                (mean + sd * z - target).max(0.0) * density(z)
            };
            let integral: f64 = (0..steps).map(term).sum::<f64>() * width;
            let found = LogExpectedImprovement { target }.value(mean, sd * sd);
            assert!((found - integral.ln()).abs() < 1e-6, "{mean}, {sd}, {target}: {found}, {}", integral.ln());
        }
        assert_eq!(LogExpectedImprovement { target: 0.0 }.value(1.0, 0.0), f64::NEG_INFINITY);
    }

    #[test]
    fn slopes_are_finite_differences() {
        let acquisition = LogExpectedImprovement { target: 0.2 };
        for (mean, sd) in [(0.3, 0.5), (-1.0, 0.4), (0.2, 1.0), (-3.0, 0.3), (-9.0, 0.2), (1.5, 0.3)] {
            let value = |mean: f64, sd: f64| acquisition.value(mean, sd * sd);
            let step = 1e-5 * sd;
            let by_mean = (value(mean + step, sd) - value(mean - step, sd)) / (2.0 * step);
            let by_sd = (value(mean, sd + step) - value(mean, sd - step)) / (2.0 * step);
            let (mean_slope, sd_slope) = acquisition.slopes(mean, sd * sd);
            // Central differences err by the third derivative times step^2, relative to slopes that grow like z^2.
            assert!((mean_slope / by_mean - 1.0).abs() < 1e-6, "{mean}, {sd}: {mean_slope}, {by_mean}");
            assert!((sd_slope / by_sd - 1.0).abs() < 1e-6, "{mean}, {sd}: {sd_slope}, {by_sd}");
        }
    }

    #[test]
    fn the_quick_bound_is_never_below_the_score_and_close_to_it_where_it_matters() {
        let acquisition = LogExpectedImprovement { target: 0.2 };
        for sd in [1e-12, 1e-3, 0.4, 1.0, 50.0f64] {
            for z in [-1e8, -1e6, -300.0, -40.0, -5.0, -2.0, -1.0, -0.5, -1e-9, 0.0, 1e-9, 0.3, 1.0, 3.0, 40.0] {
                let mean = 0.2 + z * sd;
                let (value, quick) = (acquisition.value(mean, sd * sd), acquisition.quick_bound(mean, 0.0, sd * sd));
                assert!(quick >= value, "{sd}, {z}: {quick} < {value}");
                assert!(quick - value < 0.5 || z.abs() > 1e5, "{sd}, {z}: {quick}, {value}");
            }
        }
        assert_eq!(acquisition.value(0.1, 0.0), f64::NEG_INFINITY);
    }

    #[test]
    fn the_pieces_meet_and_the_score_grows_with_mean_and_sd() {
        for z in [-1.0, FAR] {
            let (below, above) = (ln_h(z * (1.0 + 1e-12)), ln_h(z * (1.0 - 1e-12)));
            assert!(below < above && (above - below) <= 1e-10 * z * z, "{z}: {below}, {above}");
        }
        let acquisition = LogExpectedImprovement { target: 0.0 };
        let means: Vec<f64> = (-400..400).map(|i| acquisition.value(0.05 * f64::from(i), 0.25)).collect();
        assert!(means.windows(2).all(|pair| pair[0] < pair[1]));
        let sds: Vec<f64> = (1..400).map(|i| acquisition.value(-1.0, (0.01 * f64::from(i)).powi(2))).collect();
        assert!(sds.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
