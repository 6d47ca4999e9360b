//! A TOML document as a tree in which everything knows its place, and the questions that readers ask of it.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{Checked, Fault};
use crate::Value;
use crate::names::meant;
use crate::number::plain;
use crate::text::{beginning, escaped, quoted};

/// A value and the offset it starts at.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    pub at: usize,
    pub value: Tree,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Tree {
    Plain(Value),
    List(Vec<Node>),
    Table(Table),
    /// A date, or a number that is too large, as it is to be shown.
    Other(String),
}

/// A table: where its name stands, and its entries in the file's order.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Table {
    /// As in messages: `[strategy]`, `parameter "lr"`; empty for the file itself.
    pub name: String,
    pub at: usize,
    pub entries: Vec<Entry>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    pub key: String,
    pub at: usize,
    pub node: Node,
}

/// The whole file.
pub(super) fn parse(text: &str) -> Checked<Table> {
    match DeTable::parse(text) {
        Ok(table) => Ok(convert_table(table.get_ref(), String::new(), 0)),
        Err(error) => {
            let message = beginning(&error.message().trim().replace('\n', ", "));
            Err(Fault::new(error.span().map_or(0, |span| span.start), format!("this is not TOML: {message}")))
        }
    }
}

fn convert_table(table: &DeTable<'_>, name: String, at: usize) -> Table {
    let entry = |(key, value): (&Spanned<std::borrow::Cow<'_, str>>, &Spanned<DeValue<'_>>)| {
        let (key, at) = (key.get_ref().to_string(), key.span().start);
        let name = if name.is_empty() { format!("[{key}]") } else { key.clone() };
        Entry { node: convert(value, name, at), key, at }
    };
    let entries = table.iter().map(entry).collect();
    Table { name, at, entries }
}

/// `name` and `named_at` are those of the key it is the value of.
fn convert(value: &Spanned<DeValue<'_>>, name: String, named_at: usize) -> Node {
    let at = value.span().start;
    let value = match value.get_ref() {
        DeValue::String(text) => Tree::Plain(Value::Text(text.to_string())),
        DeValue::Boolean(flag) => Tree::Plain(Value::Bool(*flag)),
        DeValue::Integer(integer) => match i64::from_str_radix(integer.as_str(), integer.radix()) {
            Ok(integer) => Tree::Plain(Value::Int(integer)),
            Err(_) => Tree::Other(integer.to_string()),
        },
        DeValue::Float(float) => match float.as_str().parse::<f64>() {
            Ok(number) if number.is_finite() => Tree::Plain(Value::Float(number)),
            _ => Tree::Other(float.as_str().to_string()),
        },
        DeValue::Datetime(date) => Tree::Other(date.to_string()),
        DeValue::Array(list) => {
            // [[constraint]] is a list of tables.
            let name = if name.starts_with('[') { format!("[{name}]") } else { name };
            Tree::List(list.iter().map(|item| convert(item, name.clone(), item.span().start)).collect())
        }
        DeValue::Table(table) => Tree::Table(convert_table(table, name, named_at)),
    };
    Node { at, value }
}

impl Node {
    /// As a message shows what was found.
    pub fn found(&self) -> String {
        match &self.value {
            Tree::Plain(Value::Text(text)) => quoted(text),
            Tree::Plain(value) => value.to_string(),
            Tree::List(_) => "a list".to_string(),
            Tree::Table(_) => "a table".to_string(),
            Tree::Other(text) => beginning(text),
        }
    }

    /// That it is not what it must be.
    pub fn refuse(&self, what: &str, allowed: &str) -> Fault {
        Fault::new(self.at, format!("{what} must be {allowed}, got {}", self.found()))
    }

    pub fn number(&self, what: &str) -> Checked<f64> {
        match &self.value {
            Tree::Plain(value) => value.number().ok_or_else(|| self.refuse(what, "a number")),
            _ => Err(self.refuse(what, "a finite number")),
        }
    }

    pub fn integer(&self, what: &str) -> Checked<i64> {
        match self.value {
            Tree::Plain(Value::Int(integer)) => Ok(integer),
            _ => Err(self.refuse(what, "an integer")),
        }
    }

    pub fn text(&self, what: &str) -> Checked<&str> {
        match &self.value {
            Tree::Plain(Value::Text(text)) => Ok(text),
            _ => Err(self.refuse(what, "text in quotes")),
        }
    }

    pub fn plain(&self, what: &str) -> Checked<&Value> {
        match &self.value {
            Tree::Plain(value) => Ok(value),
            _ => Err(self.refuse(what, "a word, a finite number or a boolean")),
        }
    }

