//! Values of parameters that a user wrote as text: cells of tables, words of command lines.

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

    /// Whether a parameter of a space can have this value, constraints aside.
    pub fn allows(&self, name: &str, value: &Value) -> bool {
        let parameter = self.space().and_then(|space| space.parameters().iter().find(|p| p.name() == name));
        let alone = parameter.and_then(|parameter| Space::new(vec![parameter.clone()], vec![]).ok());
        alone.is_some_and(|space| space.embed(std::slice::from_ref(value)).is_ok())
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
    fn a_cell_is_a_category_a_number_or_a_text() {
        let read = |name, cell| domain().read_cell(name, cell);
        assert_eq!([read("x", "1"), read("kind", "1")], [Value::Int(1), Value::from("1")]);
        assert_eq!([read("x", "0.5"), read("kind", "b")], [Value::Float(0.5), Value::from("b")]);
        assert_eq!([read("x", "low"), read("kind", "c")], [Value::from("low"), Value::from("c")]);
    }
}
