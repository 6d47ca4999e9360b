//! A TOML document as a tree: every value has its position, with typed accessors.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{Checked, Fault};
use crate::Value;
use crate::text::{beginning, exact, likely_name, one_line, quoted};

/// The largest integer of a TOML file.
pub(super) const LARGEST_INTEGER: u64 = i64::MAX as u64;

/// A table of a study file, with its entries in the file's order and the place of each.
#[derive(Debug, Clone, PartialEq)]
pub struct TomlTable {
    /// As messages name it: `[strategy]`, `parameter "lr"`; empty for the file itself.
    pub(super) name: String,
    /// The offset of its name.
    pub(super) at: usize,
    pub(super) entries: Vec<TomlEntry>,
}

/// A key of a table, and its value.
#[derive(Debug, Clone, PartialEq)]
pub struct TomlEntry {
    pub(super) key: String,
    /// The offset of the key.
    pub(super) at: usize,
    pub(super) node: TomlNode,
}

/// A value of a study file, with its place.
#[derive(Debug, Clone, PartialEq)]
pub struct TomlNode {
    pub(super) at: usize,
    pub(super) value: TomlValue,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum TomlValue {
    Scalar(Value),
    List(Vec<TomlNode>),
    Table(TomlTable),
    /// A date, or a number that is too large, as messages show it.
    Other(String),
}

/// Parses the text of a file.
pub(super) fn parse(text: &str) -> Checked<TomlTable> {
    match DeTable::parse(text) {
        Ok(table) => Ok(convert_table(table.get_ref(), String::new(), 0)),
        Err(error) => {
            let message = beginning(&error.message().trim().replace('\n', ", "));
            Err(Fault::new(error.span().map_or(0, |span| span.start), format!("this is not TOML: {message}")))
        }
    }
}

fn convert_table(table: &DeTable<'_>, name: String, at: usize) -> TomlTable {
    let entry = |(key, value): (&Spanned<std::borrow::Cow<'_, str>>, &Spanned<DeValue<'_>>)| {
        let (key, at) = (key.get_ref().to_string(), key.span().start);
        let name = if name.is_empty() { format!("[{key}]") } else { key.clone() };
        TomlEntry { node: convert(value, name, at), key, at }
    };
    let entries = table.iter().map(entry).collect();
    TomlTable { name, at, entries }
}

/// `name` and `named_at` are those of the key that the value belongs to.
fn convert(value: &Spanned<DeValue<'_>>, name: String, named_at: usize) -> TomlNode {
    let at = value.span().start;
    let value = match value.get_ref() {
        DeValue::String(text) => TomlValue::Scalar(Value::Text(text.to_string())),
        DeValue::Boolean(flag) => TomlValue::Scalar(Value::Bool(*flag)),
        DeValue::Integer(integer) => match i64::from_str_radix(integer.as_str(), integer.radix()) {
            Ok(integer) => TomlValue::Scalar(Value::Int(integer)),
            Err(_) => TomlValue::Other(integer.to_string()),
        },
        DeValue::Float(float) => match float.as_str().parse::<f64>() {
            Ok(number) if number.is_finite() => TomlValue::Scalar(Value::Float(number)),
            _ => TomlValue::Other(float.as_str().to_string()),
        },
        DeValue::Datetime(date) => TomlValue::Other(date.to_string()),
        DeValue::Array(list) => {
            // [[constraint]] is a list of tables.
            let name = if name.starts_with('[') { format!("[{name}]") } else { name };
            TomlValue::List(list.iter().map(|item| convert(item, name.clone(), item.span().start)).collect())
        }
        DeValue::Table(table) => TomlValue::Table(convert_table(table, name, named_at)),
    };
    TomlNode { at, value }
}

impl TomlEntry {
    /// The key.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The value.
    pub fn node(&self) -> &TomlNode {
        &self.node
    }

    /// A mistake in the key.
    pub fn key_fault(&self, message: impl Into<String>) -> Fault {
        Fault::new(self.at, message)
    }
}

impl TomlNode {
    /// A mistake in the value.
    pub fn fault(&self, message: impl Into<String>) -> Fault {
        Fault::new(self.at, message)
    }

    /// The mistake that the value is not what it must be: "`what` must be `allowed`, got ...".
    pub fn refuse(&self, what: &str, allowed: &str) -> Fault {
        self.fault(format!("{what} must be {allowed}, got {}", self.shown()))
    }

    /// The value as text.
    pub fn text(&self, what: &str) -> Checked<&str> {
        match &self.value {
            TomlValue::Scalar(Value::Text(text)) => Ok(text),
            _ => Err(self.refuse(what, "text in quotes")),
        }
    }

    /// The value as a list; `of` says of what.
    pub fn list(&self, what: &str, of: &str) -> Checked<&[TomlNode]> {
        match &self.value {
            TomlValue::List(list) => Ok(list),
            _ => Err(self.refuse(what, &format!("a list of {of}"))),
        }
    }

    /// The value as a table; `like` is an example of one.
    pub fn table(&self, what: &str, like: &str) -> Checked<&TomlTable> {
        match &self.value {
            TomlValue::Table(table) => Ok(table),
            _ => Err(self.refuse(what, &format!("a table such as {like}"))),
        }
    }

    /// The number that it is.
    pub fn number(&self, what: &str) -> Checked<f64> {
        match &self.value {
            TomlValue::Scalar(value) => value.number().ok_or_else(|| self.refuse(what, "a number")),
            _ => Err(self.refuse(what, "a finite number")),
        }
    }

