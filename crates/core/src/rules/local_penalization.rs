//! Local penalization (Gonzalez et al. 2016): an upper bound, made positive, times how probable it is that no pending point
//! rules a point out as the maximizer.
//!
//! | symbol | name | meaning |
//! |---|---|---|
//! | a | | (mean - prior mean + sqrt(beta_t) sd)/s0, s0 the square root of the largest k(x,x) |
//! | M | highest | the highest posterior mean at an observed point; the prior mean before the first value |
//! | L | slope | the largest length of the gradient of the mean over the domain |
//! | x_j | centre | a pending or failed point |
//!
//! The score is ln ln(1 + e^a) + sum over j of ln Phi((L ||x - x_j|| - M + mean(x_j))/sd(x_j)): of a function that changes by L
//! per unit at most, a ball around x_j of radius (M - f(x_j))/L has no maximizer. With `base = "gp-ei"` the first term is ln EI.
//! Every mean and sd is given the observed points alone: the penalty stands for the pending ones.
//!
//! Distances are those of the coordinates that the model sees. Where there are none (an empirical covariance), or where the mean
//! has no gradient (Matern kernels up to smoothness 1/2), the kernel's own distance d_k(x, y) = sqrt(k(x,x) - 2 k(x,y) + k(y,y))
//! takes their place and the norm of the mean that of L: |mean(x) - mean(y)| <= ||mean||_k d_k(x, y).

use manyhands_gp::{Acquisition, Family, Kernel, Marginal, Slopes, View};

use super::gp_ei::LogExpectedImprovement;
use super::gp_ucb::{self, squared_width};
use super::{Formulas, RuleState};
use crate::chooser::{PointScore, by_differences};
use crate::compatibility::at_most;
use crate::maximize::lengthscales;
use crate::normal::{inverse_mills, ln_cumulative};
use crate::strategy::BaseRule;
use crate::tuning::MOST_FOR_LOCAL_PENALIZATION;
use crate::{Choice, Result, Strategy};

/// A mean whose L is below this times s0 is flat: nothing was observed, or only equal values.
const FLAT: f64 = 1e-7;

/// L of a flat mean, in units of s0, and where the kernel's own distance is used.
const FLAT_SLOPE: f64 = 10.0;
const FLAT_NORM: f64 = 1.0;

pub(super) struct LocalPenalization;

impl Formulas for LocalPenalization {
    fn multiplier(&self, state: &mut RuleState<'_>) -> Result<f64> {
        match state.strategy().base {
            BaseRule::GpUcb => squared_width(state, state.round()).map(f64::sqrt),
            BaseRule::GpEi => Ok(0.0),
        }
    }

    fn choose(&self, state: &mut RuleState<'_>, multiplier: f64) -> Result<Choice> {
        let view = state.observed_only().view;
        let (metric, slope) = lipschitz(state, view)?;
        let mut score = Penalized {
            view,
            slopes: metric.is_euclidean().then(|| Slopes::new(view)).transpose()?,
            base: base(state, multiplier),
            balls: Balls { metric, slope, balls: balls(state, view)? },
        };
        let choice = state.argmax_by_point(&mut score)?;
        Ok(Choice { multiplier, ..choice })
    }

    fn reads(&self, strategy: &Strategy) -> &'static [&'static str] {
        match strategy.base {
            BaseRule::GpUcb if strategy.beta.is_some() => &["width", "beta", "base"],
            BaseRule::GpUcb => &["delta", "width", "beta", "base"],
            BaseRule::GpEi => &["base"],
        }
    }

    fn check(&self, strategy: &Strategy, candidates: Option<usize>) -> Result<()> {
        at_most(MOST_FOR_LOCAL_PENALIZATION, candidates, strategy.rule)?;
        match strategy.base {
            BaseRule::GpUcb => gp_ucb::check_width(strategy, candidates),
            BaseRule::GpEi => Ok(()),
        }
    }
}

