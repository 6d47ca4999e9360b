//! Maxima with a proof on the unit square: how many cells are bounded, and how long that takes.

use manyhands_gp::{Budget, Kernel, Key, Posterior, Prior, Provable, Region, maximize};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::cost::timed_wall;
use super::report::{Limit, Measurement, Unit};
use super::{Setup, black_box};
use crate::Result;
use crate::statistics::median;

const ROWS: usize = 50;
const LENGTHSCALE: f64 = 0.2;
const MULTIPLIER: f64 = 2.0;
/// The gap that ends a search, relative to the largest score.
const GAP: f64 = 1e-3;
/// A search ends here in any case, far beyond the limit.
const MOST_NODES: usize = 20_000;
const NODES: f64 = 1000.0;
const SECONDS: f64 = 1.0;
const REPEATS: usize = 3;

/// Searches with a smooth kernel and with a rougher one.
pub fn measure(setup: &Setup) -> Result<Vec<Measurement>> {
    let kernels = [
        ("squared exponential", Kernel::squared_exponential(&[LENGTHSCALE])?),
        ("Matern 5/2", Kernel::matern(2.5, &[LENGTHSCALE])?),
    ];
    let task = setup.monitor.begin("certified", kernels.len());
    let mut rows = Vec::new();
    for (name, kernel) in kernels {
        let (nodes, seconds) = search(kernel)?;
        let what = format!("to a gap of {GAP}, d = 2, n = {ROWS}, {name}");
        let row = |unit, figure, most| {
            Measurement::new("certified", what.clone(), unit, Some(figure)).limited(Limit::FigureAtMost(most))
        };
        rows.push(row(Unit::Nodes, nodes as f64, NODES));
        rows.push(row(Unit::Seconds, seconds, SECONDS));
        task.advance(1);
    }
    Ok(rows)
}

/// Nodes and seconds of the search for the largest mean + multiplier sd; more nodes than allowed if the gap stays open.
fn search(kernel: Kernel) -> Result<(usize, f64)> {
    let posterior = posterior(kernel)?;
    let region = Region::new(&[0.0; 2], &[1.0; 2])?;
    let within = |nodes, tolerance| {
        maximize(posterior.view(), Provable::ConfidenceBound(MULTIPLIER), &region, Budget { nodes, tolerance }, &[])
    };
    // The score is known well enough long before it is proven.
    let tolerance = GAP * within(NODES as usize, GAP)?.score.abs();
    let (mut nodes, mut seconds) = (0, Vec::new());
    for _ in 0..REPEATS {
        let (found, cost) = timed_wall(|| within(MOST_NODES, tolerance));
        nodes = found?.nodes;
        seconds.push(cost);
    }
    Ok((nodes, median(&seconds)))
}

fn posterior(kernel: Kernel) -> Result<Posterior> {
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    let mut posterior = Posterior::new(Prior::new(kernel, 0.0, black_box::NOISE)?, 2)?;
    for row in 0..ROWS {
        let point = [rng.random::<f64>(), rng.random::<f64>()];
        posterior.observe(Key { id: row as u64, site: row }, &point, black_box::value(row, &point))?;
    }
    Ok(posterior)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_proof_takes_the_same_nodes_each_time() {
        let nodes = || search(Kernel::squared_exponential(&[LENGTHSCALE]).unwrap()).unwrap().0;
        assert_eq!(nodes(), nodes());
    }
}
