//! Tables of numbers from CSV files, plain or gzipped, with errors that name the line and the column.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;

use crate::{Error, Result};

/// The first bytes of a gzip file.
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// Readings of a larger size would overflow in a variance.
const LARGEST: f64 = 1e100;

/// Numbers under named columns: for readings one row per moment and one column per sensor, for pools one row per candidate.
#[derive(Debug, Clone, PartialEq)]
pub struct NumericTable {
    path: PathBuf,
    columns: Vec<String>,
    rows: Vec<Vec<f64>>,
}

impl NumericTable {
    /// A table from memory; errors name it by `path`.
    pub fn new(path: impl AsRef<Path>, columns: Vec<String>, rows: Vec<Vec<f64>>) -> Result<Self> {
        let path = path.as_ref().to_path_buf();
        if let Some(row) = rows.iter().position(|row| row.len() != columns.len()) {
            let reason = format!("row {row} has {} readings for {} columns", rows[row].len(), columns.len());
            return Err(Error::Table { path, reason });
        }
        Ok(Self { path, columns, rows })
    }

    /// Reads a CSV file whose first column, named `index`, numbers the rows; `.gz` is unpacked.
    pub fn read(path: impl AsRef<Path>, index: &str) -> Result<Self> {
        Self::load(path.as_ref(), Some(index))
    }

    /// Reads a CSV file without an index column; `.gz` is unpacked.
    pub fn read_whole(path: impl AsRef<Path>) -> Result<Self> {
        Self::load(path.as_ref(), None)
    }

    fn load(path: &Path, index: Option<&str>) -> Result<Self> {
        let unreadable =
            |error: std::io::Error| Error::CannotRead { path: path.to_path_buf(), reason: error.to_string() };
        let bytes = fs::read(path).map_err(unreadable)?;
        if path.extension().is_none_or(|extension| extension != "gz") {
            return Self::parse(path, &bytes, index);
        }
        if !bytes.starts_with(&GZIP) {
            let reason = "it is named .gz and is not gzip; unpacked files have no .gz".to_string();
            return Err(Error::Table { path: path.to_path_buf(), reason });
        }
        let mut text = Vec::new();
        GzDecoder::new(bytes.as_slice()).read_to_end(&mut text).map_err(unreadable)?;
        Self::parse(path, &text, index)
    }

    fn parse(path: &Path, text: &[u8], index: Option<&str>) -> Result<Self> {
        let refuse = |reason: String| Error::Table { path: path.to_path_buf(), reason };
        let mut reader = csv::ReaderBuilder::new().flexible(true).trim(csv::Trim::All).from_reader(text);
        let header = reader.headers().map_err(|error| refuse(error.to_string()))?.clone();
        if let Some(index) = index.filter(|index| header.get(0) != Some(index)) {
            let first = header.get(0).unwrap_or("");
            return Err(refuse(format!("its first column must be \"{index}\", got \"{first}\"")));
        }
        let skipped = usize::from(index.is_some());
        let columns: Vec<String> = header.iter().skip(skipped).map(str::to_string).collect();
        if let Some(column) = columns.iter().enumerate().find(|(i, column)| columns[..*i].contains(column)) {
            return Err(refuse(format!("column \"{}\" appears twice", column.1)));
        }
        let mut rows = Vec::new();
        for record in reader.records() {
            let record = record.map_err(|error| refuse(error.to_string()))?;
            let line = record.position().map_or(0, csv::Position::line);
            if record.len() != header.len() {
                return Err(refuse(format!("line {line} has {} cells, the header has {}", record.len(), header.len())));
            }
            let cell = |(column, text): (&String, &str)| match text.parse::<f64>() {
                Ok(value) if value.abs() <= LARGEST => Ok(value),
                _ => Err(refuse(format!(
                    "line {line}, column \"{column}\" must be a finite number (at most 1e100), got \"{text}\""
                ))),
            };
            rows.push(columns.iter().zip(record.iter().skip(skipped)).map(cell).collect::<Result<Vec<f64>>>()?);
        }
        Ok(Self { path: path.to_path_buf(), columns, rows })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The names of the columns.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The numbers, row by row.
    pub fn rows(&self) -> &[Vec<f64>] {
        &self.rows
    }

    /// The first `rows` rows, and the others.
    pub fn split(&self, rows: usize) -> (Self, Self) {
        let (first, second) = self.rows.split_at(rows.min(self.rows.len()));
        let part = |rows: &[Vec<f64>]| Self { rows: rows.to_vec(), ..self.clone() };
        (part(first), part(second))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn refusal(text: &str) -> String {
        NumericTable::parse(Path::new("t.csv"), text.as_bytes(), Some("row")).unwrap_err().to_string()
    }

    #[test]
    fn a_table_is_read_without_its_index() {
        let table = NumericTable::parse(Path::new("t.csv"), b"row,a,b\n0, 1.5,2\n1,3,-4e1\n", Some("row")).unwrap();
        assert_eq!(table.columns(), ["a", "b"]);
        assert_eq!(table.rows(), [[1.5, 2.0], [3.0, -40.0]]);
    }

    #[test]
    fn what_is_not_a_number_is_named_with_its_place() {
        assert!(
            refusal("row,a,b\n0,1,2\n1,3,NaN\n")
                .contains("line 3, column \"b\" must be a finite number (at most 1e100), got \"NaN\"")
        );
        assert!(
            refusal("row,a\n0,\n").contains("line 2, column \"a\" must be a finite number (at most 1e100), got \"\"")
        );
        assert!(refusal("row,a\n0,inf\n").contains("got \"inf\""));
        assert!(refusal("row,a,b\n0,1\n").contains("line 2 has 2 cells, the header has 3"));
        assert!(refusal("minute,a\n0,1\n").contains("first column must be \"row\", got \"minute\""));
        assert!(refusal("row,a\n0,-1e101\n").contains("got \"-1e101\""));
        assert!(refusal("row,a,b,a\n0,1,2,3\n").contains("column \"a\" appears twice"));
        assert!(refusal("").contains("first column must be \"row\", got \"\""));
    }
}
