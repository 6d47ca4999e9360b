//! Events as JSON text and back, bit for bit. Decoding checks all that a fold does not.

use manyhands_core::gp::{Hyperparameters, Warp};
use manyhands_core::{Asked, Event, Fitted, Included, Phase, Value};
use serde::{Deserialize, Serialize};

use crate::store::{NewEvent, Record};
use crate::{Error, Result};

/// The version of the format: 2 since choices and fits say which engine made them.
pub(crate) const VERSION: i64 = 2;

/// The engine of events from before they said it.
fn first_engine() -> u32 {
    1
}

/// The value of a parameter: a number, a word, or yes or no. Whole floats are written with ".0", so that they stay floats.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Cell {
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AskedBody {
    trial: usize,
    candidate: usize,
    params: Vec<Cell>,
    mean: f64,
    sd: f64,
    multiplier: f64,
    score: f64,
    gap: Option<f64>,
    phase: String,
    seen: usize,
    #[serde(default = "first_engine")]
    engine: u32,
}

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
    #[serde(default = "first_engine")]
    engine: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct IncludedBody {
    trial: usize,
    candidate: usize,
    params: Vec<Cell>,
    value: Option<f64>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EndBody {
    trial: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    value: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// An event as it is stored; refused where reading it would not give the same event, as with numbers that are not finite.
pub fn encode(event: &Event) -> Result<NewEvent> {
    let encoded = written(event)?;
    match self::event(encoded.kind, &encoded.body) {
        Ok(read) if read == *event => Ok(encoded),
        _ => Err(Error::Encode { reason: format!("{event:?} cannot be written as JSON and read back") }),
    }
}

fn written(event: &Event) -> Result<NewEvent> {
    let (kind, body) = match event {
        Event::Asked(asked) => ("asked", text(&asked_body(asked))?),
        Event::Fitted(fitted) => ("fitted", text(&fitted_body(fitted))?),
        Event::Included(Included { trial, candidate, params, value }) => {
            let (trial, candidate, value) = (*trial, *candidate, *value);
            let body = IncludedBody { trial, candidate, params: cells(params), value };
            ("included", text(&body)?)
        }
        Event::Told { trial, value } => ("told", end(*trial, Some(*value), None)?),
        Event::Failed { trial, reason } => ("failed", end(*trial, None, Some(reason))?),
        Event::Cancelled { trial } => ("cancelled", end(*trial, None, None)?),
        Event::LateResult { trial, outcome: Ok(value) } => ("late", end(*trial, Some(*value), None)?),
        Event::LateResult { trial, outcome: Err(reason) } => ("late", end(*trial, None, Some(reason))?),
        other => return Err(Error::Encode { reason: format!("no format is known for {other:?}") }),
    };
    Ok(NewEvent { kind, trial: event.trial(), body, time: None, key: None })
}

/// The event of a record.
pub fn decode(record: &Record) -> Result<Event> {
    let corrupt = |reason: String| Error::Corrupt { study: None, sequence: record.sequence, reason };
    if !(1..=VERSION).contains(&record.version) {
        let reason = format!("its format is {}, this manyhands knows 1 to {VERSION}", record.version);
        return Err(corrupt(reason));
    }
    event(&record.kind, &record.body).map_err(corrupt)
}

fn event(kind: &str, body: &str) -> std::result::Result<Event, String> {
    let ended = |body: &str| read::<EndBody>(body);
    match kind {
        "asked" => asked(read(body)?),
        "fitted" => fitted(read(body)?),
        "included" => {
            let IncludedBody { trial, candidate, params, value } = read(body)?;
            Ok(Event::Included(Included { trial, candidate, params: values(params), value }))
        }
        "told" => match ended(body)? {
            EndBody { trial, value: Some(value), reason: None } => Ok(Event::Told { trial, value }),
            _ => Err("it has no value".to_string()),
        },
        "failed" => match ended(body)? {
            EndBody { trial, reason: Some(reason), value: None } => Ok(Event::Failed { trial, reason }),
            _ => Err("it has no reason".to_string()),
        },
        "cancelled" => match ended(body)? {
            EndBody { trial, value: None, reason: None } => Ok(Event::Cancelled { trial }),
            _ => Err("it was called off, and has a value or a reason".to_string()),
        },
        "late" => match ended(body)? {
            EndBody { trial, value: Some(value), reason: None } => Ok(Event::LateResult { trial, outcome: Ok(value) }),
            EndBody { trial, value: None, reason: Some(reason) } => {
                Ok(Event::LateResult { trial, outcome: Err(reason) })
            }
            _ => Err("it must have a value or a reason, and not both".to_string()),
        },
        other => Err(format!("its kind is \"{other}\", which this manyhands does not know")),
    }
}

fn asked_body(asked: &Asked) -> AskedBody {
    AskedBody {
        trial: asked.trial,
        candidate: asked.candidate,
        params: cells(&asked.params),
        mean: asked.mean,
        sd: asked.sd,
        multiplier: asked.multiplier,
        score: asked.score,
        gap: asked.gap,
        phase: phase_name(asked.phase).to_string(),
        seen: asked.seen,
        engine: asked.engine,
    }
}

fn asked(body: AskedBody) -> std::result::Result<Event, String> {
    let phase = [Phase::Design, Phase::Initial, Phase::Rule].into_iter().find(|phase| phase_name(*phase) == body.phase);
    let phase = phase.ok_or_else(|| format!("\"{}\" is not a phase", body.phase))?;
    Ok(Event::Asked(Asked {
        trial: body.trial,
        candidate: body.candidate,
        params: values(body.params),
        mean: body.mean,
        sd: body.sd,
        multiplier: body.multiplier,
        score: body.score,
        gap: body.gap,
        phase,
        seen: body.seen,
        engine: engine(body.engine)?,
    }))
}

fn fitted_body(fitted: &Fitted) -> FittedBody {
    let Hyperparameters { lengthscales, noise, variance, mean, density } = fitted.hyperparameters.clone();
    let (warp, seen, engine) = (fitted.warp.numbers(), fitted.seen, fitted.engine);
    FittedBody { lengthscales, noise, variance, mean, density, warp, seen, engine }
}

fn fitted(body: FittedBody) -> std::result::Result<Event, String> {
    let FittedBody { lengthscales, noise, variance, mean, density, warp, seen, engine } = body;
    let warp = Warp::from_numbers(warp).ok_or_else(|| format!("{warp:?} is not a warp"))?;
    let hyperparameters = Hyperparameters { lengthscales, noise, variance, mean, density };
    Ok(Event::Fitted(Fitted { hyperparameters, warp, seen, engine: self::engine(engine)? }))
}

fn engine(number: u32) -> std::result::Result<u32, String> {
    if number == 0 { Err("its engine is 0; engines are numbered from 1".to_string()) } else { Ok(number) }
}

fn end(trial: usize, value: Option<f64>, reason: Option<&str>) -> Result<String> {
    text(&EndBody { trial, value, reason: reason.map(str::to_string) })
}

/// Names that stay when the code's change.
fn phase_name(phase: Phase) -> &'static str {
    match phase {
        Phase::Design => "design",
        Phase::Initial => "initial",
        Phase::Rule => "rule",
    }
}

fn cells(values: &[Value]) -> Vec<Cell> {
    let cell = |value: &Value| match value {
        Value::Float(value) => Cell::Float(*value),
        Value::Int(value) => Cell::Int(*value),
        Value::Text(value) => Cell::Text(value.clone()),
        Value::Bool(value) => Cell::Bool(*value),
    };
    values.iter().map(cell).collect()
}

fn values(cells: Vec<Cell>) -> Vec<Value> {
    let value = |cell| match cell {
        Cell::Float(value) => Value::Float(value),
        Cell::Int(value) => Value::Int(value),
        Cell::Text(value) => Value::Text(value),
        Cell::Bool(value) => Value::Bool(value),
    };
    cells.into_iter().map(value).collect()
}

fn read<T: for<'a> Deserialize<'a>>(body: &str) -> std::result::Result<T, String> {
    serde_json::from_str(body).map_err(|error| error.to_string())
}

fn text(body: &impl Serialize) -> Result<String> {
    serde_json::to_string(body).map_err(|error| Error::Encode { reason: error.to_string() })
}
