//! Lines of JSON that `tell` reads: the end of a trial, or an evaluation made elsewhere.

use manyhands_core::Value;
use manyhands_core::text::quoted;
use manyhands_store::{ExternalEvaluation, TrialResult};
use serde_json::{Map, Value as Json};

/// What a line says.
#[derive(Debug, Clone, PartialEq)]
pub enum TellLine {
    /// `{"trial":7,"value":1.3}`: a trial has a value; further numbers as `"metrics":{..}`.
    Value(usize, TrialResult),
    /// `{"trial":7,"failed":"why"}`: a trial has none, and why.
    Failed(usize, String),
    /// `{"params":{..},"value":1.3}` or `{"params":{..},"pending":true}`: an evaluation made, or under way, elsewhere.
    External(ExternalEvaluation),
}

/// A line that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct BadLine {
    message: String,
    /// What a line may be, where the message does not say it.
    pub hint: Option<String>,
}

const FORMS: &str = "{\"trial\":7,\"value\":1.3}, {\"trial\":7,\"failed\":\"why\"}, {\"params\":{..},\"value\":1.3} or \
                     {\"params\":{..},\"pending\":true}";

/// The longest part of a line that is quoted in a message, in characters.
const QUOTED: usize = 120;

/// Reads a line.
///
/// ```
/// use manyhands_report::tell_line::{TellLine, read};
/// assert_eq!(read("{\"trial\":7,\"value\":1.3}"), Ok(TellLine::Value(7, 1.3.into())));
/// ```
pub fn read(line: &str) -> Result<TellLine, BadLine> {
    let object = match serde_json::from_str(line) {
        Ok(Json::Object(object)) => object,
        Ok(_) => return Err(wrong(format!("this is not a JSON object: {}", beginning(line)))),
        Err(error) => return Err(wrong(format!("this cannot be read as JSON ({error}): {}", beginning(line)))),
    };
    let mut fields = LineFields::default();
    object.into_iter().try_for_each(|(name, found)| fields.set(&name, found))?;
    let LineFields { trial, params, value, failed, is_pending, metrics } = fields;
    let outside = |params, outcome| {
        Ok(TellLine::External(ExternalEvaluation { params: named(params)?, outcome, metrics: metrics.clone() }))
    };
    match (trial, params, value, failed, is_pending) {
        (Some(trial), None, Some(value), None, false) => Ok(TellLine::Value(trial, TrialResult { value, metrics })),
        (Some(trial), None, None, Some(reason), false) if metrics.is_empty() => Ok(TellLine::Failed(trial, reason)),
        (None, Some(params), Some(value), None, false) => outside(params, Some(Ok(value))),
        (None, Some(params), None, Some(reason), false) => outside(params, Some(Err(reason))),
        (None, Some(params), None, None, true) => outside(params, None),
        _ => Err(wrong(format!(
            "a line must be the result of one trial, or one evaluation made elsewhere: {}",
            beginning(line)
        ))),
    }
}

/// The fields of a line, each of the right type.
#[derive(Default)]
struct LineFields {
    trial: Option<usize>,
    params: Option<Map<String, Json>>,
    value: Option<f64>,
    failed: Option<String>,
    is_pending: bool,
    metrics: Vec<(String, f64)>,
}

impl LineFields {
    fn set(&mut self, name: &str, found: Json) -> Result<(), BadLine> {
        match (name, found) {
            ("trial", found) => {
                let number = found.as_u64().and_then(|number| usize::try_from(number).ok());
                self.trial = Some(number.ok_or_else(|| must("trial", "an integer from 0", &found))?);
            }
            ("value", found) => {
                self.value = Some(found.as_f64().ok_or_else(|| must("value", "a number", &found))?);
            }
            ("failed", Json::String(reason)) => self.failed = Some(reason),
            ("failed", other) => return Err(must("failed", "a text that says why", &other)),
            ("pending", Json::Bool(true)) => self.is_pending = true,
            ("pending", other) => return Err(must("pending", "true", &other)),
            ("metrics", Json::Object(named)) => {
                let number = |(name, found): (String, Json)| match found.as_f64() {
                    Some(number) => Ok((name, number)),
                    None => Err(must(&format!("the metric {}", quoted(&name)), "a number", &found)),
                };
                self.metrics = named.into_iter().map(number).collect::<Result<_, _>>()?;
            }
            ("metrics", other) => return Err(must("metrics", "an object of names and numbers", &other)),
            ("params", Json::Object(named)) => self.params = Some(named),
            ("params", other) => return Err(must("params", "an object of names and values", &other)),
            (other, _) => return Err(wrong(format!("{} is not known", quoted(other)))),
        }
        Ok(())
    }
}

