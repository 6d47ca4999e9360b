//! Trials of a study: the list of `trials`, and the rows of `export`.

mod columns;
mod exported;
mod selection;
#[cfg(test)]
mod tests;

use manyhands_core::text::{one_line, printable, short};
use manyhands_core::{Trial, Value};
use manyhands_run::Failure;
use manyhands_store::{Result, Session};
use serde_json::{Map, Value as Json};

pub use self::columns::{TrialColumn, TrialColumns, UnknownColumn};
use self::columns::{TrialRecord, metric, metric_names};
pub use self::exported::{BadExport, csv_of_json_lines, is_exported_line};
pub use self::selection::{TrialOrder, TrialSelection};
use crate::{table, value};

/// How many characters of a reason a table for people shows at most.
const LONGEST_REASON: usize = 90;

/// How many metrics that the table leaves out are named.
const MOST_NAMED: usize = 10;

/// How many metrics a table for people shows at most.
const MOST_METRICS: usize = 6;

/// The selected trials as a JSON array, the parameters of each as one object, and its metrics as another. `amendments` is how often
/// its record was amended, `attempts` how often it was begun, and `requested` has the parameters as they were suggested, where it
/// was made with others.
pub fn json(session: &Session, selection: &TrialSelection) -> Result<Json> {
    let columns = TrialColumns::of(session);
    let rows = selection.numbers(session)?.into_iter().map(|number| {
        let params = session.params(number)?;
        let record = record(session, number, &params)?;
        let mut row = Map::new();
        for (name, column) in columns.iter() {
            if !matches!(column, TrialColumn::Parameter(_) | TrialColumn::Metric(_)) {
                row.insert(name.to_string(), column.cell(record));
            }
            if *column == TrialColumn::State {
                let named = params.iter().map(|(name, value)| (*name, value));
                row.insert("params".to_string(), value::params(named));
            }
            if *column == TrialColumn::Value {
                let metrics = record.trial.metrics().iter().map(|(name, value)| (name.clone(), metric(*value)));
                row.insert("metrics".to_string(), Json::Object(metrics.collect()));
            }
        }
        row.insert("amendments".to_string(), record.trial.amendments().into());
        row.insert("attempts".to_string(), (record.trial.attempt() + 1).into());
        row.insert("requested".to_string(), requested(session, record.trial));
        Ok(Json::Object(row))
    });
    rows.collect()
}

/// The parameters of a trial as they were suggested; null where it was made with them.
fn requested(session: &Session, trial: &Trial) -> Json {
    match trial.is_moved() {
        true => {
            let domain = session.spec().domain();
            let requested = domain.logged_params(trial.candidate(), trial.requested_params());
            value::params(domain.named(&requested))
        }
        false => Json::Null,
    }
}

/// All trials as rows, one field per parameter and per metric.
pub fn flat_rows(session: &Session) -> Result<Vec<Map<String, Json>>> {
    let columns = TrialColumns::of(session);
    let count = columns.names().len();
    let rows = (0..session.ledger().trials().len()).map(|number| {
        let params = session.params(number)?;
        let record = record(session, number, &params)?;
        // Inserted one by one, which is faster than collecting them.
        let mut row = Map::with_capacity(count);
        for (name, column) in columns.iter() {
            row.insert(name.to_string(), column.cell(record));
        }
        Ok(row)
    });
    rows.collect()
}

/// All trials as lines of JSON, one field per parameter and per metric.
pub fn json_lines(session: &Session) -> Result<String> {
    let lines = flat_rows(session)?.into_iter().map(|row| Json::Object(row).to_string());
    Ok(lines.collect::<Vec<_>>().join("\n"))
}

/// Rows of [`flat_rows`] as CSV, under the header of their columns.
pub fn csv(columns: &TrialColumns, rows: &[Map<String, Json>]) -> csv::Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(columns.names())?;
    for row in rows {
        writer.write_record(row.values().map(csv_cell))?;
    }
    let bytes = writer.into_inner().map_err(|error| error.into_error())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// A field as a cell: a text as it is, and nothing for null.
