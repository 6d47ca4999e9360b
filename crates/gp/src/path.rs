//! Continuous sample paths of the posterior: random Fourier features for the prior, then Matheron's exact update.
//!
//! | symbol | name | meaning |
//! |---|---|---|
//! | F | features | how many cosines stand for the prior draw |
//! | omega_i | frequencies | normal (squared exponential) or Student-t with 2 nu degrees of freedom (Matern), over lengthscales; of one parameter alone with its share of the variance, where the kernel is partly a sum over parameters |
//! | b_i | phases | uniform on [0, 2 pi) |
//! | a_i | amplitudes | sqrt(2 v/F) times a standard normal number |
//! | g | prior draw | g(x) = sum_i a_i cos(omega_i'x + b_i), approximately GP(0, k) |
//! | u | update weights | (K + lambda I)^{-1} (g(X) + e), e ~ N(0, lambda I), over observed and pending rows |
//! | f | path | mu_S + scale (g - k(., X)' u), approximately GP(mu_S, scale^2 k_{t-1}) |
//!
//! Only g is approximate: given its frequencies and phases it is a Gaussian process whose covariance is the mean of
//! 2 v cos(omega_i'x + b_i) cos(omega_i'y + b_i), off k(x, y) by v/sqrt(F) in order (Rahimi and Recht 2007). The update is
//! exact (Wilson et al. 2020, equation (13)), so next to the data, where it dominates, so is the path. The linear kernel needs
//! no approximation: g is linear with one normal coefficient per coordinate.

use rand::{Rng, RngExt};
use rand_distr::{ChiSquared, Distribution};

use crate::sample::{normal, update_weights};
use crate::{Error, Family, Kernel, Points, Result, View, vector};

/// A draw from the prior as a function.
#[derive(Debug, Clone, PartialEq)]
enum PriorDraw {
    /// sum_i a_i cos(omega_i'x + b_i).
    Waves(Vec<Wave>),
    /// slope'x.
    Line(Vec<f64>),
}

#[derive(Debug, Clone, PartialEq)]
struct Wave {
    amplitude: f64,
    frequency: Vec<f64>,
    phase: f64,
}

/// A sample of the posterior as a function of a point, with its gradient.
///
/// Approximate: the draw from the prior is a sum of finitely many waves. Its correction by the data is exact.
///
/// ```
/// use manyhands_gp::{Kernel, Key, Posterior, Prior, SamplePath};
/// use rand::SeedableRng;
/// # fn main() -> manyhands_gp::Result<()> {
/// let prior = Prior::new(Kernel::matern(2.5, &[0.2])?, 0.0, 1e-6)?;
/// let mut posterior = Posterior::new(prior, 1)?;
/// posterior.observe(Key { id: 0, site: 0 }, &[0.3], 1.5)?;
/// let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(7);
/// let path = SamplePath::draw(posterior.view(), 1.0, 500, &mut rng)?;
/// assert!((path.value(&[0.3])? - 1.5).abs() < 0.01);
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SamplePath {
    kernel: Kernel,
    mean: f64,
    /// Already times the scale.
    prior: PriorDraw,
    points: Points,
    weights: Vec<f64>,
}

impl SamplePath {
    /// Draws from GP(mean, scale^2 x covariance given the view's rows), the prior part with this many features.
    ///
    /// Refused for an empirical kernel, whose domain is finite, and for no features. The linear kernel has one feature
    /// per coordinate, whatever is asked for.
    pub fn draw(view: View<'_>, scale: f64, features: usize, rng: &mut impl Rng) -> Result<Self> {
        if !scale.is_finite() {
            return Err(Error::NotFinite { what: "scale".into(), value: scale });
        }
        let kernel = view.prior().kernel().clone();
        let mut points = view.posterior().points().clone();
        points.truncate(view.keys().len());
        let mut prior = PriorDraw::new(&kernel, points.dimension(), features, rng)?;
        let drawn = points.iter().map(|x| prior.value(x)).collect();
        let weights = update_weights(view, drawn, scale, rng);
        prior.scale(scale);
        Ok(Self { kernel, mean: view.prior().mean(), prior, points, weights })
    }

    /// The path at a point.
    pub fn value(&self, point: &[f64]) -> Result<f64> {
        self.points.check(point)?;
        let mut column = vec![0.0; self.weights.len()];
        self.kernel.fill(point, &self.points, 0..column.len(), &mut column);
        Ok(self.mean + self.prior.value(point) + vector::dot(&column, &self.weights))
    }

