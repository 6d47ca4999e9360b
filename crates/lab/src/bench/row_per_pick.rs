//! The run of [`super::live`] by the plain implementation, which keeps a row of |D| numbers per pick.

use manyhands_core::Spec;
use manyhands_core::theory::Assumptions;
use manyhands_gp::{Grid, Key, Posterior};
use manyhands_rooflines::RowPerPick;

use super::black_box::{self, BATCH};
use super::cost::{peak_memory, timed_wall};
use super::live::LiveRun;
use super::{Monitor, Task};
use crate::{Error, Result};

/// The same run as [`super::live::run`] by the plain implementation. Its multipliers come from a separate posterior, whose time is
/// not counted.
pub fn run(side: usize, rounds: usize, monitor: &dyn Monitor) -> Result<LiveRun> {
    let task = monitor.begin(&format!("a row per pick, {side} x {side}"), rounds);
    run_on(&black_box::spec(side)?, &black_box::grid(side)?, rounds, task.as_ref())
}

fn run_on(spec: &Spec, grid: &Grid, rounds: usize, task: &dyn Task) -> Result<LiveRun> {
    let unusable = || Error::Measurement {
        what: "a row per pick".to_string(),
        reason: "it needs a product kernel on two axes".to_string(),
    };
    let mut rows = RowPerPick::new(spec.prior().kernel(), grid, spec.prior().noise()).ok_or_else(unusable)?;
    let mut posterior = Posterior::new(spec.prior().clone(), 2)?;
    let (mut picks, mut seconds) = (Vec::new(), Vec::new());
    while picks.len() < rounds {
        let (first, mut clock) = (picks.len(), 0.0);
        for trial in first..rounds.min(first + BATCH) {
            let multiplier = multiplier(&spec.assumptions()?, &posterior)?;
            let (site, choosing) = timed_wall(|| rows.argmax_upper(multiplier));
            clock += choosing + timed_wall(|| rows.append(site)).1;
            posterior.hallucinate(Key { id: trial as u64, site }, &grid.point(site))?;
            picks.push(site);
        }
        let told = picks[first..].iter().zip(first..);
        let values: Vec<f64> = told.map(|(&site, trial)| black_box::value(trial, &grid.point(site))).collect();
        clock += timed_wall(|| rows.tell(&values)).1;
        values.iter().zip(first..).try_for_each(|(&value, trial)| posterior.settle(trial as u64, value))?;
        seconds.push(clock);
        task.advance(values.len());
    }
    Ok(LiveRun { picks, seconds, peak: peak_memory() })
}

fn multiplier(assumptions: &Assumptions, posterior: &Posterior) -> Result<f64> {
    Ok(assumptions.igp_bucb(posterior.information(), posterior.hallucination_factor()?))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::Silent;
    use super::super::live::run_study;
    use super::*;

    #[test]
    fn the_plain_implementation_makes_the_same_picks() {
        let (spec, grid) = (black_box::spec(20).unwrap(), black_box::grid(20).unwrap());
        let theirs = run_on(&spec, &grid, 63, &Silent).unwrap();
        let (ours, _) = run_study(20, 63, &Silent).unwrap();
        assert_eq!(theirs.picks.len(), 63);
        assert_eq!(theirs.picks, ours.picks);
    }
}
