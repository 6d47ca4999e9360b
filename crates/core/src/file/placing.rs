//! Where an error of the rest of the crate stands in a study file: at the key that it is about.

use super::error::Fault;
use super::tree::{TomlEntry, TomlTable, TomlValue};
use crate::Error;
use crate::error::Key;

/// The tables whose settings are checked together, once all of them are read.
const TABLES: [&str; 3] = ["strategy", "model", "candidates"];

/// The error at the value of its key; at the rule's name if the file does not have that key; else at a table.
pub(super) fn place(root: &TomlTable, error: &Error) -> Fault {
    let entry = error.key().and_then(|key| entry(root, key)).or_else(|| entry(root, Key::RULE));
    let header = || TABLES.iter().find_map(|name| root.get(name)).map_or(root.at, |entry: &TomlEntry| entry.at);
    Fault::of(entry.map_or_else(header, |entry| entry.node.at), error)
}

fn entry(root: &TomlTable, key: Key) -> Option<&TomlEntry> {
    match &root.get(key.table())?.node.value {
        TomlValue::Table(table) => table.get(key.name()),
        _ => None,
    }
}
