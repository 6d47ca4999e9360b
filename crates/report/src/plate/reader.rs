//! One row of a table of results.

use manyhands_core::text::{are_one_number, quoted};
use manyhands_core::{Domain, Ledger, Spec, Trial, TrialState, Value};
use manyhands_store::{Entry, ExternalEvaluation, TrialEntry, no_reason};

use super::columns::{PlateColumns, metric_name};
use super::words::{failure, state};
use super::written::WrittenParams;
use crate::spreadsheet::{BadSpreadsheet, NumericCells, Spreadsheet, SpreadsheetPlace, SpreadsheetRow, is_number};

/// A cell that has a number as it is recorded, rounded to at least so many digits, says the same.
const ROUNDED_DIGITS: usize = 4;

/// A setting is far from another one if a parameter differs by more than this share of its range.
const FAR: f64 = 0.1;

/// How a trial ended: a value, or why there is none.
type RowOutcome = Option<Result<f64, String>>;

/// Reads rows.
pub(super) struct RowReader<'a> {
    pub spec: &'a Spec,
    pub ledger: &'a Ledger,
    pub table: &'a Spreadsheet,
    pub numbers: NumericCells<'a>,
    pub columns: &'a PlateColumns,
    pub metrics: &'a [usize],
    pub written: WrittenParams<'a>,
}

impl RowReader<'_> {
    /// What a row says; none where that is nothing to be recorded.
    pub fn read(&self, row: &SpreadsheetRow) -> Result<Option<Entry>, BadSpreadsheet> {
        let is_export = self.columns.state.is_some();
        let (outcome, metrics) = (self.outcome(row)?, self.metrics(row)?);
        if (is_export || self.columns.is_external) && outcome.is_none() {
            return Ok(None);
        }
        if self.columns.is_external {
            self.check_foreign(row)?;
            return self.external(row, outcome, metrics).map(Some);
        }
        let Some(number) = self.trial(row)? else { return self.external(row, outcome, metrics).map(Some) };
        let Some(trial) = self.ledger.trials().get(number) else {
            if is_export {
                return self.external(row, outcome, metrics).map(Some);
            }
            let trials = self.ledger.trials().len();
            let unknown = manyhands_core::Error::UnknownTrial { trial: number, trials };
            return Err(self.at_line(row, unknown.to_string()));
        };
        let mut params = self.changed(row, trial)?;
        if outcome.is_none() {
            // A plate that is not filled in yet does not take back what its trials were really made with.
            params.retain(|(name, value)| self.written.requested(trial, name).as_ref() != Some(value));
        }
        if let (true, Some((name, value))) = (is_export, params.first()) {
            let reason =
                format!("{} is {value} here, and trial {number} of the study was made otherwise", quoted(name));
            let hint = "to bring in trials of another study: manyhands import STUDY --csv FILE";
            return Err(self.at_line(row, reason).hint(hint));
        }
        Ok(Some(Entry::Trial(TrialEntry { trial: number, params, outcome, metrics })))
    }

    /// Whether a trial was made far from where it was suggested.
    pub fn is_elsewhere(&self, entry: &TrialEntry) -> bool {
        let Some(trial) = self.ledger.trials().get(entry.trial) else { return false };
        let domain = self.spec.domain();
        let distance = |(name, value): &(String, Value)| {
            let requested = self.written.requested(trial, name)?;
            domain.distance(name, &requested, value)
        };
        entry.params.iter().filter_map(distance).any(|distance| distance > FAR)
    }

    /// Refuses a row that is the result of a pending trial of the study, which it would leave pending.
    fn check_foreign(&self, row: &SpreadsheetRow) -> Result<(), BadSpreadsheet> {
        let number = self.trial(row).ok().flatten();
        let Some(trial) = number.and_then(|number| self.ledger.pending_trial(number).ok()) else { return Ok(()) };
        if !self.changed(row, trial)?.is_empty() {
            return Ok(());
        }
        let reason = format!("this is the result of trial {} of the study, which is pending", trial.number());
        Err(self.at_line(row, reason).hint("record a table that `ask --csv` wrote with `tell STUDY FILE`"))
    }

    fn external(
        &self,
        row: &SpreadsheetRow,
        outcome: RowOutcome,
        metrics: Vec<(String, f64)>,
    ) -> Result<Entry, BadSpreadsheet> {
        let named = self.columns.params.iter().filter(|(_, column)| !row.cell(*column).is_empty());
        let params = named.map(|(name, column)| Ok((name.clone(), self.param(row, name, *column)?)));
        Ok(Entry::External(ExternalEvaluation { params: params.collect::<Result<_, _>>()?, outcome, metrics }))
    }

    /// The trial's number; none where the row has none.
    fn trial(&self, row: &SpreadsheetRow) -> Result<Option<usize>, BadSpreadsheet> {
        let Some(column) = self.columns.trial else { return Ok(None) };
        let numbered = self.numbers.integer(row, column);
        let hint = "write a trial's number, nothing for a result of your own, or remove the row if it is no result";
        let Some(number) = numbered.map_err(|fault| fault.or_hint(hint))? else { return Ok(None) };
        let wrong = |_| {
            let reason = format!("must be a trial's number, from 0, got {}", quoted(row.cell(column)));
            BadSpreadsheet::new(self.table.place(row, column), reason)
        };
        usize::try_from(number).map(Some).map_err(wrong)
    }

    fn outcome(&self, row: &SpreadsheetRow) -> Result<RowOutcome, BadSpreadsheet> {
        let (cell, reason) = (row.cell(self.columns.value), self.columns.reason.map_or("", |column| row.cell(column)));
        let state = self.columns.state.and_then(|column| state(row.cell(column)));
        let why = |written: &str| {
            let given = [written, reason].into_iter().find(|text| !text.is_empty());
            given.map_or_else(no_reason, str::to_string)
        };
        // A value that was filled in since the export counts, whatever the state was then.
        if state == Some(TrialState::Failed) && cell.is_empty() {
            return Ok(Some(Err(why(""))));
        }
        if let Some(written) = failure(cell) {
            return Ok(Some(Err(why(written))));
        }
        if let Some(state @ (TrialState::Failed | TrialState::Cancelled)) = state.filter(|_| !cell.is_empty()) {
            let reason = format!("the column \"state\" says {state}, and the value is {}", quoted(cell));
            return Err(self.at_line(row, reason).hint("clear the cell that is wrong"));
        }
        let hint = "write a number, nothing while it is pending, or failed and why, as in failed: no crystals";
        let number = self.numbers.number(row, self.columns.value);
        Ok(number.map_err(|fault| fault.or_hint(hint))?.map(Ok))
    }

    fn metrics(&self, row: &SpreadsheetRow) -> Result<Vec<(String, f64)>, BadSpreadsheet> {
        let mut metrics = Vec::new();
        // A note among the numbers, such as n.d., is no metric.
        for column in self.metrics.iter().filter(|column| is_number(row.cell(**column))) {
            if let Some(number) = self.numbers.number(row, *column)? {
                metrics.push((metric_name(&self.table.header()[*column]).to_string(), number));
            }
        }
        Ok(metrics)
    }

    /// The parameters that are not as they are recorded.
    fn changed(&self, row: &SpreadsheetRow, trial: &Trial) -> Result<Vec<(String, Value)>, BadSpreadsheet> {
        let mut changed = Vec::new();
        for (name, column) in &self.columns.params {
            let cell = row.cell(*column);
            let Some(known) = self.written.recorded(trial, name).filter(|_| !cell.is_empty()) else { continue };
            let value = match self.written.value(row, *column) {
                Some(value) => value,
                None => self.param(row, name, *column)?,
            };
            if !says_the_same(cell, &value, &known) && !self.is_shortened(name, cell, &value, &known) {
                changed.push((name.clone(), value));
            }
        }
        Ok(changed)
    }

    /// Whether a cell has fewer digits of the recorded number than are needed elsewhere, and is none of the numbers that the
    /// parameter can have.
    fn is_shortened(&self, name: &str, cell: &str, value: &Value, recorded: &Value) -> bool {
        let (Some(number), Some(known)) = (value.number(), recorded.number()) else { return false };
        is_rounded(number, known, digits(cell)) && !self.spec.domain().allows(name, value)
    }

    fn param(&self, row: &SpreadsheetRow, name: &str, column: usize) -> Result<Value, BadSpreadsheet> {
        param(self.spec.domain(), &self.numbers, row, (name, column))
    }

    fn at_line(&self, row: &SpreadsheetRow, reason: String) -> BadSpreadsheet {
        BadSpreadsheet::new(SpreadsheetPlace::Line(row.line()), reason)
    }
}

