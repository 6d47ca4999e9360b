//! Events as JSON and back, bit for bit: the kind is stored beside the body, not in it. Parameters as a JSON object.

use manyhands_gp::{Hyperparameters, KernelStructure, Warp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};

use crate::event::{ActualSetting, Amended, Asked, Event, EventKind, Fitted};
use crate::{Aim, Choice, Phase, Value};

/// Named values as a JSON object, in their order.
///
/// ```
/// use manyhands_core::{Value, json::named};
/// let params = [("lr", Value::Float(1.0)), ("layers", Value::Int(3))];
/// assert_eq!(named(params).to_string(), r#"{"lr":1.0,"layers":3}"#);
/// ```
pub fn named<'a, V: Serialize>(values: impl IntoIterator<Item = (&'a str, V)>) -> Json {
    let mut object = Map::new();
    for (name, value) in values {
        object.insert(name.to_string(), json!(value));
    }
    Json::Object(object)
}

/// Why an event cannot be read from JSON, or written as JSON.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FormatError {
    /// There is no such kind of events.
    #[error("its kind is \"{kind}\", which this manyhands does not know")]
    UnknownKind {
        /// The kind given.
        kind: String,
    },
    /// The body is not that of an event of its kind.
    #[error("{reason}")]
    Body {
        /// What is wrong with it.
        reason: String,
    },
    /// Reading what was written would not give the same event.
    #[error("{event:?} cannot be written as JSON and read back")]
    NotReadBack {
        /// The event.
        event: Box<Event>,
    },
}

fn malformed(reason: impl ToString) -> FormatError {
    FormatError::Body { reason: reason.to_string() }
}

/// The body of a choice, to be read: serde reads flattened fields at half the speed.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AskedBody {
    trial: usize,
    candidate: usize,
    params: Vec<Value>,
    mean: f64,
    sd: f64,
    multiplier: f64,
    score: f64,
    gap: Option<f64>,
    phase: Phase,
    #[serde(default)]
    aim: Option<Aim>,
    #[serde(default)]
    sd_observed: Option<f64>,
    #[serde(default)]
    interval: Option<[f64; 2]>,
    seen: usize,
    #[serde(default = "first_engine", deserialize_with = "engine")]
    engine: u32,
}

impl From<AskedBody> for Asked {
    fn from(body: AskedBody) -> Self {
        let AskedBody { trial, candidate, params, mean, sd, multiplier, score, gap, phase, .. } = body;
        let (aim, sd_observed, interval) = (body.aim, body.sd_observed, body.interval);
        let choice = Choice { candidate, params, mean, sd, multiplier, score, gap, phase, aim, sd_observed, interval };
        Self { trial, choice, seen: body.seen, engine: body.engine }
    }
}

/// The body of a fit: hyperparameters and warp as plain numbers.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FittedBody {
    lengthscales: Vec<f64>,
    noise: f64,
    variance: f64,
    mean: f64,
    density: f64,
    warp: [f64; 5],
    seen: usize,
    #[serde(default = "first_engine", deserialize_with = "engine")]
    engine: u32,
    #[serde(default, skip_serializing_if = "StructureName::is_joint")]
    structure: StructureName,
}

/// How parameters act together in a fitted kernel; left out where the kernel depends on all of them together.
#[derive(Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum StructureName {
    #[default]
    Joint,
    PartlyAdditive,
}

impl StructureName {
    fn is_joint(&self) -> bool {
        *self == Self::Joint
    }
}

impl From<KernelStructure> for StructureName {
    fn from(structure: KernelStructure) -> Self {
        match structure {
            KernelStructure::Joint => Self::Joint,
            KernelStructure::PartlyAdditive => Self::PartlyAdditive,
        }
    }
}

impl From<StructureName> for KernelStructure {
    fn from(structure: StructureName) -> Self {
        match structure {
            StructureName::Joint => Self::Joint,
            StructureName::PartlyAdditive => Self::PartlyAdditive,
        }
    }
}

