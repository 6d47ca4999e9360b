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

use super::Priors;
use crate::kernel::Ratios;
use crate::{Kernel, Points, Result, vector};

/// Hyperparameters with the closed-form ones filled in.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Profiled {
    pub mean: f64,
    pub variance: f64,
    pub density: f64,
}

/// The data that a density looks at, and its workspace: evaluations allocate nothing.
pub(crate) struct Density<'a> {
    correlation: Ratios,
    /// For every coordinate, which lengthscale it has.
    groups: &'a [usize],
    priors: &'a Priors,
    values: &'a [f64],
    /// Coordinate by coordinate.
    coordinates: Vec<Vec<f64>>,
    work: Work,
}

/// Of the matrices only the lower triangles count.
struct Work {
    /// K, then its Cholesky factor.
    gram: Mat<f64>,
    /// k'(r)/r.
    ratios: Mat<f64>,
    inverse: Mat<f64>,
    /// K^{-1} z and K^{-1} 1, as columns.
    sides: Mat<f64>,
    alpha: Vec<f64>,
    weights: Vec<f64>,
    memory: MemBuffer,
}

impl Work {
    fn new(n: usize) -> Self {
        let factoring = llt::factor::cholesky_in_place_scratch::<f64>(n, Par::Seq, Default::default());
        let memory = MemBuffer::new(factoring.or(llt::inverse::inverse_scratch::<f64>(n, Par::Seq)));
        let (square, list) = (|| Mat::zeros(n, n), || vec![0.0; n]);
        let sides = Mat::zeros(n, 2);
        Self { gram: square(), ratios: square(), inverse: square(), sides, alpha: list(), weights: list(), memory }
    }
}

