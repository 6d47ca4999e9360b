//! The value of one parameter, as a user writes it.

use std::fmt;

use serde::Serialize;
use serde::de::{Deserialize, Deserializer, Visitor};

use crate::text::{exact, printable, short};

/// The value of one parameter. As JSON it is a number, a text, true or false; floats that are integers are written with
/// ".0", so that they stay floats.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// Yes or no: a category.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A real number.
    Float(f64),
    /// A word: a category.
    Text(String),
}

impl Value {
    /// The value as a number, if it is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Float(value) => Some(*value),
            Self::Int(value) => Some(*value as f64),
            Self::Text(_) | Self::Bool(_) => None,
        }
    }

    /// The value for a table or a chart: numbers in at most six digits, text on one line and without quotes. `Display`
    /// shows all digits instead.
    ///
    /// ```
    /// # use manyhands_core::Value;
    /// assert_eq!(Value::Float(0.25 + 1e-9).short(), "0.25");
    /// assert_eq!(Value::Text("a\tb".to_string()).short(), "a\\tb");
    /// ```
    pub fn short(&self) -> String {
        match self {
            Self::Float(value) => short(*value),
            Self::Text(value) => printable(value).replace('\n', "\\n").replace('\t', "\\t"),
            other => other.to_string(),
        }
    }

    /// Whether both mean the same: 3 and 3.0 do, 1 and `true` do not.
    pub(crate) fn means(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Int(a), Self::Float(b)) | (Self::Float(b), Self::Int(a)) => *a as f64 == *b,
            (a, b) => a == b,
        }
    }
}

/// By what the input holds, which is several times faster than trying one variant after the other.
impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AnyValue;

        impl Visitor<'_> for AnyValue {
            type Value = Value;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, a text, true or false")
            }

            fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
                Ok(Value::Bool(value))
            }

            fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
                Ok(Value::Int(value))
            }

            fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
                Ok(i64::try_from(value).map_or(Value::Float(value as f64), Value::Int))
            }

            fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
                Ok(Value::Float(value))
            }

            fn visit_str<E>(self, value: &str) -> Result<Value, E> {
                Ok(Value::Text(value.to_string()))
            }
        }

        deserializer.deserialize_any(AnyValue)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Float(value) => f.write_str(&exact(*value)),
            Self::Int(value) => write!(f, "{value}"),
            // Escaped: it is shown on one line, and no two texts look the same.
            Self::Text(value) => write!(f, "{value:?}"),
            Self::Bool(value) => write!(f, "{value}"),
        }
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(value.to_string())
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}
