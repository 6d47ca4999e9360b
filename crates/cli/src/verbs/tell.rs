//! `manyhands tell`: results of trials, one on the command line, many as lines of JSON or as a table.

use std::io::{BufRead, Read, stdin};
use std::path::Path;

use anyhow::{Context, Result};
use clap::Args;
use manyhands_core::text::quoted;
use manyhands_core::{Ledger, TrialState};
use manyhands_report as report;
use manyhands_report::plate::ColumnMap;
use manyhands_report::tell_line::TellLine;
use manyhands_store::{OnConflict, Session};

use crate::assignment::Assignment;
use crate::output::print_json;
use crate::refusal::Usage;
use crate::table_input::{TableInput, content};
use crate::target::Target;
use crate::trial::{finite, print_ends, trial_number};

const EXAMPLES: &str = "\
Examples:
  manyhands tell study.toml 7 1.3                        trial 7 gave 1.3
  manyhands tell study.toml 7 -2e-3
  manyhands tell study.toml plate.csv                    a table, as `ask --csv plate.csv` wrote it and a spreadsheet saved it
  manyhands tell study.toml plate.csv --column value=\"Yield (%)\"
  manyhands export other.toml | manyhands tell study.toml -
  manyhands tell study.toml results.jsonl                one JSON object per line; - for standard input:

  {\"trial\": 7, \"value\": 1.3}                             a value
  {\"trial\": 8, \"failed\": \"diverged\"}                     no value, and why
  {\"params\": {\"x\": 0.2, \"act\": \"relu\"}, \"value\": 1.3}    an evaluation made elsewhere
  {\"params\": {\"x\": 0.2, \"act\": \"relu\"}, \"pending\": true} one under way elsewhere

Every line of JSON is recorded by itself. The first bad line ends the command and is named; lines before it stay recorded. An
evaluation made elsewhere that is told twice counts as two; in a table, and with `import`, it is skipped.

A table is recorded completely or not at all. Its columns are trial, the parameters and value, in any order; a blank value means
pending, `failed` (and why) that the trial gives none. A parameter that is not as suggested is the setting that the trial was made
with. Further columns of numbers are kept as metrics. Told again, what is recorded is skipped, and what differs is refused.";

/// Record the results of trials.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    #[command(flatten)]
    target: Target,
    /// The trial's number; or a file of results, a table or lines of JSON; - for standard input
    #[arg(value_name = "TRIAL|FILE", allow_hyphen_values = true)]
    trial: Option<String>,
    /// Its value
    #[arg(value_name = "VALUE", allow_hyphen_values = true)]
    value: Option<String>,
    /// Amend what is recorded where a table differs from it
    #[arg(long, conflicts_with = "value")]
    amend: bool,
    /// The column of a table that has a parameter, or the value, where it is called otherwise; can be repeated
    #[arg(long, value_name = "NAME=COLUMN", conflicts_with = "value")]
    column: Vec<Assignment>,
}

pub fn run(options: &Options) -> Result<()> {
    match (options.trial.as_deref(), options.value.as_deref()) {
        (Some("-"), None) => read_results(options, STANDARD_INPUT, stdin().lock()),
        (None, None) if options.target.json => read_results(options, STANDARD_INPUT, stdin().lock()),
        (Some("-"), Some(value)) => {
            Err(Usage::new("usage", format!("with - values come from standard input, got {} too", quoted(value)))
                .into())
        }
        (Some(trial), Some(value)) => {
            let (trial, value) = (trial_number(trial)?, finite(value)?);
            let mut session = options.target.open_to_tell()?;
            session.tell(trial, value)?;
            print_ends(&session, &[(trial, TrialState::Observed)], options.target.json)
        }
        (Some(file), None) if file.parse::<usize>().is_err() => {
            read_results(options, file, &content(Path::new(file))?[..])
        }
        (_, None) => {
            let hint = "manyhands tell STUDY TRIAL VALUE, manyhands tell STUDY FILE.csv, or manyhands tell STUDY - for lines of JSON";
            Err(Usage::new("usage", "a trial and its value are needed").hint(hint).into())
        }
        (None, Some(_)) => Err(Usage::new("usage", "a trial is needed").into()),
    }
}

/// Records a table.
fn table(options: &Options, shown: String, bytes: Vec<u8>) -> Result<()> {
    let on_conflict = if options.amend { OnConflict::Amend } else { OnConflict::Refuse };
    let names = options.column.iter().map(|column| (column.name.clone(), column.text.clone())).collect();
    let map = ColumnMap { names, is_external: false };
    TableInput { shown, bytes, map, on_conflict }.record(&options.target)
}

/// Lines of JSON are recorded as they come; trials as `export` writes them, and tables, when all of them are there.
fn read_results(options: &Options, shown: &str, mut input: impl BufRead) -> Result<()> {
    let unreadable = || format!("cannot read {shown}");
    let mut first = Vec::new();
    while first.trim_ascii().is_empty() && input.read_until(b'\n', &mut first).with_context(unreadable)? > 0 {}
    // A list is no line that can be told, and no header either.
    let is_json = first.trim_ascii_start().starts_with(b"{") || first.trim_ascii_start().starts_with(b"[");
    let is_exported = is_json && report::trials::is_exported_line(&first);
    if is_json && !is_exported || (first.trim_ascii().is_empty() && shown == STANDARD_INPUT) {
        if options.amend || !options.column.is_empty() {
            let hint = "to amend a trial by itself: manyhands amend STUDY TRIAL VALUE";
            let message = format!("--amend and --column are for tables, and {shown} has none");
            return Err(Usage::new("usage", message).hint(hint).into());
        }
        let file = if shown == STANDARD_INPUT { String::new() } else { format!("{shown}, ") };
        return lines(&options.target, &file, first.chain(input));
    }
    let mut bytes = first;
    input.read_to_end(&mut bytes).with_context(unreadable)?;
    table(options, shown.to_string(), bytes)
}

const STANDARD_INPUT: &str = "standard input";

/// Records lines of JSON; `file` names where they are from in errors.
fn lines(target: &Target, file: &str, input: impl BufRead) -> Result<()> {
    let (mut session, mut done) = (None, Vec::new());
    let mut result = read_lines(target, (file, input), &mut session, &mut done);
    // A bad line is the error to report, even if standard output cannot be written either.
    let printed = match &session {
        Some(session) => print_ends(session, &done, target.json),
        None if target.json => print_json(&report::ends::json(&[])),
        None => Ok(()),
    };
    if session.is_none() {
        // Without any line, a study that cannot be opened is still reported.
        result = result.and_then(|()| target.open().map(drop));
    }
    result.and(printed)
}

fn read_lines(
    target: &Target,
    (file, input): (&str, impl BufRead),
    session: &mut Option<Session>,
    done: &mut Vec<(usize, TrialState)>,
) -> Result<()> {
    for (index, line) in input.lines().enumerate() {
        let before = if done.is_empty() { "" } else { " (the lines before it are recorded)" };
        let place = || format!("{file}line {}{before}", index + 1);
        let line = line.map_err(|error| Usage::new("line", error.to_string())).with_context(place)?;
        if !line.trim().is_empty() {
            let line = read(&line).with_context(place)?;
            let session = match session {
                Some(session) => session,
                None => session.insert(open_for(target, &line).with_context(place)?),
            };
            done.push(record(session, line).with_context(place)?);
        }
    }
    Ok(())
}

fn read(line: &str) -> Result<TellLine> {
    let usage = |bad: report::tell_line::BadLine| Usage { code: "line", message: bad.to_string(), hint: bad.hint };
    Ok(report::tell_line::read(line).map_err(usage)?)
}

/// The study's session. An evaluation made elsewhere may create the study; the end of a trial may not.
fn open_for(target: &Target, line: &TellLine) -> Result<Session> {
    match line {
        TellLine::External(outside) => target.open_with(|source| {
            Ok(source.study().spec.included(&Ledger::default(), &outside.params, None).map(drop)?)
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
