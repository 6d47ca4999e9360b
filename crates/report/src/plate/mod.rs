//! Results as a table: the plate that `ask --csv` writes and `tell` reads back, and results from before the study.

mod columns;
mod reader;
mod summary;
#[cfg(test)]
mod tests;
mod words;
mod written;

use manyhands_core::text::quoted;
use manyhands_core::{Domain, Ledger, Spec, Suggestion, Value};
use manyhands_store::{Entry, Session, misfits};

pub use self::columns::ColumnMap;
use self::columns::{PlateColumns, column_name, is_of_results};
use self::reader::RowReader;
pub use self::summary::{json, lines, summary};
use self::written::WrittenParams;
use crate::spreadsheet::{BadSpreadsheet, Spreadsheet, SpreadsheetPlace, SpreadsheetRow, is_number};

/// What a table says, row by row.
#[derive(Debug, Clone, PartialEq)]
pub struct PlateEntries {
    /// What each row says; rows that say nothing are left out.
    pub entries: Vec<Entry>,
    /// The line of the file that each entry begins on.
    pub lines: Vec<u64>,
    /// How many rows say nothing: earlier results without a value, and trials of an export that have none.
    pub skipped: usize,
    /// Columns whose numbers are kept as metrics.
    pub metrics: Vec<String>,
    /// Columns that are not read.
    pub ignored: Vec<String>,
    /// Where cells among those of a metric are no numbers, and not read.
    pub unread: Vec<SpreadsheetPlace>,
    /// Whether there are several results of trials, all of them of settings far from the suggested ones.
    pub is_all_elsewhere: bool,
}

/// A row of a table of points.
#[derive(Debug, Clone, PartialEq)]
pub struct PointRow {
    /// The line of the file that it begins on, from 1.
    pub line: u64,
    /// Its values, each with its column's name.
    pub named: Vec<(String, Value)>,
}