    /// The path at many points.
    pub fn values(&self, points: &Points) -> Result<Vec<f64>> {
        points.iter().map(|point| self.value(point)).collect()
    }

    /// Sets `out[j]` to the path's derivative in coordinate j.
    ///
    /// Refused for Matern kernels with nu <= 1/2 at a row's own point.
    fn gradient(&self, point: &[f64], out: &mut [f64]) -> Result<()> {
        self.points.check(point)?;
        if out.len() != point.len() {
            return Err(Error::WrongLength { what: "the gradient", expected: point.len(), found: out.len() });
        }
        out.fill(0.0);
        self.prior.add_gradient(point, out);
        let mut section = vec![0.0; point.len()];
        for (row, weight) in self.points.iter().zip(&self.weights) {
            self.kernel.gradient(point, row, &mut section)?;
            out.iter_mut().zip(&section).for_each(|(slot, slope)| *slot += weight * slope);
        }
        Ok(())
    }

    /// The path at a point, and its gradient there.
    pub fn value_and_gradient(&self, point: &[f64], out: &mut [f64]) -> Result<f64> {
        self.gradient(point, out)?;
        self.value(point)
    }
}

/// Samples of the posterior that share the frequencies and phases of their waves, and so their cosines: given those, each is an
/// independent draw. Many values cost little more than those of one path.
///
/// ```
/// use manyhands_gp::{Kernel, Key, Posterior, Prior, SamplePaths};
/// use rand::SeedableRng;
/// # fn main() -> manyhands_gp::Result<()> {
/// let prior = Prior::new(Kernel::matern(2.5, &[0.2])?, 0.0, 1e-6)?;
/// let mut posterior = Posterior::new(prior, 1)?;
/// posterior.observe(Key { id: 0, site: 0 }, &[0.3], 1.5)?;
/// let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(7);
/// let paths = SamplePaths::draw(posterior.view(), 500, 10, &mut rng)?;
/// assert!(paths.values(&[0.3])?.iter().all(|value| (value - 1.5).abs() < 0.01));
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SamplePaths {
    paths: Vec<SamplePath>,
}

impl SamplePaths {
    /// Draws so many paths as [`SamplePath::draw`] does, with scale 1.
    pub fn draw(view: View<'_>, features: usize, count: usize, rng: &mut impl Rng) -> Result<Self> {
        let kernel = view.prior().kernel().clone();
        let mut points = view.posterior().points().clone();
        points.truncate(view.keys().len());
        let first = PriorDraw::new(&kernel, points.dimension(), features, rng)?;
        let priors: Vec<PriorDraw> = (0..count).map(|_| first.redrawn(&kernel, rng)).collect();
        let drawn: Vec<Vec<f64>> = points.iter().map(|x| values_of(priors.iter(), x)).collect();
        let path = |(index, prior): (usize, PriorDraw)| {
            let weights = update_weights(view, drawn.iter().map(|values| values[index]).collect(), 1.0, rng);
            SamplePath { kernel: kernel.clone(), mean: view.prior().mean(), prior, points: points.clone(), weights }
        };
        Ok(Self { paths: priors.into_iter().enumerate().map(path).collect() })
    }

    /// The paths.
    pub fn paths(&self) -> &[SamplePath] {
        &self.paths
    }

    /// The values of all paths at a point, each with the bits of [`SamplePath::value`].
    pub fn values(&self, point: &[f64]) -> Result<Vec<f64>> {
        let Some(SamplePath { kernel, mean, points, weights, .. }) = self.paths.first() else { return Ok(vec![]) };
        points.check(point)?;
        let mut column = vec![0.0; weights.len()];
        kernel.fill(point, points, 0..column.len(), &mut column);
        let priors = values_of(self.paths.iter().map(|path| &path.prior), point);
        let value = |(path, prior): (&SamplePath, f64)| mean + prior + vector::dot(&column, &path.weights);
        Ok(self.paths.iter().zip(priors).map(value).collect())
    }
}

/// The values at a point of draws that have the same waves.
fn values_of<'a>(mut draws: impl Iterator<Item = &'a PriorDraw> + Clone, point: &[f64]) -> Vec<f64> {
    let cosines: Vec<f64> = match draws.clone().next() {
        Some(PriorDraw::Waves(waves)) => waves.iter().map(|wave| wave.angle(point).cos()).collect(),
        _ => vec![],
    };
    let value = |draw: &PriorDraw| match draw {
        PriorDraw::Waves(waves) => waves.iter().zip(&cosines).map(|(wave, cosine)| wave.amplitude * cosine).sum(),
        line => line.value(point),
    };
    draws.by_ref().map(value).collect()
}

