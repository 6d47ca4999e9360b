//! CSV text as cells: all lines of the same length, each with its number in the file.

use std::str::FromStr;

use crate::error::TablePlace;
use crate::text::{counted, quoted};
use crate::{Error, Result};

/// One line of a table.
pub(crate) struct CsvLine {
    /// Its number in the file, from 1.
    pub number: u64,
    pub cells: Vec<String>,
}

/// The lines of a CSV file except for empty ones; refuses a line that is longer or shorter than the first.
pub(crate) fn lines(text: &[u8]) -> Result<Vec<CsvLine>> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).trim(csv::Trim::All).from_reader(text);
    let mut lines: Vec<CsvLine> = Vec::new();
    let mut record = csv::ByteRecord::new();
    while reader.read_byte_record(&mut record).map_err(|error| table_error(format!("it is not CSV: {error}"), None))? {
        let number = first_line(text, &record);
        let mut cells = Vec::with_capacity(record.len());
        for (column, cell) in record.iter().enumerate() {
            cells.push(utf8(cell, number, column)?);
        }
        if let Some(first) = lines.first().filter(|first| first.cells.len() != cells.len()) {
            let reason = format!(
                "must have {}, as line {} has, got {}",
                counted(first.cells.len(), "cell"),
                first.number,
                cells.len()
            );
            let hint = Some(match first.cells.as_slice() {
                [one] if one.contains([';', '\t']) => "separate the cells with commas, and write decimal points",
                _ => "put quotes around a cell that holds a comma",
            });
            return Err(Error::Table { place: TablePlace::Line(number), reason, hint });
        }
        lines.push(CsvLine { number, cells });
    }
    Ok(lines)
}

/// The line that a record starts on: the reader's position is the end of the record before it, and empty lines may follow.
fn first_line(text: &[u8], record: &csv::ByteRecord) -> u64 {
    let Some(position) = record.position() else { return 1 };
    let rest = text.get(position.byte() as usize..).unwrap_or_default();
    let empty = rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).filter(|byte| **byte == b'\n').count();
    position.line() + empty as u64
}

fn utf8(cell: &[u8], line: u64, column: usize) -> Result<String> {
    match std::str::from_utf8(cell) {
        // Cells become arguments and environment variables of commands, and neither can hold a NUL.
        Ok(cell) if cell.contains('\0') => {
            let reason = format!("must be free of NUL characters, which no command can be given, got {}", quoted(cell));
            let hint = Some("remove the NUL characters; a file saved as UTF-16 has many of them: save it as UTF-8");
            Err(Error::Table { place: place(line, &(column + 1).to_string()), reason, hint })
        }
        Ok(cell) => Ok(cell.to_string()),
        Err(_) => {
            let reason = format!("must be UTF-8 text, got {}", quoted(&String::from_utf8_lossy(cell)));
            Err(Error::Table {
                place: place(line, &(column + 1).to_string()),
                reason,
                hint: Some("save the file as UTF-8"),
            })
        }
    }
}

/// A mistake of the table as a whole.
pub(crate) fn table_error(reason: impl Into<String>, hint: Option<&'static str>) -> Error {
    Error::Table { place: TablePlace::All, reason: reason.into(), hint }
}

/// A mistake in one cell.
pub(crate) fn cell_error(line: u64, column: &str, allowed: &str, cell: &str) -> Error {
    Error::Table { place: place(line, column), reason: format!("must be {allowed}, got {}", quoted(cell)), hint: None }
}

fn place(line: u64, column: &str) -> TablePlace {
    TablePlace::Cell { line, column: column.to_string() }
}

/// A cell as a finite number.
pub(crate) fn number(line: u64, column: &str, cell: &str) -> Result<f64> {
    match f64::from_str(cell) {
        Ok(number) if number.is_finite() => Ok(number),
        Ok(_) => Err(cell_error(line, column, "a finite number", cell)),
        Err(_) => Err(cell_error(line, column, "a number", cell)),
    }
}
