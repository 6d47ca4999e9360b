//! `manyhands tell`: what came of trials, one on the command line or many as lines of JSON.

use std::io::{BufRead, stdin};

use anyhow::{Context, Result};
use clap::Args;
use manyhands_core::{TrialState, Value, quoted};
use manyhands_store::{Outside, Session};
use serde_json::Value as Json;

use crate::refusal::Usage;
use crate::show;
use crate::target::Target;

const EXAMPLES: &str = "\
Examples:
  manyhands tell study.toml 7 1.3                        trial 7 gave 1.3
  manyhands tell study.toml 7 -2e-3
  manyhands tell study.toml - < results.jsonl            one JSON object a line:

  {\"trial\": 7, \"value\": 1.3}                             a value
  {\"trial\": 8, \"failed\": \"diverged\"}                     no value, and why
  {\"params\": {\"x\": 0.2, \"act\": \"relu\"}, \"value\": 1.3}    an evaluation made elsewhere
  {\"params\": {\"x\": 0.2, \"act\": \"relu\"}, \"pending\": true} one under way elsewhere

Every line is recorded by itself. The first bad line ends it and is named; those before it stay recorded.";

/// Record what came of trials.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    #[command(flatten)]
    pub target: Target,
    /// The trial's number; - for lines of JSON on standard input
    #[arg(value_name = "TRIAL", allow_hyphen_values = true)]
    trial: Option<String>,
    /// Its value
    #[arg(value_name = "VALUE", allow_hyphen_values = true)]
    value: Option<String>,
}

/// What a line says.
#[derive(Debug, PartialEq)]
enum Told {
    Value(usize, f64),
    Failed(usize, String),
    Outside(Outside),
}

pub fn run(options: &Options) -> Result<()> {
    match (options.trial.as_deref(), options.value.as_deref()) {
        (Some("-"), None) => lines(&options.target),
        (None, None) if options.target.json => lines(&options.target),
        (Some("-"), Some(value)) => {
            Err(Usage::new("usage", format!("with - values come from standard input, got {} too", quoted(value)))
                .into())
        }
        (Some(trial), Some(value)) => {
            let (trial, value) = (number(trial)?, finite(value)?);
            options.target.open_to_tell()?.tell(trial, value)?;
            show::states(&[(trial, TrialState::Observed)], options.target.json)
        }
        (_, None) => {
            let hint = "manyhands tell STUDY TRIAL VALUE, or manyhands tell STUDY - for lines of JSON";
            Err(Usage::new("usage", "a trial and its value are needed").hint(hint).into())
        }
        (None, Some(_)) => Err(Usage::new("usage", "a trial is needed").into()),
    }
}

/// A trial's number.
pub fn number(text: &str) -> Result<usize> {
    let wrong = || Usage::new("trial", format!("a trial's number must be a whole number from 0, got {}", quoted(text)));
    Ok(text.parse().map_err(|_| wrong())?)
}

fn finite(text: &str) -> Result<f64> {
    let wrong = || Usage::new("value", format!("the value must be a finite number, got {}", quoted(text)));
    Ok(text.trim().parse::<f64>().ok().filter(|value| value.is_finite()).ok_or_else(wrong)?)
}

fn lines(target: &Target) -> Result<()> {
    let mut done = Vec::new();
    let result = read_lines(target, &mut done);
    show::states(&done, target.json)?;
    result
}

fn read_lines(target: &Target, done: &mut Vec<(usize, TrialState)>) -> Result<()> {
    let mut session = None;
    for (index, line) in stdin().lock().lines().enumerate() {
        let place = || format!("line {}", index + 1);
        let line = line.map_err(|error| Usage::new("line", error.to_string())).with_context(place)?;
        if !line.trim().is_empty() {
            let told = read(&line).with_context(place)?;
            let session = match &mut session {
                Some(session) => session,
                None => session.insert(open_for(target, &told).with_context(place)?),
            };
            done.push(record(session, told).with_context(place)?);
        }
    }
    // Of no lines, too, a study that cannot be opened is told.
    if session.is_some() { Ok(()) } else { target.open().map(drop) }
}

/// The study's session. An evaluation made elsewhere may be the first thing that is known of a study; an end of a trial
/// is not.
fn open_for(target: &Target, told: &Told) -> Result<Session> {
    match told {
        Told::Outside(outside) => target.open_with(|source| {
            let domain = source.study().spec.domain();
            Ok(domain.embed_named(&outside.params).map(drop)?)
        }),
        Told::Value(..) | Told::Failed(..) => target.open_to_tell(),
    }
}

fn record(session: &mut Session, told: Told) -> Result<(usize, TrialState)> {
    Ok(match told {
        Told::Value(trial, value) => {
            session.tell(trial, value)?;
            (trial, TrialState::Observed)
        }
        Told::Failed(trial, reason) => {
            session.fail(trial, &reason)?;
            (trial, TrialState::Failed)
        }
        Told::Outside(outside) => {
            let state = if outside.value.is_some() { TrialState::Observed } else { TrialState::Pending };
            (session.include(&outside)?, state)
        }
    })
}

fn read(line: &str) -> Result<Told> {
    const FORMS: &str = "{\"trial\":7,\"value\":1.3}, {\"trial\":7,\"failed\":\"why\"}, {\"params\":{..},\"value\":1.3} or \
                         {\"params\":{..},\"pending\":true}";
    let wrong = |message: String| Usage::new("line", message).hint(format!("a line is {FORMS}"));
    let fields = match serde_json::from_str(line) {
        Ok(Json::Object(fields)) => fields,
        Err(error) if error.to_string().starts_with("number out of range") => {
            return Err(wrong(format!("a number here is beyond what a float can hold: {}", shown(line))).into());
        }
        _ => return Err(wrong(format!("this is not a JSON object: {}", shown(line))).into()),
    };
    let must = |name: &str, allowed: &str, found: &Json| {
        wrong(format!("{name} must be {allowed}, got {}", shown(&found.to_string())))
    };
    let (mut trial, mut params, mut value, mut failed, mut pending) = (None, None, None, None, None);
    for (name, found) in fields {
        match name.as_str() {
            "trial" => {
                let number = found.as_u64().and_then(|number| usize::try_from(number).ok());
                trial = Some(number.ok_or_else(|| must("trial", "a whole number from 0", &found))?);
            }
            "value" => value = Some(found.as_f64().ok_or_else(|| must("value", "a number", &found))?),
            "failed" => match found {
                Json::String(reason) => failed = Some(reason),
                other => return Err(must("failed", "a text that says why", &other).into()),
            },
            "pending" if found == Json::Bool(true) => pending = Some(()),
            "pending" => return Err(must("pending", "true", &found).into()),
            "params" => match found {
                Json::Object(named) => params = Some(named),
                other => return Err(must("params", "an object of names and values", &other).into()),
            },
            other => return Err(wrong(format!("{} is not known", quoted(other))).into()),
        }
    }
    match (trial, params, value, failed, pending) {
        (Some(trial), None, Some(value), None, None) => Ok(Told::Value(trial, value)),
        (Some(trial), None, None, Some(reason), None) => Ok(Told::Failed(trial, reason)),
        (None, Some(params), value @ Some(_), None, None) | (None, Some(params), value @ None, None, Some(())) => {
            Ok(Told::Outside(Outside { params: named(params)?, value }))
        }
        _ => Err(wrong(format!("this is not one end of one trial, nor one evaluation: {}", shown(line))).into()),
    }
}

fn named(params: serde_json::Map<String, Json>) -> Result<Vec<(String, Value)>> {
    params.into_iter().map(|(name, value)| value_of(&value).map(|value| (name, value))).collect()
}

fn value_of(json: &Json) -> Result<Value> {
    let wrong = || {
        Usage::new(
            "line",
            format!("a parameter's value must be a number, a text, true or false, got {}", shown(&json.to_string())),
        )
    };
    let value = match json {
        Json::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => Value::Int(whole),
            (None, Some(float)) => Value::Float(float),
            (None, None) => return Err(wrong().into()),
        },
        Json::String(text) => Value::Text(text.clone()),
        Json::Bool(flag) => Value::Bool(*flag),
        Json::Null | Json::Array(_) | Json::Object(_) => return Err(wrong().into()),
    };
    Ok(value)
}

fn shown(line: &str) -> String {
    const SHOWN: usize = 120;
    let cut: String = line.trim().chars().take(SHOWN).collect();
    if line.trim().chars().count() > SHOWN { cut + "..." } else { cut }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_four_forms_are_read() {
        assert_eq!(read("{\"trial\":7,\"value\":1.3}").unwrap(), Told::Value(7, 1.3));
        assert_eq!(read("{\"trial\":7,\"failed\":\"no\"}").unwrap(), Told::Failed(7, "no".to_string()));
        let params = vec![("b".to_string(), Value::Int(1)), ("a".to_string(), Value::Text("x".to_string()))];
        let outside = |value| Told::Outside(Outside { params: params.clone(), value });
        assert_eq!(read("{\"params\":{\"b\":1,\"a\":\"x\"},\"value\":2}").unwrap(), outside(Some(2.0)));
        assert_eq!(read("{\"params\":{\"b\":1,\"a\":\"x\"},\"pending\":true}").unwrap(), outside(None));
    }

    #[test]
    fn everything_else_is_refused_with_the_forms() {
        for line in [
            "7 1.3",
            "{\"trial\":7}",
            "{\"trial\":-1,\"value\":2}",
            "{\"trial\":7,\"value\":null}",
            "{\"trial\":7,\"value\":\"1\"}",
            "{\"trial\":7,\"vlaue\":1}",
            "{\"trial\":7,\"value\":1,\"failed\":\"x\"}",
            "{\"params\":{},\"pending\":false}",
            "{\"params\":{\"x\":null},\"value\":1}",
            "[]",
            "{\"trial\":7,\"value\":1e999}",
        ] {
            assert!(read(line).is_err(), "{line}");
        }
    }

    proptest! {
        #[test]
        fn no_line_is_too_strange(line in "\\PC*|\\{\"(trial|params|value)\":[ -~]*\\}") {
            if let Ok(Told::Value(_, value)) = read(&line) {
                prop_assert!(value.is_finite());
            }
        }
    }
}
