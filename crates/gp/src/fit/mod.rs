//! Learning a kernel from data: the hyperparameters of highest posterior density, by gradients from several starts.

mod density;
mod draw;
mod given;
mod priors;

pub use given::Given;
pub use priors::Priors;

use self::density::{Density, Profiled};
use crate::optimize::{ClimbEnd, climb_until};
use crate::prior::check_size;
use crate::tuning::{FIT_CLIMBS, FIT_GAIN, LENGTHSCALE_SDS};
use crate::{Error, Kernel, Points, Prior, Result};

/// Where the noise is given, the prior variance is searched within this factor of the values' own.
const VARIANCES: f64 = 1e12;

/// How the parameters of a learned kernel act together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KernelStructure {
    /// The kernel depends on all parameters together.
    #[default]
    Joint,
    /// It is mostly a sum over parameters ([`Kernel::partly_additive`]).
    PartlyAdditive,
}

/// Hyperparameters learned from data.
#[doc(alias = "hyperparameter")]
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
    /// How the parameters act together.
    pub structure: KernelStructure,
}

impl Hyperparameters {
    /// The prior that they describe: `family`, partly additive if that is their structure, with these lengthscales, each
    /// coordinate having that of its group.
    pub fn prior(&self, family: &Kernel, groups: &[usize]) -> Result<Prior> {
        let found = self.lengthscales.len();
        let of = |&g: &usize| {
            self.lengthscales.get(g).copied().ok_or(Error::WrongLength { what: "lengthscales", expected: g + 1, found })
        };
        let each: Vec<f64> = groups.iter().map(of).collect::<Result<_>>()?;
        let kernel = match self.structure {
            KernelStructure::Joint => family.with_lengthscales(&each)?,
            KernelStructure::PartlyAdditive => family.with_lengthscales(&each)?.partly_additive(groups)?,
        };
        Prior::new(kernel.with_variance(self.variance)?, self.mean, self.noise)
    }

    fn theta(&self) -> Vec<f64> {
        let ratio = self.noise / self.variance;
        self.lengthscales.iter().copied().chain([ratio]).map(f64::ln).collect()
    }
}

/// What to learn, and how hard to try.
///
/// ```
/// use manyhands_gp::{Fit, Given, Kernel, Points, Priors};
/// # fn main() -> manyhands_gp::Result<()> {
/// let family = Kernel::matern(2.5, &[1.0])?;
/// let points = Points::from_flat(1, (0..20).map(|i| f64::from(i) / 19.0).collect())?;
/// let values: Vec<f64> = points.iter().map(|x| (6.0 * x[0]).sin()).collect();
/// let (priors, given) = (Priors::default(), Given::default());
/// let fit = Fit { family: &family, groups: &[0], priors, given, evaluations: 50 };
/// let learned = fit.run(&points, &values, None)?;
/// assert!(learned.lengthscales[0] > 0.1 && learned.noise < 0.01);
/// let prior = learned.prior(&family, &[0])?;
/// # assert_eq!(prior.noise(), learned.noise);
/// # Ok(()) }
/// ```
#[doc(alias = "hyperparameter optimization")]
#[doc(alias = "marginal likelihood")]
#[derive(Debug, Clone)]
pub struct Fit<'a> {
    /// The kernel whose family and structure are taken.
    pub family: &'a Kernel,
    /// For every coordinate, the index of its lengthscale; indices from 0 on.
    pub groups: &'a [usize],
    /// The priors.
    pub priors: Priors,
    /// What is not learned, and kept exactly.
    pub given: Given,
    /// The most evaluations of the density in one climb.
    pub evaluations: usize,
}

