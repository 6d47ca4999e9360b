//! What to do where a study file has changed since its study was created: the command that goes on with what is known.

use std::path::Path;

use manyhands_core::file::Difference;
use manyhands_core::text::one_line;
use manyhands_store::{Access, Location};

use crate::store_option::open;

/// What to do about these differences between a file and its study; the store is the one that holds it, and whether the command
/// line named it.
pub fn hint(name: &str, differences: &[Difference], file: &Path, (store, is_named): (&Location, bool)) -> String {
    if differences.iter().any(|difference| difference.key == "direction") {
        // The values would mean the opposite.
        return "undo the change; or write another name in the file, for a new study without these trials".to_string();
    }
    let is_of_domain = |difference: &Difference| {
        ["space", "candidates", "constraint"].iter().any(|table| difference.key.starts_with(table))
    };
    let aim = match differences.iter().any(is_of_domain) {
        true => "in the changed space with the trials that fit it",
        false => "under the changed settings with the trials so far",
    };
    let defaults: String =
        differences.iter().filter_map(new_parameter).map(|name| format!(" --default {name}=VALUE")).collect();
    let store_option = if is_named { format!(" --store {}", word(&store.to_string())) } else { String::new() };
    let (file, free) = (word(&one_line(&file.display().to_string())), free_name(name, store));
    format!(
        "to go on {aim}, write name = \"{free}\" in the file and run `manyhands copy {name} {file}{defaults}{store_option}`; \
         or undo the change, or delete the study"
    )
}

/// A text as one word of a shell.
fn word(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:@=+,".contains(c);
    if text.chars().all(is_plain) { text.to_string() } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

/// The parameter that only the file has, if this is one whose value in the old trials must be stated.
fn new_parameter(difference: &Difference) -> Option<&str> {
    let name = difference.key.strip_prefix("space.").filter(|_| difference.other.is_none())?;
    let is_constant = difference.this.as_ref().is_some_and(|text| text.contains("constant"));
    (!is_constant).then_some(name)
}

/// A name like this one that the store does not have.
fn free_name(name: &str, store: &Location) -> String {
    let known: Vec<String> = open(store, Access::Read)
        .and_then(|store| store.studies())
        .map(|studies| studies.into_iter().map(|row| row.name).collect())
        .unwrap_or_default();
    let names = (2..).map(|number| format!("{name}-{number}"));
    names.take(known.len() + 1).find(|name| !known.contains(name)).unwrap_or_else(|| format!("{name}-2"))
}
