//! `manyhands delete`: a study and its log, removed from the store.

use std::io::{BufRead, IsTerminal, stdin};
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use manyhands_report as report;
use manyhands_report::damage::is_damage;
use manyhands_store::{Access, Error as StoreError, Session};

use crate::output::print_json;
use crate::refusal::Usage;
use crate::stderr::say;
use crate::target::Target;

const EXAMPLE: &str = "\
Example:
  manyhands delete branin --yes

The study and its log cannot be restored; export it first with --format log to keep them.";

/// Delete a study and its log from the store.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub struct Options {
    #[command(flatten)]
    target: Target,
    /// Do not ask for confirmation, and delete it even while workers run its trials
    #[arg(short, long)]
    yes: bool,
}

pub fn run(options: &Options) -> Result<()> {
    let mut session = match options.target.open_existing().map_err(without_creation) {
        Err(error) if options.yes && error.downcast_ref().is_some_and(is_damage) => return delete_damaged(options),
        opened => opened?,
    };
    if !options.yes && !is_confirmed(&mut session)? {
        say("nothing was deleted");
        return Ok(());
    }
    let (name, line) = (session.name().to_string(), report::delete::deleted_line(&session));
    session.delete()?;
    tell(options, &name, &line)
}

/// Of a study that is not there, what helps is which there are, and not how to create it.
fn without_creation(error: anyhow::Error) -> anyhow::Error {
    match error.downcast_ref::<StoreError>() {
        Some(unknown @ StoreError::UnknownStudy { .. }) => {
            Usage::new(unknown.code(), unknown.to_string()).hint("`manyhands studies` lists those of a store").into()
        }
        _ => error,
    }
}

/// Asks on a terminal; elsewhere, and while workers run trials, deleting needs --yes.
fn is_confirmed(session: &mut Session) -> Result<bool> {
    let running = session.survey(0, Duration::ZERO)?.elsewhere.len();
    if running > 0 {
        let message = report::delete::in_use(session, running);
        return Err(Usage::new("study-in-use", message).hint("stop them first, or use --yes").into());
    }
    if !stdin().is_terminal() {
        let message = report::delete::unconfirmed(session);
        return Err(Usage::new("confirmation", message).hint("use --yes to delete it with its log").into());
    }
    say(&report::delete::question(session));
    let mut answer = String::new();
    stdin().lock().read_line(&mut answer)?;
    Ok(["y", "yes"].contains(&answer.trim().to_lowercase().as_str()))
}

/// A study whose log cannot be read can be removed all the same.
fn delete_damaged(options: &Options) -> Result<()> {
    let (store, row) = options.target.row(Access::Write)?;
    store.delete(row.id)?;
    tell(options, &row.name, &report::delete::deleted_damaged_line(&row.name))
}

fn tell(options: &Options, name: &str, text: &str) -> Result<()> {
    if options.target.json {
        return print_json(&report::studies::deleted(name));
    }
    say(text);
    Ok(())
}
