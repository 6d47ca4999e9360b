//! `[candidates]`: the table of candidates, and the covariance of its rows.

use manyhands_gp::Covariance;

use super::error::{Checked, Fault};
use super::node::Entry;
use crate::table::{self, Line};
use crate::{Coordinates, Error, Pool};

/// `[candidates]`, its files unread.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Candidates {
    pub file: Named,
    /// The coordinate columns; none for all numeric ones.
    pub columns: Option<Vec<String>>,
    pub covariance: Option<Named>,
    pub repeats: bool,
}

/// A file's path, and where it is named.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Named {
    pub path: String,
    pub at: usize,
}

impl Named {
    fn new(entry: &Entry) -> Checked<Self> {
        match entry.node.text(&entry.key)? {
            "" => Err(entry.node.refuse(&entry.key, "the path of a CSV file")),
            path => Ok(Self { path: path.to_string(), at: entry.node.at }),
        }
    }

    /// A mistake in this file.
    fn blame(&self, error: &Error) -> Fault {
        let fault = Fault::of(self.at, error);
        Fault { message: format!("{}: {}", self.path, fault.message), ..fault }
    }
}

pub(super) fn read(entry: &Entry) -> Checked<Candidates> {
    let table = entry.node.table("candidates", "[candidates]")?;
    table.only(&["file", "columns", "covariance", "repeats"])?;
    let file = Named::new(table.need("file", "for example file = \"pool.csv\", one row a candidate")?)?;
    let owned = |names: Vec<&str>| names.into_iter().map(str::to_string).collect();
    Ok(Candidates {
        file,
        columns: table.texts("columns")?.map(owned),
        covariance: table.get("covariance").map(Named::new).transpose()?,
        repeats: table.flag("repeats")?.unwrap_or(true),
    })
}

impl Candidates {
    /// The pool, from the text of its file.
    pub fn pool(&self, text: &[u8], coordinates: Coordinates) -> Checked<Pool> {
        Pool::from_csv(text, self.columns.as_deref(), coordinates).map_err(|error| self.file.blame(&error))
    }
}

impl Named {
    /// The covariance of `len` candidates from the text of this file: a square of numbers, with or without a header.
    pub fn covariance(&self, text: &[u8], len: usize) -> Checked<Covariance> {
        read_covariance(text, len).map_err(|error| self.blame(&error))
    }
}

fn read_covariance(text: &[u8], len: usize) -> crate::Result<Covariance> {
    let lines = table::lines(text)?;
    let is_header = |line: &&Line| line.cells.iter().all(|cell| cell.parse::<f64>().is_err());
    let rows = &lines[usize::from(lines.first().filter(is_header).is_some())..];
    let width = rows.first().map_or(0, |row| row.cells.len());
    if rows.len() != len || width != len {
        let reason = format!(
            "the covariance of {} must be {len} x {len}, got {} x {width}",
            crate::counted(len, "candidate"),
            rows.len()
        );
        return Err(table::whole(reason, Some("a row and a column for each candidate, in the candidates' order")));
    }
    let number =
        |line: &Line, column: usize| table::number(line.number, &(column + 1).to_string(), &line.cells[column]);
    let entries = rows.iter().flat_map(|line| (0..len).map(move |column| number(line, column)));
    Ok(Covariance::new(len, entries.collect::<crate::Result<Vec<f64>>>()?)?)
}
