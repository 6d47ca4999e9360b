//! EST (Wang, Zhou and Jegelka 2016): argmax of the probability that f(x) reaches an estimate m of the maximum.
//!
//! | symbol | name | meaning |
//! |---|---|---|
//! | m0 | floor | the highest posterior mean at an observed point; the prior mean before the first value |
//! | m | target | m0 + integral over w >= m0 of 1 - prod over D of Phi((w - mean)/sd): the mean of the maximum of m0 and of independent normals |
//! | z | | -(m - mean)/sd, the argument of Phi |
//!
//! On a space that is not finite the product is over one fixed quasi-random set and the observed points. Pending points enter
//! by the sd alone, which is the paper's hallucination; the source has no batch form. The upper bound mean + multiplier sd
//! whose multiplier is the least (m - mean)/sd is highest at the same point.

use manyhands_gp::{Among, Marginal};

use super::gp_pi::DistanceToTarget;
use super::{Formulas, RuleState};
use crate::compatibility::at_most;
use crate::normal::ln_cumulative;
use crate::tuning::MOST_FOR_EST;
use crate::{Choice, Result, Strategy};

/// Candidates so many sd below the floor or lower have no part in the maximum: each of them changes m by less than 1e-21 sd.
const OUT_OF_REACH: f64 = 9.5;

/// The integral goes up to this many sd above every mean.
const REACH: f64 = 10.0;

/// How exact m is, relative to the largest prior sd.
const TOLERANCE: f64 = 1e-10;

pub(super) struct Est;

impl Formulas for Est {
    fn choose(&self, state: &mut RuleState<'_>, _: f64) -> Result<Choice> {
        let floor = state.highest_observed_mean();
        let can_matter = |mean: f64, variance: f64| floor - mean <= OUT_OF_REACH * variance.sqrt();
        let normals = state.moments(Among::All, &can_matter)?.into_iter().map(|(_, there)| there).collect();
        let target = expected_maximum(floor, normals, TOLERANCE * state.largest_prior_sd());
        let choice = state.argmax(&DistanceToTarget { target })?;
        // Where no variance is left the score is that of another rule.
        let multiplier = if choice.sd > 0.0 { -choice.score } else { 0.0 };
        Ok(Choice { multiplier, ..choice })
    }

    fn reads(&self, _: &Strategy) -> &'static [&'static str] {
        &[]
    }

    fn check(&self, strategy: &Strategy, candidates: Option<usize>) -> Result<()> {
        at_most(MOST_FOR_EST, candidates, strategy.rule)
    }
}

/// E max(floor, X_1, X_2, ...) of independent normals.
fn expected_maximum(floor: f64, normals: Vec<Marginal>, tolerance: f64) -> f64 {
    let maximum = NormalMaximum::of(normals);
    let highest = maximum.normals.iter().map(|x| x.mean + REACH * x.sd).fold(floor, f64::max);
    let pieces = f64::from(FIRST_PIECES);
    let end = |piece: u32| floor + (highest - floor) * f64::from(piece) / pieces;
    let piece = |i: u32| integral(&|w| maximum.probability_above(w), (end(i), end(i + 1)), tolerance / pieces, DEEPEST);
    floor + (0..FIRST_PIECES).map(piece).sum::<f64>()
}

/// The maximum of independent normals.
struct NormalMaximum {
    /// From the one that reaches highest down.
    normals: Vec<Marginal>,
}

impl NormalMaximum {
    fn of(mut normals: Vec<Marginal>) -> Self {
        normals.sort_by(|a, b| reach(b).total_cmp(&reach(a)));
        Self { normals }
    }

    /// 1 - prod Phi((w - mean)/sd), by the sum of the logarithms.
    fn probability_above(&self, w: f64) -> f64 {
        let mut ln_below = 0.0;
        for x in self.normals.iter().take_while(|x| reach(x) > w) {
            ln_below += ln_cumulative((w - x.mean) / x.sd);
            if ln_below < CERTAIN {
                return 1.0;
            }
        }
        -f64::exp_m1(ln_below)
    }
}

/// No value above this matters.
fn reach(x: &Marginal) -> f64 {
    x.mean + OUT_OF_REACH * x.sd
}

/// exp of this changes no bit of 1.
const CERTAIN: f64 = -40.0;

/// How many pieces the range is cut into at first, and how often each is halved at most: to less than any rounding.
const FIRST_PIECES: u32 = 8;
const DEEPEST: u32 = 50;

