//! Suggestions: what `ask` gives.

use manyhands_core::study::representable;
use manyhands_core::{Aim, Suggestion, TrialState};
use manyhands_store::Session;
use serde_json::{Value as Json, json};

use crate::table;
use crate::value::{params, stated, unsigned_zero};

/// Suggestions as a JSON array.
pub fn json(session: &Session, suggestions: &[Suggestion]) -> Json {
    suggestions.iter().map(|suggestion| one(session, suggestion)).collect()
}

fn one(session: &Session, suggestion: &Suggestion) -> Json {
    let is_expected = is_expected(session, suggestion);
    json!({
        "trial": suggestion.trial,
        "params": params(suggestion.named(session.spec().domain())),
        "candidate": session.spec().is_finite().then_some(suggestion.choice.candidate),
        "mean": is_expected.then(|| representable(unsigned_zero(suggestion.choice.mean))).flatten(),
        "sd": is_expected.then(|| representable(suggestion.choice.sd)).flatten(),
        "interval": suggestion.choice.interval,
        "multiplier": suggestion.choice.multiplier,
        "score": unsigned_zero(suggestion.choice.score),
        "gap": suggestion.choice.gap,
        "phase": suggestion.choice.phase.name(),
        "aim": aim(session, suggestion).map(Aim::name),
        "state": state(session, suggestion).map(|state| state.to_string()),
    })
}

/// Suggestions as a table. The state is shown only if a trial has ended, as it may have when an ask is repeated.
pub fn text(session: &Session, suggestions: &[Suggestion]) -> String {
    let names = session.spec().domain().names();
    let has_ended = |suggestion| state(session, suggestion) != Some(TrialState::Pending);
    let shows_state = suggestions.iter().any(has_ended);
    let first = if shows_state { &["trial", "state"][..] } else { &["trial"] };
    let header: Vec<String> =
        first.iter().chain(&names).chain(&["mean", "sd", "aim"]).map(ToString::to_string).collect();
    let row = |suggestion: &Suggestion| {
        let state = state(session, suggestion).filter(|_| shows_state).map(|state| state.to_string());
        let numbers = match is_expected(session, suggestion) {
            true => [suggestion.choice.mean, suggestion.choice.sd].map(stated),
            false => [String::new(), String::new()],
        };
        let aim = aim(session, suggestion).map_or(String::new(), |aim| aim.words().to_string());
        let params = suggestion.choice.params.iter().map(|value| value.short());
        [suggestion.trial.to_string()].into_iter().chain(state).chain(params).chain(numbers).chain([aim]).collect()
    };
    table(&header, &suggestions.iter().map(row).collect::<Vec<_>>())
}

/// Whether the model had anything to expect: a learned one has not before its first value.
fn is_expected(session: &Session, suggestion: &Suggestion) -> bool {
    !session.spec().learns() || suggestion.choice.sd_observed.is_some() || suggestion.choice.aim.is_none()
}

fn aim(session: &Session, suggestion: &Suggestion) -> Option<Aim> {
    session.ledger().trials().get(suggestion.trial).and_then(|trial| trial.aim())
}

fn state(session: &Session, suggestion: &Suggestion) -> Option<TrialState> {
    session.ledger().trials().get(suggestion.trial).map(|trial| trial.state())
}
