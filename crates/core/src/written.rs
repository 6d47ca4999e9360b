//! Values of parameters that a user wrote as text: cells of tables, words of command lines.

use crate::text::are_one_number;
use crate::{Domain, ParameterKind, Space, Value};

impl Domain {
    /// The category of a parameter that is spelled like this. Spreadsheets write true as TRUE.
    pub fn category(&self, name: &str, cell: &str) -> Option<Value> {
        let parameter = self.space().and_then(|space| space.parameters().iter().find(|p| p.name() == name));
        let categories: &[Value] = match parameter.map(|parameter| parameter.kind()) {
            Some(ParameterKind::Choice(categories)) => categories,
            Some(ParameterKind::Constant(value)) => std::slice::from_ref(value),
            _ => &[],
        };
        let spelled = |cell: &str| {
            categories.iter().find(|value| match value {
                Value::Text(word) => word == cell,
                Value::Bool(_) => value.to_string().eq_ignore_ascii_case(cell),
                other => other.to_string() == cell,
            })
        };
        // Tables do not keep the spaces around a cell, and spreadsheets take 0.50 for a number and write 0,5.
        let without_spaces =
            || categories.iter().find(|value| matches!(value, Value::Text(word) if word.trim() == cell));
        let same_number = || {
            let mut same =
                categories.iter().filter(|value| matches!(value, Value::Text(word) if are_one_number(word, cell)));
            same.next().filter(|_| same.next().is_none())
        };
        spelled(cell).or_else(without_spaces).or_else(same_number).cloned()
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

    /// Whether a parameter of a space can have this value, constraints aside.
    pub fn allows(&self, name: &str, value: &Value) -> bool {
        self.embed_alone(name, value).is_some()
    }

    /// How far two values of a parameter of a space are from each other, as a share of its range; 1 for different categories.
    pub fn distance(&self, name: &str, one: &Value, other: &Value) -> Option<f64> {
        let places = (self.embed_alone(name, one)?, self.embed_alone(name, other)?);
        match (&places.0[..], &places.1[..]) {
            ([one], [other]) => Some((one - other).abs()),
            // A choice has a coordinate for each category.
            (one, other) => Some(if one == other { 0.0 } else { 1.0 }),
        }
    }

    /// The coordinates of a value of a parameter in a space of its own.
    fn embed_alone(&self, name: &str, value: &Value) -> Option<Vec<f64>> {
        let parameter = self.space().and_then(|space| space.parameters().iter().find(|p| p.name() == name))?;
        let alone = Space::new(vec![parameter.clone()], vec![]).ok()?;
        alone.embed(std::slice::from_ref(value)).ok()
    }

    /// A cell of a parameter's column, or a word of a command line: a category if it is spelled like one, otherwise a number if
    /// it can be read as one.
    pub fn read_cell(&self, name: &str, cell: &str) -> Value {
        if let Some(category) = self.category(name, cell) {
            return category;
        }
        let is_text = matches!(self, Self::Pool(pool) if pool.names().any(|own| own == name) && !pool.is_numeric(name));
        if is_text {
            return Value::Text(cell.to_string());
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
    fn a_category_is_found_without_its_spaces_and_with_a_decimal_comma() {
        let named = |names: &[&str]| {
            Domain::Space(Space::new(vec![Parameter::choice("kind", names).unwrap()], vec![]).unwrap())
        };
        let domain = named(&["a ", " b", "0.5", "c.d"]);
        assert_eq!(domain.category("kind", "a"), Some("a ".into()));
        assert_eq!(domain.category("kind", "b"), Some(" b".into()));
        assert_eq!(domain.category("kind", "0,5"), Some("0.5".into()));
        assert_eq!(domain.category("kind", "0,50"), Some("0.5".into()));
        assert_eq!(domain.category("kind", "c,d"), None);
        assert_eq!(named(&["1", "1.0", "2"]).category("kind", "1.00"), None, "two of them are this number");
        assert_eq!(named(&["a ", "a"]).category("kind", "a"), Some("a".into()));
        assert_eq!(named(&["0.5", "0,5"]).category("kind", "0,5"), Some("0,5".into()));
    }

    #[test]
    fn distances_are_shares_of_a_parameters_range() {
        let distance = |name, one: Value, other: Value| domain().distance(name, &one, &other);
        assert_eq!(distance("x", 0.0.into(), 4.5.into()), Some(0.5));
        assert_eq!(distance("kind", "1".into(), "b".into()), Some(1.0));
        assert_eq!([distance("x", 1.0.into(), 10.0.into()), distance("y", 1.0.into(), 1.0.into())], [None, None]);
    }

    #[test]
    fn a_cell_is_a_category_a_number_or_a_text() {
        let read = |name, cell| domain().read_cell(name, cell);
        assert_eq!([read("x", "1"), read("kind", "1")], [Value::Int(1), Value::from("1")]);
        assert_eq!([read("x", "0.5"), read("kind", "b")], [Value::Float(0.5), Value::from("b")]);
        assert_eq!([read("x", "low"), read("kind", "c")], [Value::from("low"), Value::from("c")]);
    }
}
