//! The identity of a study: every key of its file with defaults filled in; and how two files differ.

use super::candidates::Candidates;
use super::model::{KernelName, ModelSection};
use crate::text::{escaped, plain};
use crate::{Direction, Initial, ParameterKind as Kind, Scale, Space, Strategy, Value};

/// What differs between two study files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The key, such as `strategy.delta`.
    pub key: String,
    /// Its value in this file; "not there" if it is missing.
    pub this: String,
    /// Its value in the other file; "not there" if it is missing.
    pub other: String,
}

/// Keys and values in the order of the file's tables.
pub(super) type Identity = Vec<(String, String)>;

pub(super) fn of_head(direction: Direction, seed: u64) -> Identity {
    vec![entry("direction", direction.name()), entry("seed", seed.to_string())]
}

pub(super) fn of_space(space: &Space) -> Identity {
    let parameters = space
        .parameters()
        .iter()
        .map(|parameter| (format!("space.{}", escaped(parameter.name())), kind(parameter.kind())));
    let constraints = space.constraints().iter().enumerate();
    parameters.chain(constraints.map(|(i, c)| (format!("constraint.{}", i + 1), c.to_string()))).collect()
}

pub(super) fn of_candidates(candidates: &Candidates) -> Identity {
    let quoted = |names: &Vec<String>| names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
    let columns = candidates.columns.as_ref().map_or("all numeric columns".to_string(), quoted);
    let mut identity = vec![entry("candidates.file", "given"), entry("candidates.columns", columns)];
    if candidates.covariance.is_some() {
        identity.push(entry("candidates.covariance", "given"));
    }
    identity.push(entry("candidates.repeats", candidates.repeats.to_string()));
    identity
}

pub(super) fn of_model(model: &ModelSection) -> Identity {
    let mut identity = vec![entry("model.kernel", model.family.name())];
    if model.family == KernelName::Matern {
        identity.push(entry("model.smoothness", plain(model.smoothness)));
    }
    let number = |value: Option<f64>, default: &str| match value {
        Some(value) => plain(value),
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

pub(super) fn of_strategy(strategy: &Strategy) -> Identity {
    let number = |value: Option<f64>, default: &str| value.map_or(default.to_string(), plain);
    let count = |value: Option<usize>, default: &str| value.map_or(default.to_string(), |count| count.to_string());
    let initial = match strategy.initial {
        Initial::None => "0".to_string(),
        Initial::Count(count) => count.to_string(),
        Initial::Until(target) => format!("until {}", plain(target)),
    };
    vec![
        entry("strategy.name", strategy.rule.to_string()),
        entry("strategy.norm_bound", number(strategy.norm_bound, "none")),
        entry("strategy.noise_bound", number(strategy.noise_bound, "the square root of noise")),
        entry("strategy.delta", plain(strategy.delta)),
        entry("strategy.information", strategy.information.to_string()),
        entry("strategy.hallucination", strategy.hallucination.to_string()),
        entry("strategy.width", plain(strategy.width)),
        entry("strategy.initial", initial),
        entry("strategy.design", count(strategy.design, "by dimension")),
        entry("strategy.beta", number(strategy.beta, "by the theorem")),
        entry("strategy.max_pending", count(strategy.max_pending, "none")),
    ]
}

fn entry(key: &str, value: impl Into<String>) -> (String, String) {
    (key.to_string(), value.into())
}

/// A parameter's values as text.
fn kind(kind: &Kind) -> String {
    let on = |scale: Scale| if scale == Scale::Log { " on a log scale" } else { "" };
    let list = |values: Vec<String>| values.join(", ");
    match kind {
        Kind::Float { low, high, scale } => format!("float from {} to {}{}", plain(*low), plain(*high), on(*scale)),
        Kind::Even { low, high, scale, points } => {
            format!("{points} floats from {} to {}{}", plain(*low), plain(*high), on(*scale))
        }
        Kind::Int { low, high, scale } => format!("int from {low} to {high}{}", on(*scale)),
        Kind::Levels(levels) => format!("levels {}", list(levels.iter().map(|level| plain(*level)).collect())),
        Kind::Choice(values) => format!("choice of {}", list(values.iter().map(Value::to_string).collect())),
        Kind::Constant(value) => format!("constant {value}"),
    }
}

/// The keys whose values differ; if only their order differs, the order of parameters.
pub(super) fn differences(this: &[(String, String)], other: &[(String, String)]) -> Vec<Difference> {
    let value = |identity: &[(String, String)], key: &str| {
        let found = identity.iter().find(|(known, _)| known == key);
        found.map_or("not there".to_string(), |(_, value)| value.clone())
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
        names.join(", ")
    };
    vec![Difference { key: "the order of [space]".to_string(), this: order(this), other: order(other) }]
}
