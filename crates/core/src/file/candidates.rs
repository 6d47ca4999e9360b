//! `[candidates]`: the table of candidates, and the covariance of its rows.

use manyhands_gp::Covariance;

use super::error::{Checked, Fault};
use super::tree::TomlEntry;
use crate::table::{self, CsvLine};
use crate::{Coordinates, Error, Pool};

/// `[candidates]`, before its files are read.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CandidatesSection {
    pub file: NamedFile,
    /// The coordinate columns; none for all numeric columns.
    pub columns: Option<Vec<String>>,
    pub covariance: Option<NamedFile>,
    pub repeats: bool,
}

/// A file's path, and where it is named.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NamedFile {
    pub path: String,
    pub at: usize,
}

impl NamedFile {
    fn new(entry: &TomlEntry) -> Checked<Self> {
        match entry.node.text(&entry.key)? {
            "" => Err(entry.node.refuse(&entry.key, "the path of a CSV file")),
            path => Ok(Self { path: path.to_string(), at: entry.node.at }),
        }
    }

    /// A mistake in this file, where the study file names it.
    fn fault(&self, error: &Error) -> Fault {
        let fault = Fault::of(self.at, error);
        Fault { message: format!("{}: {}", self.path, fault.message), ..fault }
    }
}

pub(super) fn read(entry: &TomlEntry) -> Checked<CandidatesSection> {
    let table = entry.node.table("candidates", "[candidates]")?;
    table.allow_only(&["file", "columns", "covariance", "repeats"])?;
    let file = NamedFile::new(table.require("file", "for example file = \"pool.csv\", one row per candidate")?)?;
    let owned = |names: Vec<&str>| names.into_iter().map(str::to_string).collect();
    Ok(CandidatesSection {
        file,
        columns: table.texts("columns")?.map(owned),
        covariance: table.get("covariance").map(NamedFile::new).transpose()?,
        repeats: table.flag("repeats")?.unwrap_or(true),
    })
}

impl CandidatesSection {
    /// The pool, from the text of its file.
    pub fn pool(&self, text: &[u8], coordinates: Coordinates) -> Checked<Pool> {
        Pool::from_csv(text, self.columns.as_deref(), coordinates).map_err(|error| self.file.fault(&error))
    }
}

impl NamedFile {
    /// The covariance of `len` candidates from the text of this file: a square of numbers, with or without a header.
    pub fn covariance(&self, text: &[u8], len: usize) -> Checked<Covariance> {
        read_covariance(text, len).map_err(|error| self.fault(&error))
    }
}

fn read_covariance(text: &[u8], len: usize) -> crate::Result<Covariance> {
    let lines = table::lines(text)?;
    let is_header = |line: &&CsvLine| line.cells.iter().all(|cell| cell.parse::<f64>().is_err());
    let rows = &lines[usize::from(lines.first().filter(is_header).is_some())..];
    let width = rows.first().map_or(0, |row| row.cells.len());
    if rows.len() != len || width != len {
        let reason = format!(
            "the covariance of {} must be {len} x {len}, got {} x {width}",
            crate::text::counted(len, "candidate"),
            rows.len()
        );
        return Err(table::table_error(
            reason,
            Some("a row and a column for each candidate, in the candidates' order"),
        ));
    }
    let number =
        |line: &CsvLine, column: usize| table::number(line.number, &(column + 1).to_string(), &line.cells[column]);
    let entries = rows.iter().flat_map(|line| (0..len).map(move |column| number(line, column)));
    Ok(Covariance::new(len, entries.collect::<crate::Result<Vec<f64>>>()?)?)
}
