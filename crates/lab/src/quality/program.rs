//! A program that is compared: any optimizer, in any language, that reads and writes a line of JSON at a time.
//!
//! | line to the program | what it answers |
//! |---|---|
//! | `{"play": "branin", "seed": 7, "batch": 5, "direction": "minimize", "parameters": [...], "constraints": [...]}` | nothing |
//! | `{"ask": 5}` | `{"points": [{"x1": 0.5, "x2": 2.0}, ...]}` |
//! | `{"tell": {"trial": 0, "value": 3.25}}` | nothing |
//!
//! A parameter is described as in a study file, with its name: `{"name": "lr", "float": [1e-5, 0.1], "scale": "log"}`.
//! Trials are numbered from 0 in the order of the points. The run is over when the input ends.

use std::fmt::Display;

use manyhands_core::{Constraint, Parameter, ParameterKind, Relation, Scale, Value};
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use super::{ActiveOptimizer, SpaceProblem};
use crate::process::Dialogue;
use crate::{Error, Result};

/// A command that optimizes, and its name in tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptimizerProgram {
    /// Its name.
    pub name: String,
    /// Its version, as results files say it; empty if it is not told.
    pub version: String,
    /// The command and its arguments.
    pub command: Vec<String>,
}

impl OptimizerProgram {
    /// `NAME=COMMAND ARGUMENT ...` or `NAME@VERSION=COMMAND ARGUMENT ...`, split at spaces.
    pub fn parse(text: &str) -> Result<Self> {
        let (name, command) = text.split_once('=').unwrap_or(("", ""));
        let command: Vec<String> = command.split_whitespace().map(str::to_string).collect();
        if name.is_empty() || name.starts_with('@') || command.is_empty() {
            let allowed = "a name, \"=\" and a command, such as \"tpe=python3 peers.py tpe\"".to_string();
            return Err(Error::Setting { setting: "against", allowed, value: text.to_string() });
        }
        let (name, version) = name.split_once('@').unwrap_or((name, ""));
        Ok(Self { name: name.to_string(), version: version.to_string(), command })
    }

    /// Starts the program for one run.
    pub(super) fn start(&self, problem: &SpaceProblem, seed: u64, batch: usize) -> Result<ActiveProgram> {
        let dialogue = Dialogue::start(&self.command);
        let dialogue = dialogue.map_err(|error| self.error(format!("it does not start: {error}")))?;
        let names = problem.space().parameters().iter().map(|parameter| parameter.name().to_string()).collect();
        let mut active = ActiveProgram { program: self.clone(), dialogue, names, asked: 0 };
        active.send(&opening(problem, seed, batch))?;
        Ok(active)
    }

    fn error(&self, reason: impl Display) -> Error {
        Error::Program { name: self.name.clone(), reason: reason.to_string() }
    }
}

fn opening(problem: &SpaceProblem, seed: u64, batch: usize) -> Json {
    let parameters: Vec<Json> = problem.space().parameters().iter().map(parameter).collect();
    let constraints: Vec<Json> = problem.space().constraints().iter().map(constraint).collect();
    json!({
        "play": problem.name(), "seed": seed, "batch": batch, "direction": problem.direction().name(),
        "parameters": parameters, "constraints": constraints,
    })
}

/// As in a study file, with the name beside the rest.
fn parameter(parameter: &Parameter) -> Json {
    let with_scale = |kind: &str, low: Json, high: Json, scale: Scale| {
        let name = if scale == Scale::Log { "log" } else { "linear" };
        json!({"name": parameter.name(), kind: [low, high], "scale": name})
    };
    match parameter.kind() {
        ParameterKind::Float { low, high, scale } => with_scale("float", json!(low), json!(high), *scale),
        ParameterKind::Even { low, high, scale, points } => {
            let mut described = with_scale("float", json!(low), json!(high), *scale);
            described["points"] = json!(points);
            described
        }
        ParameterKind::Int { low, high, scale } => with_scale("int", json!(low), json!(high), *scale),
        ParameterKind::Levels(levels) => json!({"name": parameter.name(), "levels": levels}),
        ParameterKind::IntLevels(levels) => json!({"name": parameter.name(), "levels": levels}),
        ParameterKind::Choice(categories) => {
            json!({"name": parameter.name(), "choice": categories})
        }
        ParameterKind::Constant(value) => json!({"name": parameter.name(), "constant": value}),
    }
}

fn constraint(constraint: &Constraint) -> Json {
    let sum: Map<String, Json> = constraint.terms.iter().map(|(name, weight)| (name.clone(), json!(weight))).collect();
    let relation = match constraint.relation {
        Relation::AtMost => "at_most",
        Relation::AtLeast => "at_least",
        Relation::Equals => "equals",
    };
    json!({"sum": sum, relation: constraint.bound})
}

/// A program in the middle of a run; dropping it ends the program.
pub(super) struct ActiveProgram {
    program: OptimizerProgram,
    dialogue: Dialogue,
    names: Vec<String>,
    asked: usize,
}

impl ActiveProgram {
    fn send(&mut self, line: &Json) -> Result<()> {
        self.dialogue.send(&line.to_string()).map_err(|_| self.ended())
    }

    fn receive(&mut self) -> Result<Json> {
        let line = self.dialogue.receive().map_err(|error| self.program.error(error))?;
        let line = line.ok_or_else(|| self.ended())?;
        serde_json::from_str(&line)
            .map_err(|error| self.program.error(format!("{:?} is not JSON: {error}", line.trim())))
    }

    fn ended(&self) -> Error {
        self.program.error("it ended before the run did")
    }

    /// The values of one point, in the parameters' order. The problem checks whether they lie in the space.
    fn point(&self, point: &Json) -> Result<Vec<Value>> {
        let missing = |name: &str| self.program.error(format!("the point {point} has no value of \"{name}\""));
        let value = |found: Option<&Json>| Value::deserialize(found?).ok();
        self.names.iter().map(|name| value(point.get(name)).ok_or_else(|| missing(name))).collect()
    }
}

impl ActiveOptimizer for ActiveProgram {
    fn ask(&mut self, count: usize) -> Result<Vec<(usize, Vec<Value>)>> {
        self.send(&json!({"ask": count}))?;
        let answer = self.receive()?;
        let points = answer.get("points").and_then(Json::as_array);
        let points = points.ok_or_else(|| self.program.error(format!("it answered {answer}, without \"points\"")))?;
        let first = self.asked;
        self.asked += points.len();
        points.iter().enumerate().map(|(i, point)| Ok((first + i, self.point(point)?))).collect()
    }

    fn tell(&mut self, trial: usize, value: f64) -> Result<()> {
        self.send(&json!({"tell": {"trial": trial, "value": value}}))
    }

    fn seconds_elsewhere(&self) -> f64 {
        self.dialogue.cpu_seconds().unwrap_or(0.0)
    }
}
