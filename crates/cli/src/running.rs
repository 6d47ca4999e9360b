//! Who runs which trials, where, and since when: the lines of `status` about workers.

use std::time::Duration;

use anyhow::Result;
use manyhands_store::{Lease, Life, Session};
use serde_json::{Value as Json, json};

/// A worker that has not renewed its lease for so many terms is named as silent.
const SILENT_TERMS: u32 = 10;

/// The pending trials that workers hold, by number.
fn held(session: &Session) -> Result<Vec<(usize, Lease)>> {
    let mut held = session.pending_leases()?;
    held.retain(|(_, lease)| !lease.is_released());
    held.sort_by_key(|(trial, _)| *trial);
    Ok(held)
}

/// As JSON, one object for each trial.
pub fn json(session: &Session) -> Result<Json> {
    let one = |(trial, lease): (usize, Lease)| {
        json!({
            "trial": trial,
            "host": lease.holder.host,
            "process": lease.holder.pid,
            "since": lease.since.to_string(),
            "renewed_seconds_ago": lease.silent.as_secs(),
            "worker": state(&lease),
        })
    };
    Ok(held(session)?.into_iter().map(one).collect())
}

/// For people: one line for each process, and what to do about those that are silent.
pub fn text(session: &Session) -> Result<String> {
    let held = held(session)?;
    let mut processes: Vec<(&Lease, Vec<usize>)> = Vec::new();
    for (trial, lease) in &held {
        match processes.iter_mut().find(|(first, _)| first.holder == lease.holder) {
            Some((_, trials)) => trials.push(*trial),
            None => processes.push((lease, vec![*trial])),
        }
    }
    let mut text = String::new();
    for (lease, trials) in processes {
        let numbers: Vec<String> = trials.iter().map(ToString::to_string).collect();
        let trials = if numbers.len() == 1 { "trial" } else { "trials" };
        text += &format!("\nrunning: {trials} {} by {}", numbers.join(", "), lease.holder);
        text += &match state(lease) {
            "running" => format!(", since {}", humantime::format_rfc3339_seconds(lease.since.into())),
            "gone" => ", which has ended; to be offered again".to_string(),
            _ => {
                let silent = humantime::format_duration(Duration::from_secs(lease.silent.as_secs()));
                format!(
                    ", not heard of for {silent}; `cancel` frees a trial, and `worker --take {}` runs it here",
                    numbers[0]
                )
            }
        };
    }
    Ok(text)
}

fn state(lease: &Lease) -> &'static str {
    match lease.holder.life() {
        Life::Gone => "gone",
        _ if lease.silent > lease.term * SILENT_TERMS => "silent",
        Life::Unknown if lease.has_lapsed() => "gone",
        _ => "running",
    }
}
