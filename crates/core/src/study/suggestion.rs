//! A trial to run.

use crate::{Choice, Domain, Value};

/// A trial to run: what [`Study::ask`](crate::Study::ask) gives.
#[derive(Debug, Clone, PartialEq)]
pub struct Suggestion {
    /// The trial's number, to be told with its value.
    pub trial: usize,
    /// Its coordinates, as the model sees them.
    pub point: Vec<f64>,
    /// The choice: its parameters, its mean (in the user's units), sd and score.
    pub choice: Choice,
}

impl Suggestion {
    /// The values of its parameters or columns, in the order of [`Domain::names`]; none where there are no names.
    pub fn params(&self) -> &[Value] {
        &self.choice.params
    }

    /// The parameters by name.
    pub fn named<'a>(&'a self, domain: &'a Domain) -> impl Iterator<Item = (&'a str, &'a Value)> {
        domain.named(&self.choice.params)
    }
}