/// The Gauss-Kronrod rule of 15 points (Kronrod 1965): nodes, weights, and weights of the Gauss rule at every other node.
const NODES: [f64; 8] = [
    0.991_455_371_120_812_6,
    0.949_107_912_342_758_5,
    0.864_864_423_359_769_1,
    0.741_531_185_599_394_4,
    0.586_087_235_467_691_1,
    0.405_845_151_377_397_2,
    0.207_784_955_007_898_47,
    0.0,
];
const KRONROD: [f64; 8] = [
    0.022_935_322_010_529_225,
    0.063_092_092_629_978_56,
    0.104_790_010_322_250_18,
    0.140_653_259_715_525_92,
    0.169_004_726_639_267_9,
    0.190_350_578_064_785_4,
    0.204_432_940_075_298_9,
    0.209_482_141_084_727_82,
];
const GAUSS: [f64; 4] =
    [0.129_484_966_168_869_7, 0.279_705_391_489_276_67, 0.381_830_050_505_118_9, 0.417_959_183_673_469_4];

/// The integral from `range.0` to `range.1`, halved until both rules agree within the tolerance.
fn integral(f: &impl Fn(f64) -> f64, range: (f64, f64), tolerance: f64, deepest: u32) -> f64 {
    let (middle, half) = (0.5 * (range.0 + range.1), 0.5 * (range.1 - range.0));
    let (mut kronrod, mut gauss) = (0.0, 0.0);
    for (i, node) in NODES.iter().enumerate() {
        let value = if i == 7 { f(middle) } else { f(middle - half * node) + f(middle + half * node) };
        kronrod += KRONROD[i] * value;
        if i % 2 == 1 {
            gauss += GAUSS[i / 2] * value;
        }
    }
    if deepest == 0 || half * (kronrod - gauss).abs() <= tolerance {
        return half * kronrod;
    }
    integral(f, (range.0, middle), 0.5 * tolerance, deepest - 1)
        + integral(f, (middle, range.1), 0.5 * tolerance, deepest - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normal::{cumulative, density};

    fn normal(mean: f64, sd: f64) -> Marginal {
        Marginal { mean, sd, sd_observed: sd }
    }

    #[test]
    fn the_quadrature_is_exact_for_polynomials_and_converges_at_steps() {
        // Kronrod's rule of 15 points is exact up to degree 22.
        let found = integral(&|x| 23.0 * x.powi(22), (0.0, 1.0), 0.0, 0);
        assert!((found - 1.0).abs() < 1e-14, "{found}");
        let step = integral(&|x| f64::from(x < 0.3), (0.0, 1.0), 1e-12, DEEPEST);
        assert!((step - 0.3).abs() < 1e-11, "{step}");
    }

    #[test]
    fn one_normal_has_expected_improvement_above_the_floor() {
        for (mean, sd, floor) in
            [(0.3, 0.5, 0.1), (-1.0, 0.7, 0.4), (0.0, 2.0, 3.0), (5.0, 0.1, 4.95), (0.0, 1e-4, 0.0)]
        {
            let z = (mean - floor) / sd;
            let expected = floor + (mean - floor) * cumulative(z) + sd * density(z);
            let found = expected_maximum(floor, vec![normal(mean, sd)], 1e-10);
            assert!((found - expected).abs() < 1e-10, "{mean}, {sd}, {floor}: {found}, {expected}");
        }
    }

    #[test]
    fn two_normals_have_clarks_maximum() {
        // E max(X, Y) = a Phi(alpha) + b Phi(-alpha) + theta phi(alpha), theta^2 = s^2 + t^2, alpha = (a - b)/theta (Clark 1961).
        for (a, s, b, t) in [(0.0f64, 1.0f64, 0.5f64, 2.0f64), (3.0, 0.1, 2.9, 0.5), (0.0, 1.0, 0.0, 1.0)] {
            let theta = s.hypot(t);
            let alpha = (a - b) / theta;
            let expected = a * cumulative(alpha) + b * cumulative(-alpha) + theta * density(alpha);
            // A floor that the maximum is above but for a probability of 1e-23.
            let floor = (a - 10.0 * s).max(b - 10.0 * t);
            let found = expected_maximum(floor, vec![normal(a, s), normal(b, t)], 1e-10);
            assert!((found - expected).abs() < 1e-9, "{a}, {s}, {b}, {t}: {found}, {expected}");
        }
    }

    #[test]
    fn many_equal_normals_have_the_known_maximum() {
        // The expected maximum of 100 standard normals: 2.507593644... (Harter 1961).
        let found = expected_maximum(-10.0, vec![normal(0.0, 1.0); 100], 1e-10);
        assert!((found - 2.507_593_64).abs() < 1e-7, "{found}");
    }

    #[test]
    fn the_target_is_at_least_every_mean_and_grows_with_every_sd() {
        let many = |sd: f64| (0..30).map(|i| normal((f64::from(i) * 0.7).sin(), sd)).collect::<Vec<_>>();
        let mut last = many(0.0).iter().map(|x| x.mean).fold(0.0, f64::max);
        for sd in [0.0, 1e-9, 1e-3, 0.1, 1.0, 10.0] {
            let found = expected_maximum(0.2, many(sd), 1e-10);
            assert!(found >= last - 1e-9, "{sd}: {found}");
            last = found;
        }
    }
}
