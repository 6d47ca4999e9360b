//! Learning a kernel from data: the hyperparameters of highest posterior density, by gradients from several starts.

mod density;
mod given;
mod priors;

pub use given::Given;
pub use priors::Priors;

use self::density::{Density, Profiled};
use crate::optimize::{End, climb_until};
use crate::prior::check_size;
use crate::{Error, Kernel, Points, Prior, Result};

/// How many starts a fit climbs from.
const CLIMBS: usize = 2;

/// Steps that gain less, relative to the log density, are not worth their cost: data never tell such hyperparameters apart.
const GAIN: f64 = 1e-6;

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
        let found = self.lengthscales.len();
        let of = |&g: &usize| {
            self.lengthscales.get(g).copied().ok_or(Error::WrongLength { what: "lengthscales", expected: g + 1, found })
        };
        let each: Vec<f64> = groups.iter().map(of).collect::<Result<_>>()?;
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
    /// The hyperparameters of highest posterior density that climbs find: from `warm` if there is one, and from the best
    /// of the starts made from the priors. `values` are those of the first points.
    pub fn run(&self, points: &Points, values: &[f64], warm: Option<&Hyperparameters>) -> Result<Hyperparameters> {
        self.best_of(CLIMBS, points, values, warm)
    }

    /// As [`Fit::run`], by one climb from `warm` alone: for values of which most were known when it was found.
    pub fn refine(&self, points: &Points, values: &[f64], warm: &Hyperparameters) -> Result<Hyperparameters> {
        self.best_of(1, points, values, Some(warm))
    }

    fn best_of(
        &self,
        climbs: usize,
        points: &Points,
        values: &[f64],
        warm: Option<&Hyperparameters>,
    ) -> Result<Hyperparameters> {
        let count = self.groups.iter().max().map_or(0, |g| g + 1);
        self.check(points, values, warm.map_or(count, |w| w.lengthscales.len()))?;
        let mut density = Density::new(self.family, self.groups, &self.priors, (points, values))?;
        let bounds = self.bounds(count);
        let mut best = Candidate { density: f64::NEG_INFINITY, theta: self.median(count) };
        let end = End { budget: self.evaluations, gain: GAIN };
        for start in self.promising(&mut density, &bounds, warm, climbs) {
            let peak =
                climb_until(&start.theta, &bounds, end, |theta, gradient| density.value_and_gradient(theta, gradient));
            for found in [start, Candidate { density: peak.value, theta: peak.point }] {
                best = if found.density > best.density { found } else { best };
            }
        }
        Ok(hyperparameters(&mut density, &best.theta))
    }

    /// The priors' medians, with mean 0 and variance 1: what is believed before any value.
    pub fn medians(&self) -> Hyperparameters {
        let count = self.groups.iter().max().map_or(1, |g| g + 1);
        let lengthscales = vec![self.priors.lengthscale.0; count];
        Hyperparameters { lengthscales, noise: self.priors.noise_ratio.0, variance: 1.0, mean: 0.0, density: 0.0 }
    }

    fn check(&self, points: &Points, values: &[f64], warm: usize) -> Result<()> {
        let length = |what, expected, found| match expected == found {
            true => Ok(()),
            false => Err(Error::WrongLength { what, expected, found }),
        };
        let count = self.groups.iter().max().map_or(0, |g| g + 1);
        length("groups", points.dimension(), self.groups.len())?;
        length("values", points.len().min(values.len()), values.len())?;
        length("the warm start's lengthscales", count, warm)?;
        values.iter().try_for_each(|&value| check_size("a value", value))
    }

    /// The starts to climb from: those where the density is highest, which costs a fraction of a climb to know. A warm
    /// start that is worth it is among them by itself.
    fn promising(
        &self,
        density: &mut Density<'_>,
        bounds: &[(f64, f64)],
        warm: Option<&Hyperparameters>,
        climbs: usize,
    ) -> Vec<Candidate> {
        let mut look = |mut theta: Vec<f64>| {
            theta.iter_mut().zip(bounds).for_each(|(t, (low, high))| *t = t.clamp(*low, *high));
            Some(Candidate { density: density.value(&theta)?.density, theta })
        };
        let mut chosen: Vec<Candidate> = warm.and_then(|warm| look(warm.theta())).into_iter().collect();
        if chosen.len() >= climbs {
            return chosen;
        }
        chosen.extend(self.starts(bounds.len() - 1).into_iter().filter_map(look));
        chosen.sort_by(|a, b| b.density.total_cmp(&a.density));
        chosen.truncate(climbs);
        chosen
    }

    fn median(&self, count: usize) -> Vec<f64> {
        let mut theta = vec![self.priors.lengthscale.0.ln(); count];
        theta.push(self.priors.noise_ratio.0.ln());
        theta
    }

    /// The priors' medians, much noise, and short lengthscales: the explanations that data with few values choose among.
    fn starts(&self, count: usize) -> [Vec<f64>; 3] {
        let median = self.median(count);
        let (mut noisy, mut short) = (median.clone(), median.clone());
        noisy[count] = 0.1f64.ln();
        short[..count].iter_mut().for_each(|t| *t -= 1.0);
        [median, noisy, short]
    }

    fn bounds(&self, count: usize) -> Vec<(f64, f64)> {
        let (median, sd) = self.priors.lengthscale;
        let mut bounds = vec![(median.ln() - 6.0 * sd, median.ln() + 6.0 * sd); count];
        let (low, high) = self.priors.noise_range;
        bounds.push((low.ln(), high.ln()));
        bounds
    }
}

/// Parameters and their density.
struct Candidate {
    density: f64,
    theta: Vec<f64>,
}

/// What `theta` stands for; with a standard normal's mean and variance where the density cannot be computed.
fn hyperparameters(density: &mut Density<'_>, theta: &[f64]) -> Hyperparameters {
    let unknown = Profiled { mean: 0.0, variance: 1.0, density: f64::MIN };
    let Profiled { mean, variance, density } = density.value(theta).unwrap_or(unknown);
    let groups = theta.len() - 1;
    Hyperparameters {
        lengthscales: theta[..groups].iter().map(|t| t.exp()).collect(),
        noise: theta[groups].exp() * variance,
        variance,
        mean,
        density,
    }
}
