//! What became of the rows of a table, in words and as JSON.

use manyhands_core::TrialState;
use manyhands_core::text::{counted, one_line};
use manyhands_store::{Change, Recorded};
use serde_json::{Value as Json, json};

use super::PlateEntries;

/// What became of each row that was read, as a JSON array.
pub fn json(recorded: &[Recorded]) -> Json {
    let row =
        |row: &Recorded| json!({"trial": row.trial, "state": row.state.to_string(), "change": change(row.change)});
    recorded.iter().map(row).collect()
}

/// Trials whose record has changed, one line each.
pub fn lines(recorded: &[Recorded]) -> Vec<String> {
    let line = |row: &Recorded| match row.change {
        Change::Nothing => None,
        Change::Recorded => Some(format!("trial {}: {}", row.trial, row.state)),
        Change::Amended => Some(format!("trial {}: {}, amended", row.trial, row.state)),
    };
    recorded.iter().filter_map(line).collect()
}

/// How many rows did what, and what became of the columns that are no part of a result.
pub fn summary(entries: &PlateEntries, recorded: &[Recorded]) -> Vec<String> {
    let count = |change: Change| recorded.iter().filter(|row| row.change == change).count();
    let is_pending = |row: &&Recorded| row.change == Change::Nothing && row.state == TrialState::Pending;
    let pending = recorded.iter().filter(is_pending).count();
    let mut parts = vec![format!("{} recorded", counted(count(Change::Recorded), "result"))];
    let known = count(Change::Nothing) - pending;
    let further = [(count(Change::Amended), "amended"), (known, "recorded before"), (pending, "still pending")];
    parts.extend(further.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")));
    let mut lines = vec![parts.join(", ")];
    let listed = |names: &[String]| names.iter().map(|name| one_line(name)).collect::<Vec<_>>().join(", ");
    if !entries.metrics.is_empty() {
        lines.push(format!("kept as metrics: {}", listed(&entries.metrics)));
    }
    if !entries.ignored.is_empty() {
        lines.push(format!("columns that were not read: {}", listed(&entries.ignored)));
    }
    lines
}

fn change(change: Change) -> &'static str {
    match change {
        Change::Nothing => "nothing",
        Change::Recorded => "recorded",
        Change::Amended => "amended",
    }
}
