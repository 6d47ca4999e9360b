//! Hyperparameters drawn around a fit, by Laplace's approximation of their posterior.
//!
//! | symbol | name | meaning |
//! |---|---|---|
//! | theta | parameters | ln l_g for every group of coordinates, then ln rho, as in `density` |
//! | S | scales | the priors' sds of theta |
//! | P | precision | minus the Hessian of the log density at the fit, in units of S: the prior alone has P = I |
//! | m, s^2 | mean, variance | given theta, drawn from their own posterior: normal and scaled inverse chi-squared |

use faer::Mat;
use rand::Rng;
use rand_distr::{ChiSquared, Distribution};

use super::density::{Density, Profiled};
use super::{Fit, Hyperparameters};
use crate::sample::normal;
use crate::{Points, Result, dense};

/// The step of the differences that give the Hessian, in units of S.
const STEP: f64 = 0.1;

/// The approximation: where it is centred, and how far draws lie along each direction.
struct Laplace {
    centre: Vec<f64>,
    bounds: Vec<(f64, f64)>,
    /// One for each eigenvector of P: the vector in units of theta, times 1/sqrt(eigenvalue).
    directions: Vec<Vec<f64>>,
}

impl Fit<'_> {
    /// `count` draws around `fitted`, which is a fit of these values or of more than these. The approximation is never wider
    /// than the priors. What is given comes out as it came in.
    ///
    /// ```
    /// use manyhands_gp::{Fit, Given, Kernel, Points, Priors};
    /// use rand::SeedableRng;
    /// # fn main() -> manyhands_gp::Result<()> {
    /// let family = Kernel::matern(2.5, &[1.0])?;
    /// let points = Points::from_flat(1, (0..20).map(|i| f64::from(i) / 19.0).collect())?;
    /// let values: Vec<f64> = points.iter().map(|x| (6.0 * x[0]).sin()).collect();
    /// let (priors, given) = (Priors::default(), Given::default());
    /// let fit = Fit { family: &family, groups: &[0], priors, given, evaluations: 50 };
    /// let learned = fit.run(&points, &values, None)?;
    /// let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(1);
    /// let drawn = fit.draw(&points, &values, &learned, 50, &mut rng)?;
    /// let longer = drawn.iter().filter(|draw| draw.lengthscales[0] > learned.lengthscales[0]).count();
    /// assert!(5 < longer && longer < 45);
    /// # Ok(()) }
    /// ```
    pub fn draw(
        &self,
        points: &Points,
        values: &[f64],
        fitted: &Hyperparameters,
        count: usize,
        rng: &mut impl Rng,
    ) -> Result<Vec<Hyperparameters>> {
        self.check(points, values, fitted.lengthscales.len())?;
        let mut density = Density::new(self, points, values)?;
        let Some(laplace) = self.laplace(&mut density, values, fitted)? else {
            return Ok(vec![fitted.clone(); count]);
        };
        Ok((0..count).map(|_| self.draw_one(&mut density, &laplace, fitted, values.len(), rng)).collect())
    }

    /// None where the density cannot be computed at the fit.
    fn laplace(&self, density: &mut Density<'_>, values: &[f64], fitted: &Hyperparameters) -> Result<Option<Laplace>> {
        let bounds = self.bounds(&self.median(fitted.lengthscales.len(), values));
        let clamp = |(t, (low, high)): (f64, &(f64, f64))| t.clamp(*low, *high);
        let centre: Vec<f64> = fitted.theta().into_iter().zip(&bounds).map(clamp).collect();
        if density.value(&centre).is_none() {
            return Ok(None);
        }
        let scales = self.scales(&bounds);
        let free: Vec<usize> = (0..centre.len()).filter(|&i| scales[i] > 0.0).collect();
        if free.is_empty() {
            return Ok(Some(Laplace { centre, bounds, directions: vec![] }));
        }
        let mut precision = Mat::zeros(free.len(), free.len());
        for (column, &j) in free.iter().enumerate() {
            let [above, below] = [STEP, -STEP].map(|step| {
                let (mut theta, mut gradient) = (centre.clone(), vec![0.0; centre.len()]);
                theta[j] += step * scales[j];
                density.value_and_gradient(&theta, &mut gradient);
                gradient
            });
            for (row, &i) in free.iter().enumerate() {
                precision[(row, column)] = scales[i] * (below[i] - above[i]) / (2.0 * STEP);
            }
        }
        let symmetric = Mat::from_fn(free.len(), free.len(), |i, j| 0.5 * (precision[(i, j)] + precision[(j, i)]));
        let (eigenvalues, vectors) = dense::eigenvectors(symmetric.as_ref())?;
        let direction = |(k, eigenvalue): (usize, &f64)| {
            let mut direction = vec![0.0; centre.len()];
            for (row, &i) in free.iter().enumerate() {
                direction[i] = scales[i] * vectors[(row, k)] / eigenvalue.max(1.0).sqrt();
            }
            direction
        };
        let directions = eigenvalues.iter().enumerate().map(direction).collect();
        Ok(Some(Laplace { centre, bounds, directions }))
    }

    /// S; 0 where a parameter has no room.
    fn scales(&self, bounds: &[(f64, f64)]) -> Vec<f64> {
        let priors = self.priors.without_given(&self.given);
        let last = bounds.len() - 1;
        let sd = |i: usize| if i == last { priors.noise_ratio.1 } else { priors.lengthscale.1 };
        let scale = |(i, (low, high)): (usize, &(f64, f64))| match (low < high, sd(i).is_finite()) {
            (false, _) => 0.0,
            (true, true) => sd(i),
            (true, false) => 1.0,
        };
        bounds.iter().enumerate().map(scale).collect()
    }

    fn draw_one(
        &self,
        density: &mut Density<'_>,
        laplace: &Laplace,
        fitted: &Hyperparameters,
        values: usize,
        rng: &mut impl Rng,
    ) -> Hyperparameters {
        let normals: Vec<f64> = laplace.directions.iter().map(|_| normal(rng)).collect();
        let theta = laplace.at(&normals);
        density.value(&theta).map_or_else(|| fitted.clone(), |there| self.completed(&theta, &there, values, rng))
    }

    /// theta with a draw of mean and variance given it.
    fn completed(&self, theta: &[f64], profiled: &Profiled, values: usize, rng: &mut impl Rng) -> Hyperparameters {
        let weight = values as f64 + self.priors.variance.0;
        let is_profiled = self.given.noise.is_none() && self.given.variance.is_none();
        let spread = ChiSquared::new(weight).map_or(1.0, |chi_squared| weight / chi_squared.sample(rng).max(1e-3));
        let variance = if is_profiled { profiled.variance * spread } else { profiled.variance };
        let mean = profiled.mean + normal(rng) * (variance / profiled.mean_precision).sqrt();
        let (ratio, lengthscales) = theta.split_last().map_or((0.0, theta), |(ratio, scales)| (*ratio, scales));
        let learned = || lengthscales.iter().map(|t| t.exp()).collect();
        Hyperparameters {
            lengthscales: self.given.lengthscales.clone().unwrap_or_else(learned),
            noise: self.given.noise.unwrap_or(ratio.exp() * variance),
            variance,
            mean: self.given.mean.unwrap_or(mean),
            density: profiled.density,
            structure: self.structure(),
        }
    }
}

impl Laplace {
    fn at(&self, normals: &[f64]) -> Vec<f64> {
        let mut theta = self.centre.clone();
        for (z, direction) in normals.iter().zip(&self.directions) {
            theta.iter_mut().zip(direction).for_each(|(t, d)| *t += z * d);
        }
        theta.iter_mut().zip(&self.bounds).for_each(|(t, (low, high))| *t = t.clamp(*low, *high));
        theta
    }
}