impl From<&Fitted> for FittedBody {
    fn from(fitted: &Fitted) -> Self {
        let Hyperparameters { lengthscales, noise, variance, mean, density, structure } =
            fitted.hyperparameters.clone();
        let (warp, seen, engine) = (fitted.warp.numbers(), fitted.seen, fitted.engine);
        let structure = structure.into();
        Self { lengthscales, noise, variance, mean, density, warp, seen, engine, structure }
    }
}

impl TryFrom<FittedBody> for Fitted {
    type Error = FormatError;

    fn try_from(body: FittedBody) -> Result<Self, FormatError> {
        let FittedBody { lengthscales, noise, variance, mean, density, warp, seen, engine, structure } = body;
        let warp = Warp::from_numbers(warp).ok_or_else(|| malformed(format!("{warp:?} is not a warp")))?;
        let structure = structure.into();
        let hyperparameters = Hyperparameters { lengthscales, noise, variance, mean, density, structure };
        Ok(Self { hyperparameters, warp, seen, engine })
    }
}

/// The body of an event about a trial that has begun: a value, a reason, or neither.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EndBody {
    trial: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    value: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// The body of an amendment: actual values of the parameters, a value or a reason.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AmendedBody {
    trial: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    candidate: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    params: Option<Vec<Value>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    value: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl From<&Amended> for AmendedBody {
    fn from(amended: &Amended) -> Self {
        let Amended { trial, setting, outcome } = amended.clone();
        let (candidate, params) = setting.map_or((None, None), |setting| (setting.candidate, Some(setting.params)));
        let (value, reason) = outcome.map_or((None, None), |outcome| (outcome.clone().ok(), outcome.err()));
        Self { trial, candidate, params, value, reason }
    }
}

impl TryFrom<AmendedBody> for Amended {
    type Error = FormatError;

    fn try_from(body: AmendedBody) -> Result<Self, FormatError> {
        let AmendedBody { trial, candidate, params, value, reason } = body;
        let setting = match (candidate, params) {
            (candidate, Some(params)) => Some(ActualSetting { candidate, params }),
            (None, None) => None,
            (Some(_), None) => return Err(malformed("it has a candidate and no parameters")),
        };
        let outcome = match (value, reason) {
            (None, None) => None,
            (Some(value), None) => Some(Ok(value)),
            (None, Some(reason)) => Some(Err(reason)),
            (Some(_), Some(_)) => return Err(malformed("it must not have both a value and a reason")),
        };
        Ok(Self { trial, setting, outcome })
    }
}

/// The body of further numbers, by name.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MeasuredBody {
    trial: usize,
    metrics: Map<String, Json>,
}

impl MeasuredBody {
    fn new(trial: usize, metrics: &[(String, f64)]) -> Self {
        Self { trial, metrics: metrics.iter().map(|(name, value)| (name.clone(), json!(value))).collect() }
    }

    fn event(self) -> Result<Event, FormatError> {
        let number = |(name, value): (String, Json)| match value.as_f64() {
            Some(number) => Ok((name, number)),
            None => Err(malformed(format!("its metric {name:?} is not a number"))),
        };
        let metrics = self.metrics.into_iter().map(number).collect::<Result<_, FormatError>>()?;
        Ok(Event::Measured { trial: self.trial, metrics })
    }
}

/// The body of an event that says nothing more.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EmptyBody {}

impl Event {
    /// Its body as JSON; refused where reading it back would not give the same event, as with numbers that are not finite.
    ///
    /// ```
    /// use manyhands_core::Event;
    /// let told = Event::Told { trial: 7, value: 1.5 };
    /// assert_eq!(told.to_json()?, r#"{"trial":7,"value":1.5}"#);
    /// assert_eq!(Event::from_json("told", &told.to_json()?)?, told);
    /// assert!(Event::Told { trial: 7, value: f64::NAN }.to_json().is_err());
    /// # Ok::<(), manyhands_core::json::FormatError>(())
    /// ```
    pub fn to_json(&self) -> Result<String, FormatError> {
        let text = self.written().map_err(malformed)?;
        match Self::from_json(self.kind().name(), &text) {
            Ok(read) if read == *self => Ok(text),
            _ => Err(FormatError::NotReadBack { event: Box::new(self.clone()) }),
        }
    }