fn csv_cell(value: &Json) -> String {
    match value {
        Json::Null => String::new(),
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The selected trials as a table: the value of each, or why it failed, some of its metrics, and what it was for.
pub fn text(session: &Session, selection: &TrialSelection) -> Result<String> {
    let columns = TrialColumns::of(session);
    let numbers = selection.numbers(session)?;
    let metrics = shown_metrics(session, &numbers);
    let is_shown = |column: &TrialColumn| match column {
        TrialColumn::Metric(name) => metrics.iter().take(MOST_METRICS).any(|shown| shown == name),
        TrialColumn::AskedAt | TrialColumn::ToldAt | TrialColumn::Reason => false,
        _ => true,
    };
    let shown: Vec<(&str, &TrialColumn)> = columns.iter().filter(|(_, column)| is_shown(column)).collect();
    let header: Vec<String> = shown.iter().map(|(name, _)| one_line(name)).collect();
    let mut rows = Vec::with_capacity(numbers.len());
    for number in numbers {
        let params = session.params(number)?;
        let record = record(session, number, &params)?;
        rows.push(shown.iter().map(|(_, column)| for_people(column, record)).collect());
    }
    Ok(table(&header, &rows))
}

/// A line that names the metrics that [`text`] leaves out, if there are any.
pub fn hidden_metrics_line(session: &Session, selection: &TrialSelection) -> Result<Option<String>> {
    let numbers = selection.numbers(session)?;
    let metrics = shown_metrics(session, &numbers);
    let hidden: Vec<String> = metrics.iter().skip(MOST_METRICS).map(|name| one_line(name)).collect();
    let more = match hidden.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let named = &hidden[..hidden.len().min(MOST_NAMED)];
    let line = || format!("--json and `manyhands export` have further metrics: {}{more}", named.join(", "));
    Ok((!hidden.is_empty()).then(line))
}

/// The metrics of these trials, in the order of all trials.
fn shown_metrics<'a>(session: &'a Session, numbers: &[usize]) -> Vec<&'a str> {
    let trials = session.ledger().trials();
    let of_these = metric_names(numbers.iter().map(|number| &trials[*number]));
    metric_names(trials).into_iter().filter(|name| of_these.contains(name)).collect()
}

/// A cell with few digits; of a failed trial, the reason stands in the place of the value.
fn for_people(column: &TrialColumn, record: TrialRecord<'_>) -> String {
    match (column, record.trial.reason()) {
        (TrialColumn::Value, Some(reason)) => return in_brief(reason),
        (TrialColumn::Parameter(index), _) => {
            return record.params.get(*index).map_or(String::new(), |(_, value)| value.short());
        }
        _ => {}
    }
    match column.cell(record) {
        Json::Null => String::new(),
        Json::String(text) => text,
        Json::Number(number) if number.is_f64() => number.as_f64().map_or(String::new(), short),
        other => other.to_string(),
    }
}

fn record<'a>(session: &'a Session, number: usize, params: &'a [(&'a str, Value)]) -> Result<TrialRecord<'a>> {
    Ok(TrialRecord { trial: session.ledger().trial(number)?, times: &session.times()[number], params })
}

/// Why a trial failed, in one line of a table: the cause, and the last line of standard error.
fn in_brief(reason: &str) -> String {
    let brief = match Failure::closing_line(reason) {
        Some(last) => format!("{}: {}", first_line(reason), one_line(last.trim())),
        None => first_line(reason),
    };
    let short: String = brief.chars().take(LONGEST_REASON).collect();
    if short.len() < brief.len() { short + "..." } else { brief }
}

/// Why a trial failed, without the end of its standard error.
pub(crate) fn first_line(reason: &str) -> String {
    printable(Failure::headline(reason))
}