/// The value of a parameter, by its name and column.
pub(super) fn param(
    domain: &Domain,
    numbers: &NumericCells<'_>,
    row: &SpreadsheetRow,
    (name, column): (&str, usize),
) -> Result<Value, BadSpreadsheet> {
    let cell = row.cell(column);
    if let Some(category) = domain.category(name, cell) {
        return Ok(category);
    }
    match domain.is_numeric(name) {
        false => Ok(Value::Text(cell.to_string())),
        true => Ok(numbers.number(row, column)?.map_or(Value::Text(String::new()), integer_if_whole)),
    }
}

fn integer_if_whole(number: f64) -> Value {
    // Floats hold every integer up to here.
    const LARGEST: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0 && number.abs() <= LARGEST { Value::Int(number as i64) } else { Value::Float(number) }
}

/// Whether a cell says what is recorded: the same, or the same number rounded to the digits that the cell shows, if these are
/// enough. Spreadsheets save what they show.
fn says_the_same(cell: &str, value: &Value, recorded: &Value) -> bool {
    let (Some(number), Some(known)) = (value.number(), recorded.number()) else {
        // A name that looks like a number is written as one.
        return value == recorded || matches!(recorded, Value::Text(name) if are_one_number(name, cell));
    };
    // Zeros at the end are not saved: 0.00686 may be 0.006860.
    number == known || is_rounded(number, known, digits(cell).max(ROUNDED_DIGITS))
}

/// Whether a number is another one, rounded to so many digits. Which way a half is rounded depends on the program.
fn is_rounded(number: f64, known: f64, digits: usize) -> bool {
    (number - known).abs() <= half_unit(known, digits) * (1.0 + 1e-9) + 4.0 * f64::EPSILON * known.abs()
}

/// Half a unit of the last of so many digits of a number; none of zero.
fn half_unit(number: f64, digits: usize) -> f64 {
    let scientific = format!("{number:e}");
    let exponent = scientific.split_once('e').and_then(|(_, exponent)| exponent.parse::<i64>().ok());
    let unit = exponent.filter(|_| number != 0.0).map(|exponent| format!("5e{}", exponent - digits as i64));
    unit.and_then(|text| text.parse().ok()).unwrap_or(0.0)
}

/// How many significant digits a number is written with.
fn digits(cell: &str) -> usize {
    let mantissa = cell.split(['e', 'E']).next().unwrap_or_default();
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    digits.trim_start_matches('0').len().clamp(1, 17)
}
