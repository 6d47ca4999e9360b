//! Why a spreadsheet cannot be read: where, what is wrong there, and what to write instead.

use std::fmt;

use manyhands_core::text::quoted;

/// A table, or a cell of one, that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadSpreadsheet {
    /// Where.
    pub place: SpreadsheetPlace,
    /// What is wrong there.
    pub reason: String,
    /// How to fix it, where the message does not say.
    pub hint: Option<String>,
}

/// A place in a spreadsheet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SpreadsheetPlace {
    /// The whole file.
    Whole,
    /// A line of the file, from 1.
    Line(u64),
    /// A cell: the line that its row begins on, and the name of its column.
    Cell {
        /// The line, from 1.
        line: u64,
        /// The column.
        column: String,
    },
}

impl SpreadsheetPlace {
    /// The line, from 1; 0 for the whole file.
    pub(crate) fn line(&self) -> u64 {
        match self {
            Self::Whole => 0,
            Self::Line(line) | Self::Cell { line, .. } => *line,
        }
    }
}

impl BadSpreadsheet {
    /// An error without a hint.
    pub fn new(place: SpreadsheetPlace, reason: impl Into<String>) -> Self {
        Self { place, reason: reason.into(), hint: None }
    }

    /// The same error with a hint.
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// The same error with a hint, if it has none.
    pub(crate) fn or_hint(self, hint: &str) -> Self {
        if self.hint.is_some() { self } else { self.hint(hint) }
    }
}

impl fmt::Display for BadSpreadsheet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            SpreadsheetPlace::Whole => f.write_str(&self.reason),
            place => write!(f, "{place}: {}", self.reason),
        }
    }
}

impl std::error::Error for BadSpreadsheet {}

impl fmt::Display for SpreadsheetPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => f.write_str("the table"),
            Self::Line(line) => write!(f, "line {line}"),
            Self::Cell { line, column } => write!(f, "line {line}, column {}", quoted(column)),
        }
    }
}

/// A column by its position, as messages and spreadsheets name it: `column 2 (B)`.
pub(super) fn column_at(index: usize) -> String {
    let mut letters = Vec::new();
    let mut rest = index + 1;
    while rest > 0 {
        rest -= 1;
        letters.push(char::from(b'A' + (rest % 26) as u8));
        rest /= 26;
    }
    format!("column {} ({})", index + 1, letters.iter().rev().collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_the_letters_of_spreadsheets() {
        let shown = |index| column_at(index).rsplit_once(' ').map(|(_, letters)| letters.to_string());
        assert_eq!([0, 25, 26, 701, 702].map(shown), ["(A)", "(Z)", "(AA)", "(ZZ)", "(AAA)"].map(|l| Some(l.into())));
    }
}
