//! Trials and their new states: what `tell`, `fail` and `cancel` give.

use manyhands_core::TrialState;
use serde_json::{Value as Json, json};

/// States as a JSON array.
pub fn json(trials: &[(usize, TrialState)]) -> Json {
    trials.iter().map(|(trial, state)| json!({"trial": trial, "state": state.to_string()})).collect()
}

/// One line per trial.
pub fn lines(trials: &[(usize, TrialState)]) -> Vec<String> {
    trials.iter().map(|(trial, state)| format!("trial {trial}: {state}")).collect()
}
