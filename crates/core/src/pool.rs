//! A pool: candidates from a table, their coordinates in the model, and candidates found by their values.

use manyhands_gp::Points;

use crate::domain::nearest;
use crate::error::TablePlace;
use crate::table::{self, CsvLine};
use crate::text::{beginning, escaped, quoted};
use crate::{Error, Result, Value};

/// Which coordinates the model uses for a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coordinates {
    /// Its coordinate columns, each scaled from its smallest to its largest number to 0 to 1; a column with one value is 0.
    Unit,
    /// Its coordinate columns as they are.
    Raw,
    /// Its row, counted from 0: for an empirical covariance.
    Indices,
}

/// A table of candidates: named columns, one row per candidate; some of its columns are the model's coordinates.
///
/// ```
/// use manyhands_core::{Coordinates, Pool, Value};
/// # fn main() -> manyhands_core::Result<()> {
/// let pool = Pool::from_csv(b"label,temp,conc\nA,20,0.5\nB,60,0.1\n", None, Coordinates::Unit)?;
/// assert_eq!(pool.params(1), [Value::from("B"), 60.into(), 0.1.into()]);
/// assert_eq!(pool.points().get(1), [1.0, 0.0]);
/// assert_eq!(pool.find(&[("temp".to_string(), 20.into()), ("conc".to_string(), 0.5.into())])?, 0);
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Pool {
    names: Vec<String>,
    /// Row after row.
    values: Vec<Value>,
    columns: Vec<CoordinateColumn>,
    coordinates: Coordinates,
    points: Points,
}

/// A coordinate column.
#[derive(Debug, Clone, PartialEq)]
struct CoordinateColumn {
    index: usize,
    low: f64,
    /// The largest number minus the smallest.
    span: f64,
}

impl CoordinateColumn {
    /// The model's coordinate of a number of this column.
    fn place(&self, number: f64, coordinates: Coordinates) -> f64 {
        match coordinates {
            Coordinates::Unit if self.span > 0.0 => (number - self.low) / self.span,
            Coordinates::Unit => number - self.low,
            Coordinates::Raw | Coordinates::Indices => number,
        }
    }
}

impl Pool {
    /// Reads CSV text with a header. `columns` are the coordinate columns, none for all that hold only numbers.
    pub fn from_csv(text: &[u8], columns: Option<&[String]>, coordinates: Coordinates) -> Result<Self> {
        let mut lines = table::lines(text)?.into_iter();
        let header =
            lines.next().ok_or_else(|| table::table_error("the table is empty", Some("give it a header and rows")))?;
        check_header(&header)?;
        let (names, lines) = (header.cells, lines.collect::<Vec<CsvLine>>());
        if lines.is_empty() {
            return Err(table::table_error("the table has a header and no row", Some("one row is one candidate")));
        }
        let chosen = match (columns, coordinates) {
            (_, Coordinates::Indices) => vec![],
            (Some(columns), _) => named_columns(&names, columns)?,
            (None, _) => numeric_columns(&names, &lines)?,
        };
        let read = |&index: &usize| read_column(index, &names[index], &lines);
        let numbers = chosen.iter().map(read).collect::<Result<Vec<Vec<f64>>>>()?;
        let columns: Vec<CoordinateColumn> = chosen.iter().zip(&numbers).map(|(&index, n)| column(index, n)).collect();
        if let Some(wide) = columns.iter().find(|column| !column.span.is_finite()) {
            let reason = format!("column {} must span less than 1.7e308", quoted(&names[wide.index]));
            return Err(table::table_error(reason, None));
        }
        let points = match coordinates {
            Coordinates::Indices => Points::indices(lines.len()),
            _ => Points::from_flat(columns.len(), placed(&columns, &numbers, coordinates))?,
        };
        Ok(Self { values: values(names.len(), &lines), names, columns, coordinates, points })
    }