    /// The fields of its body in their order. Finite numbers are written alike only if they are the same bit for bit.
    pub(crate) fn fields(&self) -> Result<Map<String, Json>, FormatError> {
        read(&self.written().map_err(malformed)?)
    }

    fn written(&self) -> serde_json::Result<String> {
        let end = |trial: &usize, value: Option<f64>, reason: Option<&String>| {
            serde_json::to_string(&EndBody { trial: *trial, value, reason: reason.cloned() })
        };
        match self {
            Self::Asked(asked) => serde_json::to_string(asked),
            Self::Fitted(fitted) => serde_json::to_string(&FittedBody::from(fitted)),
            Self::Included(included) => serde_json::to_string(included),
            Self::Told { trial, value } => end(trial, Some(*value), None),
            Self::Failed { trial, reason } => end(trial, None, Some(reason)),
            Self::Cancelled { trial } | Self::Restored { trial } | Self::Reopened { trial } => end(trial, None, None),
            Self::LateResult { trial, outcome } => end(trial, outcome.clone().ok(), outcome.as_ref().err()),
            Self::Amended(amended) => serde_json::to_string(&AmendedBody::from(amended)),
            Self::Measured { trial, metrics } => serde_json::to_string(&MeasuredBody::new(*trial, metrics)),
            Self::Enqueued(enqueued) => serde_json::to_string(enqueued),
            Self::Cleared => serde_json::to_string(&EmptyBody {}),
        }
    }

    /// The event of this kind and body; what is wrong with them otherwise.
    pub fn from_json(kind: &str, body: &str) -> Result<Self, FormatError> {
        let kind = EventKind::named(kind).ok_or_else(|| FormatError::UnknownKind { kind: kind.to_string() })?;
        match kind {
            EventKind::Asked => read(body).map(Self::Asked),
            EventKind::Fitted => read::<FittedBody>(body)?.try_into().map(Self::Fitted),
            EventKind::Included => read(body).map(Self::Included),
            EventKind::Told => match read(body)? {
                EndBody { trial, value: Some(value), reason: None } => Ok(Self::Told { trial, value }),
                _ => Err(malformed("it has no value")),
            },
            EventKind::Failed => match read(body)? {
                EndBody { trial, reason: Some(reason), value: None } => Ok(Self::Failed { trial, reason }),
                _ => Err(malformed("it has no reason")),
            },
            EventKind::Cancelled => trial_alone(body).map(|trial| Self::Cancelled { trial }),
            EventKind::Restored => trial_alone(body).map(|trial| Self::Restored { trial }),
            EventKind::Reopened => trial_alone(body).map(|trial| Self::Reopened { trial }),
            EventKind::Amended => read::<AmendedBody>(body)?.try_into().map(Self::Amended),
            EventKind::Measured => read::<MeasuredBody>(body)?.event(),
            EventKind::Enqueued => read(body).map(Self::Enqueued),
            EventKind::Cleared => read::<EmptyBody>(body).map(|_| Self::Cleared),
            EventKind::LateResult => {
                let EndBody { trial, value, reason } = read(body)?;
                match (value, reason) {
                    (Some(value), None) => Ok(Self::LateResult { trial, outcome: Ok(value) }),
                    (None, Some(reason)) => Ok(Self::LateResult { trial, outcome: Err(reason) }),
                    _ => Err(malformed("it must have a value or a reason, and not both")),
                }
            }
        }
    }
}

/// The trial of an event that says nothing else.
fn trial_alone(body: &str) -> Result<usize, FormatError> {
    match read(body)? {
        EndBody { trial, value: None, reason: None } => Ok(trial),
        _ => Err(malformed("it must have neither a value nor a reason")),
    }
}

fn read<T: for<'a> Deserialize<'a>>(body: &str) -> Result<T, FormatError> {
    serde_json::from_str(body).map_err(malformed)
}

/// The engine of events from before they had a number.
fn first_engine() -> u32 {
    1
}

/// Reads an engine's number, which is never 0.
fn engine<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    match u32::deserialize(deserializer)? {
        0 => Err(serde::de::Error::custom("its engine is 0; engines are numbered from 1")),
        number => Ok(number),
    }
}