/// The first term of the score.
fn base(state: &RuleState<'_>, multiplier: f64) -> Box<dyn Acquisition> {
    match state.strategy().base {
        BaseRule::GpUcb => {
            let (prior_mean, scale) = (state.prior_mean(), state.largest_prior_sd());
            Box::new(LogPositiveUpper { multiplier, prior_mean, scale })
        }
        BaseRule::GpEi => Box::new(LogExpectedImprovement { target: state.highest_observed_mean() }),
    }
}

/// ln ln(1 + e^a), a = (mean - prior mean + multiplier sd)/scale.
struct LogPositiveUpper {
    multiplier: f64,
    prior_mean: f64,
    scale: f64,
}

impl LogPositiveUpper {
    fn argument(&self, mean: f64, variance: f64) -> f64 {
        (mean - self.prior_mean + self.multiplier * variance.sqrt()) / self.scale
    }
}

impl Acquisition for LogPositiveUpper {
    fn value(&self, mean: f64, variance: f64) -> f64 {
        ln_softplus(self.argument(mean, variance))
    }

    fn slopes(&self, mean: f64, variance: f64) -> (f64, f64) {
        let slope = slope_of_ln_softplus(self.argument(mean, variance)) / self.scale;
        (slope, slope * self.multiplier)
    }

    fn grows_with_variance(&self) -> bool {
        true
    }
}

/// Below this, ln(1 + e^a) is e^a to the last bit.
const TINY: f64 = -37.0;

/// ln(1 + e^a).
fn softplus(a: f64) -> f64 {
    a.max(0.0) + (-a.abs()).exp().ln_1p()
}

/// ln ln(1 + e^a).
fn ln_softplus(a: f64) -> f64 {
    if a < TINY { a } else { softplus(a).ln() }
}

/// Its derivative, 1/((1 + e^-a) ln(1 + e^a)).
fn slope_of_ln_softplus(a: f64) -> f64 {
    if a < TINY { 1.0 } else { 1.0 / ((1.0 + (-a).exp()) * softplus(a)) }
}

/// How far apart points are.
#[derive(Clone, Copy)]
enum Metric<'a> {
    Euclidean,
    OfKernel(&'a Kernel),
}

impl<'a> Metric<'a> {
    fn of(kernel: &'a Kernel) -> Self {
        match kernel.family() {
            Family::Empirical => Self::OfKernel(kernel),
            Family::Matern { smoothness } if smoothness <= 0.5 => Self::OfKernel(kernel),
            _ => Self::Euclidean,
        }
    }

    fn is_euclidean(self) -> bool {
        matches!(self, Self::Euclidean)
    }

    fn distance(self, x: &[f64], y: &[f64]) -> f64 {
        match self {
            Self::Euclidean => x.iter().zip(y).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt(),
            Self::OfKernel(kernel) => {
                let square = kernel.variance_at(x) - 2.0 * kernel.covariance(x, y) + kernel.variance_at(y);
                // Rounding can push the square below zero.
                square.max(0.0).sqrt()
            }
        }
    }
}

/// The metric and L.
fn lipschitz<'a>(state: &mut RuleState<'_>, view: View<'a>) -> Result<(Metric<'a>, f64)> {
    let metric = Metric::of(view.prior().kernel());
    let flat = FLAT * if metric.is_euclidean() { state.largest_prior_sd() } else { 1.0 };
    let slope = match metric {
        Metric::OfKernel(_) => view.mean_norm(),
        Metric::Euclidean if view.observed() == 0 => 0.0,
        Metric::Euclidean => state.highest_by_point(&mut MeanSlope::new(view)?)?,
    };
    let of_flat = if metric.is_euclidean() { FLAT_SLOPE * state.largest_prior_sd() } else { FLAT_NORM };
    Ok((metric, if slope < flat { of_flat } else { slope }))
}

/// The length of the gradient of the mean.
struct MeanSlope<'a> {
    slopes: Slopes<'a>,
    gradient: Vec<f64>,
    lengthscales: Vec<f64>,
}

