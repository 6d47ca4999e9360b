//! What is printed on standard output: data.

use std::io::{ErrorKind, Write, stdout};

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

/// Prints a text that has its own line ends. A reader that has stopped reading, as `head` does, is no error: the command has
/// done what was asked, and its exit code says so.
pub fn print_as_is(text: &str) -> Result<()> {
    let mut output = stdout().lock();
    match write!(output, "{text}").and_then(|()| output.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.context("cannot write to standard output"),
    }
}