impl Fit<'_> {
    /// The hyperparameters of highest posterior density that climbs find: from `warm` if there is one, and from the best
    /// of the starts made from the priors. `values` are those of the first points.
    pub fn run(&self, points: &Points, values: &[f64], warm: Option<&Hyperparameters>) -> Result<Hyperparameters> {
        self.best_of(FIT_CLIMBS, points, values, warm)
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
        let mut density = Density::new(self, points, values)?;
        let median = self.median(count, values);
        let bounds = self.bounds(&median);
        let starts = self.promising(&mut density, (&median, &bounds), warm, climbs);
        let mut best = ScoredTheta { density: f64::NEG_INFINITY, theta: median };
        for start in starts {
            let peak = self.climb(&mut density, &bounds, &start);
            for found in [start, peak] {
                best = if found.density > best.density { found } else { best };
            }
        }
        Ok(self.hyperparameters(&mut density, &best.theta))
    }

    /// The best point of a climb that moves only parameters whose bounds leave room.
    fn climb(&self, density: &mut Density<'_>, bounds: &[(f64, f64)], start: &ScoredTheta) -> ScoredTheta {
        let free: Vec<usize> = (0..bounds.len()).filter(|&i| bounds[i].0 < bounds[i].1).collect();
        let mut best = ScoredTheta { density: start.density, theta: start.theta.clone() };
        if free.is_empty() {
            return best;
        }
        let (mut theta, mut slopes) = (start.theta.clone(), vec![0.0; bounds.len()]);
        let from: Vec<f64> = free.iter().map(|&i| start.theta[i]).collect();
        let within: Vec<(f64, f64)> = free.iter().map(|&i| bounds[i]).collect();
        let end = ClimbEnd { budget: self.evaluations, gain: FIT_GAIN };
        let peak = climb_until(&from, &within, end, &mut |moved, gradient| {
            free.iter().zip(moved).for_each(|(&i, t)| theta[i] = *t);
            let value = density.value_and_gradient(&theta, &mut slopes);
            gradient.iter_mut().zip(&free).for_each(|(slope, &i)| *slope = slopes[i]);
            value
        });
        free.iter().zip(peak.point).for_each(|(&i, t)| best.theta[i] = t);
        ScoredTheta { density: peak.value, ..best }
    }

    /// The hyperparameters before any value: the priors' medians with mean 0 and variance 1, or what is given.
    pub fn medians(&self) -> Hyperparameters {
        let count = self.groups.iter().max().map_or(1, |g| g + 1);
        let lengthscales = self.given.lengthscales.clone().unwrap_or_else(|| vec![self.priors.lengthscale.0; count]);
        let variance = self.given.variance.unwrap_or(1.0);
        let noise = self.given.noise.unwrap_or(self.priors.noise_ratio.0 * variance);
        let (mean, structure) = (self.given.mean.unwrap_or(0.0), self.structure());
        Hyperparameters { lengthscales, noise, variance, mean, density: 0.0, structure }
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
        self.given.check(count)?;
        values.iter().try_for_each(|&value| check_size("a value", value))
    }

    /// The starts to climb from: those of highest density, whose evaluation costs a fraction of a climb. A good warm start
    /// is among them by its density.
    fn promising(
        &self,
        density: &mut Density<'_>,
        (median, bounds): (&[f64], &[(f64, f64)]),
        warm: Option<&Hyperparameters>,
        climbs: usize,
    ) -> Vec<ScoredTheta> {
        let mut evaluate = |mut theta: Vec<f64>| {
            theta.iter_mut().zip(bounds).for_each(|(t, (low, high))| *t = t.clamp(*low, *high));
            Some(ScoredTheta { density: density.value(&theta)?.density, theta })
        };
        let mut chosen: Vec<ScoredTheta> = warm.and_then(|warm| evaluate(warm.theta())).into_iter().collect();
        if chosen.len() >= climbs {
            return chosen;
        }
        chosen.extend(self.starts(median).into_iter().filter_map(evaluate));
        chosen.sort_by(|a, b| b.density.total_cmp(&a.density));
        chosen.truncate(climbs);
        chosen
    }

    /// What is given, and the priors' medians; where the noise is given, with the variance that the values themselves have.
    fn median(&self, count: usize, values: &[f64]) -> Vec<f64> {
        let mut theta = match &self.given.lengthscales {
            Some(each) => each.iter().map(|l| l.ln()).collect(),
            None => vec![self.priors.lengthscale.0.ln(); count],
        };
        let ratio = match self.given.noise {
            Some(noise) => self.given.noise_ratio().unwrap_or_else(|| noise / self.independent_variance(values)),
            None => self.priors.noise_ratio.0,
        };
        theta.push(ratio.ln());
        theta
    }

    /// The medians, much noise, and short lengthscales: the explanations that data with few values choose among, as far
    /// as there is a choice.
    fn starts(&self, median: &[f64]) -> Vec<Vec<f64>> {
        let count = median.len() - 1;
        let mut starts = vec![median.to_vec()];
        if self.given.noise_ratio().is_none() {
            let mut noisy = median.to_vec();
            noisy[count] = 0.1f64.ln();
            starts.push(noisy);
        }
        if self.given.lengthscales.is_none() {
            let mut short = median.to_vec();
            short[..count].iter_mut().for_each(|t| *t -= 1.0);
            starts.push(short);
        }
        starts
    }

    /// Where the parameters may lie; what is given has no room.
    fn bounds(&self, median: &[f64]) -> Vec<(f64, f64)> {
        let (ratio, lengthscales) = median.split_last().map_or((0.0, median), |(ratio, scales)| (*ratio, scales));
        let sd = if self.given.lengthscales.is_some() { 0.0 } else { self.priors.lengthscale.1 };
        let mut bounds: Vec<(f64, f64)> =
            lengthscales.iter().map(|t| (t - LENGTHSCALE_SDS * sd, t + LENGTHSCALE_SDS * sd)).collect();
        let (low, high) = self.priors.noise_range;
        bounds.push(match (self.given.noise, self.given.variance) {
            (Some(_), Some(_)) => (ratio, ratio),
            (Some(_), None) => (ratio - VARIANCES.ln(), ratio + VARIANCES.ln()),
            (None, _) => (low.ln(), high.ln()),
        });
        bounds
    }

    /// The prior variance that fits the values best if they are independent.
    fn independent_variance(&self, values: &[f64]) -> f64 {
        let (n, (shape, scale)) = (values.len() as f64, self.priors.variance);
        let mean = self.given.mean.unwrap_or_else(|| values.iter().sum::<f64>() / n.max(1.0));
        let squares: f64 = values.iter().map(|z| (z - mean).powi(2)).sum();
        let variance = (squares + scale) / (n + shape);
        if variance > 0.0 && variance.is_finite() { variance } else { 1.0 }
    }

    /// What `theta` stands for; with a standard normal's mean and variance where the density cannot be computed. What is
    /// given comes out as it came in.
    fn hyperparameters(&self, density: &mut Density<'_>, theta: &[f64]) -> Hyperparameters {
        let ratio = theta[theta.len() - 1];
        let variance = density.variance(theta, 1.0);
        let (density_of_none, mean_precision) = (f64::MIN, f64::INFINITY);
        let unknown = Profiled { mean: 0.0, variance, density: density_of_none, surplus: 0.0, mean_precision };
        let Profiled { mean, variance, density, .. } = density.value(theta).unwrap_or(unknown);
        let learned = || theta[..theta.len() - 1].iter().map(|t| t.exp()).collect();
        Hyperparameters {
            lengthscales: self.given.lengthscales.clone().unwrap_or_else(learned),
            noise: self.given.noise.unwrap_or(ratio.exp() * variance),
            variance,
            mean: self.given.mean.unwrap_or(mean),
            density,
            structure: self.structure(),
        }
    }

    fn structure(&self) -> KernelStructure {
        if self.family.is_partly_additive() { KernelStructure::PartlyAdditive } else { KernelStructure::Joint }
    }
}

/// Parameters and their density.
struct ScoredTheta {
    density: f64,
    theta: Vec<f64>,
}
