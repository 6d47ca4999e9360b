//! All trials of a study: the list of `trials`, and the rows of `export`.

use manyhands_core::text::{printable, short};
use manyhands_core::{Aim, Trial, Value};
use manyhands_run::Failure;
use manyhands_store::{Result, Session, Times};
use serde_json::{Map, Value as Json, json};

use crate::{table, value};

/// The columns of every trial that are no parameters.
const OWN: [&str; 7] = ["trial", "state", "value", "asked_at", "told_at", "reason", "aim"];

/// All trials as a JSON array, the parameters of each as one object.
pub fn json(session: &Session) -> Result<Json> {
    let params = |named: &[(&str, Value)]| {
        let named = value::params(named.iter().map(|(name, value)| (*name, value)));
        vec![("params".to_string(), named)]
    };
    rows(session, params).map(|rows| rows.into_iter().map(Json::Object).collect())
}

/// All trials as rows, one field per parameter. A parameter named like another column gets the prefix `params.`.
pub fn flat_rows(session: &Session) -> Result<Vec<Map<String, Json>>> {
    let name_of = |name: &str| if OWN.contains(&name) { format!("params.{name}") } else { name.to_string() };
    rows(session, |named| named.iter().map(|(name, value)| (name_of(name), json!(value))).collect())
}

/// All trials as lines of JSON, one field per parameter.
pub fn json_lines(session: &Session) -> Result<String> {
    let lines = flat_rows(session)?.into_iter().map(|row| Json::Object(row).to_string());
    Ok(lines.collect::<Vec<_>>().join("\n"))
}

/// Rows of [`flat_rows`] as CSV; `names` are those of the parameters, for the header of an empty table.
pub fn csv(names: &[&str], rows: &[Map<String, Json>]) -> csv::Result<String> {
    let header: Vec<&str> = match rows.first() {
        Some(row) => row.keys().map(String::as_str).collect(),
        None => [&OWN[..2], names, &OWN[2..]].concat(),
    };
    let cell = |value: &Json| match value {
        Json::Null => String::new(),
        Json::String(text) => text.clone(),
        other => other.to_string(),
    };
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(header)?;
    for row in rows {
        writer.write_record(row.values().map(cell))?;
    }
    let bytes = writer.into_inner().map_err(|error| error.into_error())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// All trials as a table: the value of each, or why it failed, and what it was for.
pub fn text(session: &Session) -> Result<String> {
    let names = session.spec().domain().names();
    let header: Vec<String> =
        ["trial", "state"].iter().chain(&names).chain(&["value", "aim"]).map(ToString::to_string).collect();
    let mut rows = Vec::new();
    for (number, trial) in session.ledger().trials().iter().enumerate() {
        let mut row = vec![number.to_string(), trial.state().to_string()];
        row.extend(session.params(number)?.iter().map(|(_, value)| value.short()));
        let reason = trial.reason().map(first_line).unwrap_or_default();
        row.push(trial.value().map_or(reason, short));
        row.push(trial.aim().map_or(String::new(), |aim| aim.name().to_string()));
        rows.push(row);
    }
    Ok(table(&header, &rows))
}

/// Why a trial failed, without the end of its standard error.
pub(crate) fn first_line(reason: &str) -> String {
    printable(Failure::headline(reason))
}

/// All trials; `params` gives the fields of a trial's parameters.
fn rows(session: &Session, params: impl Fn(&[(&str, Value)]) -> Vec<(String, Json)>) -> Result<Vec<Map<String, Json>>> {
    let trials = session.ledger().trials().iter().zip(session.times());
    trials.map(|(trial, times)| Ok(row(trial, times, params(&session.params(trial.number())?)))).collect()
}

fn row(trial: &Trial, times: &Times, params: Vec<(String, Json)>) -> Map<String, Json> {
    // Inserted one by one, which is faster than collecting them.
    let mut row = Map::with_capacity(OWN.len() + params.len());
    let [number, state, value, asked_at, told_at, reason, aim] = OWN;
    row.insert(number.to_string(), trial.number().into());
    row.insert(state.to_string(), trial.state().to_string().into());
    for (name, param) in params {
        row.insert(name, param);
    }
    row.insert(value.to_string(), trial.value().into());
    row.insert(asked_at.to_string(), times.asked_at.to_string().into());
    row.insert(told_at.to_string(), times.told_at.map(|time| time.to_string()).into());
    row.insert(reason.to_string(), trial.reason().into());
    row.insert(aim.to_string(), trial.aim().map(Aim::name).into());
    row
}
