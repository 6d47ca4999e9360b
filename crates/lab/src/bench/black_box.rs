//! The black box that runs are measured on: a smooth function on the unit square, with seeded noise.

use manyhands_core::{Domain, Rule, Spec, Strategy};
use manyhands_gp::{Grid, Kernel, Prior};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use crate::Result;

/// The variance of the noise.
pub const NOISE: f64 = 0.025;
/// Suggestions per batch.
pub const BATCH: usize = 5;
const SEED: u64 = 20_190_912;

/// Squared exponential with a lengthscale per axis.
pub fn kernel() -> Result<Kernel> {
    Ok(Kernel::squared_exponential(&[0.2, 0.25])?)
}

/// A grid of `side` x `side` points on the unit square.
pub fn grid(side: usize) -> Result<Grid> {
    Ok(Grid::even(&[(0.0, 1.0, side), (0.0, 1.0, side)])?)
}

/// IGP-BUCB on that grid, all else at its defaults.
pub fn spec(side: usize) -> Result<Spec> {
    spec_on(Domain::Grid(grid(side)?), kernel()?)
}

/// IGP-BUCB on any domain.
pub fn spec_on(domain: Domain, kernel: Kernel) -> Result<Spec> {
    let prior = Prior::new(kernel, 0.0, NOISE)?;
    Ok(Spec::new(domain, prior, Strategy::new(Rule::IgpBucb, 2.0))?)
}

/// The noisy value of a trial; the noise is a function of the trial's number.
pub fn value(trial: usize, point: &[f64]) -> f64 {
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    rng.set_stream(trial as u64);
    let noise: f64 = StandardNormal.sample(&mut rng);
    smooth(point) + NOISE.sqrt() * noise
}

fn smooth(point: &[f64]) -> f64 {
    let waves = point.iter().enumerate().map(|(i, x)| (4.0 * x + 0.7 * i as f64).sin() + 0.3 * (9.0 * x).cos());
    waves.sum::<f64>() / point.len() as f64
}
