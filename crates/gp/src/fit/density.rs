//! The log posterior density of a kernel's hyperparameters, with its gradient.
//!
//! | symbol | name | meaning |
//! |---|---|---|
//! | theta | parameters | ln l_g for every group of coordinates, then ln rho |
//! | rho | noise ratio | noise variance over prior variance |
//! | C | correlations | n x n, of the points under the lengthscales |
//! | K | | C + rho I |
//! | m, s^2 | mean, variance | profiled: where the density is highest given theta, in closed form |
//! | a | alpha | K^{-1} (z - m) |
//! | Q | quadratic | (z - m)' K^{-1} (z - m) + m^2/t^2, with t the prior spread of the mean in units of s |
//!
//! With an inverse-gamma prior of shape a/2 and scale b/2 on s^2 the density is, up to constants,
//! -(n + a)/2 ln s^2 - 1/2 ln det K + ln p(theta), at s^2 = (Q + b)/(n + a) and m = 1'K^{-1}z/(1'K^{-1}1 + 1/t^2).
//! By the envelope theorem its gradient is 1/2 tr((a a'/s^2 - K^{-1}) dK) + d ln p.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt;
use faer::{Mat, Par};
use pulp::{Arch, Simd, WithSimd};

use super::Priors;
use crate::{Kernel, Points, Result};

/// Hyperparameters with the closed-form ones filled in.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Profiled {
    pub mean: f64,
    pub variance: f64,
    pub density: f64,
}

/// The data that a density looks at, and its workspace.
pub(crate) struct Density<'a> {
    /// A kernel of the family, of variance 1; its lengthscales do not matter.
    family: &'a Kernel,
    /// For every coordinate, which lengthscale it has.
    groups: &'a [usize],
    priors: &'a Priors,
    values: &'a [f64],
    /// Coordinate by coordinate.
    coordinates: Vec<Vec<f64>>,
    scaled: Vec<Vec<f64>>,
    gram: Mat<f64>,
    ratios: Mat<f64>,
    inverse: Mat<f64>,
}