/// Suggestions as a table to be filled in: the trial's number, its parameters, and an empty column for the value.
pub fn csv(session: &Session, suggestions: &[Suggestion]) -> csv::Result<String> {
    let names = session.spec().domain().names();
    let mut writer = csv::Writer::from_writer(Vec::new());
    let header = names.iter().map(|name| column_name(name));
    writer.write_record(["trial".to_string()].into_iter().chain(header).chain(["value".to_string()]))?;
    for suggestion in suggestions {
        let params = suggestion.choice.params.iter().map(cell);
        let trial = suggestion.trial.to_string();
        writer.write_record([trial].into_iter().chain(params).chain([String::new()]))?;
    }
    let bytes = writer.into_inner().map_err(|error| error.into_error())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// A value as a cell: a text without quotes, a number with all its digits.
fn cell(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Whether a table is about trials of the study, by their numbers.
pub fn has_trials(table: &Spreadsheet, map: &ColumnMap) -> bool {
    let trial = table.column("trial").filter(|_| !map.is_external);
    trial.is_some_and(|column| table.rows().iter().any(|row| !row.cell(column).is_empty()))
}

/// Reads a table of points: a column for each parameter, and no other but those of a plate or an export, which are not read;
/// each point with its line. All that is wrong otherwise.
pub fn points(domain: &Domain, table: &Spreadsheet) -> Result<Vec<PointRow>, BadSpreadsheet> {
    let names = domain.names();
    let column = |name: &str| table.column(&column_name(name)).or_else(|| table.column(name));
    let mut columns: Vec<(&str, usize)> = names.iter().filter_map(|name| Some((*name, column(name)?))).collect();
    columns.sort_by_key(|(_, column)| *column);
    // The points of a plate or of an export may be wanted again.
    let is_known =
        |(column, title): &(usize, &String)| columns.iter().any(|(_, own)| own == column) || is_of_results(title);
    if let Some((_, unknown)) = table.header().iter().enumerate().find(|column| !is_known(column)) {
        let reason = format!("column {} is no parameter of the study", quoted(unknown));
        let hint = format!("the parameters are {}; remove other columns", names.join(", "));
        return Err(BadSpreadsheet::new(SpreadsheetPlace::Whole, reason).hint(hint));
    }
    let numeric: Vec<usize> =
        columns.iter().filter(|(name, _)| domain.is_numeric(name)).map(|(_, column)| *column).collect();
    let numbers = table.numbers_in(&numeric)?;
    let point = |row: &SpreadsheetRow| {
        let filled = columns.iter().filter(|(_, column)| !row.cell(*column).is_empty());
        let named = filled.map(|place| Ok((place.0.to_string(), reader::param(domain, &numbers, row, *place)?)));
        Ok(PointRow { line: row.line(), named: named.collect::<Result<_, BadSpreadsheet>>()? })
    };
    table.rows().iter().map(point).collect()
}

/// Reads a table of results; all that is wrong with it otherwise.
///
/// A row with a trial's number is about that trial, one without is an evaluation made elsewhere. A blank value means that it is
/// pending, or in a table of earlier results nothing; `failed`, perhaps with a reason behind it or in a column `reason`, that it gives none. Further columns of numbers
/// are metrics. Parameters that are not as they were suggested are the setting that the trial was made with.
pub fn read(
    spec: &Spec,
    ledger: &Ledger,
    table: &Spreadsheet,
    map: &ColumnMap,
) -> Result<PlateEntries, Vec<BadSpreadsheet>> {
    let columns = PlateColumns::find(spec, table, map).map_err(|fault| vec![fault])?;
    let written = WrittenParams { domain: spec.domain(), ledger, columns: &columns };
    let numbers = table
        .numbers_in_except(&columns.numeric(spec, table), |row, column| written.value(row, column).is_some())
        .map_err(|fault| vec![fault])?;
    let (metrics, ignored) = columns.further(table);
    let reader = RowReader { spec, ledger, table, numbers, columns: &columns, metrics: &metrics, written };
    let (mut entries, mut lines, mut skipped, mut faults) = (vec![], vec![], 0, vec![]);
    for row in table.rows() {
        match reader.read(row) {
            Ok(Some(entry)) => {
                entries.push(entry);
                lines.push(row.line());
            }
            Ok(None) => skipped += 1,
            Err(fault) => faults.push(fault),
        }
    }
    if !faults.is_empty() {
        return Err(with_misfits(faults, (spec, ledger), &entries, &lines));
    }
    let told = || {
        entries.iter().filter_map(|entry| match entry {
            Entry::Trial(entry) => Some(entry).filter(|entry| entry.outcome.is_some()),
            Entry::External(_) => None,
        })
    };
    let is_all_elsewhere = told().count() > 1 && told().all(|entry| reader.is_elsewhere(entry));
    let named = |columns: &[usize]| columns.iter().map(|column| table.header()[*column].clone()).collect();
    let unread = notes(table, &metrics);
    let (metrics, ignored) = (named(&metrics), named(&ignored));
    Ok(PlateEntries { entries, lines, skipped, metrics, ignored, unread, is_all_elsewhere })
}

/// All that is wrong with a table: also what of the rows that could be read does not fit the study, so that it is said at once,
/// and not when the others have been corrected.
fn with_misfits(
    mut faults: Vec<BadSpreadsheet>,
    (spec, ledger): (&Spec, &Ledger),
    entries: &[Entry],
    lines: &[u64],
) -> Vec<BadSpreadsheet> {
    faults.extend(misfits(spec, ledger, entries).into_iter().map(|(position, error)| BadSpreadsheet {
        place: SpreadsheetPlace::Line(lines[position]),
        reason: error.to_string(),
        hint: error.hint(),
    }));
    faults.sort_by_key(|fault| fault.place.line());
    faults
}

/// Where cells of these columns are neither blank nor numbers.
fn notes(table: &Spreadsheet, columns: &[usize]) -> Vec<SpreadsheetPlace> {
    let is_note = |cell: &str| !cell.is_empty() && !is_number(cell);
    let of_row = |row| columns.iter().filter(move |column| is_note(SpreadsheetRow::cell(row, **column)));
    table.rows().iter().flat_map(|row| of_row(row).map(move |column| table.place(row, *column))).collect()
}
