//! Which column of a table holds what: the trial, its parameters, the value, a reason, metrics.

use manyhands_core::text::quoted;
use manyhands_core::{Domain, Spec, TrialState};

use super::words;
use crate::spreadsheet::{BadSpreadsheet, Spreadsheet, SpreadsheetPlace, SpreadsheetRow, is_number};

/// Columns that `export` writes and that say nothing about a result.
const REMARKS: [&str; 3] = ["asked_at", "told_at", "aim"];

/// Columns that are ours: a parameter of such a name is in a column with the prefix `params.`.
const OWN: [&str; 7] = ["trial", "state", "value", "reason", "asked_at", "told_at", "aim"];

/// The prefix of a parameter's or a metric's column whose name is taken otherwise.
const PREFIXES: [&str; 2] = ["params.", "metrics."];

/// Under which other names a table has its columns.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ColumnMap {
    /// The parameter, or `value`, and the name of its column.
    pub names: Vec<(String, String)>,
    /// Whether numbers of trials, if the table has any, are not those of the study.
    pub is_external: bool,
}

impl ColumnMap {
    fn column(&self, name: &str) -> Option<&str> {
        self.names.iter().find(|(known, _)| known == name).map(|(_, column)| column.as_str())
    }
}

/// The columns of a table, by position.
#[derive(Debug, Clone, Default)]
pub(super) struct PlateColumns {
    /// The trial's number; where all rows are evaluations made elsewhere, that of another study or none.
    pub trial: Option<usize>,
    /// The state of a trial: only tables that `export` wrote have it.
    pub state: Option<usize>,
    pub value: usize,
    pub reason: Option<usize>,
    /// The parameters that the table has, by name.
    pub params: Vec<(String, usize)>,
    /// Whether all rows are evaluations made elsewhere.
    pub is_external: bool,
    remarks: Vec<usize>,
}

/// The column of a parameter.
pub(super) fn column_name(parameter: &str) -> String {
    if OWN.contains(&parameter) { format!("{}{parameter}", PREFIXES[0]) } else { parameter.to_string() }
}

impl PlateColumns {
    /// Finds the columns of a study's results; refused where there is no value, or where a column is probably misspelled.
    pub fn find(spec: &Spec, table: &Spreadsheet, map: &ColumnMap) -> Result<Self, BadSpreadsheet> {
        let names = spec.domain().names();
        for (position, (name, column)) in map.names.iter().enumerate() {
            let twice = map.names[..position].iter().find(|(other, used)| other == name || used == column);
            if let Some((other, used)) = twice {
                let reason = format!("--column {name}={column} and --column {other}={used} exclude each other");
                return Err(whole(reason).hint("name each parameter and each column once"));
            }
            if name != "value" && !names.contains(&name.as_str()) {
                let known = names.iter().chain(&["value"]).map(|name| quoted(name)).collect::<Vec<_>>().join(", ");
                return Err(
                    whole(format!("{} is no parameter of the study", quoted(name))).hint(format!("known: {known}"))
                );
            }
        }
        let mapped = |name: &str, own: &str| match map.column(name) {
            Some(column) => table.column(column).map(Some).ok_or_else(|| missing(table, column, name)),
            None => Ok(table.column(own)),
        };
        let value = mapped("value", "value")?.ok_or_else(|| missing(table, "value", "value"))?;
        let mut columns = Self { value, is_external: map.is_external, ..Self::default() };
        for name in &names {
            if let Some(column) = mapped(name, &column_name(name))? {
                columns.params.push((name.to_string(), column));
            }
        }
        // Where a column stands for something else, it does not stand for what it is called.
        let free = |name: &str| table.column(name).filter(|column| !columns.is_used(*column));
        let state = free("state").filter(|column| has_states(table, *column));
        let is_failed = |row: &SpreadsheetRow| {
            let state = state.and_then(|column| words::state(row.cell(column)));
            words::failure(row.cell(value)).is_some() || state == Some(TrialState::Failed)
        };
        let reason = free("reason").filter(|_| table.rows().iter().any(is_failed));
        let trial = free("trial");
        let remarks = REMARKS.iter().filter_map(|name| free(name).filter(|_| state.is_some())).collect();
        columns = Self { trial, state, reason, remarks, ..columns };
        columns.check_spelling(&names, table)?;
        let has_column = |name: &str| columns.params.iter().any(|(known, _)| known == name);
        let is_lacking = |name: &&&str| spec.domain().needs(name) && !has_column(name);
        match names.iter().find(is_lacking).filter(|_| columns.is_external || columns.trial.is_none()) {
            Some(name) if !columns.identify(spec.domain()) => Err(missing(table, name, name)),
            _ => Ok(columns),
        }
    }