impl<'a> Density<'a> {
    /// The density of the values at the first points; refused for kernels that are no function of the distance.
    pub fn new(
        family: &Kernel,
        groups: &'a [usize],
        priors: &'a Priors,
        (points, values): (&Points, &'a [f64]),
    ) -> Result<Self> {
        let coordinates = (0..points.dimension()).map(|j| points.coordinate(j, values.len())).collect();
        let (correlation, work) = (family.ratios()?.correlation(), Work::new(values.len()));
        Ok(Self { correlation, groups, priors, values, coordinates, work })
    }

    /// The density at `theta`; none where K is not numerically positive definite.
    pub fn value(&mut self, theta: &[f64]) -> Option<Profiled> {
        self.fill(theta);
        let n = self.values.len();
        let Work { gram, memory, .. } = &mut self.work;
        let (regularization, spec) = Default::default();
        let stack = MemStack::new(memory);
        llt::factor::cholesky_in_place(gram.as_mut(), regularization, Par::Seq, stack, spec).ok()?;
        let log_det: f64 = 2.0 * (0..n).map(|i| gram[(i, i)].ln()).sum::<f64>();
        let (mean, quadratic) = self.profile_mean();
        let (shape, scale) = self.priors.variance;
        let weight = n as f64 + shape;
        let variance = (quadratic.max(0.0) + scale) / weight;
        let density = -0.5 * (weight * variance.ln() + log_det) + self.priors.log_density(theta);
        density.is_finite().then_some(Profiled { mean, variance, density })
    }

    /// The density at `theta`, and its gradient; minus infinity where K is not numerically positive definite.
    pub fn value_and_gradient(&mut self, theta: &[f64], gradient: &mut [f64]) -> f64 {
        gradient.fill(0.0);
        let Some(Profiled { variance, density, .. }) = self.value(theta) else { return f64::NEG_INFINITY };
        let (n, last) = (self.values.len(), theta.len() - 1);
        let Work { gram, ratios, inverse, alpha, weights, memory, .. } = &mut self.work;
        llt::inverse::inverse(inverse.as_mut(), gram.as_ref(), Par::Seq, MemStack::new(memory));
        for j in 0..n {
            let weights = &mut weights[j + 1..];
            let (inverse, ratios) = (&inverse.col_as_slice(j)[j + 1..], &ratios.col_as_slice(j)[j + 1..]);
            let (own, others) = (alpha[j] / variance, &alpha[j + 1..]);
            for (i, weight) in weights.iter_mut().enumerate() {
                *weight = (inverse[i] - own * others[i]) * ratios[i];
            }
            for (xs, &group) in self.coordinates.iter().zip(self.groups) {
                gradient[group] += vector::weighted_squares(xs[j], &xs[j + 1..], weights);
            }
        }
        gradient[..last].iter_mut().zip(theta).for_each(|(slope, t)| *slope *= (-2.0 * t).exp());
        let trace: f64 = (0..n).map(|i| inverse[(i, i)]).sum();
        gradient[last] = 0.5 * theta[last].exp() * (vector::squares(alpha) / variance - trace);
        self.priors.add_gradient(theta, gradient);
        density
    }

    /// m and Q, and alpha on the way.
    fn profile_mean(&mut self) -> (f64, f64) {
        let Work { gram, sides, alpha, .. } = &mut self.work;
        sides.col_as_slice_mut(0).copy_from_slice(self.values);
        sides.col_as_slice_mut(1).fill(1.0);
        llt::solve::solve_in_place(gram.as_ref(), sides.as_mut(), Par::Seq, MemStack::new(&mut []));
        let (solved, ones) = (sides.col_as_slice(0), sides.col_as_slice(1));
        let tight = self.priors.mean_spread.powi(-2);
        let mean = solved.iter().sum::<f64>() / (ones.iter().sum::<f64>() + tight);
        let mut quadratic = mean * mean * tight;
        for i in 0..alpha.len() {
            alpha[i] = solved[i] - mean * ones[i];
            quadratic += alpha[i] * (self.values[i] - mean);
        }
        (mean, quadratic)
    }

    /// K in the lower triangle of `gram`, k'(r)/r in that of `ratios`.
    fn fill(&mut self, theta: &[f64]) {
        let rho = theta[theta.len() - 1].exp();
        for j in 0..self.values.len() {
            let ratios = &mut self.work.ratios.col_as_slice_mut(j)[j..];
            ratios.fill(0.0);
            for (xs, &group) in self.coordinates.iter().zip(self.groups) {
                vector::add_squared_differences(xs[j], (-theta[group]).exp(), &xs[j..], ratios);
            }
            let column = &mut self.work.gram.col_as_slice_mut(j)[j..];
            self.correlation.apply(ratios, column);
            column[0] += rho;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elimination::{dot, solve};

    fn points(n: usize, dimension: usize) -> Points {
        let x = |i: usize| (i as f64 * 0.754_877_666_246_7 + (i * i) as f64 * 0.569_840_290_998).fract();
        Points::from_flat(dimension, (0..n * dimension).map(x).collect()).unwrap()
    }

    fn values(n: usize) -> Vec<f64> {
        (0..n).map(|i| (i as f64 * 1.3).sin() + 0.3 * (i as f64 * 7.7).cos()).collect()
    }

    fn families() -> Vec<Kernel> {
        let matern = |nu| Kernel::matern(nu, &[1.0]).unwrap();
        let all =
            vec![Kernel::squared_exponential(&[1.0]).unwrap(), matern(1.5), matern(2.5), matern(0.5), matern(1.8)];
        all.into_iter().map(|k| k.with_variance(3.0).unwrap()).collect()
    }

    /// Independent coordinates, and coordinates that share lengthscales.
    const GROUPS: [&[usize]; 2] = [&[0, 1, 2], &[1, 0, 1]];

    /// The density by elimination, with K formed from the kernel's own covariances.
    fn brute(kernel: &Kernel, rho: f64, priors: &Priors, (points, values): (&Points, &[f64])) -> (f64, f64, f64) {
        let n = values.len();
        let entry =
            |i: usize, j: usize| kernel.covariance(points.get(i), points.get(j)) + if i == j { rho } else { 0.0 };
        let gram: Vec<Vec<f64>> = (0..n).map(|i| (0..n).map(|j| entry(i, j)).collect()).collect();
        let (solved, log_det) = solve(gram, vec![values.to_vec(), vec![1.0; n]]);
        let tight = priors.mean_spread.powi(-2);
        let mean = solved[0].iter().sum::<f64>() / (solved[1].iter().sum::<f64>() + tight);
        let centred: Vec<f64> = values.iter().map(|z| z - mean).collect();
        let alpha: Vec<f64> = solved[0].iter().zip(&solved[1]).map(|(z, one)| z - mean * one).collect();
        let (shape, scale) = priors.variance;
        let variance = (dot(&centred, &alpha) + mean * mean * tight + scale) / (n as f64 + shape);
        (mean, variance, -0.5 * ((n as f64 + shape) * variance.ln() + log_det))
    }

    #[test]
    fn the_density_equals_elimination() {
        for family in families() {
            for (n, groups) in [1, 2, 30].into_iter().flat_map(|n| GROUPS.map(|groups| (n, groups))) {
                let (points, values) = (points(n, 3), values(n));
                let priors = Priors::for_parameters(2);
                let count = groups.iter().max().unwrap() + 1;
                let theta: Vec<f64> = (0..=count).map(|i| -0.4 - 0.5 * i as f64).collect();
                let each: Vec<f64> = groups.iter().map(|&g| theta[g].exp()).collect();
                let kernel = family.with_lengthscales(&each).unwrap().with_variance(1.0).unwrap();
                let (mean, variance, likelihood) = brute(&kernel, theta[count].exp(), &priors, (&points, &values));
                let found = Density::new(&family, groups, &priors, (&points, &values)).unwrap().value(&theta).unwrap();
                let log_prior = |i: usize, (median, sd): (f64, f64)| -0.5 * ((theta[i] - median.ln()) / sd).powi(2);
                let scales: f64 = (0..count).map(|g| log_prior(g, priors.lengthscale)).sum();
                let expected = likelihood + scales + log_prior(count, priors.noise_ratio);
                // Two backward stable solves, with a condition number of at most n/rho.
                let tolerance = 64.0 * (n * n) as f64 * f64::EPSILON * n as f64 / theta[count].exp();
                assert!((found.density - expected).abs() <= tolerance, "{} {expected}", found.density);
                assert!((found.mean - mean).abs() <= tolerance && (found.variance - variance).abs() <= tolerance);
            }
        }
    }

    #[test]
    fn the_gradient_agrees_with_central_differences() {
        for family in families() {
            for (n, groups) in [1, 2, 30].into_iter().flat_map(|n| GROUPS.map(|groups| (n, groups))) {
                let (points, values) = (points(n, 3), values(n));
                let priors = Priors::for_parameters(2);
                let mut density = Density::new(&family, groups, &priors, (&points, &values)).unwrap();
                let count = groups.iter().max().unwrap() + 1;
                for ratio in [-6.0, -2.0, 1.0] {
                    let mut theta: Vec<f64> = (0..count).map(|i| -0.4 - 0.5 * i as f64).collect();
                    theta.push(ratio);
                    let mut gradient = vec![0.0; theta.len()];
                    let value = density.value_and_gradient(&theta, &mut gradient);
                    assert_eq!(Some(value), density.value(&theta).map(|p| p.density));
                    for i in 0..theta.len() {
                        // The error of central differences is h^2/6 times the third derivative, of the size of n.
                        let h = 1e-4;
                        let mut at = |t: f64| {
                            let mut moved = theta.clone();
                            moved[i] += t;
                            density.value(&moved).unwrap().density
                        };
                        let difference = (at(h) - at(-h)) / (2.0 * h);
                        let tolerance = 10.0 * h * h * (n as f64 + gradient[i].abs());
                        assert!((gradient[i] - difference).abs() <= tolerance, "{} {difference}", gradient[i]);
                    }
                }
            }
        }
    }

    #[test]
    fn kernels_without_lengthscales_along_a_distance_are_refused() {
        let (points, priors) = (points(2, 1), Priors::for_parameters(1));
        let linear = Kernel::linear(&[1.0]).unwrap();
        assert!(Density::new(&linear, &[0], &priors, (&points, &[1.0, 2.0])).is_err());
    }
}
