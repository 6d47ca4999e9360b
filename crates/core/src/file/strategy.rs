//! `[strategy]`: how to choose and what is assumed.

use std::str::FromStr;

use super::error::{Checked, Fault};
use super::tree::{TomlEntry, TomlTable};
use crate::{Error, Hallucination, Initial, Rule, Strategy, Value};

const KEYS: [&str; 11] = [
    "name",
    "norm_bound",
    "noise_bound",
    "delta",
    "information",
    "hallucination",
    "width",
    "initial",
    "design",
    "beta",
    "max_pending",
];

/// Larger counts are assumed to be typos.
const LARGEST_COUNT: u64 = 1_000_000;

/// The strategy, where the model is learned or given.
pub(super) fn read(table: Option<&TomlTable>, learns: bool) -> Checked<Strategy> {
    let default = Strategy::auto();
    let Some(table) = table else { return Ok(default) };
    table.allow_only(&KEYS)?;
    let norm_bound = table.number("norm_bound")?;
    let rule = match parsed(table, "name")? {
        Some(rule) => rule,
        None if !learns && norm_bound.is_some() => Rule::IgpBucb,
        None => Rule::Auto,
    };
    let count = |key, least| Ok(table.integer_in(key, least, LARGEST_COUNT)?.map(|count| count as usize));
    Ok(Strategy {
        rule,
        norm_bound,
        noise_bound: table.number("noise_bound")?,
        delta: table.number("delta")?.unwrap_or(default.delta),
        information: parsed(table, "information")?.unwrap_or_default(),
        hallucination: table.get("hallucination").map(hallucination).transpose()?.unwrap_or_default(),
        width: table.number("width")?.unwrap_or(default.width),
        initial: table.get("initial").map(initial).transpose()?.unwrap_or_default(),
        design: count("design", 0)?,
        beta: table.number("beta")?,
        max_pending: count("max_pending", 1)?,
    })
}

/// A setting that is read from its name.
fn parsed<T: FromStr<Err = Error>>(table: &TomlTable, key: &str) -> Checked<Option<T>> {
    let Some(entry) = table.get(key) else { return Ok(None) };
    entry.node.text(key)?.parse().map(Some).map_err(|error| Fault::of(entry.node.at, &error))
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
