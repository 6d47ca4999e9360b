//! One exact posterior sample on a million candidates, against the matrix products that it needs.

use std::sync::Arc;

use manyhands_gp::{Domain, Grid, Kernel, Key, Posterior, Prior, Restricted, Sampler};
use manyhands_rooflines::draw;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::cost::{peak_memory, timed_wall};
use super::million::{MEMORY, SIDE};
use super::part::Part;
use super::products::product_seconds;
use super::report::{Limit, Measurement, Unit};
use super::{Monitor, Setup, black_box};
use crate::statistics::median;
use crate::{Error, Result};

const REPEATS: usize = 9;
/// Bytes for the sampler's factors; a study's default.
const BUDGET: usize = 256 << 20;

/// What samples cost, and the products they are compared with.
#[derive(Debug, Serialize, Deserialize)]
pub struct SampleCosts {
    seconds: f64,
    /// Two products for the prior draw and one for the update, with whole covariances along the axes.
    dense: f64,
    /// The same with factors of the axes' numerical ranks.
    thin: f64,
    ranks: Vec<usize>,
    peak: Option<u64>,
}

/// Runs in a process of its own.
pub fn measure(setup: &Setup) -> Result<Vec<Measurement>> {
    let rounds = setup.size.rounds();
    let found: SampleCosts = Part::Sample { side: SIDE, rounds }.measure_in(setup.binary)?;
    let what = format!("one sample, {SIDE} x {SIDE}, n = {rounds}");
    let ranks: Vec<String> = found.ranks.iter().map(usize::to_string).collect();
    let row = || Measurement::new("sample", what.clone(), Unit::Seconds, Some(found.seconds));
    Ok(vec![
        row().against("dense products per axis", Some(found.dense)).limited(Limit::RatioAtMost(3.0)),
        row().against(format!("thin products, ranks {}", ranks.join(" x ")), Some(found.thin)),
        Measurement::new("sample", "peak memory", Unit::Bytes, found.peak.map(|bytes| bytes as f64))
            .limited(Limit::FigureAtMost(MEMORY)),
    ])
}

/// Samples given `rounds` observations at random candidates.
pub fn run(side: usize, rounds: usize, monitor: &dyn Monitor) -> Result<SampleCosts> {
    let task = monitor.begin(&format!("sample, {side} x {side}"), REPEATS);
    let (kernel, grid) = (black_box::kernel()?, black_box::grid(side)?);
    let posterior = posterior(&grid, &kernel, rounds)?;
    let restricted = Arc::new(Restricted::new(kernel, Domain::Grid(grid), BUDGET)?);
    let ranks = ranks(&restricted)?;
    let sampler = Sampler::new(restricted)?;
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut seconds = Vec::new();
    for _ in 0..REPEATS {
        seconds.push(timed_wall(|| draw(&sampler, posterior.view(), &mut rng)).1);
        task.advance(1);
    }
    let peak = peak_memory();
    let dense = 2.0 * product_seconds(side, side, side) + product_seconds(side, rounds, side);
    Ok(SampleCosts { seconds: median(&seconds), dense, thin: thin_seconds(side, rounds, &ranks), ranks, peak })
}

fn posterior(grid: &Grid, kernel: &Kernel, rounds: usize) -> Result<Posterior> {
    let mut posterior = Posterior::new(Prior::new(kernel.clone(), 0.0, black_box::NOISE)?, 2)?;
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    for trial in 0..rounds {
        let site = rng.random_range(0..grid.len());
        let point = grid.point(site);
        posterior.observe(Key { id: trial as u64, site }, &point, black_box::value(trial, &point))?;
    }
    Ok(posterior)
}

/// The draw at the observed points, the update's weights in features, and the expansion of both over the grid.
fn thin_seconds(side: usize, rounds: usize, ranks: &[usize]) -> f64 {
    let (first, last) = (ranks[0], ranks[ranks.len() - 1]);
    product_seconds(first, last, rounds)
        + product_seconds(first, rounds, last)
        + product_seconds(side, first, last)
        + product_seconds(side, last, side)
}

/// The numerical ranks of the covariance along the axes.
fn ranks(restricted: &Restricted) -> Result<Vec<usize>> {
    let reason = "the kernel is not a product over coordinates".to_string();
    restricted.axis_ranks().ok_or(Error::Measurement { what: "a sample".to_string(), reason })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn smooth_axes_have_small_ranks() {
        let (kernel, grid) = (black_box::kernel().unwrap(), black_box::grid(200).unwrap());
        let ranks = ranks(&Restricted::new(kernel, Domain::Grid(grid), BUDGET).unwrap()).unwrap();
        assert!(ranks[1] <= ranks[0] && (10..40).contains(&ranks[0]), "{ranks:?}");
    }
}
