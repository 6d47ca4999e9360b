//! What is printed on standard output: data.

use std::io::{Write, stdout};

use anyhow::{Context, Result};
use serde_json::Value as Json;

/// Prints a text and ends the line.
pub fn print(text: &str) -> Result<()> {
    print_as_is(&format!("{text}\n"))
}

/// Prints JSON on one line.
pub fn print_json(json: &Json) -> Result<()> {
    print(&json.to_string())
}

/// Prints a text that has its own line ends.
pub fn print_as_is(text: &str) -> Result<()> {
    let mut output = stdout().lock();
    write!(output, "{text}").and_then(|()| output.flush()).context("cannot write to standard output")
}
