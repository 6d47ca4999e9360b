//! A trial to run.

use crate::{Choice, Domain, Value};

/// A trial to run: what [`Study::ask`](crate::Study::ask) returns.
///
/// ```
/// use manyhands_core::{Domain, Parameter, Space, Spec, Strategy, Study, Value};
/// # fn main() -> manyhands_core::Result<()> {
/// let space = Space::new(vec![Parameter::choice("act", &["relu", "gelu"])?, Parameter::float("x", 0.0, 1.0)?], vec![])?;
/// let domain = Domain::Space(space);
/// let mut study = Study::new(Spec::learned(domain.clone(), Strategy::auto())?)?;
/// for suggestion in study.ask(2)? {
///     let arguments: Vec<String> = suggestion.named(&domain).map(|(name, value)| format!("--{name}={value}")).collect();
///     assert!(arguments[0].starts_with("--act="));
///     study.tell(suggestion.trial, 1.0)?;
/// }
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Suggestion {
    /// The trial's number, to be told with its value.
    pub trial: usize,
    /// Its coordinates, as the model sees them.
    pub point: Vec<f64>,
    /// The choice: its parameters, its mean in the user's units, sd and score.
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
