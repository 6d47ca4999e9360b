//! `manyhands trials`, `export` and `import`: what became of every trial, and whole studies as text.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Args, ValueEnum};
use manyhands_core::counted;
use manyhands_run::RunSettings;
use manyhands_store::{Access, Error as StoreError, Session, StudyLog};
use serde_json::{Map, Value as Json};

use crate::progress::say;
use crate::refusal::Usage;
use crate::show;
use crate::target::{StoreOption, Target, unreadable};
use crate::write;

const TRIALS: &str = "\
Examples:
  manyhands trials study.toml
  manyhands trials branin --json | jq '.[] | select(.state == \"failed\")'";

/// List all trials and what became of them.
#[derive(Debug, Args)]
#[command(after_help = TRIALS)]
pub struct TrialsOptions {
    #[command(flatten)]
    pub target: Target,
}

pub fn trials(options: &TrialsOptions) -> Result<()> {
    let session = options.target.open_to_read()?;
    if options.target.json {
        let list = rows(&session, false)?.into_iter().map(Json::Object).collect();
        return show::print(&Json::Array(list).to_string());
    }
    let names = session.spec().domain().names();
    let header: Vec<String> =
        ["trial", "state"].iter().chain(&names).chain(&["value"]).map(ToString::to_string).collect();
    let mut table = Vec::new();
    for (number, entry) in session.ledger().trials().iter().enumerate() {
        let mut row = vec![number.to_string(), entry.state().to_string()];
        row.extend(session.params(number)?.iter().map(|(_, value)| show::text_of(value)));
        let reason = entry.reason().map(show::first_line).unwrap_or_default();
        row.push(entry.value().map_or(reason, show::short));
        table.push(row);
    }
    show::print(&show::table(&header, &table))
}

/// All trials, each with its columns.
fn rows(session: &Session, spread: bool) -> Result<Vec<Map<String, Json>>> {
    let trials = session.ledger().trials().iter().zip(session.times());
    trials.map(|(trial, times)| Ok(show::trial(trial, times, &session.params(trial.number())?, spread))).collect()
}

const EXPORT: &str = "\
Examples:
  manyhands export study.toml > trials.csv
  manyhands export branin --format jsonl -o trials.jsonl
  manyhands export branin --format log -o branin.log     the whole study, for import into another store";

/// What an export looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One row a trial, one column a parameter
    Csv,
    /// One JSON object a line and trial
    Jsonl,
    /// The study with its whole log, to be imported elsewhere
    Log,
}

/// Write all trials, or the whole study, as text.
#[derive(Debug, Args)]
#[command(after_help = EXPORT)]
pub struct ExportOptions {
    #[command(flatten)]
    pub target: Target,
    /// What to write [default: csv; jsonl with --json]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// The file to write to; - for standard output, which is the default
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub fn export(options: &ExportOptions) -> Result<()> {
    let mut session = options.target.open_to_read()?;
    let usual = if options.target.json { Format::Jsonl } else { Format::Csv };
    let text = match options.format.unwrap_or(usual) {
        Format::Csv => csv_text(&session)?,
        Format::Jsonl => {
            let lines = rows(&session, true)?.into_iter().map(|row| Json::Object(row).to_string());
            lines.collect::<Vec<_>>().join("\n")
        }
        Format::Log => session.export_log()?,
    };
    let text = match text.trim_end() {
        "" => String::new(),
        text => format!("{text}\n"),
    };
    match &options.output {
        Some(path) if path != Path::new("-") => {
            write::file(path, text.as_bytes())?;
            say(&format!("wrote {}", path.display()));
            Ok(())
        }
        _ => show::print_as_is(&text),
    }
}

fn csv_text(session: &Session) -> Result<String> {
    let rows = rows(session, true)?;
    let mut writer = csv::Writer::from_writer(Vec::new());
    let header: Vec<String> = match rows.first() {
        Some(row) => row.keys().cloned().collect(),
        None => {
            let names = session.spec().domain().names();
            let all = ["trial", "state"].into_iter().chain(names).chain(["value", "asked_at", "told_at", "reason"]);
            all.map(str::to_string).collect()
        }
    };
    writer.write_record(&header)?;
    let cell = |value: &Json| match value {
        Json::Null => String::new(),
        Json::String(text) => text.clone(),
        other => other.to_string(),
    };
    for row in &rows {
        writer.write_record(row.values().map(cell))?;
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}

const IMPORT: &str = "\
Example:
  manyhands export branin --format log -o branin.log
  manyhands import branin.log --store postgres://me@host/studies

Its log is the same, event for event, and so are the suggestions that follow.";

/// Take in a study that was exported as a log from another store.
#[derive(Debug, Args)]
#[command(after_help = IMPORT)]
pub struct ImportOptions {
    /// The exported log
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    store: StoreOption,
}

pub fn import(options: &ImportOptions) -> Result<()> {
    let path = &options.file;
    let text = fs::read_to_string(path).map_err(|error| unreadable(path, &error))?;
    // A log that is refused makes no store.
    let log = StudyLog::read(&text).and_then(|log| RunSettings::of_stored(log.source()).map(|_| log));
    let log = log.map_err(|error| match error {
        StoreError::Corrupt { .. } => {
            let message = format!("{} is not a whole log: {error}", path.display());
            let hint = "a log is what manyhands export STUDY --format log writes";
            anyhow::Error::from(Usage::new("corrupt-log", message).hint(hint))
        }
        error => error.into(),
    })?;
    let session = Session::import(options.store.open(Access::Create)?, log)?;
    let trials = counted(session.ledger().trials().len(), "trial");
    say(&format!("imported study {} with {trials}", session.name()));
    Ok(())
}
