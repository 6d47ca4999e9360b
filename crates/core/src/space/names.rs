//! Parameters by name: values put in order.

use super::{CubeAxis, Space, Value};
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
            (None, CubeAxis::Fixed(value)) => Ok(value.clone()),
            (None, _) => Err(Error::MissingParameter { name: self.parameters()[index].name().to_string() }),
        };
        params.into_iter().enumerate().map(complete).collect()
    }

    /// The position of a parameter; the error for an unknown name has the known one of smallest edit distance.
    pub(super) fn position(&self, name: &str) -> Result<usize> {
        let names = || self.parameters().iter().map(|parameter| parameter.name());
        names().position(|known| known == name).ok_or_else(|| Error::unknown_parameter(names(), name))
    }
}