impl<'a> MeanSlope<'a> {
    fn new(view: View<'a>) -> Result<Self> {
        let dimension = view.posterior().points().dimension();
        let lengthscales = lengthscales(view.prior(), dimension);
        Ok(Self { slopes: Slopes::new(view)?, gradient: vec![0.0; dimension], lengthscales })
    }
}

impl PointScore for MeanSlope<'_> {
    fn value(&mut self, point: &[f64]) -> Result<f64> {
        self.slopes.mean_gradient(point, &mut self.gradient);
        Ok(self.gradient.iter().map(|slope| slope * slope).sum::<f64>().sqrt())
    }

    fn value_and_slopes(&mut self, point: &[f64], along: &[usize], slopes: &mut [f64]) -> Result<f64> {
        let lengthscales = self.lengthscales.clone();
        by_differences(self, (point, along), |j| lengthscales[j], slopes)
    }
}

/// A pending or failed point, and the value that it may have.
struct Ball {
    centre: Vec<f64>,
    /// mean - M.
    above_highest: f64,
    sd: f64,
}

fn balls(state: &RuleState<'_>, view: View<'_>) -> Result<Vec<Ball>> {
    let highest = state.highest_observed_mean();
    let centres = view.posterior().points().iter().skip(view.observed());
    let ball = |centre: &[f64]| {
        let there = view.predict(centre)?;
        Ok(Ball { centre: centre.to_vec(), above_highest: there.mean - highest, sd: there.sd })
    };
    centres.map(ball).collect()
}

/// The balls without a maximizer around all pending and failed points.
struct Balls<'a> {
    metric: Metric<'a>,
    slope: f64,
    balls: Vec<Ball>,
}

impl Balls<'_> {
    /// ln of the probability that a point is outside of all balls: sum of ln Phi(z).
    fn ln_outside(&self, point: &[f64]) -> f64 {
        self.balls.iter().map(|ball| ln_cumulative(self.argument(ball, point).0)).sum()
    }

    /// z = (L r - M + mean)/sd, and r.
    fn argument(&self, ball: &Ball, point: &[f64]) -> (f64, f64) {
        let distance = self.metric.distance(point, &ball.centre);
        let excess = self.slope * distance + ball.above_highest;
        // Of a value that is known the point is outside or not; on the surface of its ball it is outside.
        let z = if ball.sd > 0.0 || excess != 0.0 { excess / ball.sd } else { f64::INFINITY };
        (z, distance)
    }

    /// Adds the gradient of [`Balls::ln_outside`] in coordinates: phi(z)/Phi(z) L (x - x_j)/(r sd). At x_j itself it is taken as 0.
    fn add_gradient(&self, point: &[f64], gradient: &mut [f64]) {
        for ball in &self.balls {
            let (z, distance) = self.argument(ball, point);
            if distance > 0.0 && z.is_finite() {
                let factor = inverse_mills(z) * self.slope / (distance * ball.sd);
                let apart = point.iter().zip(&ball.centre).map(|(x, c)| x - c);
                gradient.iter_mut().zip(apart).for_each(|(g, apart)| *g += factor * apart);
            }
        }
    }
}

/// The score.
struct Penalized<'a> {
    view: View<'a>,
    /// Where the mean has a gradient.
    slopes: Option<Slopes<'a>>,
    base: Box<dyn Acquisition>,
    balls: Balls<'a>,
}

impl Penalized<'_> {
    /// The score at a point with these moments.
    fn score(&self, point: &[f64], there: &Marginal) -> f64 {
        self.base.value(there.mean, there.sd * there.sd) + self.balls.ln_outside(point)
    }
}

