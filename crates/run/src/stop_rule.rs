//! `stop` of `[run]`: when a study has enough trials before it has all of them.

use manyhands_core::file::{Checked, TomlEntry};
use manyhands_core::study::StopRule;

const KEYS: [&str; 2] = ["gain", "trials_without_gain"];

/// What the table looks like.
const SHAPE: &str = "{ gain = 0.01 } or { trials_without_gain = 20 }";

/// Reads it.
pub fn read(entry: &TomlEntry) -> Checked<StopRule> {
    let table = entry.node().table("stop", SHAPE)?;
    table.allow_only(&KEYS)?;
    let gain = table.get("gain").map(gain).transpose()?;
    let trials_without_gain = table.integer_in("trials_without_gain", 1, 1_000_000_000)?.map(|count| count as usize);
    let rule = StopRule { gain, trials_without_gain };
    if rule == StopRule::default() {
        Err(entry.node().fault(format!("stop must be {SHAPE}, got an empty table")))
    } else {
        Ok(rule)
    }
}

fn gain(entry: &TomlEntry) -> Checked<f64> {
    let gain = entry.node().number(entry.key())?;
    let is_right = gain > 0.0 && gain.is_finite();
    if is_right { Ok(gain) } else { Err(entry.node().refuse(entry.key(), "a number above 0, in the value's units")) }
}
