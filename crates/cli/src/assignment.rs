//! NAME=VALUE on the command line: a parameter and its value.

use std::str::FromStr;

use manyhands_core::text::quoted;
use manyhands_core::{Domain, Value};

/// A name and the text of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    pub name: String,
    pub text: String,
}

impl FromStr for Assignment {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((name, value)) if !name.trim().is_empty() => {
                Ok(Self { name: name.trim().to_string(), text: value.trim().to_string() })
            }
            _ => Err(format!("write a name, = and what it stands for, got {}", quoted(text))),
        }
    }
}

impl Assignment {
    /// The name, and the value as its parameter reads it.
    pub fn read(&self, domain: &Domain) -> (String, Value) {
        (self.name.clone(), domain.read_cell(&self.name, &self.text))
    }
}