    pub(super) fn integer(&self, what: &str) -> Checked<i64> {
        match self.value {
            TomlValue::Scalar(Value::Int(integer)) => Ok(integer),
            _ => Err(self.refuse(what, "an integer")),
        }
    }

    pub(super) fn integer_in(&self, what: &str, least: u64, most: u64) -> Checked<u64> {
        let integer = self.integer(what).ok().and_then(|integer| u64::try_from(integer).ok());
        let inside = integer.filter(|integer| (least..=most).contains(integer));
        inside.ok_or_else(|| self.refuse(what, &integer_range(least, most)))
    }

    pub(super) fn scalar(&self, what: &str) -> Checked<&Value> {
        match &self.value {
            TomlValue::Scalar(value) => Ok(value),
            _ => Err(self.refuse(what, "a word, a finite number or a boolean")),
        }
    }

    pub(super) fn is_table(&self) -> bool {
        matches!(self.value, TomlValue::Table(_))
    }

    /// As messages show it.
    fn shown(&self) -> String {
        match &self.value {
            TomlValue::Scalar(Value::Text(text)) => quoted(text),
            TomlValue::Scalar(value) => value.to_string(),
            TomlValue::List(_) => "a list".to_string(),
            TomlValue::Table(_) => "a table".to_string(),
            TomlValue::Other(text) => beginning(text),
        }
    }
}

impl TomlTable {
    /// The entry of a key, if it is there.
    pub fn get(&self, key: &str) -> Option<&TomlEntry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// All entries, in the file's order.
    pub fn entries(&self) -> &[TomlEntry] {
        &self.entries
    }

    /// Refuses every key that is not one of `known`.
    pub fn allow_only(&self, known: &[&str]) -> Checked<()> {
        let Some(entry) = self.entries.iter().find(|entry| !known.contains(&entry.key.as_str())) else { return Ok(()) };
        let place = if self.name.is_empty() { String::new() } else { format!(" in {}", self.name) };
        let what = if self.name.is_empty() && entry.node.is_table() {
            format!("unknown table [{}]", one_line(&entry.key))
        } else {
            format!("unknown key {}{place}", quoted(&entry.key))
        };
        Err(entry.key_fault(what).hint(match likely_name(known.iter().copied(), &entry.key) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => format!("allowed are {}", known.join(", ")),
        }))
    }

    /// The entry of a key; refuses its absence, with this hint.
    pub fn require(&self, key: &str, hint: &str) -> Checked<&TomlEntry> {
        let place = if self.name.is_empty() { String::new() } else { format!(" from {}", self.name) };
        self.get(key).ok_or_else(|| Fault::new(self.at, format!("{key} is missing{place}")).hint(hint))
    }

    /// A text, if the key is there.
    pub fn text(&self, key: &str) -> Checked<Option<&str>> {
        self.get(key).map(|entry| entry.node.text(key)).transpose()
    }

    /// A boolean, if the key is there.
    pub fn flag(&self, key: &str) -> Checked<Option<bool>> {
        let flag = |entry: &TomlEntry| match entry.node.value {
            TomlValue::Scalar(Value::Bool(flag)) => Ok(flag),
            _ => Err(entry.node.refuse(key, "true or false")),
        };
        self.get(key).map(flag).transpose()
    }

    /// An integer from `least` to `most`, if the key is there.
    pub fn integer_in(&self, key: &str, least: u64, most: u64) -> Checked<Option<u64>> {
        self.get(key).map(|entry| entry.node.integer_in(key, least, most)).transpose()
    }

    pub(super) fn number(&self, key: &str) -> Checked<Option<f64>> {
        self.get(key).map(|entry| entry.node.number(key)).transpose()
    }

    /// One of some words, if the key is there.
    pub(super) fn word<T: Copy>(&self, key: &str, words: &[(&str, T)]) -> Checked<Option<T>> {
        let Some(entry) = self.get(key) else { return Ok(None) };
        let allowed = words.iter().map(|(word, _)| format!("\"{word}\"")).collect::<Vec<_>>().join(", ");
        let refusal = || entry.node.refuse(key, &allowed);
        let TomlValue::Scalar(Value::Text(text)) = &entry.node.value else { return Err(refusal()) };
        match words.iter().find(|(word, _)| word == text) {
            Some((_, meaning)) => Ok(Some(*meaning)),
            None => match likely_name(words.iter().map(|(word, _)| *word), text) {
                Some(near) => Err(refusal().hint(format!("did you mean \"{near}\"?"))),
                None => Err(refusal()),
            },
        }
    }

    /// A list of texts, if the key is there.
    pub(super) fn texts(&self, key: &str) -> Checked<Option<Vec<&str>>> {
        match self.get(key) {
            None => Ok(None),
            Some(entry) => {
                let item = |node| TomlNode::text(node, &format!("an entry of {key}"));
                entry.node.list(key, "texts in quotes")?.iter().map(item).collect::<Checked<Vec<_>>>().map(Some)
            }
        }
    }
}

/// The integers from `least` to `most`, as messages name them.
fn integer_range(least: u64, most: u64) -> String {
    match (least, most) {
        (0, LARGEST_INTEGER) => "an integer from 0 to 2^63 - 1".to_string(),
        (least, most) => format!("an integer from {least} to {}", exact(most as f64)),
    }
}
