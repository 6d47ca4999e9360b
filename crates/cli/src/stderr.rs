//! Standard error: lines for people and for programs. A closed terminal is no error.

use std::io::{Write, stderr};

use manyhands_core::text::printable;
use serde_json::Value as Json;

/// Prints a line on standard error, with control characters escaped. If that is closed, nothing else can be done.
pub fn say(line: &str) {
    writeln!(stderr(), "{}", printable(line)).ok();
}

/// A line of JSON on standard error.
pub fn say_json(line: &Json) {
    // Control characters can only be inside its strings.
    let escaped = |c: char| {
        let text = c.to_string();
        if printable(&text) == text { text } else { format!("\\u{:04x}", u32::from(c)) }
    };
    writeln!(stderr(), "{}", line.to_string().chars().map(escaped).collect::<String>()).ok();
}
