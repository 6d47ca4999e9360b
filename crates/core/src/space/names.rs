//! Parameters by name: values put in order, and the name that was probably meant.

use super::{Axis, Space, Value};
use crate::{Error, Result};

impl Space {
    /// Each parameter's name with its value.
    pub fn named<'a>(&'a self, params: &'a [Value]) -> impl Iterator<Item = (&'a str, &'a Value)> {
        self.parameters().iter().map(|parameter| parameter.name()).zip(params)
    }

    /// Named values in the order of the parameters; those with one value may be left out.
    ///
    /// ```
    /// # use manyhands_core::{Parameter, Space, Value};
    /// let space = Space::new(vec![Parameter::float("lr", 0.0, 1.0)?, Parameter::constant("seed", 7)?], vec![])?;
    /// let params = space.from_named(&[("lr".to_string(), 0.5.into())])?;
    /// assert_eq!(params, [Value::Float(0.5), Value::Int(7)]);
    /// # Ok::<(), manyhands_core::Error>(())
    /// ```
    // It reads names into values of this space; it does not make a space.
    #[allow(clippy::wrong_self_convention)]
    pub fn from_named(&self, named: &[(String, Value)]) -> Result<Vec<Value>> {
        let mut params: Vec<Option<Value>> = vec![None; self.parameters().len()];
        for (name, value) in named {
            let index = self.position(name)?;
            if params[index].replace(value.clone()).is_some() {
                return Err(Error::RepeatedParameter { name: name.clone() });
            }
        }
        let complete = |(index, value): (usize, Option<Value>)| match (value, &self.axes[index]) {
            (Some(value), _) => Ok(value),
            (None, Axis::Fixed(value)) => Ok(value.clone()),
            (None, _) => Err(Error::MissingParameter { name: self.parameters()[index].name().to_string() }),
        };
        params.into_iter().enumerate().map(complete).collect()
    }

    /// The position of a parameter; an unknown name is told with the one that takes the fewest edits.
    pub(super) fn position(&self, name: &str) -> Result<usize> {
        let names = || self.parameters().iter().map(|parameter| parameter.name());
        names().position(|known| known == name).ok_or_else(|| {
            let nearest = names().min_by_key(|known| edits(known, name)).unwrap_or_default().to_string();
            Error::UnknownParameter { name: name.to_string(), nearest }
        })
    }
}

/// How many letters to insert, delete or replace to make one word into another (Levenshtein), case aside.
fn edits(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.to_lowercase().chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::edits;

    #[test]
    fn edits_are_those_of_the_textbook() {
        assert_eq!([edits("kitten", "sitting"), edits("", "abc"), edits("Lr", "lr")], [3, 3, 0]);
    }
}
