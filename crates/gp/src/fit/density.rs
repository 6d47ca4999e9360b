//! The log posterior density of a kernel's hyperparameters, with its gradient.
//!
//! | symbol | name | meaning |
//! |---|---|---|
//! | theta | parameters | ln l_g for every group of coordinates, then ln rho |
//! | rho | noise ratio | noise variance over prior variance |
//! | C | correlations | n x n, of the points under the lengthscales |
//! | K | | C + rho I |
//! | m, s^2 | mean, variance | given, or profiled: where the density is highest given theta, in closed form |
//! | a | alpha | K^{-1} (z - m) |
//! | Q | quadratic | (z - m)' K^{-1} (z - m) + m^2/t^2, t the mean's prior spread in units of s; no m^2/t^2 if m is given |
//! | w | weight | n + a, with an inverse-gamma prior of shape a/2 and scale b/2 on s^2 |
//! | u | surplus | (Q + b)/s^2 - w: 0 where s^2 is profiled |
//!
//! The density is, up to constants, -1/2 (w ln s^2 + u + ln det K) + ln p(theta), and its gradient
//! 1/2 tr((a a'/s^2 - K^{-1}) dK) + d ln p + u/2 d ln s^2. Where m is not given, m = 1'K^{-1}z/(1'K^{-1}1 + 1/t^2), and by
//! the envelope theorem its own change does not contribute.
//!
//! | given | s^2 | d ln s^2 |
//! |---|---|---|
//! | neither noise nor variance | (Q + b)/w, profiled | does not count, as u = 0 |
//! | the variance | as given | 0 |
//! | the noise | noise/rho | -d ln rho |
//! | both | as given, and so is rho: theta's last entry does not move | 0 |
//!
//! What is given has no prior. Given noise may be too little for K to be factored: then K has the least ratio that learned
//! noise may have, while s^2 is noise/rho all the same.

use faer::Mat;
use faer::dyn_stack::MemBuffer;

use super::{Fit, Given, Priors};
use crate::kernel::Differences;
use crate::{Points, Result, dense, vector};

/// Hyperparameters with the closed-form ones filled in.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Profiled {
    pub mean: f64,
    pub variance: f64,
    pub density: f64,
    /// u.
    pub surplus: f64,
    /// The inverse of the mean's posterior variance, in units of 1/s^2; infinite where the mean is given.
    pub mean_precision: f64,
}

/// The data of a density, and its workspace: evaluations allocate nothing.
pub(crate) struct Density<'a> {
    differences: Differences,
    /// For every coordinate, which lengthscale it has.
    groups: &'a [usize],
    priors: Priors,
    given: &'a Given,
    values: &'a [f64],
    /// Coordinate by coordinate.
    coordinates: Vec<Vec<f64>>,
    work: Workspace,
}

/// Of the matrices only the lower triangles count.
struct Workspace {
    /// K, then its Cholesky factor.
    gram: Mat<f64>,
    inverse: Mat<f64>,
    /// K^{-1} z and K^{-1} 1, as columns.
    sides: Mat<f64>,
    alpha: Vec<f64>,
    weights: Vec<f64>,
    /// Covariances that are there already.
    unused: Vec<f64>,
    memory: MemBuffer,
}

impl Workspace {
    fn new(n: usize) -> Self {
        let (square, list) = (|| Mat::zeros(n, n), || vec![0.0; n]);
        let sides = Mat::zeros(n, 2);
        Self {
            gram: square(),
            inverse: square(),
            sides,
            alpha: list(),
            weights: list(),
            unused: list(),
            memory: dense::inverse_memory(n),
        }
    }
}

impl<'a> Density<'a> {
    /// The density of the values at the first points; refused for kernels that are no function of the distance.
    pub fn new(fit: &'a Fit<'_>, points: &Points, values: &'a [f64]) -> Result<Self> {
        let coordinates = (0..points.dimension()).map(|j| points.coordinate(j, values.len())).collect();
        let (differences, work) =
            (fit.family.differences(values.len())?.of_correlation(), Workspace::new(values.len()));
        let (groups, priors, given) = (fit.groups, fit.priors.without_given(&fit.given), &fit.given);
        Ok(Self { differences, groups, priors, given, values, coordinates, work })
    }

    /// The density at `theta`; none where K is not numerically positive definite.
    pub fn value(&mut self, theta: &[f64]) -> Option<Profiled> {
        self.fill(theta);
        let n = self.values.len();
        let Workspace { gram, .. } = &mut self.work;
        dense::cholesky(gram.as_mut())?;
        let log_det: f64 = 2.0 * (0..n).map(|i| gram[(i, i)].ln()).sum::<f64>();
        let (mean, quadratic, mean_precision) = self.solve_mean();
        let (shape, scale) = self.priors.variance;
        let weight = n as f64 + shape;
        let profiled = (quadratic.max(0.0) + scale) / weight;
        let variance = self.variance(theta, profiled);
        // Exactly 0 where the variance is profiled.
        let surplus = weight * (profiled / variance - 1.0);
        let density = -0.5 * (weight * variance.ln() + surplus + log_det) + self.priors.log_density(theta);
        density.is_finite().then_some(Profiled { mean, variance, density, surplus, mean_precision })
    }

