//! The identity of a study: every key of its file with defaults filled in; and how two files differ.

use super::candidates::CandidatesSection;
use super::model::{KernelName, ModelSection};
use super::strategy::is_read;
use crate::strategy::{SETTINGS, SettingForm};
use crate::text::{escaped, exact};
use crate::{Direction, ParameterKind as Kind, Scale, Space, Strategy, Value};

/// What differs between two study files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The key, such as `strategy.delta`.
    pub key: String,
    /// Its value in this file; none if it is missing.
    pub this: Option<String>,
    /// Its value in the other file; none if it is missing.
    pub other: Option<String>,
}

/// Keys and values in the order of the file's tables.
pub(super) type IdentityEntries = Vec<(String, String)>;

pub(super) fn of_head(direction: Direction, seed: u64) -> IdentityEntries {
    vec![entry("direction", direction.name()), entry("seed", seed.to_string())]
}

pub(super) fn of_space(space: &Space) -> IdentityEntries {
    let parameters = space
        .parameters()
        .iter()
        .map(|parameter| (format!("space.{}", escaped(parameter.name())), kind(parameter.kind())));
    let constraints = space.constraints().iter().enumerate();
    parameters.chain(constraints.map(|(i, c)| (format!("constraint.{}", i + 1), c.to_string()))).collect()
}

pub(super) fn of_candidates(candidates: &CandidatesSection) -> IdentityEntries {
    let quoted = |names: &Vec<String>| names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
    let columns = candidates.columns.as_ref().map_or("all numeric columns".to_string(), quoted);
    let mut identity = vec![entry("candidates.file", "given"), entry("candidates.columns", columns)];
    if candidates.covariance.is_some() {
        identity.push(entry("candidates.covariance", "given"));
    }
    identity.push(entry("candidates.repeats", candidates.repeats.to_string()));
    identity
}

pub(super) fn of_model(model: &ModelSection) -> IdentityEntries {
    let is_open = model.fit && !model.named;
    let mut identity = vec![entry("model.kernel", if is_open { "learned" } else { model.family.name() })];
    if model.family == KernelName::Matern && !is_open {
        identity.push(entry("model.smoothness", exact(model.smoothness)));
    }
    let number = |value: Option<f64>, default: &str| match value {
        Some(value) => exact(value),
        None if model.fit => "learned".to_string(),
        None => default.to_string(),
    };
    if model.family != KernelName::Empirical {
        let given = model.lengthscale.as_ref().map(ToString::to_string);
        identity.push(entry("model.lengthscale", given.unwrap_or("learned".to_string())));
        identity.push(entry("model.units", if model.raw { "raw" } else { "unit" }));
    }
    identity.push(entry("model.noise", number(model.noise, "")));
    identity.push(entry("model.variance", number(model.variance, "1")));
    identity.push(entry("model.mean", number(model.mean, "0")));
    identity.push(entry("model.fit", model.fit.to_string()));
    identity
}

pub(super) fn of_strategy(strategy: &Strategy, learns: bool) -> IdentityEntries {
    // What the strategy does not read makes no other study: older versions took such keys without a word.
    let unset = Strategy::auto();
    let shown = |(key, form): &(&str, SettingForm)| {
        let read = if is_read(key, strategy, learns) { strategy } else { &unset };
        (format!("strategy.{key}"), form.shown(read))
    };
    SETTINGS.iter().map(shown).collect()
}

fn entry(key: &str, value: impl Into<String>) -> (String, String) {
    (key.to_string(), value.into())
}

/// A parameter's values as text.
fn kind(kind: &Kind) -> String {
    let on = |scale: Scale| if scale == Scale::Log { " on a log scale" } else { "" };
    let list = |values: Vec<String>| values.join(", ");
    match kind {
        Kind::Float { low, high, scale } => format!("float from {} to {}{}", exact(*low), exact(*high), on(*scale)),
        Kind::Even { low, high, scale, points } => {
            format!("{points} floats from {} to {}{}", exact(*low), exact(*high), on(*scale))
        }
        Kind::Int { low, high, scale } => format!("int from {low} to {high}{}", on(*scale)),
        Kind::Levels(levels) => format!("levels {}", list(levels.iter().map(|level| exact(*level)).collect())),
        // As floats of the same size: how a file writes its levels makes no other study.
        Kind::IntLevels(levels) => {
            format!("levels {}", list(levels.iter().map(|level| exact(*level as f64)).collect()))
        }
        Kind::Choice(values) => format!("choice of {}", list(values.iter().map(Value::to_string).collect())),
        Kind::Constant(value) => format!("constant {value}"),
    }
}

/// The keys whose values differ; if only their order differs, the order of parameters.
pub(super) fn differences(this: &[(String, String)], other: &[(String, String)]) -> Vec<Difference> {
    let value = |identity: &[(String, String)], key: &str| {
        identity.iter().find(|(known, _)| known == key).map(|(_, value)| value.clone())
    };
    let missing_here = other.iter().filter(|(key, _)| this.iter().all(|(known, _)| known != key));
    let keys = this.iter().chain(missing_here).map(|(key, _)| key);
    let differences: Vec<Difference> = keys
        .map(|key| Difference { key: key.clone(), this: value(this, key), other: value(other, key) })
        .filter(|difference| difference.this != difference.other)
        .collect();
    if !differences.is_empty() || this == other {
        return differences;
    }
    let order = |identity: &[(String, String)]| {
        let names: Vec<&str> = identity.iter().filter_map(|(key, _)| key.strip_prefix("space.")).collect();
        Some(names.join(", "))
    };
    vec![Difference { key: "the order of [space]".to_string(), this: order(this), other: order(other) }]
}