    /// The number of candidates, at least one.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// The columns' names, all of them, in the file's order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// The names of the coordinate columns, in the order of the coordinates; none where the model sees indices.
    pub fn coordinate_names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|column| self.names[column.index].as_str())
    }

    /// Which coordinates the model uses for a candidate.
    pub fn seen_as(&self) -> Coordinates {
        self.coordinates
    }

    /// A candidate's row: integers in a column of integers, else numbers in a column of numbers, else text. Panics, as a
    /// slice does, past the last.
    pub fn params(&self, candidate: usize) -> &[Value] {
        &self.values[candidate * self.names.len()..(candidate + 1) * self.names.len()]
    }

    /// The candidates as the model sees them.
    pub fn points(&self) -> &Points {
        &self.points
    }

    /// The first candidate with these values. All coordinate columns with more than one value must be given (where the
    /// model sees indices, any column), unless another column, such as one of names, identifies it; others may be.
    pub fn find(&self, named: &[(String, Value)]) -> Result<usize> {
        let given = self.given(named)?;
        let point = match self.coordinates {
            Coordinates::Indices => None,
            _ => Some(self.place(&given)?),
        };
        let agreeing =
            |candidate: usize| given.iter().filter(|(i, value)| self.params(candidate)[*i].means(value)).count();
        if let Some(found) = (0..self.len()).find(|&candidate| agreeing(candidate) == given.len()) {
            return Ok(found);
        }
        let nearest = match point {
            Some(point) => nearest(self.points.iter(), &point).map_or(0, |(candidate, _)| candidate),
            None => (0..self.len()).rev().max_by_key(|&candidate| agreeing(candidate)).unwrap_or_default(),
        };
        let near: Vec<(usize, &Value)> = given.iter().map(|&(i, _)| (i, &self.params(nearest)[i])).collect();
        Err(Error::NotInPool { given: self.shown(&given), candidate: nearest, nearest: self.shown(&near) })
    }

    /// The coordinates of values of the coordinate columns, which need not be those of a candidate; where the model sees
    /// indices, the index of the candidate that has these values.
    pub fn coordinates(&self, named: &[(String, Value)]) -> Result<Vec<f64>> {
        match self.coordinates {
            Coordinates::Indices => Ok(vec![self.find(named)? as f64]),
            _ => self.place(&self.given(named)?),
        }
    }

    /// Whether all cells of the column of this name are numbers.
    pub(crate) fn is_numeric(&self, name: &str) -> bool {
        let column = self.names.iter().position(|known| known == name);
        column.is_some_and(|column| (0..self.len()).all(|row| self.params(row)[column].number().is_some()))
    }

    /// Whether a column of this name is a coordinate.
    pub(crate) fn has_coordinate(&self, name: &str) -> bool {
        self.columns.iter().any(|column| self.names[column.index] == name)
    }

    /// The values with the columns they are of.
    fn given<'a>(&'a self, named: &'a [(String, Value)]) -> Result<Vec<(usize, &'a Value)>> {
        let mut given: Vec<(usize, &Value)> = Vec::with_capacity(named.len());
        for (name, value) in named {
            let found = self.names.iter().position(|known| known == name);
            let index = found.ok_or_else(|| Error::unknown_parameter(self.names(), name))?;
            if given.iter().any(|(other, _)| *other == index) {
                return Err(Error::RepeatedParameter { name: name.clone() });
            }
            given.push((index, value));
        }
        if given.is_empty() {
            return Err(Error::MissingParameter { name: self.names[0].clone() });
        }
        self.completed(given)
    }

    /// All values of the candidate that these identify, where they are not all coordinates and it is the only one that has them.
    fn completed<'a>(&'a self, given: Vec<(usize, &'a Value)>) -> Result<Vec<(usize, &'a Value)>> {
        let is_given = |column: &CoordinateColumn| given.iter().any(|(index, _)| *index == column.index);
        let is_coordinate = |index: usize| self.columns.iter().any(|column| column.index == index);
        let has_all_coordinates = self.columns.iter().all(|column| column.span == 0.0 || is_given(column));
        if has_all_coordinates || given.iter().all(|(index, _)| is_coordinate(*index)) {
            return Ok(given);
        }
        let has_all = |&candidate: &usize| given.iter().all(|(i, value)| self.params(candidate)[*i].means(value));
        match (0..self.len()).filter(has_all).collect::<Vec<_>>()[..] {
            [only] => Ok(self.params(only).iter().enumerate().collect()),
            ref several => Err(Error::NotIdentified { given: self.shown(&given), candidates: several.len() }),
        }
    }

    /// Values by name, as messages show them.
    fn shown(&self, given: &[(usize, &Value)]) -> String {
        let show = |(i, value): &(usize, &Value)| beginning(&format!("{} = {value}", escaped(&self.names[*i])));
        given.iter().map(show).collect::<Vec<_>>().join(", ")
    }

    fn place(&self, given: &[(usize, &Value)]) -> Result<Vec<f64>> {
        let place = |column: &CoordinateColumn| {
            let name = || self.names[column.index].clone();
            let number = match given.iter().find(|(index, _)| *index == column.index) {
                Some((_, value)) => value.number().filter(|number| number.is_finite()).ok_or_else(|| {
                    let (parameter, allowed) = (name(), "a finite number".to_string());
                    Error::ParameterValue { parameter, allowed, value: value.to_string() }
                })?,
                None if column.span == 0.0 => column.low,
                None => return Err(Error::MissingParameter { name: name() }),
            };
            Ok(column.place(number, self.coordinates))
        };
        self.columns.iter().map(place).collect()
    }
}

