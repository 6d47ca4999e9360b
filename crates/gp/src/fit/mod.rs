//! Learning a kernel from data: the hyperparameters of highest posterior density, by gradients from several starts.

mod density;
mod priors;

pub use priors::Priors;

use self::density::Density;
use crate::{Kernel, Points, Prior, Result, climb};

/// Hyperparameters learned from data.
#[derive(Debug, Clone, PartialEq)]
pub struct Hyperparameters {
    /// One lengthscale for every group of coordinates.
    pub lengthscales: Vec<f64>,
    /// The variance of the noise.
    pub noise: f64,
    /// The prior variance.
    pub variance: f64,
    /// The prior mean.
    pub mean: f64,
    /// The log posterior density, up to a constant that depends on the number of values alone.
    pub density: f64,
}

impl Hyperparameters {
    /// The prior that they describe: `family` with these lengthscales, each coordinate having that of its group.
    pub fn prior(&self, family: &Kernel, groups: &[usize]) -> Result<Prior> {
        let each: Vec<f64> = groups.iter().map(|&g| self.lengthscales[g]).collect();
        Prior::new(family.with_lengthscales(&each)?.with_variance(self.variance)?, self.mean, self.noise)
    }

    fn theta(&self) -> Vec<f64> {
        let ratio = self.noise / self.variance;
        self.lengthscales.iter().copied().chain([ratio]).map(f64::ln).collect()
    }
}

/// What to learn, and how hard to try.
#[derive(Debug, Clone)]
pub struct Fit<'a> {
    /// The kernel whose family is taken.
    pub family: &'a Kernel,
    /// For every coordinate, the index of its lengthscale; indices from 0 on.
    pub groups: &'a [usize],
    /// The priors.
    pub priors: Priors,
    /// The most evaluations of the density in one climb.
    pub evaluations: usize,
}

impl Fit<'_> {
    /// The hyperparameters of highest posterior density that climbs from the priors' medians and from `warm` find.
    pub fn run(&self, points: &Points, values: &[f64], warm: Option<&Hyperparameters>) -> Result<Hyperparameters> {
        let mut density = Density::new(self.family, self.groups, &self.priors, (points, values));
        let count = self.groups.iter().max().map_or(1, |g| g + 1);
        let bounds = self.bounds(count);
        let mut best: Option<(f64, Vec<f64>)> = None;
        for start in self.starts(count, warm) {
            let peak = climb(&start, &bounds, self.evaluations, |theta, gradient| {
                density.value_and_gradient(theta, gradient).unwrap_or(f64::NEG_INFINITY)
            });
            if best.as_ref().is_none_or(|(value, _)| peak.value > *value) {
                best = Some((peak.value, peak.point));
            }
        }
        let theta = best.map_or_else(|| self.median(count), |(_, theta)| theta);
        self.at(&mut density, &theta)
    }

    /// The priors' medians, with mean 0 and variance 1: what is believed before any value.
    pub fn medians(&self) -> Hyperparameters {
        let count = self.groups.iter().max().map_or(1, |g| g + 1);
        let lengthscales = vec![self.priors.lengthscale.0; count];
        Hyperparameters { lengthscales, noise: self.priors.noise_ratio.0, variance: 1.0, mean: 0.0, density: 0.0 }
    }

    fn at(&self, density: &mut Density<'_>, theta: &[f64]) -> Result<Hyperparameters> {
        let profiled = density.value(theta)?;
        let (mean, variance, value) = profiled.map_or((0.0, 1.0, f64::MIN), |p| (p.mean, p.variance, p.density));
        let groups = theta.len() - 1;
        Ok(Hyperparameters {
            lengthscales: theta[..groups].iter().map(|t| t.exp()).collect(),
            noise: theta[groups].exp() * variance,
            variance,
            mean,
            density: value,
        })
    }

    fn median(&self, count: usize) -> Vec<f64> {
        let mut theta = vec![self.priors.lengthscale.0.ln(); count];
        theta.push(self.priors.noise_ratio.0.ln());
        theta
    }

    fn starts(&self, count: usize, warm: Option<&Hyperparameters>) -> Vec<Vec<f64>> {
        let median = self.median(count);
        let mut noisy = median.clone();
        noisy[count] = 0.1f64.ln();
        let mut starts = vec![median, noisy];
        starts.extend(warm.map(Hyperparameters::theta));
        starts
    }

    fn bounds(&self, count: usize) -> Vec<(f64, f64)> {
        let (median, sd) = self.priors.lengthscale;
        let mut bounds = vec![(median.ln() - 6.0 * sd, median.ln() + 6.0 * sd); count];
        let (low, high) = self.priors.noise_range;
        bounds.push((low.ln(), high.ln()));
        bounds
    }
}
