//! A live run in batches, against the method that appends a row of |D| numbers at every pick.

use manyhands_core::{Event, Study};
use serde::{Deserialize, Serialize};

use super::black_box::{self, BATCH};
use super::cost::{peak_memory, timed_wall};
use super::part::Part;
use super::report::{Limit, Measurement, Unit};
use super::{Monitor, Setup, Task};
use crate::Result;
use crate::statistics::median;

const SIDE: usize = 316;
/// The batches at the end of a run whose median is its time per batch.
const LAST: usize = 10;

/// What a run chose, how long each batch took, and how much memory it needed.
#[derive(Debug, Serialize, Deserialize)]
pub struct LiveRun {
    pub picks: Vec<usize>,
    pub seconds: Vec<f64>,
    pub peak: Option<u64>,
}

impl LiveRun {
    /// The time per batch near the end.
    pub fn per_batch(&self) -> f64 {
        median(&self.seconds[self.seconds.len().saturating_sub(LAST)..])
    }
}

/// Runs both methods, each in a process of its own.
pub fn measure(setup: &Setup) -> Result<Vec<Measurement>> {
    let rounds = setup.size.rounds();
    let ours: LiveRun = Part::Live { side: SIDE, rounds }.measure_in(setup.binary)?;
    let theirs: LiveRun = Part::Rows { side: SIDE, rounds }.measure_in(setup.binary)?;
    let same = ours.picks.iter().zip(&theirs.picks).take_while(|(a, b)| a == b).count();
    let bytes = |run: &LiveRun| run.peak.map(|bytes| bytes as f64);
    let what = format!("batch of {BATCH}, {SIDE} x {SIDE}, n = {rounds}");
    Ok(vec![
        Measurement::new("live", what, Unit::Seconds, Some(ours.per_batch()))
            .against("a row per pick", Some(theirs.per_batch()))
            .limited(Limit::RatioAtMost(1.0 / 3.0))
            .aiming_at(0.1),
        Measurement::new("live", "same picks, in order", Unit::Picks, Some(same as f64))
            .against("a row per pick", Some(rounds as f64))
            .limited(Limit::RatioAtLeast(1.0)),
        Measurement::new("live", "peak memory", Unit::Bytes, bytes(&ours)).against("a row per pick", bytes(&theirs)),
    ])
}

/// The run of a study, from nothing to `rounds` observations.
pub fn run(side: usize, rounds: usize, monitor: &dyn Monitor) -> Result<LiveRun> {
    let task = monitor.begin(&format!("live run, {side} x {side}"), rounds);
    let (run, _) = run_study(side, rounds, task.as_ref())?;
    Ok(run)
}

/// The run and its log.
pub fn run_study(side: usize, rounds: usize, task: &dyn Task) -> Result<(LiveRun, Vec<Event>)> {
    let mut study = Study::new(black_box::spec(side)?)?;
    let (mut picks, mut seconds) = (Vec::new(), Vec::new());
    while picks.len() < rounds {
        let (batch, asking) = timed_wall(|| study.ask(BATCH.min(rounds - picks.len())));
        let batch = batch?;
        let values: Vec<f64> = batch.iter().map(|s| black_box::value(s.trial, &s.point)).collect();
        let (told, telling) =
            timed_wall(|| batch.iter().zip(&values).try_for_each(|(s, &value)| study.tell(s.trial, value)));
        told?;
        picks.extend(batch.iter().map(|s| s.choice.candidate));
        seconds.push(asking + telling);
        task.advance(batch.len());
    }
    Ok((LiveRun { picks, seconds, peak: peak_memory() }, study.events().to_vec()))
}
