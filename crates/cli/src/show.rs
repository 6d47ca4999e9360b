//! How studies are shown: the JSON of each thing, and tables for people.

use std::io::{Write, stdout};

use anyhow::{Context, Result};
use comfy_table::{CellAlignment, Table, presets};
use manyhands_core::{
    Best, Certificate, Direction, Domain, Suggestion, Trial, TrialState, Value, printable, representable, significant,
};
use manyhands_run::Failure;
use manyhands_store::{Session, Times};
use serde_json::{Map, Value as Json, json};

/// Prints data on standard output.
pub fn print(text: &str) -> Result<()> {
    writeln!(stdout(), "{text}").context("cannot write to standard output")
}

/// Prints text on standard output that ends as it should.
pub fn print_as_is(text: &str) -> Result<()> {
    write!(stdout(), "{text}").context("cannot write to standard output")
}

/// A value as JSON.
pub fn json_of(value: &Value) -> Json {
    match value {
        Value::Float(value) => json!(value),
        Value::Int(value) => json!(value),
        Value::Text(value) => json!(value),
        Value::Bool(value) => json!(value),
    }
}

/// What the best of some values is among them.
pub fn extreme(direction: Direction) -> &'static str {
    match direction {
        Direction::Maximize => "highest",
        Direction::Minimize => "lowest",
    }
}

/// A number in six digits at most.
pub fn short(value: f64) -> String {
    let text = significant(value, 6);
    if text.contains('.') && !text.contains('e') {
        return text.trim_end_matches('0').trim_end_matches('.').to_string();
    }
    text
}

/// A number for programs: zero has no sign.
fn number(value: f64) -> f64 {
    value + 0.0
}

/// A value as a person would write it.
pub fn text_of(value: &Value) -> String {
    match value {
        Value::Float(value) => short(*value),
        Value::Text(value) => printable(value).replace('\n', "\\n").replace('\t', "\\t"),
        other => other.to_string(),
    }
}

/// Why a trial failed, without the end of its standard error.
pub fn first_line(reason: &str) -> String {
    printable(Failure::headline(reason))
}

/// Named values as a JSON object, in order.
pub fn params<'a>(named: impl IntoIterator<Item = (&'a str, &'a Value)>) -> Json {
    Json::Object(named.into_iter().map(|(name, value)| (name.to_string(), json_of(value))).collect())
}

/// Named values on one line.
pub fn params_line<'a>(named: impl IntoIterator<Item = (&'a str, &'a Value)>) -> String {
    named.into_iter().map(|(name, value)| format!("{name} = {}", text_of(value))).collect::<Vec<_>>().join(", ")
}

/// A suggestion.
pub fn suggestion(suggestion: &Suggestion, session: &Session) -> Json {
    json!({
        "trial": suggestion.trial,
        "params": params(suggestion.named(session.spec().domain())),
        "candidate": session.spec().finite().map(|_| suggestion.choice.candidate),
        "mean": representable(number(suggestion.choice.mean)),
        "sd": representable(suggestion.choice.sd),
        "multiplier": suggestion.choice.multiplier,
        "score": number(suggestion.choice.score),
        "gap": suggestion.choice.gap,
        "state": session.ledger().trials().get(suggestion.trial).map(|trial| trial.state().to_string()),
    })
}

/// The best trial.
pub fn best(best: &Best, domain: &Domain) -> Json {
    json!({
        "trial": best.trial,
        "params": params(domain.named(&best.params)),
        "value": best.value,
        "mean": representable(number(best.mean)),
        "lower": representable(best.lower),
        "upper": representable(best.upper),
        "regret_bound": best.regret_bound,
    })
}

/// What a model says, in a table: "beyond" where no number states it.
pub fn stated(number: f64) -> String {
    representable(number).map_or("beyond".to_string(), |number| significant(number, 4))
}

/// A certificate.
pub fn certificate(certificate: &Certificate, domain: &Domain) -> Json {
    json!({
        "regret_bound": certificate.regret_bound,
        "upper": representable(certificate.upper),
        "lower": representable(certificate.lower),
        "params": params(domain.named(&certificate.params)),
        "candidate": certificate.candidate,
        "delta": certificate.delta,
        "kind": certificate.kind.to_string(),
        "gap": certificate.gap,
    })
}

/// What a certificate says, in a sentence.
pub fn certificate_line(certificate: &Certificate, domain: &Domain) -> String {
    let kind = match certificate.kind {
        manyhands_core::Kind::Theorem => "a theorem under the stated kernel, norm and noise bounds",
        _ => "the opinion of a learned model",
    };
    format!(
        "{} is within {} of the optimum with probability {} ({kind})",
        params_line(domain.named(&certificate.params)),
        significant(certificate.regret_bound, 3),
        1.0 - certificate.delta,
    )
}

/// Trials as they are exported: name and value of each column, parameters spread or in one.
pub fn trial(trial: &Trial, times: &Times, named: &[(&str, Value)], spread: bool) -> Map<String, Json> {
    const OWN: [&str; 6] = ["trial", "state", "value", "asked_at", "told_at", "reason"];
    let mut row = Map::new();
    row.insert("trial".to_string(), json!(trial.number()));
    row.insert("state".to_string(), json!(trial.state().to_string()));
    if spread {
        for (name, value) in named {
            let name = if OWN.contains(name) { format!("params.{name}") } else { name.to_string() };
            row.insert(name, json_of(value));
        }
    } else {
        row.insert("params".to_string(), params(named.iter().map(|(name, value)| (*name, value))));
    }
    row.insert("value".to_string(), json!(trial.value()));
    row.insert("asked_at".to_string(), json!(times.asked_at.to_string()));
    row.insert("told_at".to_string(), json!(times.told_at.map(|time| time.to_string())));
    row.insert("reason".to_string(), json!(trial.reason()));
    row
}

/// What became of trials, as tell, fail and cancel print it.
pub fn states(trials: &[(usize, TrialState)], as_json: bool) -> Result<()> {
    if as_json {
        let state = |(trial, state): &(usize, TrialState)| json!({"trial": trial, "state": state.to_string()});
        return print(&Json::Array(trials.iter().map(state).collect()).to_string());
    }
    trials.iter().try_for_each(|(trial, state)| print(&format!("trial {trial}: {state}")))
}

/// A table with a header; numbers to the right.
pub fn table(header: &[String], rows: &[Vec<String>]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(header);
    for row in rows {
        table.add_row(row);
    }
    let is_number = |text: &str| text.is_empty() || text.parse::<f64>().is_ok();
    for (index, column) in table.column_iter_mut().enumerate() {
        if rows.iter().all(|row| row.get(index).is_none_or(|text| is_number(text))) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.lines().map(|line| line.trim_end().to_string()).collect::<Vec<_>>().join("\n")
}
