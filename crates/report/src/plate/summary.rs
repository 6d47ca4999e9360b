//! What became of the rows of a table, in words and as JSON.

use manyhands_core::TrialState;
use manyhands_core::text::{counted, one_line};
use manyhands_store::{Change, Recorded, Result, Session};
use serde_json::{Value as Json, json};

use super::PlateEntries;
use crate::ends::record;

/// What became of each row that was read, as a JSON array.
pub fn json(recorded: &[Recorded]) -> Json {
    let row =
        |row: &Recorded| json!({"trial": row.trial, "state": row.state.to_string(), "change": change(row.change)});
    recorded.iter().map(row).collect()
}

/// Trials whose record has changed, one line each: what is recorded now, so that a typing error is seen.
pub fn lines(session: &Session, recorded: &[Recorded]) -> Result<Vec<String>> {
    let line = |row: &Recorded| {
        let note = match (row.change, row.beside) {
            (Change::Amended, _) => ", amended".to_string(),
            (Change::Measured, _) => ", metrics recorded".to_string(),
            (Change::OfEarlierAttempt, _) => {
                " (the table has the failure of an earlier attempt; if it failed again: manyhands fail)".to_string()
            }
            (_, Some(trial)) => format!(" (trial {trial} has the same setting: {})", record(session, trial)?),
            _ => String::new(),
        };
        Ok(format!("trial {}: {}{note}", row.trial, record(session, row.trial)?))
    };
    recorded.iter().filter(|row| row.change != Change::Nothing).map(line).collect()
}

/// How many rows did what, and what became of the columns that are no part of a result.
pub fn summary(entries: &PlateEntries, recorded: &[Recorded]) -> Vec<String> {
    let trials = by_trial(recorded);
    let is_pending = |row: &Recorded| row.state == TrialState::Pending;
    let count = |change: Change, pending: bool| {
        let is_counted = |row: &&&Recorded| row.change == change && is_pending(row) == pending;
        trials.iter().filter(|row| row.state != TrialState::Cancelled).filter(is_counted).count()
    };
    let cancelled = trials.iter().filter(|row| row.state == TrialState::Cancelled).count();
    let mut parts = vec![format!("{} recorded", counted(count(Change::Recorded, false), "result"))];
    let further = [
        (count(Change::Amended, false), "amended"),
        (count(Change::Recorded, true), "under way elsewhere added"),
        (count(Change::Amended, true), "still pending with another setting"),
        (count(Change::Measured, false), "recorded before and now with metrics"),
        (count(Change::Measured, true), "still pending with metrics"),
        (count(Change::Nothing, false), "recorded before"),
        (count(Change::Nothing, true) + count(Change::OfEarlierAttempt, true), "still pending"),
        (cancelled, "cancelled"),
    ];
    parts.extend(further.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")));
    if entries.skipped > 0 {
        parts.push(format!("{} without a value skipped", counted(entries.skipped, "row")));
    }
    let mut lines = vec![parts.join(", ")];
    if entries.is_all_elsewhere && recorded.iter().any(|row| row.change != Change::Nothing) {
        lines.push(
            "warning: no trial of this table was made near its suggestion; if it is the plate of another study, take a result \
             back with `manyhands amend STUDY TRIAL --failed REASON` and `manyhands retry STUDY TRIAL`"
                .to_string(),
        );
    }
    if recorded.iter().any(|row| row.beside.is_some()) {
        lines.push("same settings count as measured again; to correct a value instead: manyhands amend".to_string());
    }
    let listed = |names: &[String]| names.iter().map(|name| one_line(name)).collect::<Vec<_>>().join(", ");
    if !entries.metrics.is_empty() {
        lines.push(format!("kept as metrics: {}", listed(&entries.metrics)));
    }
    if !entries.unread.is_empty() {
        let places: Vec<String> = entries.unread.iter().map(ToString::to_string).collect();
        lines.push(format!("no numbers, and not read: {}", places.join("; ")));
    }
    if !entries.ignored.is_empty() {
        lines.push(format!("columns that were not read: {}", listed(&entries.ignored)));
    }
    lines
}

/// What became of each trial: of several rows about one, what the first did.
fn by_trial(recorded: &[Recorded]) -> Vec<&Recorded> {
    let mut trials: Vec<&Recorded> = Vec::new();
    for row in recorded {
        match trials.iter_mut().find(|known| known.trial == row.trial) {
            Some(known) if known.change == Change::Nothing => *known = row,
            Some(_) => {}
            None => trials.push(row),
        }
    }
    trials
}

fn change(change: Change) -> &'static str {
    match change {
        Change::Nothing | Change::OfEarlierAttempt => "nothing",
        Change::Recorded => "recorded",
        Change::Measured => "measured",
        Change::Amended => "amended",
    }
}
