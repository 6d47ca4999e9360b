//! A live run in batches, against the method that appends a row of |D| numbers at every pick.

use anyhow::Result;
use manyhands_core::{Event, Study};
use serde::{Deserialize, Serialize};

use super::measure::{median, peak_memory, timed};
use super::part::{Part, spawn};
use super::problem::{self, BATCH};
use super::report::{Limit, Row, Unit};
use crate::progress::Progress;

const SIDE: usize = 316;
/// The batches at the end of a run whose median is its time per batch.
const LAST: usize = 10;

/// What a run chose, how long each batch took, and how much memory it needed.
#[derive(Debug, Serialize, Deserialize)]
pub struct Run {
    pub picks: Vec<usize>,
    pub seconds: Vec<f64>,
    pub peak: Option<u64>,
}

impl Run {
    /// The time per batch near the end.
    pub fn per_batch(&self) -> f64 {
        median(&self.seconds[self.seconds.len().saturating_sub(LAST)..])
    }
}

/// Runs both methods, each in its own process.
pub fn measure(rounds: usize) -> Result<Vec<Row>> {
    let ours: Run = spawn(Part::Live { side: SIDE, rounds })?;
    let theirs: Run = spawn(Part::Rows { side: SIDE, rounds })?;
    let same = ours.picks.iter().zip(&theirs.picks).take_while(|(a, b)| a == b).count();
    let bytes = |run: &Run| run.peak.map(|bytes| bytes as f64);
    let what = format!("batch of {BATCH}, {SIDE} x {SIDE}, n = {rounds}");
    Ok(vec![
        Row::new("live", what, Unit::Seconds, Some(ours.per_batch()))
            .against("a row per pick", Some(theirs.per_batch()))
            .limited(Limit::RatioAtMost(1.0 / 3.0))
            .aiming_at(0.1),
        Row::new("live", "same picks, in order", Unit::Picks, Some(same as f64))
            .against("a row per pick", Some(rounds as f64))
            .limited(Limit::RatioAtLeast(1.0)),
        Row::new("live", "peak memory", Unit::Bytes, bytes(&ours)).against("a row per pick", bytes(&theirs)),
    ])
}

/// The run of a study, from nothing to `rounds` observations.
pub fn run(side: usize, rounds: usize) -> Result<Run> {
    let progress = Progress::new(&format!("live run, {side} x {side}"), rounds);
    let (run, _) = run_study(side, rounds, &progress)?;
    Ok(run)
}

/// The run and its log.
pub fn run_study(side: usize, rounds: usize, progress: &Progress) -> Result<(Run, Vec<Event>)> {
    let mut study = Study::new(problem::spec(side)?)?;
    let (mut picks, mut seconds) = (Vec::new(), Vec::new());
    while picks.len() < rounds {
        let (batch, asking) = timed(|| study.ask(BATCH.min(rounds - picks.len())));
        let batch = batch?;
        let values: Vec<f64> = batch.iter().map(|s| problem::value(s.trial, &s.point)).collect();
        let (told, telling) =
            timed(|| batch.iter().zip(&values).try_for_each(|(s, &value)| study.tell(s.trial, value)));
        told?;
        picks.extend(batch.iter().map(|s| s.choice.candidate));
        seconds.push(asking + telling);
        progress.advance(batch.len());
    }
    Ok((Run { picks, seconds, peak: peak_memory() }, study.events().to_vec()))
}