impl PriorDraw {
    fn new(kernel: &Kernel, dimension: usize, features: usize, rng: &mut impl Rng) -> Result<Self> {
        let (sd, lengthscales) = (kernel.variance().sqrt(), kernel.lengthscales());
        let scales: Vec<f64> =
            (0..dimension).map(|j| 1.0 / lengthscales.get(j).or(lengthscales.first()).unwrap_or(&1.0)).collect();
        let smoothness = match kernel.family() {
            Family::Empirical => return Err(Error::NoDerivative { family: "empirical" }),
            Family::Linear => return Ok(Self::Line(scales.iter().map(|s| sd * s * normal(rng)).collect())),
            Family::SquaredExponential => None,
            Family::Matern { smoothness } => Some(smoothness),
        };
        if features == 0 {
            return Err(Error::Empty { what: "the features of a path" });
        }
        let size = sd * (2.0 / features as f64).sqrt();
        let wave = |_| {
            let stretch = smoothness.map_or(Ok(1.0), |nu| stretch(nu, rng))?;
            let factors = kernel.frequency_factors(dimension, rng);
            let frequency = scales.iter().zip(factors).map(|(s, factor)| s * factor * stretch * normal(rng)).collect();
            let phase = rng.random_range(0.0..std::f64::consts::TAU);
            Ok(Wave { amplitude: size * normal(rng), frequency, phase })
        };
        Ok(Self::Waves((0..features).map(wave).collect::<Result<_>>()?))
    }

    /// Another draw of the same waves, or another line.
    fn redrawn(&self, kernel: &Kernel, rng: &mut impl Rng) -> Self {
        let sd = kernel.variance().sqrt();
        match self {
            Self::Waves(waves) => {
                let size = sd * (2.0 / waves.len() as f64).sqrt();
                Self::Waves(waves.iter().map(|wave| Wave { amplitude: size * normal(rng), ..wave.clone() }).collect())
            }
            Self::Line(slope) => {
                let (scales, shared) = (kernel.lengthscales(), kernel.lengthscales().first().copied().unwrap_or(1.0));
                let scale = |j: usize| scales.get(j).copied().unwrap_or(shared);
                Self::Line((0..slope.len()).map(|j| sd / scale(j) * normal(rng)).collect())
            }
        }
    }

    fn scale(&mut self, factor: f64) {
        match self {
            Self::Waves(waves) => waves.iter_mut().for_each(|wave| wave.amplitude *= factor),
            Self::Line(slope) => slope.iter_mut().for_each(|s| *s *= factor),
        }
    }

    fn value(&self, point: &[f64]) -> f64 {
        match self {
            Self::Waves(waves) => waves.iter().map(|wave| wave.amplitude * wave.angle(point).cos()).sum(),
            Self::Line(slope) => vector::dot(slope, point),
        }
    }

    fn add_gradient(&self, point: &[f64], out: &mut [f64]) {
        match self {
            Self::Waves(waves) => {
                for wave in waves {
                    let slope = -wave.amplitude * wave.angle(point).sin();
                    out.iter_mut().zip(&wave.frequency).for_each(|(slot, omega)| *slot += slope * omega);
                }
            }
            Self::Line(slope) => out.iter_mut().zip(slope).for_each(|(slot, s)| *slot += s),
        }
    }
}

impl Wave {
    fn angle(&self, point: &[f64]) -> f64 {
        vector::dot(&self.frequency, point) + self.phase
    }
}

/// 1/sqrt(chi^2/(2 nu)) with 2 nu degrees of freedom: a normal vector times this is Student-t, whose density is the Matern
/// kernel's spectral density (Rasmussen and Williams 2006, equation (4.15)).
fn stretch(smoothness: f64, rng: &mut impl Rng) -> Result<f64> {
    let degrees = 2.0 * smoothness;
    let refused = |_| Error::NotPositive { what: "smoothness".into(), value: smoothness };
    let chi_squared = ChiSquared::new(degrees).map_err(refused)?;
    // A tiny draw of a very rough kernel's chi^2 would make the frequency infinite.
    Ok((degrees / chi_squared.sample(rng).max(1e-200)).sqrt())
}
