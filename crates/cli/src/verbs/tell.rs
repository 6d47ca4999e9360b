//! `manyhands tell`: results of trials, one on the command line or many as lines of JSON.

use std::io::{BufRead, stdin};

use anyhow::{Context, Result};
use clap::Args;
use manyhands_core::TrialState;
use manyhands_core::text::quoted;
use manyhands_report as report;
use manyhands_report::tell_line::TellLine;
use manyhands_store::Session;

use crate::refusal::Usage;
use crate::target::Target;
use crate::trial::{print_ends, trial_number};

const EXAMPLES: &str = "\
Examples:
  manyhands tell study.toml 7 1.3                        trial 7 gave 1.3
  manyhands tell study.toml 7 -2e-3
  manyhands tell study.toml - < results.jsonl            one JSON object per line:

  {\"trial\": 7, \"value\": 1.3}                             a value
  {\"trial\": 8, \"failed\": \"diverged\"}                     no value, and why
  {\"params\": {\"x\": 0.2, \"act\": \"relu\"}, \"value\": 1.3}    an evaluation made elsewhere
  {\"params\": {\"x\": 0.2, \"act\": \"relu\"}, \"pending\": true} one under way elsewhere

Every line is recorded by itself. The first bad line ends the command and is named; lines before it stay recorded.";

/// Record the results of trials.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    #[command(flatten)]
    target: Target,
    /// The trial's number; - for lines of JSON on standard input
    #[arg(value_name = "TRIAL", allow_hyphen_values = true)]
    trial: Option<String>,
    /// Its value
    #[arg(value_name = "VALUE", allow_hyphen_values = true)]
    value: Option<String>,
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
            let (trial, value) = (trial_number(trial)?, finite(value)?);
            options.target.open_to_tell()?.tell(trial, value)?;
            print_ends(&[(trial, TrialState::Observed)], options.target.json)
        }
        (_, None) => {
            let hint = "manyhands tell STUDY TRIAL VALUE, or manyhands tell STUDY - for lines of JSON";
            Err(Usage::new("usage", "a trial and its value are needed").hint(hint).into())
        }
        (None, Some(_)) => Err(Usage::new("usage", "a trial is needed").into()),
    }
}

fn finite(text: &str) -> Result<f64> {
    let wrong = || Usage::new("value", format!("the value must be a finite number, got {}", quoted(text)));
    Ok(text.trim().parse::<f64>().ok().filter(|value| value.is_finite()).ok_or_else(wrong)?)
}

fn lines(target: &Target) -> Result<()> {
    let mut done = Vec::new();
    let result = read_lines(target, &mut done);
    // A bad line is the error to report, even if standard output cannot be written either.
    let printed = print_ends(&done, target.json);
    result.and(printed)
}

fn read_lines(target: &Target, done: &mut Vec<(usize, TrialState)>) -> Result<()> {
    let mut session = None;
    for (index, line) in stdin().lock().lines().enumerate() {
        let place = || format!("line {}", index + 1);
        let line = line.map_err(|error| Usage::new("line", error.to_string())).with_context(place)?;
        if !line.trim().is_empty() {
            let line = read(&line).with_context(place)?;
            let session = match &mut session {
                Some(session) => session,
                None => session.insert(open_for(target, &line).with_context(place)?),
            };
            done.push(record(session, line).with_context(place)?);
        }
    }
    // Without any line, a study that cannot be opened is still reported.
    if session.is_some() { Ok(()) } else { target.open().map(drop) }
}

fn read(line: &str) -> Result<TellLine> {
    let usage = |bad: report::tell_line::BadLine| Usage { code: "line", message: bad.to_string(), hint: bad.hint };
    Ok(report::tell_line::read(line).map_err(usage)?)
}

/// The study's session. An evaluation made elsewhere may create the study; the end of a trial may not.
fn open_for(target: &Target, line: &TellLine) -> Result<Session> {
    match line {
        TellLine::External(outside) => target.open_with(|source| {
            let domain = source.study().spec.domain();
            Ok(domain.embed_named(&outside.params).map(drop)?)
        }),
        TellLine::Value(..) | TellLine::Failed(..) => target.open_to_tell(),
    }
}

fn record(session: &mut Session, line: TellLine) -> Result<(usize, TrialState)> {
    Ok(match line {
        TellLine::Value(trial, evaluation) => {
            session.tell(trial, evaluation)?;
            (trial, TrialState::Observed)
        }
        TellLine::Failed(trial, reason) => {
            session.fail(trial, &reason)?;
            (trial, TrialState::Failed)
        }
        TellLine::External(outside) => {
            let state = match &outside.outcome {
                Some(Ok(_)) => TrialState::Observed,
                Some(Err(_)) => TrialState::Failed,
                None => TrialState::Pending,
            };
            (session.include(&outside)?, state)
        }
    })
}
