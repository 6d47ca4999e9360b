//! One parameter: its name, the values it may have, and the scale they live on.

use super::Value;
use crate::Result;

/// How a number is spread over the unit interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scale {
    /// Evenly.
    #[default]
    Linear,
    /// Evenly in its logarithm.
    Log,
}

/// The values a parameter may have.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// Any real number from `low` to `high`.
    Float {
        /// The smallest.
        low: f64,
        /// The largest.
        high: f64,
        /// The scale.
        scale: Scale,
    },
    /// `points` real numbers from `low` to `high`, evenly spaced on the scale.
    Even {
        /// The smallest.
        low: f64,
        /// The largest.
        high: f64,
        /// The scale.
        scale: Scale,
        /// How many.
        points: usize,
    },
    /// Any integer from `low` to `high`.
    Int {
        /// The smallest.
        low: i64,
        /// The largest.
        high: i64,
        /// The scale.
        scale: Scale,
    },
    /// Some numbers, in increasing order.
    Levels(Vec<f64>),
    /// Some categories, in no order.
    Choice(Vec<Value>),
    /// One value for ever.
    Constant(Value),
}

/// A parameter: a name and the values it may have.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    name: String,
    kind: Kind,
}

impl Parameter {
    /// A parameter with these values, checked.
    pub fn new(name: impl Into<String>, kind: Kind) -> Result<Self> {
        Ok(Self { name: name.into(), kind })
    }

    /// Any real number from `low` to `high`.
    pub fn float(name: &str, low: f64, high: f64) -> Result<Self> {
        Self::new(name, Kind::Float { low, high, scale: Scale::Linear })
    }

    /// Any real number from `low` to `high`, on a logarithmic scale.
    pub fn log_float(name: &str, low: f64, high: f64) -> Result<Self> {
        Self::new(name, Kind::Float { low, high, scale: Scale::Log })
    }

    /// Any integer from `low` to `high`.
    pub fn int(name: &str, low: i64, high: i64) -> Result<Self> {
        Self::new(name, Kind::Int { low, high, scale: Scale::Linear })
    }

    /// Any integer from `low` to `high`, on a logarithmic scale.
    pub fn log_int(name: &str, low: i64, high: i64) -> Result<Self> {
        Self::new(name, Kind::Int { low, high, scale: Scale::Log })
    }

    /// Some numbers, in increasing order.
    pub fn levels(name: &str, levels: &[f64]) -> Result<Self> {
        Self::new(name, Kind::Levels(levels.to_vec()))
    }

    /// Some categories, in no order.
    pub fn choice<V: Clone + Into<Value>>(name: &str, categories: &[V]) -> Result<Self> {
        Self::new(name, Kind::Choice(categories.iter().cloned().map(Into::into).collect()))
    }

    /// One value for ever.
    pub fn constant(name: &str, value: impl Into<Value>) -> Result<Self> {
        Self::new(name, Kind::Constant(value.into()))
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The values it may have.
    pub fn kind(&self) -> &Kind {
        &self.kind
    }
}
