//! The workers that hold pending trials: which trials, where, and since when.

use std::time::Duration;

use manyhands_store::{Lease, Liveness, Result, Session};
use serde_json::{Value as Json, json};

/// A worker that has not renewed its lease for this many terms is reported as silent.
const SILENT_TERMS: u32 = 10;

/// Held trials as a JSON array, by number.
pub(crate) fn json(session: &Session) -> Result<Json> {
    let one = |(trial, lease): (usize, Lease)| {
        json!({
            "trial": trial,
            "host": lease.holder.host,
            "process": lease.holder.pid,
            "since": lease.since.to_string(),
            "renewed_seconds_ago": lease.silent.as_secs(),
            "worker": state(&lease).name(),
        })
    };
    Ok(held(session)?.into_iter().map(one).collect())
}

/// One line per process, and what to do about those that are silent; each line starts with a newline.
pub(crate) fn text(session: &Session) -> Result<String> {
    let held = held(session)?;
    let mut processes: Vec<(&Lease, Vec<String>)> = Vec::new();
    for (trial, lease) in &held {
        match processes.iter_mut().find(|(first, _)| first.holder == lease.holder) {
            Some((_, trials)) => trials.push(trial.to_string()),
            None => processes.push((lease, vec![trial.to_string()])),
        }
    }
    Ok(processes.into_iter().map(|(lease, trials)| line(lease, &trials)).collect())
}

fn line(lease: &Lease, trials: &[String]) -> String {
    let noun = if trials.len() == 1 { "trial" } else { "trials" };
    let end = match state(lease) {
        WorkerState::Running => format!(", since {}", humantime::format_rfc3339_seconds(lease.since.into())),
        WorkerState::Gone => ", which has ended; to be offered again".to_string(),
        WorkerState::Silent => {
            let silent = humantime::format_duration(Duration::from_secs(lease.silent.as_secs()));
            let first = &trials[0];
            format!(", silent for {silent}; `cancel` ends the trial, `worker --take {first}` runs it here")
        }
    };
    format!("\nrunning: {noun} {} by {}{end}", trials.join(", "), lease.holder)
}

/// The pending trials that workers hold, by number.
fn held(session: &Session) -> Result<Vec<(usize, Lease)>> {
    let mut held = session.pending_leases()?;
    held.retain(|(_, lease)| !lease.is_released());
    held.sort_by_key(|(trial, _)| *trial);
    Ok(held)
}

/// What is known of a worker.
#[derive(Clone, Copy)]
enum WorkerState {
    Running,
    Silent,
    Gone,
}

impl WorkerState {
    fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Silent => "silent",
            Self::Gone => "gone",
        }
    }
}

fn state(lease: &Lease) -> WorkerState {
    match lease.holder.liveness() {
        Liveness::Gone => WorkerState::Gone,
        _ if lease.silent > lease.term * SILENT_TERMS => WorkerState::Silent,
        Liveness::Unknown if lease.has_lapsed() => WorkerState::Gone,
        _ => WorkerState::Running,
    }
}
