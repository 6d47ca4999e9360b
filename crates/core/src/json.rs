//! Events as JSON and back, bit for bit. The kind is stored beside the body, not in it.

use manyhands_gp::{Hyperparameters, Warp};
use serde::{Deserialize, Serialize};

use crate::event::{Asked, Event, EventKind, Fitted, Included};
use crate::{Choice, Phase, Value};

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
    seen: usize,
    #[serde(default = "first_engine", deserialize_with = "engine")]
    engine: u32,
}

impl From<AskedBody> for Asked {
    fn from(body: AskedBody) -> Self {
        let AskedBody { trial, candidate, params, mean, sd, multiplier, score, gap, phase, seen, engine } = body;
        Self { trial, choice: Choice { candidate, params, mean, sd, multiplier, score, gap, phase }, seen, engine }
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
}

impl From<&Fitted> for FittedBody {
    fn from(fitted: &Fitted) -> Self {
        let Hyperparameters { lengthscales, noise, variance, mean, density } = fitted.hyperparameters.clone();
        let (warp, seen, engine) = (fitted.warp.numbers(), fitted.seen, fitted.engine);
        Self { lengthscales, noise, variance, mean, density, warp, seen, engine }
    }
}

impl TryFrom<FittedBody> for Fitted {
    type Error = String;

    fn try_from(body: FittedBody) -> Result<Self, String> {
        let FittedBody { lengthscales, noise, variance, mean, density, warp, seen, engine } = body;
        let warp = Warp::from_numbers(warp).ok_or_else(|| format!("{warp:?} is not a warp"))?;
        let hyperparameters = Hyperparameters { lengthscales, noise, variance, mean, density };
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

impl Event {
    /// Its body as JSON; refused where reading it back would not give the same event, as with numbers that are not finite.
    ///
    /// ```
    /// use manyhands_core::Event;
    /// let told = Event::Told { trial: 7, value: 1.5 };
    /// assert_eq!(told.to_json()?, r#"{"trial":7,"value":1.5}"#);
    /// assert_eq!(Event::from_json("told", &told.to_json()?)?, told);
    /// assert!(Event::Told { trial: 7, value: f64::NAN }.to_json().is_err());
    /// # Ok::<(), String>(())
    /// ```
    pub fn to_json(&self) -> Result<String, String> {
        let text = self.written().map_err(|error| error.to_string())?;
        match Self::from_json(self.kind().name(), &text) {
            Ok(read) if read == *self => Ok(text),
            _ => Err(format!("{self:?} cannot be written as JSON and read back")),
        }
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
            Self::Cancelled { trial } => end(trial, None, None),
            Self::LateResult { trial, outcome } => end(trial, outcome.clone().ok(), outcome.as_ref().err()),
        }
    }

    /// The event of this kind and body; what is wrong with them otherwise.
    pub fn from_json(kind: &str, body: &str) -> Result<Self, String> {
        let Some(kind) = EventKind::ALL.into_iter().find(|known| known.name() == kind) else {
            return Err(format!("its kind is \"{kind}\", which this manyhands does not know"));
        };
        match kind {
            EventKind::Asked => read::<Asked>(body).map(Self::Asked),
            EventKind::Fitted => Fitted::try_from(read::<FittedBody>(body)?).map(Self::Fitted),
            EventKind::Included => read::<Included>(body).map(Self::Included),
            EventKind::Told => match read(body)? {
                EndBody { trial, value: Some(value), reason: None } => Ok(Self::Told { trial, value }),
                _ => Err("it has no value".to_string()),
            },
            EventKind::Failed => match read(body)? {
                EndBody { trial, reason: Some(reason), value: None } => Ok(Self::Failed { trial, reason }),
                _ => Err("it has no reason".to_string()),
            },
            EventKind::Cancelled => match read(body)? {
                EndBody { trial, value: None, reason: None } => Ok(Self::Cancelled { trial }),
                _ => Err("it was called off, and has a value or a reason".to_string()),
            },
            EventKind::Late => match read(body)? {
                EndBody { trial, value: Some(value), reason: None } => {
                    Ok(Self::LateResult { trial, outcome: Ok(value) })
                }
                EndBody { trial, value: None, reason: Some(reason) } => {
                    Ok(Self::LateResult { trial, outcome: Err(reason) })
                }
                _ => Err("it must have a value or a reason, and not both".to_string()),
            },
        }
    }
}

fn read<T: for<'a> Deserialize<'a>>(body: &str) -> Result<T, String> {
    serde_json::from_str(body).map_err(|error| error.to_string())
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
