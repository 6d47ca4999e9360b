//! What may be chosen when it is described by parameters: their values, the coordinates that the model sees, constraints.

mod parameter;
mod value;

pub use parameter::{Kind as ParameterKind, Parameter, Scale};
pub use value::Value;

use crate::Result;

/// Which side of its bound a linear constraint keeps to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// The sum is at most the bound.
    AtMost,
    /// The sum is at least the bound.
    AtLeast,
    /// The sum is the bound, within 1e-9 of the largest term.
    Equals,
}

/// A linear constraint on numeric parameters, in their own units: the sum of weight x parameter keeps to a bound.
#[derive(Debug, Clone, PartialEq)]
pub struct Constraint {
    /// Parameter names with their weights.
    pub terms: Vec<(String, f64)>,
    /// Which side.
    pub relation: Relation,
    /// The bound.
    pub bound: f64,
}

/// A space of parameters, checked once.
#[derive(Debug, Clone, PartialEq)]
pub struct Space {
    parameters: Vec<Parameter>,
    constraints: Vec<Constraint>,
}

impl Space {
    /// A space of these parameters under these constraints.
    pub fn new(parameters: Vec<Parameter>, constraints: Vec<Constraint>) -> Result<Self> {
        Ok(Self { parameters, constraints })
    }

    /// The parameters, in the order they were given.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// The constraints.
    pub fn constraints(&self) -> &[Constraint] {
        &self.constraints
    }
}
