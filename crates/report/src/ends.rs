//! Trials and their new states: what `tell`, `fail`, `cancel`, `amend` and `retry` give.

use manyhands_core::text::{exact, one_line};
use manyhands_core::{Domain, Trial, TrialState, Value};
use manyhands_store::{Result, Session};
use serde_json::{Value as Json, json};

use crate::value;

/// States as a JSON array.
pub fn json(trials: &[(usize, TrialState)]) -> Json {
    trials.iter().map(|(trial, state)| json!({"trial": trial, "state": state.to_string()})).collect()
}

/// One line per trial: what is recorded of it, so that a typing error is seen.
pub fn lines(session: &Session, trials: &[(usize, TrialState)]) -> Result<Vec<String>> {
    trials.iter().map(|(trial, _)| Ok(format!("trial {trial}: {}", record(session, *trial)?))).collect()
}

/// An amended trial: what is recorded now, and what was before, as JSON.
pub fn amended(domain: &Domain, trial: &Trial, before: &Trial) -> Json {
    let recorded = |record: &Trial| {
        let params = domain.logged_params(record.candidate(), record.logged_params());
        json!({
            "trial": trial.number(),
            "state": record.state().to_string(),
            "params": value::params(domain.named(&params)),
            "value": record.value(),
            "reason": record.reason(),
        })
    };
    let mut now = recorded(trial);
    now["before"] = recorded(before);
    json!([now])
}

/// The end of a trial in a few words: its state, and its value with all digits or why it has none.
pub fn end(record: &Trial) -> String {
    match (record.value(), record.reason()) {
        (Some(value), _) => format!("{} {}", record.state(), exact(value)),
        (None, Some(reason)) if *reason != record.state().to_string() => {
            format!("{}: {}", record.state(), one_line(reason))
        }
        (None, _) => record.state().to_string(),
    }
}

/// What is recorded of a trial, in a few words: its end, and the setting that it was really made with, where that is another
/// than suggested.
pub fn record(session: &Session, trial: usize) -> Result<String> {
    let record = session.trial(trial)?;
    let mut text = end(record);
    if record.is_moved() {
        let requested = session.spec().domain().logged_params(record.candidate(), record.requested_params());
        let params = session.params(trial)?.into_iter().zip(requested).filter(|((_, now), then)| now != then);
        let set = |((name, now), then): ((&str, Value), Value)| {
            format!("{} = {} instead of {}", one_line(name), now.short(), then.short())
        };
        let settings = params.map(set).collect::<Vec<_>>().join(", ");
        // Amended back to what was requested.
        text = if settings.is_empty() { text } else { format!("{text} at {settings}") };
    }
    Ok(text)
}