impl PointScore for Penalized<'_> {
    fn value(&mut self, point: &[f64]) -> Result<f64> {
        Ok(self.score(point, &self.view.predict(point)?))
    }

    fn values(&mut self, points: &[&[f64]]) -> Result<Vec<f64>> {
        let moments = self.view.predict_all(points.iter().copied())?;
        Ok(points.iter().zip(&moments).map(|(point, there)| self.score(point, there)).collect())
    }

    fn value_and_slopes(&mut self, point: &[f64], along: &[usize], slopes: &mut [f64]) -> Result<f64> {
        let Some(of_moments) = &mut self.slopes else {
            let lengthscales = lengthscales(self.view.prior(), point.len());
            return by_differences(self, (point, along), |j| lengthscales[j], slopes);
        };
        let mut gradient = vec![0.0; point.len()];
        let value = of_moments.value(point, &*self.base, &mut gradient);
        self.balls.add_gradient(point, &mut gradient);
        along.iter().for_each(|&j| slopes[j] = gradient[j]);
        Ok(value + self.balls.ln_outside(point))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use manyhands_gp::{Key, Posterior, Prior};
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;
    use rand_distr::{Distribution, StandardNormal};

    use super::*;

    fn posterior(kernel: Kernel) -> Posterior {
        let mut posterior = Posterior::new(Prior::new(kernel, 0.1, 1e-3).unwrap(), 2).unwrap();
        for (id, (x, y)) in [([0.1, 0.2], 0.3), ([0.7, 0.6], -0.2), ([0.4, 0.9], 0.8)].into_iter().enumerate() {
            posterior.observe(Key { id: id as u64, site: id }, &x, y).unwrap();
        }
        posterior
    }

    fn penalized(view: View<'_>) -> Penalized<'_> {
        let ball = |centre: [f64; 2]| {
            let there = view.predict(&centre).unwrap();
            Ball { centre: centre.to_vec(), above_highest: there.mean - 0.8, sd: there.sd }
        };
        let metric = Metric::of(view.prior().kernel());
        Penalized {
            view,
            slopes: metric.is_euclidean().then(|| Slopes::new(view)).transpose().unwrap(),
            base: Box::new(LogPositiveUpper { multiplier: 2.0, prior_mean: 0.1, scale: 1.0 }),
            balls: Balls { metric, slope: 2.5, balls: vec![ball([0.5, 0.5]), ball([0.9, 0.1])] },
        }
    }

    #[test]
    fn slopes_are_finite_differences() {
        for kernel in
            [Kernel::matern(2.5, &[0.3]), Kernel::squared_exponential(&[0.4, 0.2]), Kernel::matern(0.5, &[0.3])]
        {
            let posterior = posterior(kernel.unwrap());
            let mut score = penalized(posterior.view());
            for point in [[0.45, 0.55], [0.2, 0.3], [0.85, 0.15], [0.0, 1.0]] {
                let mut slopes = [0.0; 2];
                let value = score.value_and_slopes(&point, &[0, 1], &mut slopes).unwrap();
                assert!((value - score.value(&point).unwrap()).abs() < 1e-12);
                for j in 0..2 {
                    let step = 1e-5;
                    let mut at = |shift: f64| {
                        let mut moved = point;
                        moved[j] += shift;
                        score.value(&moved).unwrap()
                    };
                    let quotient = (at(step) - at(-step)) / (2.0 * step);
                    // Third derivatives of some thousands, times step^2, and rounding of 1e-14 over the step.
                    assert!((slopes[j] - quotient).abs() < 1e-6 * quotient.abs().max(1.0), "{slopes:?}, {quotient}");
                }
            }
        }
    }

    #[test]
    fn the_scores_of_many_points_are_those_of_each_bit_for_bit() {
        let posterior = posterior(Kernel::matern(2.5, &[0.3]).unwrap());
        let mut score = penalized(posterior.view());
        let points: Vec<[f64; 2]> = (0..300).map(|i| [f64::from(i) / 300.0, f64::from(i * 7 % 300) / 300.0]).collect();
        let together = score.values(&points.iter().map(|point| &point[..]).collect::<Vec<_>>()).unwrap();
        let each: Vec<f64> = points.iter().map(|point| score.value(point).unwrap()).collect();
        assert_eq!(together, each);
    }

    #[test]
    fn the_penalty_is_the_probability_that_no_ball_holds_the_point() {
        let posterior = posterior(Kernel::matern(2.5, &[0.3]).unwrap());
        let score = penalized(posterior.view());
        let (rng, draws) = (&mut ChaCha8Rng::seed_from_u64(1), 200_000);
        for point in [[0.45, 0.55], [0.2, 0.3], [0.85, 0.15]] {
            let outside = |ball: &Ball, rng: &mut ChaCha8Rng| {
                let normal: f64 = StandardNormal.sample(rng);
                // The radius of the ball is (M - f)/L.
                let radius = -(ball.above_highest + ball.sd * normal) / 2.5;
                Metric::Euclidean.distance(&point, &ball.centre) >= radius
            };
            let count = (0..draws).filter(|_| score.balls.balls.iter().all(|ball| outside(ball, rng))).count();
            let (found, exact) = (count as f64 / f64::from(draws), score.balls.ln_outside(&point).exp());
            // Five standard errors.
            assert!((found - exact).abs() < 5.0 * (0.25 / f64::from(draws)).sqrt(), "{point:?}: {found}, {exact}");
        }
    }

    #[test]
    fn the_penalty_is_that_of_trieste() {
        // `soft_local_penalizer` of Trieste 4.6.1, which minimizes: Lipschitz constant 2.5, eta = 0.5, pending means 0.9, 1.4, 0.55
        // and variances 0.04, 0.25, 0.0009; the logarithms of its values.
        let ball =
            |centre: [f64; 2], mean: f64, sd: f64| Ball { centre: centre.to_vec(), above_highest: 0.5 - mean, sd };
        let balls = vec![ball([0.5, 0.5], 0.9, 0.2), ball([0.9, 0.1], 1.4, 0.5), ball([0.2, 0.3], 0.55, 0.03)];
        let balls = Balls { metric: Metric::Euclidean, slope: 2.5, balls };
        for (point, expected) in [
            ([0.45, 0.55], -2.110_725_310_394_53),
            ([0.2, 0.3], -3.080_471_978_470_104_2),
            ([0.85, 0.15], -2.603_353_174_667_635_3),
            ([0.0, 1.0], -2.509_877_162_585_02e-6),
            ([0.6, 0.3], -0.930_820_459_331_157_5),
            ([0.22, 0.31], -0.601_316_738_019_249_9),
        ] {
            let found = balls.ln_outside(&point);
            // Its values near 1 are rounded to 1e-16.
            assert!((found - expected).abs() < 1e-13 * f64::max(1.0, expected.abs()), "{point:?}: {found}");
        }
    }

    #[test]
    fn the_positive_upper_bound_is_that_of_the_definition_and_does_not_underflow() {
        for a in [-30.0, -3.0, 0.0, 0.5, 20.0f64] {
            assert!((ln_softplus(a) - a.exp().ln_1p().ln()).abs() < 1e-12, "{a}");
            let step = 1e-6;
            let quotient = (ln_softplus(a + step) - ln_softplus(a - step)) / (2.0 * step);
            assert!((slope_of_ln_softplus(a) - quotient).abs() < 1e-8, "{a}");
        }
        assert_eq!((ln_softplus(-1e6), slope_of_ln_softplus(-1e6)), (-1e6, 1.0));
        assert_eq!(ln_softplus(800.0), 800.0f64.ln());
    }

    #[test]
    fn the_kernels_own_distance_bounds_how_the_mean_changes() {
        let posterior = posterior(Kernel::matern(0.5, &[0.3]).unwrap());
        let view = posterior.view();
        let metric = Metric::of(view.prior().kernel());
        assert!(!metric.is_euclidean());
        for (x, y) in [([0.1, 0.2], [0.15, 0.2]), ([0.7, 0.6], [0.0, 0.0]), ([0.4, 0.9], [0.5, 0.5])] {
            let change = (view.predict(&x).unwrap().mean - view.predict(&y).unwrap().mean).abs();
            assert!(change <= view.mean_norm() * metric.distance(&x, &y) + 1e-12);
        }
    }
}
