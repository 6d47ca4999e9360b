//! `[strategy]`: how to choose and what is assumed.

use super::error::{Checked, Fault};
use super::model::ModelSection;
use super::tree::{TomlEntry, TomlTable};
use crate::strategy::{SETTINGS, SettingForm};
use crate::text::likely_name;
use crate::{Hallucination, Initial, Rule, Strategy, Value};

/// Larger counts are assumed to be typos.
const LARGEST_COUNT: u64 = 1_000_000;

/// The strategy, where the model is learned or given.
pub(super) fn read(table: Option<&TomlTable>, learns: bool) -> Checked<Strategy> {
    let mut strategy = Strategy::auto();
    let Some(table) = table else { return Ok(strategy) };
    table.allow_only(&SETTINGS.map(|(key, _)| key))?;
    for (key, form) in SETTINGS {
        let Some(entry) = table.get(key) else { continue };
        match form {
            SettingForm::Number(_, _, _, set) => set(&mut strategy, entry.node.number(key)?),
            SettingForm::Count(least, _, _, set) => {
                set(&mut strategy, entry.node.integer_in(key, least, LARGEST_COUNT)? as usize);
            }
            SettingForm::Word(_, set) => {
                let word = entry.node.text(key)?;
                set(&mut strategy, word).map_err(|error| meant(Fault::of(entry.node.at, &error), key, word))?;
            }
            SettingForm::Hallucination => strategy.hallucination = hallucination(entry)?,
            SettingForm::Initial => strategy.initial = initial(entry)?,
        }
    }
    if table.get("name").is_none() && !learns && strategy.norm_bound.is_some() {
        strategy.rule = Rule::IgpBucb;
    }
    Ok(strategy)
}

/// The mistake, with the rule that was likely meant.
fn meant(fault: Fault, key: &str, word: &str) -> Fault {
    match likely_name(Rule::all().map(Rule::name), word).filter(|_| key == "name") {
        Some(rule) => fault.hint(format!("did you mean \"{rule}\"?")),
        None => fault,
    }
}

/// The settings that certificates and predictions read where the model is given, whatever the rule.
const OF_CERTIFICATES: [&str; 3] = ["norm_bound", "noise_bound", "delta"];

/// Whether anything in a study reads a setting of its strategy.
pub(super) fn is_read(key: &str, strategy: &Strategy, learns: bool) -> bool {
    strategy.reads(key) || (!learns && OF_CERTIFICATES.contains(&key))
}

/// The first setting of a file that nothing reads; none also where the strategy has another mistake.
pub(super) fn unread(root: &TomlTable) -> Option<Fault> {
    let table = root.get("strategy")?.node.table("strategy", "[strategy]").ok()?;
    let model = root.get("model").and_then(|entry| entry.node.table("model", "[model]").ok());
    let learns = model.map_or_else(|| Ok(ModelSection::learned()), ModelSection::read).ok()?.fit;
    let strategy = read(Some(table), learns).ok()?;
    let keys = SETTINGS.iter().map(|(key, _)| *key);
    let unread = |key: &str| table.get(key).filter(|_| !is_read(key, &strategy, learns));
    let (key, entry) =
        keys.filter_map(|key| unread(key).map(|entry| (key, entry))).min_by_key(|(_, entry)| entry.at)?;
    Some(Fault::new(entry.at, unread_by(key, &strategy)).hint(instead_of(key, &strategy, learns)))
}

fn unread_by(key: &str, strategy: &Strategy) -> String {
    let rule = strategy.rule;
    match key {
        _ if strategy.multiplier.is_some() => {
            format!("{key} does not work with multiplier: {rule} reads no {key} then")
        }
        "delta" | "beta" | "width" if strategy.rule == Rule::LocalPenalization => {
            format!("{rule} with base = \"{}\" does not read {key}", strategy.base)
        }
        _ => format!("{rule} does not read {key}"),
    }
}

/// Whether the rule would read a setting if its multiplier were not fixed.
fn is_replaced(key: &str, strategy: &Strategy) -> bool {
    Strategy { multiplier: None, ..strategy.clone() }.reads(key)
}

/// What to do about a setting that the strategy does not read.
fn instead_of(key: &str, strategy: &Strategy, learns: bool) -> String {
    if is_replaced(key, strategy) {
        return "leave one of them out".to_string();
    }
    let reads = |rule: &Rule| Strategy { rule: *rule, multiplier: None, ..strategy.clone() }.reads(key);
    let readers: Vec<&str> = Rule::all().filter(reads).map(Rule::name).collect();
    let with = if learns && OF_CERTIFICATES.contains(&key) { ", or give the model, for a certificate" } else { "" };
    format!("leave it out, or use a rule that reads it: {}{with}", readers.join(", "))
}

fn hallucination(entry: &TomlEntry) -> Checked<Hallucination> {
    match entry.node.scalar("hallucination") {
        Ok(Value::Text(name)) if name.parse::<f64>().is_err() => {
            name.parse().map_err(|error| Fault::of(entry.node.at, &error))
        }
        Ok(value) if value.number().is_some() => Ok(Hallucination::Number(entry.node.number("hallucination")?)),
        _ => Err(entry.node.refuse("hallucination", "a name such as \"realised\", or a number from 1")),
    }
}

fn initial(entry: &TomlEntry) -> Checked<Initial> {
    if entry.node.is_table() {
        let table = entry.node.table("initial", "{ until = 2.0 }")?;
        table.allow_only(&["until"])?;
        return Ok(Initial::Until(
            table.require("until", "for example initial = { until = 2.0 }")?.node.number("until")?,
        ));
    }
    let count = entry.node.integer("initial").ok().and_then(|count| u64::try_from(count).ok());
    match count.filter(|count| *count <= LARGEST_COUNT) {
        Some(0) => Ok(Initial::None),
        Some(count) => Ok(Initial::Count(count as usize)),
        None => Err(entry.node.refuse("initial", "an integer from 0 to 1000000, or { until = C }")),
    }
}