    pub fn list(&self, what: &str, of: &str) -> Checked<&[Node]> {
        match &self.value {
            Tree::List(list) => Ok(list),
            _ => Err(self.refuse(what, &format!("a list of {of}"))),
        }
    }

    pub fn table(&self, what: &str, like: &str) -> Checked<&Table> {
        match &self.value {
            Tree::Table(table) => Ok(table),
            _ => Err(self.refuse(what, &format!("a table such as {like}"))),
        }
    }

    pub fn is_table(&self) -> bool {
        matches!(self.value, Tree::Table(_))
    }
}

impl Table {
    pub fn get(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// Refuses keys that mean nothing here.
    pub fn only(&self, known: &[&str]) -> Checked<()> {
        let Some(entry) = self.entries.iter().find(|entry| !known.contains(&entry.key.as_str())) else { return Ok(()) };
        let place = if self.name.is_empty() { String::new() } else { format!(" in {}", self.name) };
        let what = if self.name.is_empty() && entry.node.is_table() {
            format!("unknown table [{}]", beginning(&escaped(&entry.key)))
        } else {
            format!("unknown key {}{place}", quoted(&entry.key))
        };
        Err(Fault::new(entry.at, what).hint(match meant(known.iter().copied(), &entry.key) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => format!("allowed are {}", known.join(", ")),
        }))
    }

    /// The key's entry; what the fault says of a missing one is `hint`.
    pub fn need(&self, key: &str, hint: &str) -> Checked<&Entry> {
        let place = if self.name.is_empty() { String::new() } else { format!(" from {}", self.name) };
        self.get(key).ok_or_else(|| Fault::new(self.at, format!("{key} is missing{place}")).hint(hint))
    }

    pub fn number(&self, key: &str) -> Checked<Option<f64>> {
        self.get(key).map(|entry| entry.node.number(key)).transpose()
    }

    pub fn text(&self, key: &str) -> Checked<Option<&str>> {
        self.get(key).map(|entry| entry.node.text(key)).transpose()
    }

    pub fn flag(&self, key: &str) -> Checked<Option<bool>> {
        let flag = |entry: &Entry| match entry.node.value {
            Tree::Plain(Value::Bool(flag)) => Ok(flag),
            _ => Err(entry.node.refuse(key, "true or false")),
        };
        self.get(key).map(flag).transpose()
    }

    /// A whole number from `least` to `most`.
    pub fn count(&self, key: &str, least: u64, most: u64) -> Checked<Option<u64>> {
        let count = |entry: &Entry| {
            let integer = entry.node.integer(key).ok().and_then(|integer| u64::try_from(integer).ok());
            let inside = integer.filter(|integer| (least..=most).contains(integer));
            inside.ok_or_else(|| entry.node.refuse(key, &range(least, most)))
        };
        self.get(key).map(count).transpose()
    }

    /// One of some words.
    pub fn word<T: Copy>(&self, key: &str, words: &[(&str, T)]) -> Checked<Option<T>> {
        let Some(entry) = self.get(key) else { return Ok(None) };
        let allowed = || words.iter().map(|(word, _)| format!("\"{word}\"")).collect::<Vec<_>>().join(", ");
        let Tree::Plain(Value::Text(text)) = &entry.node.value else { return Err(entry.node.refuse(key, &allowed())) };
        match words.iter().find(|(word, _)| word == text) {
            Some((_, meaning)) => Ok(Some(*meaning)),
            None => {
                let fault = entry.node.refuse(key, &allowed());
                match meant(words.iter().map(|(word, _)| *word), text) {
                    Some(near) => Err(fault.hint(format!("did you mean \"{near}\"?"))),
                    None => Err(fault),
                }
            }
        }
    }

    /// A list of words.
    pub fn texts(&self, key: &str) -> Checked<Option<Vec<&str>>> {
        match self.get(key) {
            None => Ok(None),
            Some(entry) => {
                let item = |node| Node::text(node, &format!("an entry of {key}"));
                entry.node.list(key, "texts in quotes")?.iter().map(item).collect::<Checked<Vec<_>>>().map(Some)
            }
        }
    }
}

/// What a whole number may be.
fn range(least: u64, most: u64) -> String {
    match (least, most) {
        (0, LARGEST) => "an integer from 0 to 2^63 - 1".to_string(),
        (least, most) => format!("an integer from {least} to {}", plain(most as f64)),
    }
}

/// The largest integer of a file.
pub(super) const LARGEST: u64 = i64::MAX as u64;
