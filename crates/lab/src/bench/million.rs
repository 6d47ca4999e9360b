//! A live run on a million candidates within 1.5 GB, and the first batch after reading its log again.

use manyhands_core::Study;
use serde::{Deserialize, Serialize};

use super::black_box::{self, BATCH};
use super::cost::{peak_memory, timed_wall};
use super::live::run_study;
use super::part::Part;
use super::products::product_seconds;
use super::report::{Limit, Measurement, Unit};
use super::{Monitor, Setup};
use crate::Result;

/// Points along each axis of the million.
pub const SIDE: usize = 1000;
/// The memory that a million candidates may take, in bytes.
pub const MEMORY: f64 = 1.5e9;

/// What the run and the replay cost.
#[derive(Debug, Serialize, Deserialize)]
pub struct MillionRun {
    per_batch: f64,
    after_replay: f64,
    product: f64,
    peak: Option<u64>,
}

/// Runs in a process of its own.
pub fn measure(setup: &Setup) -> Result<Vec<Measurement>> {
    let rounds = setup.size.rounds();
    let found: MillionRun = Part::Million { side: SIDE, rounds }.measure_in(setup.binary)?;
    let product = format!("{SIDE} x {rounds} x {SIDE} product");
    let row = |what: String, seconds| {
        let row = Measurement::new("million", what, Unit::Seconds, Some(seconds));
        row.against(product.clone(), Some(found.product)).limited(Limit::RatioAtMost(20.0)).aiming_at(3.0)
    };
    Ok(vec![
        row(format!("batch of {BATCH}, {SIDE} x {SIDE}, n = {rounds}"), found.per_batch),
        row(format!("first batch after replay, n = {rounds}"), found.after_replay),
        Measurement::new("million", "peak memory", Unit::Bytes, found.peak.map(|bytes| bytes as f64))
            .limited(Limit::FigureAtMost(MEMORY)),
    ])
}

/// The run, the replay of its log, and a product of the size of the pass over the means.
pub fn run(side: usize, rounds: usize, monitor: &dyn Monitor) -> Result<MillionRun> {
    let task = monitor.begin(&format!("live run, {side} x {side}"), rounds);
    let (run, log) = run_study(side, rounds, task.as_ref())?;
    let mut replayed = Study::replay(black_box::spec(side)?, &log)?;
    let (batch, after_replay) = timed_wall(|| replayed.ask(BATCH));
    batch?;
    let product = product_seconds(side, rounds, side);
    Ok(MillionRun { per_batch: run.per_batch(), after_replay, product, peak: peak_memory() })
}
