//! What words in the cells of a table mean: that a trial failed, and states of trials.

use manyhands_core::TrialState;

/// What the column of states of an export has in it.
const STATES: [TrialState; 4] = [TrialState::Pending, TrialState::Observed, TrialState::Failed, TrialState::Cancelled];

/// The state that a cell names.
pub(super) fn state(cell: &str) -> Option<TrialState> {
    STATES.into_iter().find(|state| state.to_string().eq_ignore_ascii_case(cell))
}

/// What a cell says behind the word that a trial failed; none where it does not say that.
pub(super) fn failure(cell: &str) -> Option<&str> {
    let end = cell.find(|c: char| !c.is_alphabetic()).unwrap_or(cell.len());
    let (word, rest) = cell.split_at(end);
    let is_failure = ["failed", "fail", "failure"].iter().any(|known| word.eq_ignore_ascii_case(known));
    is_failure.then(|| {
        let reason = rest.trim_start_matches([' ', ':', ',', ';', '-', '\u{2013}', '\u{2014}']).trim_end();
        reason.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')).unwrap_or(reason).trim()
    })
}