fn check_header(header: &CsvLine) -> Result<()> {
    if header.cells.iter().all(|name| name.parse::<f64>().is_ok()) {
        let reason =
            format!("the first line must name the columns, got the numbers {}", beginning(&header.cells.join(", ")));
        return Err(table::table_error(
            reason,
            Some("put a line of names above; a name that is a number needs a letter"),
        ));
    }
    for (index, name) in header.cells.iter().enumerate() {
        if name.is_empty() {
            return Err(table::cell_error(header.number, &(index + 1).to_string(), "a column's name", name));
        }
        if let Some(first) = header.cells[..index].iter().position(|other| other == name) {
            let reason = format!("columns {} and {} are both named {}", first + 1, index + 1, quoted(name));
            return Err(table::table_error(reason, Some("every column needs a name of its own")));
        }
    }
    Ok(())
}

fn named_columns(names: &[String], columns: &[String]) -> Result<Vec<usize>> {
    let mut found: Vec<usize> = Vec::new();
    for name in columns {
        let index = names.iter().position(|known| known == name).ok_or_else(|| {
            let instead = crate::text::names_instead(name, "column", names);
            table::table_error(format!("there is no column {}; {instead}", quoted(name)), None)
        })?;
        if found.contains(&index) {
            return Err(Error::RepeatedParameter { name: name.clone() });
        }
        found.push(index);
    }
    if found.is_empty() {
        return Err(table::table_error(
            "the list of columns is empty",
            Some("name at least one, or leave the list out"),
        ));
    }
    Ok(found)
}

/// The columns of numbers, finite or not: numbers that are not finite are refused later, by their column's name. A column
/// that is mostly numbers is assumed to have a mistake in it.
fn numeric_columns(names: &[String], lines: &[CsvLine]) -> Result<Vec<usize>> {
    let is_text = |line: &&CsvLine, index: usize| line.cells[index].parse::<f64>().is_err();
    let mut found = Vec::new();
    for index in 0..names.len() {
        let mut texts = lines.iter().filter(|line| is_text(line, index));
        let Some(line) = texts.next() else {
            found.push(index);
            continue;
        };
        let numbers = lines.len() - 1 - texts.count();
        if 2 * numbers > lines.len() {
            let place = TablePlace::Cell { line: line.number, column: quoted(&names[index]) };
            let cell = quoted(&line.cells[index]);
            let reason = format!("must be a number, as {numbers} of its {} cells are, got {cell}", lines.len());
            let hint = "fix this cell; or leave the column out by naming the others, columns = [...] in [candidates]";
            return Err(Error::Table { place, reason, hint: Some(hint) });
        }
    }
    if found.is_empty() {
        let hint = Some("the model needs at least one column of numbers, or the kernel \"empirical\"");
        return Err(table::table_error("no column is numeric", hint));
    }
    Ok(found)
}

fn read_column(index: usize, name: &str, lines: &[CsvLine]) -> Result<Vec<f64>> {
    let column = quoted(name);
    lines.iter().map(|line| table::number(line.number, &column, &line.cells[index])).collect()
}

fn column(index: usize, numbers: &[f64]) -> CoordinateColumn {
    let low = numbers.iter().copied().fold(f64::INFINITY, f64::min);
    let high = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    CoordinateColumn { index, low, span: high - low }
}

/// The coordinates, row after row.
fn placed(columns: &[CoordinateColumn], numbers: &[Vec<f64>], coordinates: Coordinates) -> Vec<f64> {
    let rows = numbers.first().map_or(0, Vec::len);
    let mut placed = Vec::with_capacity(rows * columns.len());
    for i in 0..rows {
        for (column, numbers) in columns.iter().zip(numbers) {
            placed.push(column.place(numbers[i], coordinates));
        }
    }
    placed
}

/// All cells as values, row after row. Every cell of a column is of the same kind.
fn values(width: usize, lines: &[CsvLine]) -> Vec<Value> {
    let mut columns: Vec<_> = (0..width)
        .filter_map(|index| [integer, float, text].into_iter().find_map(|kind| column_of(kind, index, lines)))
        .map(Vec::into_iter)
        .collect();
    let mut values = Vec::with_capacity(width * lines.len());
    for _ in lines {
        values.extend(columns.iter_mut().filter_map(Iterator::next));
    }
    values
}

/// The values of a column, if all its cells are of this kind.
fn column_of(kind: fn(&str) -> Option<Value>, index: usize, lines: &[CsvLine]) -> Option<Vec<Value>> {
    let mut values = Vec::with_capacity(lines.len());
    for line in lines {
        values.push(kind(&line.cells[index])?);
    }
    Some(values)
}

fn integer(cell: &str) -> Option<Value> {
    cell.parse().ok().map(Value::Int)
}

fn float(cell: &str) -> Option<Value> {
    cell.parse().ok().filter(|number: &f64| number.is_finite()).map(Value::Float)
}

fn text(cell: &str) -> Option<Value> {
    Some(Value::Text(cell.to_string()))
}
