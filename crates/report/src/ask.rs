//! Suggestions: what `ask` gives.

use manyhands_core::study::representable;
use manyhands_core::{Suggestion, TrialState};
use manyhands_store::Session;
use serde_json::{Value as Json, json};

use crate::table;
use crate::value::{params, stated, unsigned_zero};

/// Suggestions as a JSON array.
pub fn json(session: &Session, suggestions: &[Suggestion]) -> Json {
    suggestions.iter().map(|suggestion| one(session, suggestion)).collect()
}

fn one(session: &Session, suggestion: &Suggestion) -> Json {
    json!({
        "trial": suggestion.trial,
        "params": params(suggestion.named(session.spec().domain())),
        "candidate": session.spec().is_finite().then_some(suggestion.choice.candidate),
        "mean": representable(unsigned_zero(suggestion.choice.mean)),
        "sd": representable(suggestion.choice.sd),
        "multiplier": suggestion.choice.multiplier,
        "score": unsigned_zero(suggestion.choice.score),
        "gap": suggestion.choice.gap,
        "state": state(session, suggestion).map(|state| state.to_string()),
    })
}

/// Suggestions as a table. The state is shown only if a trial has ended, as it may have when an ask is repeated.
pub fn text(session: &Session, suggestions: &[Suggestion]) -> String {
    let names = session.spec().domain().names();
    let has_ended = |suggestion| state(session, suggestion) != Some(TrialState::Pending);
    let shows_state = suggestions.iter().any(has_ended);
    let first = if shows_state { &["trial", "state"][..] } else { &["trial"] };
    let header: Vec<String> = first.iter().chain(&names).chain(&["mean", "sd"]).map(ToString::to_string).collect();
    let row = |suggestion: &Suggestion| {
        let state = state(session, suggestion).filter(|_| shows_state).map(|state| state.to_string());
        let numbers = [suggestion.choice.mean, suggestion.choice.sd].map(stated);
        let params = suggestion.choice.params.iter().map(|value| value.short());
        [suggestion.trial.to_string()].into_iter().chain(state).chain(params).chain(numbers).collect()
    };
    table(&header, &suggestions.iter().map(row).collect::<Vec<_>>())
}

fn state(session: &Session, suggestion: &Suggestion) -> Option<TrialState> {
    session.ledger().trials().get(suggestion.trial).map(|trial| trial.state())
}