    /// The density at `theta`, and its gradient; minus infinity where K is not numerically positive definite.
    pub fn value_and_gradient(&mut self, theta: &[f64], gradient: &mut [f64]) -> f64 {
        gradient.fill(0.0);
        let Some(Profiled { variance, density, surplus, .. }) = self.value(theta) else { return f64::NEG_INFINITY };
        let (n, last) = (self.values.len(), theta.len() - 1);
        let ratio_slope = self.ratio_slope(theta);
        let Workspace { gram, inverse, alpha, weights, unused, memory, .. } = &mut self.work;
        dense::inverse_by_cholesky(inverse.as_mut(), gram.as_ref(), memory);
        for j in 0..n {
            let (weights, rows) = (&mut weights[j + 1..], n - j - 1);
            let inverse = &inverse.col_as_slice(j)[j + 1..];
            let (own, others) = (alpha[j] / variance, &alpha[j + 1..]);
            // Once more: one column of ratios for each parameter, instead of a matrix each.
            self.differences.restart(rows);
            for (c, (xs, &group)) in self.coordinates.iter().zip(self.groups).enumerate() {
                self.differences.add(c, xs[j], (-theta[group]).exp(), &xs[j + 1..]);
            }
            self.differences.evaluate(&mut unused[..rows]);
            for block in 0..self.differences.blocks() {
                let ratios = self.differences.ratios(block);
                for (i, weight) in weights.iter_mut().enumerate() {
                    *weight = (inverse[i] - own * others[i]) * ratios[i];
                }
                for (c, (xs, &group)) in self.coordinates.iter().zip(self.groups).enumerate() {
                    if self.differences.block(c) == block {
                        gradient[group] += vector::weighted_squares(xs[j], &xs[j + 1..], weights);
                    }
                }
            }
        }
        gradient[..last].iter_mut().zip(theta).for_each(|(slope, t)| *slope *= (-2.0 * t).exp());
        let trace: f64 = (0..n).map(|i| inverse[(i, i)]).sum();
        gradient[last] = 0.5 * ratio_slope * (vector::squares(alpha) / variance - trace);
        if self.given.noise.is_some() && self.given.variance.is_none() {
            gradient[last] -= 0.5 * surplus;
        }
        self.priors.add_gradient(theta, gradient);
        density
    }

    /// s^2, where this is the profiled one.
    pub fn variance(&self, theta: &[f64], profiled: f64) -> f64 {
        match (self.given.noise, self.given.variance) {
            (_, Some(variance)) => variance,
            (Some(noise), None) => noise * (-theta[theta.len() - 1]).exp(),
            (None, None) => profiled,
        }
    }

    /// The ratio of noise that K has.
    fn ratio(&self, theta: &[f64]) -> f64 {
        let rho = theta[theta.len() - 1].exp();
        if self.given.noise.is_some() { rho.max(self.priors.noise_range.0) } else { rho }
    }

    /// The derivative of [`Density::ratio`] along ln rho.
    fn ratio_slope(&self, theta: &[f64]) -> f64 {
        let (rho, ratio) = (theta[theta.len() - 1].exp(), self.ratio(theta));
        if ratio > rho { 0.0 } else { ratio }
    }

    /// m, Q and the precision of m, and alpha on the way.
    fn solve_mean(&mut self) -> (f64, f64, f64) {
        let Workspace { gram, sides, alpha, .. } = &mut self.work;
        sides.col_as_slice_mut(0).copy_from_slice(self.values);
        sides.col_as_slice_mut(1).fill(1.0);
        dense::solve_by_cholesky(gram.as_ref(), sides.as_mut());
        let (solved, ones) = (sides.col_as_slice(0), sides.col_as_slice(1));
        let tight = self.priors.mean_spread.powi(-2);
        let precision = ones.iter().sum::<f64>() + tight;
        let (mean, tight, precision) = match self.given.mean {
            Some(mean) => (mean, 0.0, f64::INFINITY),
            None => (solved.iter().sum::<f64>() / precision, tight, precision),
        };
        let mut quadratic = mean * mean * tight;
        for i in 0..alpha.len() {
            alpha[i] = solved[i] - mean * ones[i];
            quadratic += alpha[i] * (self.values[i] - mean);
        }
        (mean, quadratic, precision)
    }