    /// Whether the table has a column that may identify candidates of a list without all of their coordinates.
    fn identify(&self, domain: &Domain) -> bool {
        matches!(domain, Domain::Pool(_)) && self.params.iter().any(|(name, _)| !domain.needs(name))
    }

    fn is_used(&self, column: usize) -> bool {
        self.value == column || self.params.iter().any(|(_, used)| *used == column)
    }

    /// Refuses a column that is called as a parameter is, but for spaces, case, signs or a unit, where the parameter has none.
    fn check_spelling(&self, names: &[&str], table: &Spreadsheet) -> Result<(), BadSpreadsheet> {
        for (column, title) in table.header().iter().enumerate().filter(|(column, _)| !self.is_used(*column)) {
            let has_column = |name: &str| self.params.iter().any(|(known, _)| known == name);
            let meant = names.iter().find(|name| !has_column(name) && is_misspelled(title, name));
            if let Some(name) = meant.filter(|_| !self.owned().contains(&column)) {
                let reason = format!("column {} is probably the parameter {}", quoted(title), quoted(name));
                let hint = format!("rename the column to {name}, or say --column {name}={}", quoted(title));
                return Err(whole(reason).hint(hint));
            }
        }
        Ok(())
    }

    /// The columns that are ours.
    fn owned(&self) -> Vec<usize> {
        let own = [self.trial, self.state, self.reason].into_iter().flatten();
        own.chain([self.value]).chain(self.remarks.iter().copied()).collect()
    }

    /// The columns that can hold numbers: they decide together what a comma means.
    pub fn numeric(&self, spec: &Spec, table: &Spreadsheet) -> Vec<usize> {
        let params = self.params.iter().filter(|(name, _)| spec.domain().is_numeric(name)).map(|(_, column)| *column);
        params.chain([self.value]).chain(self.further(table).0).collect()
    }

    /// Columns that are no part of a result: those that are mostly numbers, which are metrics, and the others.
    pub fn further(&self, table: &Spreadsheet) -> (Vec<usize>, Vec<usize>) {
        let owned = self.owned();
        let is_further = |column: &usize| !owned.contains(column) && !self.is_used(*column);
        let is_numeric = |column: &usize| {
            let cells = || table.rows().iter().map(|row| row.cell(*column)).filter(|cell| !cell.is_empty());
            let numbers = cells().filter(|cell| is_number(cell)).count();
            numbers > 0 && 2 * numbers >= cells().count()
        };
        (0..table.header().len()).filter(is_further).partition(is_numeric)
    }
}

/// Whether a column has the states of trials, and nothing else: a laboratory may call something else a state.
fn has_states(table: &Spreadsheet, column: usize) -> bool {
    let mut cells = table.rows().iter().map(|row| row.cell(column)).filter(|cell| !cell.is_empty()).peekable();
    cells.peek().is_some() && cells.all(|cell| words::state(cell).is_some())
}

/// Whether a column is one that is ours and no parameter: one of points, written as a plate or an export, has it in vain.
pub(super) fn is_of_results(name: &str) -> bool {
    OWN.contains(&name)
}

/// Whether a title differs from a name only by spaces, case and signs, or by a unit behind it, as in `Temp (C)`.
fn is_misspelled(title: &str, name: &str) -> bool {
    let bare = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>().to_lowercase();
    let without_unit = title.split(['(', '[', '/', ',', ':']).next().unwrap_or_default();
    [title, without_unit].iter().any(|text| bare(text) == bare(name))
}

/// The name of a metric, from that of its column.
pub(super) fn metric_name(column: &str) -> &str {
    column.strip_prefix(PREFIXES[1]).unwrap_or(column)
}

fn whole(reason: String) -> BadSpreadsheet {
    BadSpreadsheet::new(SpreadsheetPlace::Whole, reason)
}

/// The error that a table lacks a column, which should have a parameter or the value.
fn missing(table: &Spreadsheet, column: &str, name: &str) -> BadSpreadsheet {
    let columns = table.header().iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ");
    if let Some(title) = table.header().iter().find(|title| title.eq_ignore_ascii_case(column)) {
        let reason = format!("there is no column {}, and one named {}", quoted(column), quoted(title));
        return whole(reason).hint(format!("rename it to {column}"));
    }
    let hint =
        format!("the first row must have the names of the columns; if one has another name: --column {name}=NAME");
    whole(format!("there is no column {}; the columns are {columns}", quoted(column))).hint(hint)
}
