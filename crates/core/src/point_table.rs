//! Points of a domain that a user lists in a CSV table: one column per parameter, one row per point.

use crate::table::{self, CsvLine};
use crate::{Domain, ParameterKind, Result, Value};

/// A row of a table of points.
#[derive(Debug, Clone, PartialEq)]
pub struct PointRow {
    /// Its line in the file, from 1.
    pub line: u64,
    /// Its values, each with its column's name.
    pub named: Vec<(String, Value)>,
}

impl Domain {
    /// Reads CSV text with a header of names and one row per point. A cell is a category if it is spelled like one of its
    /// parameter's, otherwise a number if it can be read as one. Whether a row is in the domain is not checked:
    /// [`Domain::embed_named`] does that.
    ///
    /// ```
    /// use manyhands_core::{Domain, Parameter, Space, Value};
    /// # fn main() -> manyhands_core::Result<()> {
    /// let domain = Domain::Space(Space::new(vec![Parameter::float("x", 0.0, 1.0)?], vec![])?);
    /// let rows = domain.read_points(b"x\n0.5\n")?;
    /// assert_eq!((rows[0].line, &rows[0].named[0]), (2, &("x".to_string(), Value::Float(0.5))));
    /// # Ok(()) }
    /// ```
    pub fn read_points(&self, text: &[u8]) -> Result<Vec<PointRow>> {
        let mut lines = table::lines(text)?.into_iter();
        let header = lines.next().map(|line| line.cells).unwrap_or_default();
        let rows: Vec<PointRow> = lines.map(|line| self.row(&header, line)).collect();
        if rows.is_empty() {
            let reason = "it has no rows; a header with the parameters' names and one row per point are needed";
            return Err(table::table_error(reason, None));
        }
        Ok(rows)
    }

    fn row(&self, header: &[String], line: CsvLine) -> PointRow {
        let named = header.iter().zip(&line.cells).map(|(name, cell)| (name.clone(), self.read_cell(name, cell)));
        PointRow { line: line.number, named: named.collect() }
    }

    /// The category of a parameter that is spelled like this. Spreadsheets write true as TRUE.
    pub fn category(&self, name: &str, cell: &str) -> Option<Value> {
        let parameter = self.space().and_then(|space| space.parameters().iter().find(|p| p.name() == name));
        let categories: &[Value] = match parameter.map(|parameter| parameter.kind()) {
            Some(ParameterKind::Choice(categories)) => categories,
            Some(ParameterKind::Constant(value)) => std::slice::from_ref(value),
            _ => &[],
        };
        let is_spelled = |value: &&Value| match value {
            Value::Text(word) => word == cell,
            Value::Bool(_) => value.to_string().eq_ignore_ascii_case(cell),
            other => other.to_string() == cell,
        };
        categories.iter().find(is_spelled).cloned()
    }

    /// Whether all values of this parameter or column are numbers.
    pub fn is_numeric(&self, name: &str) -> bool {
        match self {
            Self::Space(space) => {
                let parameter = space.parameters().iter().find(|parameter| parameter.name() == name);
                parameter.is_some_and(|parameter| match parameter.kind() {
                    ParameterKind::Choice(values) => values.iter().all(|value| value.number().is_some()),
                    ParameterKind::Constant(value) => value.number().is_some(),
                    _ => true,
                })
            }
            Self::Pool(pool) => pool.is_numeric(name),
            Self::Points(_) | Self::Grid(_) | Self::Discretized { .. } => false,
        }
    }

    /// A cell of a parameter's column, or a word of a command line: a category if it is spelled like one, otherwise a number if
    /// it can be read as one.
    pub fn read_cell(&self, name: &str, cell: &str) -> Value {
        if let Some(category) = self.category(name, cell) {
            return category;
        }
        match (cell.parse::<i64>(), cell.parse::<f64>()) {
            (Ok(integer), _) => Value::Int(integer),
            (_, Ok(float)) => Value::Float(float),
            _ => Value::Text(cell.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::{Parameter, Space};

    fn domain() -> Domain {
        let kind = Parameter::choice("kind", &["1", "b"]).unwrap();
        Domain::Space(Space::new(vec![Parameter::float("x", 0.0, 9.0).unwrap(), kind], vec![]).unwrap())
    }

    #[test]
    fn cells_are_categories_numbers_or_texts_and_rows_have_their_lines() {
        let rows = domain().read_points(b"x, kind\n1,1\n\n0.5,b\nlow,c\n").unwrap();
        let values = |row: &PointRow| row.named.iter().map(|(_, value)| value.clone()).collect::<Vec<_>>();
        assert_eq!(values(&rows[0]), [Value::Int(1), Value::from("1")]);
        assert_eq!(values(&rows[1]), [Value::Float(0.5), Value::from("b")]);
        assert_eq!(values(&rows[2]), [Value::from("low"), Value::from("c")]);
        assert_eq!(rows.iter().map(|row| row.line).collect::<Vec<_>>(), [2, 4, 5]);
    }

    #[test]
    fn what_is_no_table_of_points_is_refused_with_its_place() {
        let refusal = |text: &[u8]| domain().read_points(text).unwrap_err().to_string();
        assert_eq!(refusal(b"x,kind\n1\n"), "line 2: must have 2 cells, as line 1 has, got 1");
        assert!(refusal(b"x,kind\n1,\xff\n").starts_with("line 2, column 2: must be UTF-8 text"));
        assert!(refusal(b"").starts_with("it has no rows") && refusal(b"x,kind\n").starts_with("it has no rows"));
    }
}
