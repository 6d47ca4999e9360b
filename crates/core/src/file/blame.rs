//! Which key of a file a refusal of the rest of the crate speaks of.

use super::error::Fault;
use super::node::{Entry, Table, Tree};
use crate::Error;

/// The tables whose settings are checked together, when all is read.
const TABLES: [&str; 3] = ["strategy", "model", "candidates"];

/// The refusal at the first key that its message names; else at the rule's name; else at a table.
pub(super) fn blame(root: &Table, error: &Error) -> Fault {
    let message = error.to_string();
    let mut words = message.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    let named = words.find_map(|word| TABLES.iter().find_map(|name| within(root, name)?.get(word)));
    let rule = || within(root, "strategy")?.get("name");
    let at = named.or_else(rule).map(|entry| entry.node.at);
    let header = || TABLES.iter().find_map(|name| root.get(name)).map_or(root.at, |entry: &Entry| entry.at);
    Fault::of(at.unwrap_or_else(header), error)
}

fn within<'a>(root: &'a Table, name: &str) -> Option<&'a Table> {
    match &root.get(name)?.node.value {
        Tree::Table(table) => Some(table),
        _ => None,
    }
}
