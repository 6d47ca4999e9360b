//! Exact draws from the posterior over a finite domain: a draw from the prior, then Matheron's update.
//!
//! | symbol | name | meaning |
//! |---|---|---|
//! | g | prior draw | g ~ GP(0, k) on D |
//! | e | noise draws | N(0, lambda), one per row: repeats of a point share g(x) and have their own e |
//! | u | update weights | (K + lambda I)^{-1} (g(X) + e), over observed and pending rows |
//! | f_t | sample | mu_S + scale (g - K(D, X) u) ~ GP(mu_S, scale^2 k_{t-1}), the paper's Algorithm 2 |
//!
//! Prior draws: per axis for product kernels on grids, by circulant embedding for other stationary kernels on evenly
//! spaced grids, and by a pivoted Cholesky factor of the whole covariance elsewhere. Where no embedding within the memory
//! budget is definite and the whole covariance has no room either (long lengthscales on large grids), g comes from the
//! nearest embedding, whose covariance is off by a known excess; the update is exact all the same. A pivoted factor stops at the
//! numerical rank and needs no jitter (the squared exponential on 1,000 points is not numerically positive definite).

use std::sync::Arc;

use faer::{Mat, MatRef};
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};

use crate::View;
use crate::circulant::Circulant;
use crate::dense::pivoted_factor;
use crate::kron::Kron;
use crate::lowrank::LowRank;
use crate::restricted::{Domain, Restricted, Structure};
use crate::{Error, Grid, Points, Result, vector};

#[derive(Debug, Clone)]
enum Draws {
    PerAxis(Kron),
    Circulant(Circulant),
    /// One row of the factor per candidate.
    Dense(Mat<f64>),
}

/// Draws samples of the posterior over a finite domain.
///
/// ```
/// use std::sync::Arc;
/// use manyhands_gp::{Domain, Grid, Kernel, Key, Posterior, Prior, Restricted, Sampler};
/// use rand::SeedableRng;
/// # fn main() -> manyhands_gp::Result<()> {
/// let kernel = Kernel::squared_exponential(&[0.2])?;
/// let mut posterior = Posterior::new(Prior::new(kernel.clone(), 0.0, 1e-6)?, 1)?;
/// posterior.observe(Key { id: 0, site: 30 }, &[0.3], 1.5)?;
/// let domain = Domain::Grid(Grid::even(&[(0.0, 1.0, 101)])?);
/// let sampler = Sampler::new(Arc::new(Restricted::new(kernel, domain, 1 << 24)?))?;
/// let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(7);
/// let sample = sampler.draw(posterior.view(), 1.0, &mut rng);
/// assert!((sample[30] - 1.5).abs() < 0.01);
/// # Ok(()) }
/// ```
#[doc(alias = "Thompson sampling")]
#[derive(Debug, Clone)]
pub struct Sampler {
    restricted: Arc<Restricted>,
    draws: Draws,
}

impl Sampler {
    /// Prepares prior draws; refuses a domain that needs more memory than the budget allows.
    pub fn new(restricted: Arc<Restricted>) -> Result<Self> {
        let draws = match (restricted.structure(), restricted.domain()) {
            (Structure::PerAxis(kron), _) => Draws::PerAxis(kron.clone()),
            (Structure::Stationary(_), Domain::Grid(grid)) => {
                let covariance = grid.lag_covariance(restricted.kernel());
                match Circulant::new(&grid.shape(), covariance, restricted.budget()) {
                    Ok(circulant) if circulant.excess() == 0.0 => Draws::Circulant(circulant),
                    // No embedding is exact, but the whole covariance might fit.
                    inexact => {
                        dense_factor(&restricted).map(Draws::Dense).or_else(|_| inexact.map(Draws::Circulant))?
                    }
                }
            }
            _ => Draws::Dense(dense_factor(&restricted)?),
        };
        Ok(Self { restricted, draws })
    }

    /// How far the covariance of prior draws may be from the kernel's, beyond rounding; 0 where samples are exact.
    pub fn excess(&self) -> f64 {
        match &self.draws {
            Draws::Circulant(circulant) => circulant.excess(),
            Draws::PerAxis(_) | Draws::Dense(_) => 0.0,
        }
    }

    /// One sample of GP(mean, scale^2 x covariance given the view's rows) over the domain.
    pub fn draw(&self, view: View<'_>, scale: f64, rng: &mut impl Rng) -> Vec<f64> {
        let sites: Vec<usize> = view.keys().iter().map(|k| k.site).collect();
        let mut sample = match &self.draws {
            Draws::PerAxis(kron) => return per_axis(kron, &self.restricted.positions(&sites), view, scale, rng),
            Draws::Circulant(circulant) => circulant.draw(rng),
            Draws::Dense(factor) => times_normals(factor.as_ref(), rng),
        };
        let at_rows = sites.iter().map(|&site| sample[site]).collect();
        let weights = update_weights(view, at_rows, scale, rng);
        sample.iter_mut().for_each(|g| *g = view.prior().mean() + scale * *g);
        self.restricted.add_product(&sites, &weights, &mut sample);
        sample
    }
}

