//! The columns of a table of trials: ours, one per parameter and one per metric, each under a name of its own.

use manyhands_core::text::{likely_name, quoted};
use manyhands_core::{Aim, Trial, Value};
use manyhands_store::{Session, Times};
use serde_json::{Value as Json, json};

/// What a column holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrialColumn {
    /// The trial's number.
    Trial,
    /// Its state.
    State,
    /// A parameter, by its place among them.
    Parameter(usize),
    /// The value.
    Value,
    /// A metric, by its name.
    Metric(String),
    /// When it was asked for.
    AskedAt,
    /// When its value or its failure arrived.
    ToldAt,
    /// Why it failed.
    Reason,
    /// What it is for.
    Aim,
}

/// A name that no column has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no column {}; the columns are {}", quoted(name), columns.join(", "))]
pub struct UnknownColumn {
    /// The name.
    pub name: String,
    /// The names of all columns.
    pub columns: Vec<String>,
}

impl UnknownColumn {
    /// The column that was probably meant.
    pub fn hint(&self) -> Option<String> {
        let likely = likely_name(self.columns.iter().map(String::as_str), &self.name)?;
        Some(format!("did you mean {}?", quoted(likely)))
    }
}

/// The columns of a study's trials, in the order in which they are written.
#[derive(Debug, Clone)]
pub struct TrialColumns {
    named: Vec<(String, TrialColumn)>,
}

/// What is known of a trial.
#[derive(Debug, Clone, Copy)]
pub(super) struct TrialRecord<'a> {
    pub trial: &'a Trial,
    pub times: &'a Times,
    pub params: &'a [(&'a str, Value)],
}

impl TrialColumns {
    /// All columns; metrics in the order in which their names first came. A parameter named like one of our own columns gets the
    /// prefix `params.`, a metric named like any of those before it the prefix `metrics.`.
    pub fn of(session: &Session) -> Self {
        let parameters = session.spec().domain().names();
        let mut named: Vec<(String, TrialColumn)> = Vec::new();
        let mut taken: Vec<String> = OWN.iter().map(|(name, _)| name.to_string()).collect();
        let mut insert = |prefix: &str, name: &str, column: TrialColumn| {
            let mut free = name.to_string();
            while taken.contains(&free) {
                free = format!("{prefix}{free}");
            }
            taken.push(free.clone());
            named.push((free, column));
        };
        parameters.iter().enumerate().for_each(|(index, name)| insert("params.", name, TrialColumn::Parameter(index)));
        metric_names(session.ledger().trials())
            .into_iter()
            .for_each(|name| insert("metrics.", name, TrialColumn::Metric(name.to_string())));
        let metrics = named.split_off(parameters.len());
        let own =
            |range: std::ops::Range<usize>| OWN[range].iter().map(|(name, column)| (name.to_string(), column.clone()));
        Self { named: own(0..2).chain(named).chain(own(2..3)).chain(metrics).chain(own(3..OWN.len())).collect() }
    }

    /// The names of the columns.
    pub fn names(&self) -> Vec<&str> {
        self.named.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// The column of this name.
    pub fn find(&self, name: &str) -> Result<TrialColumn, UnknownColumn> {
        let found = self.named.iter().find(|(known, _)| known == name);
        found.map(|(_, column)| column.clone()).ok_or_else(|| UnknownColumn {
            name: name.to_string(),
            columns: self.names().into_iter().map(str::to_string).collect(),
        })
    }

    /// The columns with their names.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &TrialColumn)> {
        self.named.iter().map(|(name, column)| (name.as_str(), column))
    }
}

/// The columns that are neither parameters, which come before the value, nor metrics, which come behind it.
const OWN: [(&str, TrialColumn); 7] = [
    ("trial", TrialColumn::Trial),
    ("state", TrialColumn::State),
    ("value", TrialColumn::Value),
    ("asked_at", TrialColumn::AskedAt),
    ("told_at", TrialColumn::ToldAt),
    ("reason", TrialColumn::Reason),
    ("aim", TrialColumn::Aim),
];

/// The names of the metrics that these trials have, in the order in which they first come.
pub(super) fn metric_names<'a>(trials: impl IntoIterator<Item = &'a Trial>) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in trials.into_iter().flat_map(Trial::metrics) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    names
}

/// A metric as it was probably printed: a whole number, such as a count of epochs, without a fraction.
pub(super) fn metric(value: f64) -> Json {
    // Up to here every whole number is a float of its own.
    const LARGEST: f64 = (1_u64 << f64::MANTISSA_DIGITS) as f64;
    let is_whole = value.fract() == 0.0 && value.abs() <= LARGEST && !(value == 0.0 && value.is_sign_negative());
    if is_whole { Json::from(value as i64) } else { Json::from(value) }
}

impl TrialColumn {
    /// What a trial has in this column; null if that is nothing.
    pub(super) fn cell(&self, TrialRecord { trial, times, params }: TrialRecord<'_>) -> Json {
        match self {
            Self::Trial => trial.number().into(),
            Self::State => trial.state().to_string().into(),
            Self::Parameter(index) => params.get(*index).map_or(Json::Null, |(_, value)| json!(value)),
            Self::Value => trial.value().into(),
            Self::Metric(name) => {
                let found = trial.metrics().iter().find(|(known, _)| known == name);
                found.map_or(Json::Null, |(_, value)| metric(*value))
            }
            Self::AskedAt => times.asked_at.to_string().into(),
            Self::ToldAt => times.told_at.map(|time| time.to_string()).into(),
            Self::Reason => trial.reason().into(),
            Self::Aim => trial.aim().map(Aim::name).into(),
        }
    }
}
