//! A table of results that can be written as CSV, JSON or Markdown: the one source of every published number.

use manyhands_core::text::significant;
use serde_json::{Map, Value};

use crate::{Error, Result};

/// One entry.
#[derive(Debug, Clone, PartialEq)]
pub enum SheetCell {
    /// A word.
    Text(String),
    /// A measured number.
    Number(f64),
    /// An integer.
    Count(usize),
    /// No value.
    Empty,
}

impl From<&str> for SheetCell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_string())
    }
}

impl From<String> for SheetCell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<f64> for SheetCell {
    fn from(number: f64) -> Self {
        if number.is_finite() { Self::Number(number) } else { Self::Empty }
    }
}

impl From<usize> for SheetCell {
    fn from(count: usize) -> Self {
        Self::Count(count)
    }
}

impl<T: Into<SheetCell>> From<Option<T>> for SheetCell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Empty, Into::into)
    }
}

impl SheetCell {
    /// With every digit.
    fn exact(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number(number) => number.to_string(),
            Self::Count(count) => count.to_string(),
            Self::Empty => String::new(),
        }
    }

    /// With few digits.
    fn short(&self) -> String {
        match self {
            Self::Number(number) => significant(*number, DIGITS),
            Self::Empty => "-".to_string(),
            other => other.exact(),
        }
    }

    fn json(&self) -> Value {
        match self {
            Self::Text(text) => text.as_str().into(),
            Self::Number(number) => (*number).into(),
            Self::Count(count) => (*count).into(),
            Self::Empty => Value::Null,
        }
    }
}

/// Significant digits for readers.
const DIGITS: usize = 3;

/// Rows of entries under named columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Sheet {
    columns: Vec<String>,
    rows: Vec<Vec<SheetCell>>,
}

impl Sheet {
    /// No rows yet.
    pub fn new(columns: &[&str]) -> Self {
        Self { columns: columns.iter().map(|column| column.to_string()).collect(), rows: vec![] }
    }

    /// One more row, an entry for every column.
    pub fn push(&mut self, row: Vec<SheetCell>) {
        debug_assert_eq!(row.len(), self.columns.len());
        self.rows.push(row);
    }

    /// The same numbers in a wide table: one row for each combination of the columns `keys`, one column for each entry of
    /// `across`, with the entries of `values` inside. Columns that are not there give no rows.
    pub fn pivot(&self, keys: &[&str], across: &str, values: &str) -> Self {
        let place = |name: &str| self.columns.iter().position(|column| column == name);
        let keys: Vec<usize> = keys.iter().filter_map(|name| place(name)).collect();
        let mut wide = Self { columns: keys.iter().map(|&i| self.columns[i].clone()).collect(), rows: vec![] };
        let (Some(across), Some(values)) = (place(across), place(values)) else { return wide };
        let mut names: Vec<String> = Vec::new();
        for name in self.rows.iter().map(|row| row[across].exact()) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        for row in &self.rows {
            let key: Vec<SheetCell> = keys.iter().map(|&i| row[i].clone()).collect();
            let line = wide.rows.iter().position(|row| row.starts_with(&key)).unwrap_or_else(|| {
                wide.rows.push([key, vec![SheetCell::Empty; names.len()]].concat());
                wide.rows.len() - 1
            });
            let name = row[across].exact();
            if let Some(column) = names.iter().position(|known| *known == name) {
                wide.rows[line][keys.len() + column] = row[values].clone();
            }
        }
        wide.columns.extend(names);
        wide
    }

    /// With every digit, for programs.
    pub fn to_csv(&self) -> Result<Vec<u8>> {
        // Writing to memory fails only for a row of another length than the header's.
        let broken = || Error::Study(manyhands_core::Error::Internal { what: "a table's row has another length" });
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(&self.columns).map_err(|_| broken())?;
        for row in &self.rows {
            writer.write_record(row.iter().map(SheetCell::exact)).map_err(|_| broken())?;
        }
        writer.into_inner().map_err(|_| broken())
    }

    /// An array of objects.
    pub fn to_json(&self) -> Value {
        let object = |row: &Vec<SheetCell>| {
            let entries = self.columns.iter().zip(row).map(|(column, cell)| (column.to_string(), cell.json()));
            Value::Object(Map::from_iter(entries))
        };
        self.rows.iter().map(object).collect()
    }

    /// In three digits, for readers.
    pub fn to_markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let header = line(self.columns.iter().map(|column| column.replace('_', " ")).collect());
        let rule = format!("|{}\n", "---|".repeat(self.columns.len()));
        let rows: String = self.rows.iter().map(|row| line(row.iter().map(SheetCell::short).collect())).collect();
        header + &rule + &rows
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn one_table_three_ways() {
        let mut sheet = Sheet::new(&["name", "mean_regret", "runs", "batches"]);
        sheet.push(vec!["a,b".into(), 0.123456.into(), 25usize.into(), None::<f64>.into()]);
        let csv = String::from_utf8(sheet.to_csv().unwrap()).unwrap();
        assert_eq!(csv, "name,mean_regret,runs,batches\n\"a,b\",0.123456,25,\n");
        assert_eq!(
            sheet.to_json(),
            serde_json::json!([{"name": "a,b", "mean_regret": 0.123456, "runs": 25, "batches": null}])
        );
        assert_eq!(
            sheet.to_markdown(),
            "| name | mean regret | runs | batches |\n|---|---|---|---|\n| a,b | 0.123 | 25 | - |\n"
        );
    }

    #[test]
    fn a_long_table_becomes_a_wide_one() {
        let mut long = Sheet::new(&["who", "t", "mean", "se"]);
        for (who, t, mean) in [("a", 1usize, 0.5), ("a", 2, 0.25), ("b", 2, 4.0)] {
            long.push(vec![who.into(), t.into(), mean.into(), 0.1.into()]);
        }
        let wide = "| who | 1 | 2 |\n|---|---|---|\n| a | 0.500 | 0.250 |\n| b | - | 4.00 |\n";
        assert_eq!(long.pivot(&["who"], "t", "mean").to_markdown(), wide);
    }
}
