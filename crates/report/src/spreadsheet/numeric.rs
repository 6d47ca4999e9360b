//! Cells of a spreadsheet as numbers, all under one decimal mark.

use manyhands_core::text::quoted;

use super::decimal::{DecimalMark, NotNumeral, Numeral};
use super::error::{BadSpreadsheet, SpreadsheetPlace};
use super::separator::Separator;
use super::{Spreadsheet, SpreadsheetRow};

/// Columns of a table that may hold numbers, with one decimal mark for all of them.
///
/// The mark is that of the numbers in these columns that can be read in one way only, such as `71,3`. Where none has such a mark,
/// it is the point if commas separate the cells. A number that can be read in two ways, such as `1,234`, is read as the others
/// are, and refused where they do not decide.
#[derive(Debug, Clone)]
pub struct NumericCells<'a> {
    table: &'a Spreadsheet,
    evidence: Option<Evidence>,
    /// Whether some number has marks between its thousands and can be read in one way only.
    has_groups: bool,
}

/// A number that has a decimal mark for certain.
#[derive(Debug, Clone)]
struct Evidence {
    mark: DecimalMark,
    place: SpreadsheetPlace,
    cell: String,
}

impl Spreadsheet {
    /// These columns as numbers. Cells that are no numbers are refused only when they are read; numbers with different decimal
    /// marks are refused here.
    pub fn numbers_in(&self, columns: &[usize]) -> Result<NumericCells<'_>, BadSpreadsheet> {
        self.numbers_in_except(columns, |_, _| false)
    }

    /// As [`Spreadsheet::numbers_in`], where some cells say nothing about the table's decimal mark: they are not as the
    /// spreadsheet writes numbers.
    pub(crate) fn numbers_in_except(
        &self,
        columns: &[usize],
        is_foreign: impl Fn(&SpreadsheetRow, usize) -> bool,
    ) -> Result<NumericCells<'_>, BadSpreadsheet> {
        let mut numbers = NumericCells { table: self, evidence: None, has_groups: false };
        for row in &self.rows {
            for column in columns {
                let numeral = Numeral::read(row.cell(*column)).ok().filter(|_| !is_foreign(row, *column));
                numeral.map_or(Ok(()), |numeral| numbers.learn(&numeral, row, *column))?;
            }
        }
        Ok(numbers)
    }
}

impl NumericCells<'_> {
    /// The number in a cell; none if it is blank.
    pub fn number(&self, row: &SpreadsheetRow, column: usize) -> Result<Option<f64>, BadSpreadsheet> {
        let cell = row.cell(column);
        if cell.is_empty() {
            return Ok(None);
        }
        let refused = |reason: NotNumeral| not_a_number(reason, self.table.place(row, column), cell);
        let value = match Numeral::read(cell).map_err(refused)? {
            Numeral::Unmarked(value) => value,
            Numeral::Decimal(mark, value) | Numeral::Grouped(mark, value) => {
                self.check(mark, row, column)?;
                value
            }
            Numeral::Ambiguous { mark, decimal, .. } if self.mark() == Some(mark) => decimal,
            Numeral::Ambiguous { grouped, .. } if self.mark().is_some() && self.has_groups => grouped,
            Numeral::Ambiguous { mark, .. } => return Err(self.ambiguous(mark, row, column)),
        };
        Ok(Some(value))
    }

    /// The integer in a cell; none if it is blank.
    pub fn integer(&self, row: &SpreadsheetRow, column: usize) -> Result<Option<i64>, BadSpreadsheet> {
        // Floats hold every integer up to here.
        const LARGEST: f64 = 9_007_199_254_740_992.0;
        let cell = row.cell(column);
        if let Ok(integer) = cell.parse() {
            return Ok(Some(integer));
        }
        match self.number(row, column)? {
            None => Ok(None),
            Some(value) if value.fract() == 0.0 && value.abs() <= LARGEST => Ok(Some(value as i64)),
            Some(_) => {
                let reason = format!("must be an integer, got {}", quoted(cell));
                Err(BadSpreadsheet::new(self.table.place(row, column), reason))
            }
        }
    }

    fn mark(&self) -> Option<DecimalMark> {
        let by_separator = (self.table.separator == Separator::Comma).then_some(DecimalMark::Point);
        self.evidence.as_ref().map(|evidence| evidence.mark).or(by_separator)
    }

    /// Takes note of what a number says of the table.
    fn learn(&mut self, numeral: &Numeral, row: &SpreadsheetRow, column: usize) -> Result<(), BadSpreadsheet> {
        let (Numeral::Decimal(mark, _) | Numeral::Grouped(mark, _)) = numeral else { return Ok(()) };
        self.check(*mark, row, column)?;
        self.has_groups |= matches!(numeral, Numeral::Grouped(..));
        let (place, cell) = (self.table.place(row, column), row.cell(column).to_string());
        self.evidence.get_or_insert(Evidence { mark: *mark, place, cell });
        Ok(())
    }

    /// Refuses a number whose decimal mark is not that of the others.
    fn check(&self, mark: DecimalMark, row: &SpreadsheetRow, column: usize) -> Result<(), BadSpreadsheet> {
        let Some(other) = self.evidence.as_ref().filter(|evidence| evidence.mark != mark) else { return Ok(()) };
        let (cell, known) = (quoted(row.cell(column)), quoted(&other.cell));
        let (here, there) = (mark.word(), other.mark.word());
        let reason = format!("{cell} is of a table with {here}s, and {known} ({}) of one with {there}s", other.place);
        Err(BadSpreadsheet::new(self.table.place(row, column), reason).hint("write all numbers of a table in one way"))
    }

    /// The error for a number that can be read in two ways.
    fn ambiguous(&self, mark: DecimalMark, row: &SpreadsheetRow, column: usize) -> BadSpreadsheet {
        let cell = row.cell(column);
        let (decimal, grouped) = (cell.replace(mark.character(), "."), cell.replace(mark.character(), ""));
        let (why, hint) = match &self.evidence {
            Some(known) => {
                let point = known.mark.character().to_string();
                let why = format!(
                    "its {} is no {}, as {} has ({})",
                    mark.noun(),
                    known.mark.word(),
                    quoted(&known.cell),
                    known.place
                );
                (why, format!("write {} or {grouped}", cell.replace(mark.character(), &point)))
            }
            None => {
                let hint = format!(
                    "write {cell}0 if it has a {}, and {grouped} if the {} separates thousands; or give the column another \
                     number of decimals",
                    mark.word(),
                    mark.noun()
                );
                ("no other number of the table says which".to_string(), hint)
            }
        };
        let reason = format!("{} can be read as {decimal} and as {grouped}: {why}", quoted(cell));
        BadSpreadsheet::new(self.table.place(row, column), reason).hint(hint)
    }
}

fn not_a_number(reason: NotNumeral, place: SpreadsheetPlace, cell: &str) -> BadSpreadsheet {
    let (allowed, hint) = match reason {
        NotNumeral::Other => ("a number", None),
        NotNumeral::NotFinite => ("a finite number", None),
        NotNumeral::Percent => {
            ("a number without a percent sign", Some("50 % may be meant as 50 or as 0.5: write which"))
        }
        NotNumeral::Spaced => ("a number in one piece", Some("write it without spaces or apostrophes")),
    };
    let refused = BadSpreadsheet::new(place, format!("must be {allowed}, got {}", quoted(cell)));
    BadSpreadsheet { hint: hint.map(str::to_string), ..refused }
}
