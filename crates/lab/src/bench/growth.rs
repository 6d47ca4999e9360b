//! How the cost of a suggestion grows with the number of points and of candidates.

use manyhands_core::event::{Asked, ENGINE};
use manyhands_core::{Choice, Domain, Event, Phase, Spec, Study};
use manyhands_gp::{Kernel, Points};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

use super::cost::timed_wall;
use super::{Setup, Size, Task, black_box, power_law};
use crate::Result;
use crate::statistics::median;

const REPEATS: usize = 7;
const POOL: usize = 10_000;

/// Seconds per suggestion: one row per n, one column per size of the domain.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Growth {
    pub title: String,
    pub rows: Vec<usize>,
    pub sizes: Vec<usize>,
    pub seconds: Vec<Vec<f64>>,
    pub exponent_n: f64,
    /// None where there is one size only.
    pub exponent_size: Option<f64>,
}

/// Squared exponential on grids, and Matern 5/2 on a scattered pool.
pub fn measure(setup: &Setup) -> Result<Vec<Growth>> {
    let (rows, sides): (&[usize], &[usize]) = match setup.size {
        Size::Quick => (&[250, 500, 1000], &[100, 316]),
        Size::Full => (&[250, 500, 1000, 2000], &[100, 316, 1000]),
    };
    let task = setup.monitor.begin("growth", rows.len() * (sides.len() + 1));
    let grids = sides.iter().map(|&side| Ok((side * side, black_box::spec(side)?))).collect::<Result<Vec<_>>>()?;
    let pool = [(POOL, pool()?)];
    Ok(vec![
        grow("growth: one suggestion on a grid, squared exponential", rows, &grids, task.as_ref())?,
        grow("growth: one suggestion from a scattered pool in 3 dimensions, Matern 5/2", rows, &pool, task.as_ref())?,
    ])
}

fn grow(title: &str, rows: &[usize], specs: &[(usize, Spec)], task: &dyn Task) -> Result<Growth> {
    let (mut seconds, mut points) = (Vec::new(), Vec::new());
    for &n in rows {
        let mut line = Vec::new();
        for (size, spec) in specs {
            let cost = per_ask(spec, *size, n)?;
            points.push((n as f64, *size as f64, cost));
            line.push(cost);
            task.advance(1);
        }
        seconds.push(line);
    }
    let (exponent_n, exponent_size) = power_law::exponents(&points);
    let sizes = specs.iter().map(|(size, _)| *size).collect();
    Ok(Growth { title: title.to_string(), rows: rows.to_vec(), sizes, seconds, exponent_n, exponent_size })
}

/// The median cost of an ask for one trial, after `n` values at random candidates.
fn per_ask(spec: &Spec, size: usize, n: usize) -> Result<f64> {
    let mut study = Study::replay(spec.clone(), &random_log(spec, size, n)?)?;
    let mut seconds = Vec::new();
    for repeat in 0..=REPEATS {
        let (asked, cost) = timed_wall(|| study.ask(1));
        for suggestion in asked? {
            study.tell(suggestion.trial, black_box::value(suggestion.trial, &suggestion.point))?;
        }
        // The first ask builds what the others reuse.
        if repeat > 0 {
            seconds.push(cost);
        }
    }
    Ok(median(&seconds))
}

fn random_log(spec: &Spec, size: usize, n: usize) -> Result<Vec<Event>> {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let mut log = Vec::with_capacity(2 * n);
    for trial in 0..n {
        let candidate = rng.random_range(0..size);
        let seen = log.len();
        let (mean, sd, multiplier, score) = (0.0, 1.0, 1.0, 1.0);
        let (params, gap, phase, aim) = (vec![], None, Phase::Rule, None);
        let (sd_observed, interval) = (None, None);
        let choice = Choice { candidate, params, mean, sd, multiplier, score, gap, phase, aim, sd_observed, interval };
        log.push(Event::Asked(Asked { trial, choice, seen, engine: ENGINE }));
        log.push(Event::Told { trial, value: black_box::value(trial, &point(spec, candidate)) });
    }
    Ok(log)
}

fn point(spec: &Spec, candidate: usize) -> Vec<f64> {
    spec.finite().map(|domain| domain.point(candidate)).unwrap_or_default()
}

fn pool() -> Result<Spec> {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let coordinates = (0..3 * POOL).map(|_| rng.random::<f64>()).collect();
    black_box::spec_on(Domain::Points(Points::from_flat(3, coordinates)?), Kernel::matern(2.5, &[0.3])?)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_random_log_can_be_replayed_on_grid_and_pool() {
        for (spec, size) in [(black_box::spec(12).unwrap(), 144), (pool().unwrap(), POOL)] {
            let study = Study::replay(spec.clone(), &random_log(&spec, size, 30).unwrap()).unwrap();
            assert_eq!(study.posterior().observed(), 30);
        }
    }
}