/// One sample of GP(mean, scale^2 x covariance given the view's rows) on a grid that need not hold the rows' points, such
/// as the discretization D_t of the paper's appendix. Drawn jointly on the grid and the rows' points; refused where the
/// factor of their covariance takes more than `budget` bytes.
pub fn draw_on_grid(view: View<'_>, grid: &Grid, scale: f64, budget: usize, rng: &mut impl Rng) -> Result<Vec<f64>> {
    let kernel = view.prior().kernel();
    let rows: Vec<usize> = (0..view.keys().len()).collect();
    let mut sources = view.posterior().points().clone();
    sources.truncate(rows.len());
    if let Some(kron) = Kron::new(kernel, grid, &sources, budget)? {
        let position = |&s: &usize| grid.axes().iter().map(|axis| axis.len() + s).collect();
        let positions: Vec<Vec<usize>> = rows.iter().map(position).collect();
        return Ok(per_axis(&kron, &positions, view, scale, rng));
    }
    let flat = (0..grid.len()).flat_map(|i| grid.point(i)).chain(sources.flat().iter().copied());
    let points = Points::trusted(grid.axes().len(), flat.collect());
    let diagonal = points.iter().map(|x| kernel.variance_at(x)).collect();
    let fill = |j: usize, out: &mut [f64]| kernel.fill(points.get(j), &points, 0..points.len(), out);
    let factor = LowRank::new(diagonal, fill, budget)?;
    let drawn = times_normals(factor.factor(), rng);
    let weights = update_weights(view, drawn[grid.len()..].to_vec(), scale, rng);
    let mut covariances = vec![0.0; rows.len()];
    let sample = (0..grid.len()).map(|i| {
        kernel.fill(points.get(i), &sources, 0..rows.len(), &mut covariances);
        view.prior().mean() + scale * drawn[i] + vector::dot(&covariances, &weights)
    });
    Ok(sample.collect())
}

/// The sample as one expansion: both the prior draw and the update are sums of the axes' features.
fn per_axis(kron: &Kron, positions: &[Vec<usize>], view: View<'_>, scale: f64, rng: &mut impl Rng) -> Vec<f64> {
    let spread = kron.variance().sqrt();
    let prior: Vec<f64> = (0..kron.rank()).map(|_| spread * normal(rng)).collect();
    let weights = update_weights(view, kron.values_at(positions, &prior), scale, rng);
    let mut core = kron.core(positions, &weights);
    core.iter_mut().zip(&prior).for_each(|(c, p)| *c += scale * p);
    let len = kron.len();
    let mut sample = vec![view.prior().mean(); len];
    kron.visit(&core, &mut sample, |out, values| out.iter_mut().zip(values).for_each(|(o, v)| *o += v));
    sample
}

/// The weights of K(D, X) in the sample: those of the mean, less scale x u.
pub(crate) fn update_weights(view: View<'_>, mut drawn: Vec<f64>, scale: f64, rng: &mut impl Rng) -> Vec<f64> {
    let sd = view.prior().noise().sqrt();
    drawn.iter_mut().for_each(|g| *g += sd * normal(rng));
    let factor = view.posterior().factor();
    factor.solve_lower(0, &mut drawn);
    factor.solve_upper(&mut drawn);
    drawn.iter_mut().for_each(|u| *u *= -scale);
    drawn.iter_mut().zip(view.weights()).for_each(|(u, w)| *u += w);
    drawn
}

pub(crate) fn normal(rng: &mut impl Rng) -> f64 {
    StandardNormal.sample(rng)
}

pub(crate) fn times_normals(factor: MatRef<'_, f64>, rng: &mut impl Rng) -> Vec<f64> {
    let mut out = vec![0.0; factor.nrows()];
    for column in factor.col_iter() {
        let z = normal(rng);
        out.iter_mut().zip(column.iter()).for_each(|(o, c)| *o += z * c);
    }
    out
}

/// How many points without structure can be sampled exactly with so many bytes: their covariance and its factor fit.
pub fn most_sampled_without_structure(budget: usize) -> usize {
    (budget / BYTES_OF_PAIR).isqrt()
}

/// An entry of the covariance and one of its factor.
const BYTES_OF_PAIR: usize = 2 * size_of::<f64>();

fn dense_factor(restricted: &Restricted) -> Result<Mat<f64>> {
    let len = restricted.domain().len();
    if len > most_sampled_without_structure(restricted.budget()) {
        let bytes = len.saturating_mul(len).saturating_mul(BYTES_OF_PAIR);
        return Err(Error::NoRoomToSample { points: len, bytes, budget: restricted.budget() });
    }
    let all: Vec<usize> = (0..len).collect();
    let points = restricted.domain().points_at(&all);
    let mut gram = Mat::zeros(len, len);
    for j in 0..len {
        let mut column = vec![0.0; len];
        restricted.kernel().fill(points.get(j), &points, 0..len, &mut column);
        gram.col_mut(j).iter_mut().zip(column).for_each(|(slot, c)| *slot = c);
    }
    pivoted_factor(gram)
}