fn named(params: Map<String, Json>) -> Result<Vec<(String, Value)>, BadLine> {
    params.into_iter().map(|(name, value)| value_of(value).map(|value| (name, value))).collect()
}

fn value_of(json: Json) -> Result<Value, BadLine> {
    let found = beginning(&json.to_string());
    serde_json::from_value(json).map_err(|_| {
        let message = format!("a parameter's value must be a number, a text, true or false, got {found}");
        BadLine { message, hint: None }
    })
}

fn must(name: &str, allowed: &str, found: &Json) -> BadLine {
    wrong(format!("{name} must be {allowed}, got {}", beginning(&found.to_string())))
}

fn wrong(message: String) -> BadLine {
    BadLine { message, hint: Some(format!("a line is {FORMS}")) }
}

fn beginning(text: &str) -> String {
    let start: String = text.trim().chars().take(QUOTED).collect();
    if text.trim().chars().count() > QUOTED { start + "..." } else { start }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_forms_of_a_line_are_read() {
        assert_eq!(read("{\"trial\":7,\"value\":1.3}").unwrap(), TellLine::Value(7, 1.3.into()));
        assert_eq!(read("{\"trial\":7,\"failed\":\"no\"}").unwrap(), TellLine::Failed(7, "no".to_string()));
        let params = vec![("b".to_string(), Value::Int(1)), ("a".to_string(), Value::Text("x".to_string()))];
        let outside = |outcome: Option<Result<f64, String>>| {
            TellLine::External(ExternalEvaluation { params: params.clone(), outcome, metrics: vec![] })
        };
        assert_eq!(read("{\"params\":{\"b\":1,\"a\":\"x\"},\"value\":2}").unwrap(), outside(Some(Ok(2.0))));
        let failed = outside(Some(Err("no".to_string())));
        assert_eq!(read("{\"params\":{\"b\":1,\"a\":\"x\"},\"failed\":\"no\"}").unwrap(), failed);
        assert_eq!(read("{\"params\":{\"b\":1,\"a\":\"x\"},\"pending\":true}").unwrap(), outside(None));
    }

    #[test]
    fn further_numbers_of_a_line_are_metrics_in_their_order() {
        let metrics = vec![("epochs".to_string(), 3.0), ("a".to_string(), 0.5)];
        let told = read("{\"trial\":7,\"value\":1.3,\"metrics\":{\"epochs\":3,\"a\":0.5}}").unwrap();
        assert_eq!(told, TellLine::Value(7, TrialResult { value: 1.3, metrics }));
        assert!(read("{\"trial\":7,\"value\":1.3,\"metrics\":{\"epochs\":\"3\"}}").is_err());
    }

    #[test]
    fn everything_else_is_refused() {
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

    #[test]
    fn what_is_not_json_is_refused_with_the_reason() {
        let told = |line: &str| read(line).unwrap_err().to_string();
        let reason =
            "this cannot be read as JSON (number out of range at line 1 column 24): {\"trial\":7,\"value\":1e999}";
        assert_eq!(told("{\"trial\":7,\"value\":1e999}"), reason);
        assert!(
            told("{\"trial\":7").starts_with("this cannot be read as JSON (EOF while parsing an object"),
            "{}",
            told("{\"trial\":7")
        );
        assert_eq!(told("[1]"), "this is not a JSON object: [1]");
    }

    proptest! {
        #[test]
        fn no_line_panics_and_every_value_is_finite(line in "\\PC*|\\{\"(trial|params|value)\":[ -~]*\\}") {
            if let Ok(TellLine::Value(_, evaluation)) = read(&line) {
                prop_assert!(evaluation.value.is_finite());
            }
        }
    }
}
