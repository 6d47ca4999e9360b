//! `[strategy]`: how to choose and what is assumed.

use super::error::{Checked, Fault};
use super::tree::{TomlEntry, TomlTable};
use crate::strategy::{SETTINGS, SettingForm};
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
                set(&mut strategy, entry.node.text(key)?).map_err(|error| Fault::of(entry.node.at, &error))?;
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
