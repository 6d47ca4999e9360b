//! A table as a spreadsheet saved it: whatever its separator, decimal mark, encoding and line ends are.
//!
//! Numbers are read by [`NumericCells`], which decides for the table, and not for each cell, what a comma means.

mod decimal;
mod encoding;
mod error;
mod numeric;
mod separator;
#[cfg(test)]
mod tests;

use manyhands_core::text::quoted;

use self::encoding::line_of;
use self::error::column_at;
pub use self::error::{BadSpreadsheet, SpreadsheetPlace};
pub use self::numeric::NumericCells;
use self::separator::Separator;

/// A table with named columns.
///
/// Its file may be UTF-8, UTF-16 or Windows-1252 text. Cells are separated by commas, semicolons or tabs, whichever the header
/// has outside of quotes, or what a first line such as `sep=;` says. Blank rows and blank columns without a name are left out.
///
/// ```
/// use manyhands_report::spreadsheet::Spreadsheet;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let table = Spreadsheet::read(b"trial;value;note\r\n7;71,3;\r\n;;\r\n8;70,25;late\r\n")?;
/// let [trial, value] = ["trial", "value"].map(|name| table.column(name).unwrap_or_default());
/// let numbers = table.numbers_in(&[trial, value])?;
/// let last = &table.rows()[1];
/// assert_eq!((numbers.integer(last, trial)?, numbers.number(last, value)?), (Some(8), Some(70.25)));
/// assert_eq!((last.line(), last.cell(2)), (4, "late"));
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spreadsheet {
    header: Vec<String>,
    rows: Vec<SpreadsheetRow>,
    separator: Separator,
}

/// A row of a table that is not blank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpreadsheetRow {
    line: u64,
    cells: Vec<String>,
}

impl SpreadsheetRow {
    /// The line of the file that it begins on, from 1.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// The text of a cell without the spaces around it; empty if it is blank or the row ends before it.
    pub fn cell(&self, column: usize) -> &str {
        self.cells.get(column).map_or("", String::as_str)
    }
}

impl Spreadsheet {
    /// Reads a table: a header of different names, and rows.
    pub fn read(bytes: &[u8]) -> Result<Self, BadSpreadsheet> {
        let text = encoding::decode(bytes)?;
        let (separator, start) = separator::find(&text)?;
        let mut records = records(&text, start, separator)?.into_iter();
        let header = records.next().ok_or_else(|| {
            let reason = "it is empty; a header with the names of the columns is needed";
            BadSpreadsheet::new(SpreadsheetPlace::Whole, reason)
        })?;
        let columns = named_columns(&header)?;
        let rows = records.map(|record| row(record, &columns, separator)).collect::<Result<_, _>>()?;
        let header = columns.into_iter().flatten().collect();
        Ok(Self { header, rows, separator })
    }

    /// The names of the columns.
    pub fn header(&self) -> &[String] {
        &self.header
    }

    /// The column of this name.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.header.iter().position(|known| known == name)
    }

    /// The rows that are not blank.
    pub fn rows(&self) -> &[SpreadsheetRow] {
        &self.rows
    }

    /// Where a cell is, for errors about it.
    pub fn place(&self, row: &SpreadsheetRow, column: usize) -> SpreadsheetPlace {
        let column = self.header.get(column).cloned().unwrap_or_default();
        SpreadsheetPlace::Cell { line: row.line, column }
    }
}

/// Whether a cell can be read as a number, whatever a comma means in its table.
pub(crate) fn is_number(cell: &str) -> bool {
    decimal::Numeral::read(cell).is_ok()
}

/// A row as it is in the file, without the spaces around its cells.
fn record(line: u64, record: &csv::StringRecord) -> SpreadsheetRow {
    SpreadsheetRow { line, cells: record.iter().map(|cell| cell.trim().to_string()).collect() }
}

/// What is read behind the last row, and is a row of its own unless a quote is still open there.
const END: &str = "\nend";

/// The rows that are not blank; the table begins at `start`.
fn records(text: &str, start: usize, separator: Separator) -> Result<Vec<SpreadsheetRow>, BadSpreadsheet> {
    let table = format!("{}{END}", &text[start..]).into_bytes();
    let mut builder = csv::ReaderBuilder::new();
    let mut reader = builder.has_headers(false).flexible(true).delimiter(separator.byte()).from_reader(&table[..]);
    let (mut found, mut line, mut counted) = (Vec::new(), line_of(text, start), 0);
    for read in reader.records() {
        let read = read.map_err(|error| BadSpreadsheet::new(SpreadsheetPlace::Whole, error.to_string()))?;
        // The reader's position is the end of the row before, and empty lines may follow.
        let end = read.position().map_or(counted, |position| position.byte() as usize);
        let empty = table.iter().skip(end).take_while(|byte| **byte == b'\n').count();
        let passed = table.get(counted..end + empty).unwrap_or_default();
        line += passed.iter().filter(|byte| **byte == b'\n').count() as u64;
        counted = end + empty;
        found.push(record(line, &read));
    }
    let last = found.pop().filter(|last| last.cells != [END.trim_start()]);
    if let Some(open) = last {
        let reason = "a quote opens a cell of the row that begins here, and none closes it";
        let hint = "put a quote behind the cell, or write two quotes for one that belongs to it";
        return Err(BadSpreadsheet::new(SpreadsheetPlace::Line(open.line), reason).hint(hint));
    }
    found.retain(|row| row.cells.iter().any(|cell| !cell.is_empty()));
    Ok(found)
}

/// The name of each column of the header, if it has one.
fn named_columns(header: &SpreadsheetRow) -> Result<Vec<Option<String>>, BadSpreadsheet> {
    for (index, name) in header.cells.iter().enumerate().filter(|(_, name)| !name.is_empty()) {
        if let Some(first) = header.cells[..index].iter().position(|before| before == name) {
            let reason = format!("{} and {} are both named {}", column_at(first), column_at(index), quoted(name));
            let hint = "give each column a name of its own, or remove one of them";
            return Err(BadSpreadsheet::new(SpreadsheetPlace::Line(header.line), reason).hint(hint));
        }
    }
    Ok(header.cells.iter().map(|name| Some(name.clone()).filter(|name| !name.is_empty())).collect())
}

/// A row's cells under the columns that have a name; the others must be blank.
fn row(
    record: SpreadsheetRow,
    columns: &[Option<String>],
    separator: Separator,
) -> Result<SpreadsheetRow, BadSpreadsheet> {
    let is_named = |index: usize| columns.get(index).is_some_and(Option::is_some);
    let extra = record.cells.iter().enumerate().find(|(index, cell)| !is_named(*index) && !cell.is_empty());
    if let Some((index, cell)) = extra {
        let reason = format!("{} has no name in the header, and the cell {}", column_at(index), quoted(cell));
        let hint = match separator {
            _ if ["trial", "value"].contains(&cell.as_str()) => {
                "if this row has the names of the columns, remove the rows above it"
            }
            Separator::Comma => {
                "a cell that holds a comma, such as \"1,5\", needs quotes where commas separate the cells; or save the \
                 table with semicolons"
            }
            _ => "name the column in the header, or remove the cell",
        };
        return Err(BadSpreadsheet::new(SpreadsheetPlace::Line(record.line), reason).hint(hint));
    }
    let named = record.cells.into_iter().enumerate().filter(|(index, _)| is_named(*index));
    Ok(SpreadsheetRow { line: record.line, cells: named.map(|(_, cell)| cell).collect() })
}