impl<'a> Density<'a> {
    pub fn new(
        family: &'a Kernel,
        groups: &'a [usize],
        priors: &'a Priors,
        (points, values): (&Points, &'a [f64]),
    ) -> Self {
        let n = values.len();
        let coordinate = |c: usize| points.iter().take(n).map(|x| x[c]).collect();
        let coordinates: Vec<Vec<f64>> = (0..points.dimension()).map(coordinate).collect();
        let zeros = || Mat::zeros(n, n);
        let scaled = coordinates.clone();
        Self { family, groups, priors, values, coordinates, scaled, gram: zeros(), ratios: zeros(), inverse: zeros() }
    }

    /// The density at `theta`; none where K is not numerically positive definite.
    pub fn value(&mut self, theta: &[f64]) -> Result<Option<Profiled>> {
        Ok(self.solve(theta)?.map(|solved| solved.profiled))
    }

    /// The density at `theta`, and its gradient; minus infinity where K is not numerically positive definite.
    pub fn value_and_gradient(&mut self, theta: &[f64], gradient: &mut [f64]) -> Result<f64> {
        let Some(Solved { alpha, profiled }) = self.solve(theta)? else {
            gradient.fill(0.0);
            return Ok(f64::NEG_INFINITY);
        };
        let (n, groups) = (self.values.len(), theta.len() - 1);
        let mut memory = MemBuffer::new(llt::inverse::inverse_scratch::<f64>(n, Par::Seq));
        let stack = MemStack::new(&mut memory);
        llt::inverse::inverse(self.inverse.as_mut(), self.gram.as_ref(), Par::Seq, stack);
        gradient.fill(0.0);
        let mut weights = vec![0.0; n];
        for j in 0..n {
            let weights = &mut weights[j + 1..];
            let (inverse, ratios) = (&self.inverse.col_as_slice(j)[j + 1..], &self.ratios.col_as_slice(j)[j + 1..]);
            let own = alpha[j] / profiled.variance;
            for (i, weight) in weights.iter_mut().enumerate() {
                *weight = (inverse[i] - own * alpha[j + 1 + i]) * ratios[i];
            }
            for (scaled, &group) in self.scaled.iter().zip(self.groups) {
                gradient[group] += weighted_squares(scaled[j], &scaled[j + 1..], weights);
            }
        }
        let rho = theta[groups].exp();
        let trace: f64 = (0..n).map(|i| self.inverse[(i, i)]).sum();
        let fitted: f64 = alpha.iter().map(|a| a * a).sum();
        gradient[groups] = 0.5 * rho * (fitted / profiled.variance - trace);
        self.priors.add_gradient(theta, gradient);
        Ok(profiled.density)
    }

    fn solve(&mut self, theta: &[f64]) -> Result<Option<Solved>> {
        let n = self.values.len();
        self.fill(theta)?;
        let mut memory = MemBuffer::new(llt::factor::cholesky_in_place_scratch::<f64>(n, Par::Seq, Default::default()));
        let stack = MemStack::new(&mut memory);
        let factored =
            llt::factor::cholesky_in_place(self.gram.as_mut(), Default::default(), Par::Seq, stack, Default::default());
        if factored.is_err() {
            return Ok(None);
        }
        let log_det: f64 = 2.0 * (0..n).map(|i| self.gram[(i, i)].ln()).sum::<f64>();
        let mut sides = Mat::from_fn(n, 2, |i, j| if j == 0 { self.values[i] } else { 1.0 });
        llt::solve::solve_in_place(self.gram.as_ref(), sides.as_mut(), Par::Seq, MemStack::new(&mut []));
        let (solved, ones) = (sides.col_as_slice(0), sides.col_as_slice(1));
        let tight = self.priors.mean_spread.powi(-2);
        let mean = solved.iter().sum::<f64>() / (ones.iter().sum::<f64>() + tight);
        let alpha: Vec<f64> = solved.iter().zip(ones).map(|(z, one)| z - mean * one).collect();
        let residual = |(a, z): (&f64, &f64)| a * (z - mean);
        let quadratic = alpha.iter().zip(self.values).map(residual).sum::<f64>() + mean * mean * tight;
        let (shape, scale) = self.priors.variance;
        let weight = n as f64 + shape;
        let variance = (quadratic.max(0.0) + scale) / weight;
        let density = -0.5 * (weight * variance.ln() + log_det) + self.priors.log_density(theta);
        let found = density.is_finite().then_some(Profiled { mean, variance, density });
        Ok(found.map(|profiled| Solved { alpha, profiled }))
    }

    /// K in the lower triangle of `gram`, k'(r)/r in that of `ratios`.
    fn fill(&mut self, theta: &[f64]) -> Result<()> {
        let (n, rho) = (self.values.len(), theta[theta.len() - 1].exp());
        for ((scaled, plain), &group) in self.scaled.iter_mut().zip(&self.coordinates).zip(self.groups) {
            let scale = (-theta[group]).exp();
            scaled.iter_mut().zip(plain).for_each(|(s, x)| *s = x * scale);
        }
        for j in 0..n {
            let ratios = &mut self.ratios.col_as_slice_mut(j)[j..];
            ratios.fill(0.0);
            for scaled in &self.scaled {
                add_squares(scaled[j], &scaled[j..], ratios);
            }
            let column = &mut self.gram.col_as_slice_mut(j)[j..];
            self.family.correlate_with_ratios(ratios, column)?;
            column[0] += rho;
        }
        Ok(())
    }
}

struct Solved {
    alpha: Vec<f64>,
    profiled: Profiled,
}

/// Adds (x - y_i)^2 to every total.
fn add_squares(x: f64, ys: &[f64], totals: &mut [f64]) {
    struct Add<'a>(f64, &'a [f64], &'a mut [f64]);
    impl WithSimd for Add<'_> {
        type Output = ();

        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) {
            for (total, y) in self.2.iter_mut().zip(self.1) {
                *total += (self.0 - y) * (self.0 - y);
            }
        }
    }
    Arch::new().dispatch(Add(x, ys, totals));
}

/// sum_i w_i (x - y_i)^2, in eight lanes.
fn weighted_squares(x: f64, ys: &[f64], weights: &[f64]) -> f64 {
    struct Sum<'a>(f64, &'a [f64], &'a [f64]);
    impl WithSimd for Sum<'_> {
        type Output = f64;

        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) -> f64 {
            let Self(x, ys, weights) = self;
            let ((ys, rest), (weights, rest_weights)) = (ys.as_chunks::<8>(), weights.as_chunks::<8>());
            let mut lanes = [0.0; 8];
            for (y, w) in ys.iter().zip(weights) {
                for l in 0..8 {
                    lanes[l] += w[l] * ((x - y[l]) * (x - y[l]));
                }
            }
            let tail: f64 = rest.iter().zip(rest_weights).map(|(y, w)| w * ((x - y) * (x - y))).sum();
            lanes.iter().sum::<f64>() + tail
        }
    }
    Arch::new().dispatch(Sum(x, ys, weights))
}
