//! `manyhands ask`: suggestions, each aware of pending trials and of the suggestions before it.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use manyhands_core::Suggestion;
use manyhands_core::text::counted;
use manyhands_report as report;
use manyhands_store::Session;

use crate::caution;
use crate::integer::integer_in;
use crate::output::{print, print_as_is, print_json};
use crate::refusal::Usage;
use crate::stderr::say;
use crate::target::Target;
use crate::write;

const EXAMPLES: &str = "\
Examples:
  manyhands ask study.toml              one suggestion, for people
  manyhands ask study.toml -n 5 --json  five, for programs: trial, state, params, mean, sd, multiplier, score
  manyhands ask study.toml -n 8 --key plate-3   safe to repeat when the answer was lost
  manyhands ask study.toml -n 8 --csv plate.csv  a table to be filled in, for a spreadsheet
  manyhands tell study.toml 0 1.3       the result of trial 0
  manyhands tell study.toml plate.csv   the results of the table";

/// Suggest trials to run, given what is observed and what is still pending.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    #[command(flatten)]
    target: Target,
    /// How many
    #[arg(short = 'n', long, value_name = "N", default_value_t = 1)]
    #[arg(allow_negative_numbers = true, value_parser = integer_in::<usize>(1..))]
    number: usize,
    /// A name for this ask: repeated with the same key it gives the same suggestions, with their present states, and
    /// suggests nothing new
    #[arg(long, value_name = "TEXT")]
    key: Option<String>,
    /// Write a table to be filled in: trial, parameters, and an empty column value; - for standard output
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    csv: Option<PathBuf>,
}

pub fn run(options: &Options) -> Result<()> {
    if let Some(path) = &options.csv {
        check_new(path)?;
    }
    let mut session = options.target.open_to_ask()?;
    caution::before_first_ask(&session);
    let suggestions = match &options.key {
        Some(key) => session.ask_with_key(options.number, key)?,
        None => session.ask(options.number)?,
    };
    if options.target.json {
        return print_json(&report::ask::json(&session, &suggestions));
    }
    if let Some(path) = &options.csv {
        return write_plate(path, &session, &suggestions);
    }
    print(&report::ask::text(&session, &suggestions))
}

/// Refuses to replace a file, which may be a table that was filled in; and a folder that is not there, before anything is asked.
fn check_new(path: &Path) -> Result<()> {
    if path == Path::new("-") {
        return Ok(());
    }
    let refuse = |message: String, hint: &str| Err(Usage::new("file", message).hint(hint).into());
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase()).unwrap_or_default();
    if ["xlsx", "xls", "ods", "numbers"].contains(&ending.as_str()) {
        let message = format!("{} cannot be written: the table is text, and .{ending} is a workbook", path.display());
        return refuse(message, "give it the ending .csv, which every spreadsheet opens; nothing was asked for");
    }
    if path.exists() {
        let message = format!("{} is there already, and may have results in it; nothing was asked for", path.display());
        return refuse(message, "tell its results and give the new table another name, or move it away");
    }
    let folder = write::folder_of(path);
    if !folder.is_dir() {
        let message = format!("{} cannot be written: there is no folder {}", path.display(), folder.display());
        return refuse(message, "make the folder first; nothing was asked for");
    }
    Ok(())
}

fn write_plate(path: &Path, session: &Session, suggestions: &[Suggestion]) -> Result<()> {
    let table = report::plate::csv(session, suggestions)?;
    if path == Path::new("-") {
        return print_as_is(&table);
    }
    let trials: Vec<String> = suggestions.iter().map(|suggestion| suggestion.trial.to_string()).collect();
    let pending = || format!("trials {} are pending; `manyhands trials --state pending` lists them", trials.join(", "));
    write::file(path, table.as_bytes()).with_context(pending)?;
    say(&format!("wrote {} with {}; fill in the column value", path.display(), counted(suggestions.len(), "trial")));
    Ok(())
}
