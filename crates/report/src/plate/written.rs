//! Cells that are still as `ask --csv` wrote them: with a decimal point, whatever mark the spreadsheet uses.

use manyhands_core::{Domain, Ledger, Trial, Value};

use super::cell;
use super::columns::PlateColumns;
use crate::spreadsheet::SpreadsheetRow;

/// Finds such cells.
#[derive(Clone, Copy)]
pub(super) struct WrittenParams<'a> {
    pub domain: &'a Domain,
    pub ledger: &'a Ledger,
    pub columns: &'a PlateColumns,
}

impl WrittenParams<'_> {
    /// The value of a trial's parameter, as it is recorded or was requested, if the cell has it digit for digit.
    pub fn value(&self, row: &SpreadsheetRow, column: usize) -> Option<Value> {
        let (name, _) = self.columns.params.iter().find(|(_, own)| *own == column)?;
        let number = row.cell(self.columns.trial.filter(|_| !self.columns.is_external)?).parse::<usize>().ok()?;
        let trial = self.ledger.trials().get(number)?;
        [self.recorded(trial, name), self.requested(trial, name)]
            .into_iter()
            .flatten()
            .find(|value| cell(value).trim() == row.cell(column))
    }

    /// The value of a trial's parameter as it is recorded.
    pub fn recorded(&self, trial: &Trial, name: &str) -> Option<Value> {
        self.of(name, self.domain.logged_params(trial.candidate(), trial.logged_params()))
    }

    /// The value of a trial's parameter as it was requested.
    pub fn requested(&self, trial: &Trial, name: &str) -> Option<Value> {
        self.of(name, self.domain.logged_params(trial.candidate(), trial.requested_params()))
    }

    fn of(&self, name: &str, values: Vec<Value>) -> Option<Value> {
        let position = self.domain.names().iter().position(|own| *own == name)?;
        values.into_iter().nth(position)
    }
}
