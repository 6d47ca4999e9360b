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
    let above = |w: f64| maximum.probability_above(w);
    let pieces = f64::from(FIRST_PIECES);
    let end = |piece: u32| Abscissa::of(&above, floor + (highest - floor) * f64::from(piece) / pieces);
    let ends: Vec<Abscissa> = (0..=FIRST_PIECES).map(end).collect();
    let piece = |ends: &[Abscissa]| integral(&above, (ends[0], ends[1]), tolerance / pieces, DEEPEST);
    floor + ends.windows(2).map(piece).sum::<f64>()
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

/// What the polynomial through the nodes, from -1 to 1, is at 1: a weight for each of their values.
const EXTRAPOLATION: [f64; 15] = [
    0.006_238_528_645_340_31,
    -0.018_451_577_046_963_52,
    0.030_438_309_530_368_07,
    -0.043_250_815_978_174_144,
    0.057_719_118_618_911_644,
    -0.073_778_979_644_262_71,
    0.091_687_296_848_571_28,
    -0.112_929_172_918_981_87,
    0.139_783_431_782_908_86,
    -0.174_570_351_562_241_93,
    0.221_175_970_224_893_55,
    -0.291_418_695_919_991_75,
    0.420_047_199_720_884_9,
    -0.706_673_993_404_576_7,
    1.453_983_731_103_314_1,
];

/// A point of the line, and a function's value there.
#[derive(Clone, Copy)]
struct Abscissa {
    at: f64,
    value: f64,
}

impl Abscissa {
    fn of(f: &impl Fn(f64) -> f64, at: f64) -> Self {
        Self { at, value: f(at) }
    }
}

/// The integral of a function that never rises, from one place to another, halved until it is known within the tolerance: both
/// rules agree, and so do the values at the ends with those between. A step shows there that is next to an end and narrower
/// than the gap to the first node, as one normal of little sd makes; elsewhere it lies between nodes and parts the rules.
fn integral(f: &impl Fn(f64) -> f64, (from, to): (Abscissa, Abscissa), tolerance: f64, deepest: u32) -> f64 {
    let half = 0.5 * (to.at - from.at);
    let as_line = half * (from.value + to.value);
    if half * (from.value - to.value) <= tolerance {
        return as_line;
    }
    let middle = Abscissa::of(f, from.at + half);
    let mut values = [middle.value; 15];
    for (i, node) in NODES[..7].iter().enumerate() {
        values[i] = f(middle.at - half * node);
        values[14 - i] = f(middle.at + half * node);
    }
    let symmetric = |i: usize| if i == 7 { values[7] } else { values[i] + values[14 - i] };
    let kronrod: f64 = (0..8).map(|i| KRONROD[i] * symmetric(i)).sum();
    let gauss: f64 = (0..4).map(|i| GAUSS[i] * symmetric(2 * i + 1)).sum();
    let step_at = |end: Abscissa, values: &mut dyn Iterator<Item = &f64>| {
        let expected: f64 = EXTRAPOLATION.iter().zip(values).map(|(weight, value)| weight * value).sum();
        (expected - end.value).abs()
    };
    let steps = step_at(to, &mut values.iter()) + step_at(from, &mut values.iter().rev());
    let error = half * (kronrod - gauss).abs().max((1.0 - NODES[0]) * steps);
    if deepest == 0 || error <= tolerance {
        return half * kronrod;
    }
    integral(f, (from, middle), 0.5 * tolerance, deepest - 1) + integral(f, (middle, to), 0.5 * tolerance, deepest - 1)
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::normal::{cumulative, density};

    fn normal(mean: f64, sd: f64) -> Marginal {
        Marginal { mean, sd, sd_observed: sd }
    }

    fn integrated(f: impl Fn(f64) -> f64, (from, to): (f64, f64), tolerance: f64, deepest: u32) -> f64 {
        integral(&f, (Abscissa::of(&f, from), Abscissa::of(&f, to)), tolerance, deepest)
    }

    #[test]
    fn the_quadrature_is_exact_for_polynomials_and_converges_at_steps() {
        // Kronrod's rule of 15 points is exact up to degree 22.
        let found = integrated(|x| -23.0 * x.powi(22), (0.0, 1.0), 0.0, 0);
        assert!((found + 1.0).abs() < 1e-14, "{found}");
        for place in [1e-9, 1e-4, 0.003, 0.3, 0.997, 1.0 - 1e-4] {
            let step = integrated(|x| f64::from(x < place), (0.0, 1.0), 1e-12, DEEPEST);
            assert!((step - place).abs() < 1e-11, "{place}: {step}");
        }
    }

    #[test]
    fn a_polynomial_is_extrapolated_from_the_nodes_to_the_end() {
        let node = |i: usize| if i < 8 { -NODES[i] } else { NODES[14 - i] };
        for degree in 0..15 {
            let found: f64 = (0..15).map(|i| EXTRAPOLATION[i] * node(i).powi(degree)).sum();
            assert!((found - 1.0).abs() < 1e-13, "{degree}: {found}");
        }
    }

    /// As [`expected_maximum`], in pieces so small that no normal changes much in any of them.
    fn in_small_pieces(floor: f64, normals: &[Marginal]) -> f64 {
        let steps = || (-44..=44).map(|step| 0.25 * f64::from(step));
        let mut ends: Vec<f64> = normals.iter().flat_map(|x| steps().map(|step| x.mean + step * x.sd)).collect();
        ends.retain(|end| *end > floor);
        ends.push(floor);
        ends.sort_by(f64::total_cmp);
        let maximum = NormalMaximum::of(normals.to_vec());
        floor
            + ends
                .windows(2)
                .map(|ends| integrated(|w| maximum.probability_above(w), (ends[0], ends[1]), 0.0, 0))
                .sum::<f64>()
    }

    #[test]
    fn the_sd_of_one_normal_may_be_a_thousandth_or_less_of_the_others() {
        let rng = &mut ChaCha8Rng::seed_from_u64(5);
        for sd in [1e-9, 1e-7, 1e-5, 1e-4, 1e-3, 0.02] {
            for mean in [0.0, 0.5 * sd, -3.0 * sd, 10.0 * sd, 1e-3, 0.4] {
                for low in [-2.0, -0.5, 0.1] {
                    let wide = normal(low, rng.random_range(0.1..0.8));
                    let normals = vec![normal(mean, sd), wide, normal(mean - sd, 30.0 * sd)];
                    let (exact, found) = (in_small_pieces(0.0, &normals), expected_maximum(0.0, normals, 1e-10));
                    assert!((found - exact).abs() < 1e-10, "{sd}, {mean}, {wide:?}: {found}, {exact}");
                    assert!(found >= mean, "{sd}, {mean}, {wide:?}: {found}");
                }
            }
        }
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