    /// K in the lower triangle of `gram`.
    fn fill(&mut self, theta: &[f64]) {
        let (ratio, n) = (self.ratio(theta), self.values.len());
        for j in 0..n {
            self.differences.restart(n - j);
            for (c, (xs, &group)) in self.coordinates.iter().zip(self.groups).enumerate() {
                self.differences.add(c, xs[j], (-theta[group]).exp(), &xs[j..]);
            }
            let column = &mut self.work.gram.col_as_slice_mut(j)[j..];
            self.differences.evaluate(column);
            column[0] += ratio;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kernel;
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

    /// All that can be given of noise, variance and mean.
    fn all_given() -> Vec<Given> {
        let bit = |mask: usize, bit: usize, value: f64| (mask >> bit & 1 == 1).then_some(value);
        let given = |mask| Given {
            lengthscales: None,
            noise: bit(mask, 0, 0.3),
            variance: bit(mask, 1, 1.7),
            mean: bit(mask, 2, -0.4),
        };
        (0..8).map(given).collect()
    }

    /// Every case: family, groups, how many values, what is given; lengthscales too, which theta then has all the same.
    fn each_case(mut check: impl FnMut(&Fit, usize)) {
        let additive =
            |(family, groups): (&Kernel, &[usize])| (family.partly_additive(groups).unwrap(), groups.to_vec());
        let joint = families()
            .iter()
            .flat_map(|family| GROUPS.map(|groups| (family.clone(), groups.to_vec())))
            .collect::<Vec<_>>();
        let sums: Vec<_> = joint.iter().map(|(family, groups)| additive((family, groups))).collect();
        for (family, groups) in joint.iter().chain(&sums) {
            let count = groups.iter().max().unwrap() + 1;
            for (given, n) in all_given().iter().flat_map(|given| [1, 2, 30].map(|n| (given, n))) {
                for lengthscales in [None, Some(vec![0.5; count])] {
                    let given = Given { lengthscales, ..given.clone() };
                    let priors = Priors::default().stretched(2);
                    check(&Fit { family, groups, priors, given, evaluations: 1 }, n);
                }
            }
        }
    }

    fn theta(fit: &Fit, ratio: f64) -> Vec<f64> {
        let count = fit.groups.iter().max().unwrap() + 1;
        (0..count).map(|i| -0.4 - 0.5 * i as f64).chain([ratio]).collect()
    }

    /// K from the kernel's own covariances.
    fn gram(fit: &Fit, theta: &[f64], points: &Points, n: usize) -> Vec<Vec<f64>> {
        let each: Vec<f64> = fit.groups.iter().map(|&g| theta[g].exp()).collect();
        let kernel = fit.family.with_lengthscales(&each).unwrap().with_variance(1.0).unwrap();
        let noise = |i, j| if i == j { theta[theta.len() - 1].exp() } else { 0.0 };
        let entry = |i, j| kernel.covariance(points.get(i), points.get(j)) + noise(i, j);
        (0..n).map(|i| (0..n).map(|j| entry(i, j)).collect()).collect()
    }

    /// The density of everything by elimination, with the mean and the variance of `at`.
    fn brute(fit: &Fit, theta: &[f64], at: &Profiled, (points, values): (&Points, &[f64])) -> f64 {
        let (n, variance) = (values.len(), at.variance);
        let centred: Vec<f64> = values.iter().map(|z| z - at.mean).collect();
        let (solved, log_det) = solve(gram(fit, theta, points, n), vec![centred.clone()]);
        let likelihood = -0.5 * (n as f64 * variance.ln() + log_det + dot(&centred, &solved[0]) / variance);
        let (shape, scale) = fit.priors.variance;
        let inverse_gamma = -0.5 * (shape * variance.ln() + scale / variance);
        let normal = |x: f64, sd: f64, given: bool| if given { 0.0 } else { -0.5 * (x / sd).powi(2) };
        let log_prior = |i: usize, (median, sd): (f64, f64), given| normal(theta[i] - median.ln(), sd, given);
        let (count, priors, given) = (theta.len() - 1, &fit.priors, &fit.given);
        let scales: f64 = (0..count).map(|g| log_prior(g, priors.lengthscale, given.lengthscales.is_some())).sum();
        let noise = log_prior(count, priors.noise_ratio, given.noise.is_some());
        let mean = normal(at.mean, priors.mean_spread * variance.sqrt(), given.mean.is_some());
        likelihood + inverse_gamma + scales + noise + mean + 0.5 * (n as f64 + shape)
    }

    #[test]
    fn the_density_equals_elimination_and_what_is_profiled_is_where_it_is_highest() {
        each_case(|fit, n| {
            let (points, values, theta) = (points(n, 3), values(n), theta(fit, -1.9));
            let found = Density::new(fit, &points, &values).unwrap().value(&theta).unwrap();
            let at = |mean: f64, variance: f64| {
                let moved = Profiled { mean: found.mean + mean, variance: found.variance * variance, ..found };
                brute(fit, &theta, &moved, (&points, &values))
            };
            let expected = at(0.0, 1.0);
            // Two backward stable solves, with a condition number of at most n/rho.
            let tolerance = 64.0 * (n * n) as f64 * f64::EPSILON * n as f64 / 0.1 * (1.0 + expected.abs());
            assert!((found.density - expected).abs() <= tolerance, "{} {expected} {fit:?}", found.density);
            let Given { noise, variance, mean, .. } = &fit.given;
            match (noise, variance) {
                (_, Some(variance)) => assert_eq!(found.variance, *variance),
                (Some(noise), None) => assert!((found.variance - noise * 1.9f64.exp()).abs() < 1e-14 * found.variance),
                (None, None) => assert!(at(0.0, 1.01) < expected && at(0.0, 0.99) < expected, "{fit:?}"),
            }
            match mean {
                Some(mean) => assert_eq!(found.mean, *mean),
                None => assert!(at(0.01, 1.0) < expected && at(-0.01, 1.0) < expected, "{fit:?}"),
            }
        });
    }

    #[test]
    fn the_closed_forms_of_mean_and_variance_equal_elimination() {
        each_case(|fit, n| {
            let (points, values, theta) = (points(n, 3), values(n), theta(fit, -1.9));
            let found = Density::new(fit, &points, &values).unwrap().value(&theta).unwrap();
            let (solved, _) = solve(gram(fit, &theta, &points, n), vec![values.clone(), vec![1.0; n]]);
            let tight = if fit.given.mean.is_some() { 0.0 } else { fit.priors.mean_spread.powi(-2) };
            let profiled = solved[0].iter().sum::<f64>() / (solved[1].iter().sum::<f64>() + tight);
            let mean = fit.given.mean.unwrap_or(profiled);
            let centred: Vec<f64> = values.iter().map(|z| z - mean).collect();
            let alpha: Vec<f64> = solved[0].iter().zip(&solved[1]).map(|(z, one)| z - mean * one).collect();
            let (shape, scale) = fit.priors.variance;
            let variance = (dot(&centred, &alpha) + mean * mean * tight + scale) / (n as f64 + shape);
            // As for the density.
            let tolerance = 64.0 * (n * n) as f64 * f64::EPSILON * n as f64 / 0.1;
            assert!((found.mean - mean).abs() <= tolerance, "{} {mean} {fit:?}", found.mean);
            let is_profiled = fit.given.noise.is_none() && fit.given.variance.is_none();
            assert!(!is_profiled || (found.variance - variance).abs() <= tolerance, "{} {variance}", found.variance);
        });
    }

    #[test]
    fn the_gradient_agrees_with_central_differences() {
        each_case(|fit, n| {
            let (points, values) = (points(n, 3), values(n));
            let mut density = Density::new(fit, &points, &values).unwrap();
            // Noise that is given may be too little to tell.
            let tiny = if fit.given.noise.is_some() { -25.0 } else { -6.0 };
            for theta in [tiny, -2.0, 1.0].map(|ratio| theta(fit, ratio)) {
                let mut gradient = vec![0.0; theta.len()];
                let value = density.value_and_gradient(&theta, &mut gradient);
                let found = density.value(&theta).unwrap();
                assert_eq!(value, found.density);
                let ratio = density.ratio(&theta);
                for i in 0..theta.len() {
                    // The error of central differences is h^2/6 times the third derivative, of the size of n and Q/s^2. That
                    // of the values is the rounding of a solve, with a condition number of at most n/rho.
                    let h = 1e-4;
                    let mut at = |t: f64| {
                        let mut moved = theta.clone();
                        moved[i] += t;
                        density.value(&moved).unwrap().density
                    };
                    let difference = (at(h) - at(-h)) / (2.0 * h);
                    let size = n as f64 + gradient[i].abs() + found.surplus.abs();
                    let rounding = f64::EPSILON * n as f64 / ratio / h;
                    let tolerance = (10.0 * h * h + rounding) * size;
                    assert!((gradient[i] - difference).abs() <= tolerance, "{} {difference} {fit:?}", gradient[i]);
                }
            }
        });
    }

    #[test]
    fn kernels_without_lengthscales_along_a_distance_are_refused() {
        let (points, priors, given) = (points(2, 1), Priors::default().stretched(1), Given::default());
        let linear = Kernel::linear(&[1.0]).unwrap();
        let fit = Fit { family: &linear, groups: &[0], priors, given, evaluations: 1 };
        assert!(Density::new(&fit, &points, &[1.0, 2.0]).is_err());
    }
}
