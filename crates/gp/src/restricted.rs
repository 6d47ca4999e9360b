//! A kernel restricted to a finite domain, and the structure that makes its products cheap.
//!
//! | structure | when | K(D, X) w costs |
//! |---|---|---|
//! | per axis | product kernel on a grid | a core and one thin product per axis |
//! | stationary | other stationary kernels on an evenly spaced grid | one FFT forth and back |
//! | dense | everything else | n kernel values per candidate, in chunks |

use rayon::prelude::*;

use crate::circulant::Circulant;
use crate::convolution::Convolution;
use crate::kron::Kron;
use crate::vector;
use crate::{Error, Family, Grid, Kernel, Points, Result};

/// Candidates that one task works on; does not depend on the thread count.
const CHUNK: usize = 256;

/// The finite set that is chosen from.
#[derive(Debug, Clone, PartialEq)]
pub enum Domain {
    /// A list of points, or the indices of a covariance matrix ([`Points::indices`]).
    Points(Points),
    /// A full grid.
    Grid(Grid),
}

impl Domain {
    /// How many candidates there are.
    #[inline]
    pub fn len(&self) -> usize {
        match self {
            Self::Points(points) => points.len(),
            Self::Grid(grid) => grid.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many coordinates a candidate has.
    pub fn dimension(&self) -> usize {
        match self {
            Self::Points(points) => points.dimension(),
            Self::Grid(grid) => grid.axes().len(),
        }
    }

    /// The coordinates of one candidate.
    pub fn point(&self, index: usize) -> Vec<f64> {
        match self {
            Self::Points(points) => points.get(index).to_vec(),
            Self::Grid(grid) => grid.point(index),
        }
    }

    /// Several candidates as points.
    pub fn points_at(&self, sites: &[usize]) -> Points {
        let mut flat = Vec::with_capacity(sites.len() * self.dimension());
        sites.iter().for_each(|&site| flat.extend(self.point(site)));
        Points::trusted(self.dimension(), flat)
    }
}

#[derive(Debug, Clone)]
pub(crate) enum Structure {
    Dense,
    PerAxis(Kron),
    Stationary(Convolution),
}

/// A kernel restricted to a finite domain, which surfaces, samplers and greedy gains share.
///
/// ```
/// use manyhands_gp::{Domain, Grid, Kernel, Restricted};
/// # fn main() -> manyhands_gp::Result<()> {
/// let grid = Grid::even(&[(0.0, 1.0, 100), (0.0, 1.0, 100)])?;
/// let restricted = Restricted::new(Kernel::squared_exponential(&[0.2])?, Domain::Grid(grid), 1 << 24)?;
/// assert_eq!(restricted.domain().len(), 10_000);
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct Restricted {
    kernel: Kernel,
    domain: Domain,
    structure: Structure,
    largest_variance: f64,
    /// How far rounded coordinates take a covariance from that of ideal steps, which an FFT sums.
    unevenness: f64,
    budget: usize,
}

impl Restricted {
    /// Restricts `kernel` to `domain`; caches and factors of one kind may take up to `budget` bytes each.
    pub fn new(kernel: Kernel, domain: Domain, budget: usize) -> Result<Self> {
        kernel.check_dimension(domain.dimension())?;
        if domain.is_empty() {
            return Err(Error::Empty { what: "the domain" });
        }
        if kernel.family() == Family::Empirical {
            (0..domain.len()).try_for_each(|i| kernel.check_point(&domain.point(i)))?;
        }
        let structure = match &domain {
            Domain::Grid(grid) => grid_structure(&kernel, grid, budget)?,
            Domain::Points(_) => Structure::Dense,
        };
        let largest_variance = if kernel.is_stationary() {
            kernel.variance()
        } else {
            (0..domain.len()).map(|i| kernel.variance_at(&domain.point(i))).fold(0.0, f64::max)
        };
        if !largest_variance.is_finite() {
            return Err(Error::NotFinite { what: "the largest prior variance".into(), value: largest_variance });
        }
        let unevenness = match (&structure, &domain) {
            (Structure::Stationary(_), Domain::Grid(grid)) => unevenness(&kernel, grid),
            _ => 0.0,
        };
        Ok(Self { kernel, domain, structure, largest_variance, unevenness, budget })
    }

    /// The domain.
    #[inline]
    pub fn domain(&self) -> &Domain {
        &self.domain
    }

    /// The kernel.
    #[inline]
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// The largest prior variance, max k(x,x) over the domain.
    #[inline]
    pub fn largest_variance(&self) -> f64 {
        self.largest_variance
    }

    /// The numerical rank of the covariance along each axis, where it is a product over the axes of a grid.
    pub fn axis_ranks(&self) -> Option<Vec<usize>> {
        match &self.structure {
            Structure::PerAxis(kron) => Some(kron.core_shape()),
            Structure::Dense | Structure::Stationary(_) => None,
        }
    }

    /// The prior variance of one candidate.
    pub(crate) fn variance(&self, index: usize) -> f64 {
        if self.kernel.is_stationary() {
            self.kernel.variance()
        } else {
            self.kernel.variance_at(&self.domain.point(index))
        }
    }

    /// Whether structure leaves room for samples, so that a sampler is not refused.
    pub fn has_room_to_sample(&self) -> bool {
        match (&self.structure, &self.domain) {
            (Structure::PerAxis(_), _) => true,
            (Structure::Stationary(_), Domain::Grid(grid)) => Circulant::fits(&grid.shape(), self.budget),
            _ => false,
        }
    }

    pub(crate) fn structure(&self) -> &Structure {
        &self.structure
    }

    pub(crate) fn unevenness(&self) -> f64 {
        self.unevenness
    }

    pub(crate) fn budget(&self) -> usize {
        self.budget
    }

    /// The rows of the axes' factors that the candidates `sites` have on a grid.
    pub(crate) fn positions(&self, sites: &[usize]) -> Vec<Vec<usize>> {
        match &self.domain {
            Domain::Grid(grid) => sites.iter().map(|&site| grid.position(site)).collect(),
            Domain::Points(_) => Vec::new(),
        }
    }

    /// Adds K(D, sites) weights to `out`.
    pub(crate) fn add_product(&self, sites: &[usize], weights: &[f64], out: &mut [f64]) {
        if sites.is_empty() {
            return;
        }
        match &self.structure {
            Structure::PerAxis(kron) => {
                let core = kron.core(&self.positions(sites), weights);
                kron.visit(&core, out, |out, values| out.iter_mut().zip(values).for_each(|(o, v)| *o += v));
            }
            Structure::Stationary(convolution) => {
                let mut product = vec![0.0; out.len()];
                convolution.apply(sites, weights, &mut product);
                out.iter_mut().zip(product).for_each(|(o, v)| *o += v);
            }
            Structure::Dense => self.add_dense_product(sites, weights, out),
        }
    }

    /// A bound on the rounding and truncation error of one entry of [`Restricted::add_product`].
    pub(crate) fn product_error(&self, weights: &[f64]) -> f64 {
        let total: f64 = weights.iter().map(|w| w.abs()).sum();
        let rounding = |terms: usize| 2.0 * terms as f64 * f64::EPSILON * self.largest_variance * total;
        match &self.structure {
            Structure::PerAxis(kron) => {
                let terms = weights.len() + kron.core_shape().iter().sum::<usize>();
                rounding(terms) + kron.residual() * total
            }
            Structure::Stationary(convolution) => convolution.error_bound(weights) + self.unevenness * total,
            Structure::Dense => rounding(weights.len()),
        }
    }

    fn add_dense_product(&self, sites: &[usize], weights: &[f64], out: &mut [f64]) {
        let sources = self.domain.points_at(sites);
        let task = |(chunk, out): (usize, &mut [f64])| {
            let mut covariances = vec![0.0; sources.len()];
            for (i, value) in out.iter_mut().enumerate() {
                let point = self.domain.point(chunk * CHUNK + i);
                self.kernel.fill(&point, &sources, 0..sources.len(), &mut covariances);
                *value += vector::dot(&covariances, weights);
            }
        };
        if out.len() * sources.len() < 1 << 15 {
            out.chunks_mut(CHUNK).enumerate().for_each(task);
        } else {
            out.par_chunks_mut(CHUNK).enumerate().for_each(task);
        }
    }
}

/// A bound on |k(x, y) - k(ideal steps from x to y)| on an evenly spaced grid, whose coordinates are rounded.
///
/// As a function of r, correlations of smoothness 1/2 and more have slope at most 2; below that they are convex, so that
/// from the shortest step on no slope is steeper than the chord up to there.
fn unevenness(kernel: &Kernel, grid: &Grid) -> f64 {
    let (mut squares, mut shortest) = (0.0, f64::INFINITY);
    for (a, axis) in grid.axes().iter().enumerate() {
        let scale = kernel.scale(a);
        let (first, range) = (axis[0], axis[axis.len() - 1] - axis[0]);
        let step = range / axis.len().saturating_sub(1).max(1) as f64;
        let off = axis.iter().enumerate().map(|(i, c)| (c - (first + i as f64 * step)).abs()).fold(0.0, f64::max);
        squares += (scale * (2.0 * off + 4.0 * f64::EPSILON * (range + first.abs()))).powi(2);
        if axis.len() > 1 {
            shortest = shortest.min(scale * step);
        }
    }
    if shortest.is_infinite() {
        return 0.0;
    }
    let mut step = vec![0.0; grid.axes().len()];
    step[0] = shortest * kernel.lengthscales()[0];
    let chord = (1.0 - kernel.covariance(&step, &vec![0.0; step.len()]) / kernel.variance()) / shortest;
    kernel.variance() * kernel.stretch() * chord.max(2.0) * squares.sqrt()
}

/// Whether a kernel of this family has structure on a grid, whatever its lengthscales, by which the whole grid can be computed and
/// sampled within `budget` bytes: as a product over the axes whose factors fit at any rank, or as a stationary kernel on an
/// evenly spaced grid.
pub fn has_structure(kernel: &Kernel, grid: &Grid, budget: usize) -> bool {
    let (axes, largest_factor) =
        (grid.axes(), |axis: &Vec<f64>| axis.len().saturating_mul(axis.len() * size_of::<f64>()));
    let is_product = (0..axes.len()).all(|axis| kernel.axis(axis).is_some());
    let is_even = kernel.is_stationary() && grid.spacing().is_some();
    let is_thin = axes.iter().all(|axis| largest_factor(axis) <= budget);
    (is_product && is_thin) || (is_even && Circulant::fits(&grid.shape(), budget))
}

fn grid_structure(kernel: &Kernel, grid: &Grid, budget: usize) -> Result<Structure> {
    let none = Points::new(grid.axes().len())?;
    match Kron::new(kernel, grid, &none, budget) {
        Ok(Some(kron)) => return Ok(Structure::PerAxis(kron)),
        // Too rough for thin factors: an evenly spaced grid still has the FFT.
        Ok(None) | Err(Error::NoRoomToFactor { .. }) => {}
        Err(error) => return Err(error),
    }
    if kernel.is_stationary() && grid.spacing().is_some() {
        let covariance = grid.lag_covariance(kernel);
        return Ok(Structure::Stationary(Convolution::new(&grid.shape(), covariance)));
    }
    Ok(Structure::Dense)
}
