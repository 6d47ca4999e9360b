//! What of a further figure's settings is its own: where it was not run with those of the reproduction.

use manyhands_core::Hallucination;
use manyhands_core::text::short;

use super::Extra;
use crate::Settings;
use crate::arm::PlayedArm;

/// More factors than this are shown as a range.
const LISTED: usize = 4;

/// A sentence with the settings in which the arms differ from the shared ones; none where there is no such setting.
pub fn own_settings(extra: Extra, played: &[PlayedArm], shared: &Settings) -> Option<String> {
    let used = |of: fn(&Settings) -> String| distinct(played.iter().map(|one| of(&one.arm.settings)));
    let differing = |name: &str, of: fn(&Settings) -> String| {
        let used = used(of);
        (used != [of(shared)]).then(|| format!("{name} {}", used.join(", ")))
    };
    let arrivals = || distinct(played.iter().map(|one| one.arm.experiment.arrival.name()));
    let own = [
        differing("M =", |settings| settings.workers.to_string()),
        extra.has_own_arrivals().then(|| format!("S(t) {}", arrivals().join(", "))),
        differing("gamma", |settings| settings.information.to_string()),
        factors(played, shared),
        differing("width", |settings| settings.width.to_string()),
        differing("T =", |settings| settings.horizon.to_string()),
    ];
    let own: Vec<String> = own.into_iter().flatten().collect();
    (!played.is_empty() && !own.is_empty()).then(|| format!("Settings of its own: {}.", own.join("; ")))
}

/// xi, as a range where there are many numbers.
fn factors(played: &[PlayedArm], shared: &Settings) -> Option<String> {
    let used = distinct(played.iter().map(|one| one.arm.settings.hallucination));
    if used == [shared.hallucination] {
        return None;
    }
    let mut numbers: Vec<f64> = Vec::new();
    for factor in &used {
        if let Hallucination::Number(xi) = factor {
            numbers.push(*xi);
        }
    }
    if numbers.len() > LISTED && numbers.len() == used.len() {
        let (least, most) = (numbers.iter().copied().reduce(f64::min)?, numbers.iter().copied().reduce(f64::max)?);
        return Some(format!("xi from {} to {}", short(least), short(most)));
    }
    Some(format!("xi {}", used.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")))
}

/// Each value once, in order of first appearance.
fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut all = Vec::new();
    for value in values {
        if !all.contains(&value) {
            all.push(value);
        }
    }
    all
}
