//! `manyhands delete`: a study and its log, removed from the store.

use std::io::{BufRead, IsTerminal, stdin};
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use manyhands_core::text::counted;
use manyhands_report as report;
use manyhands_report::damage::is_damage;
use manyhands_store::{Access, Session};

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
    pub target: Target,
    /// Do not ask for confirmation, and delete it even while workers run its trials
    #[arg(short, long)]
    yes: bool,
}

pub fn run(options: &Options) -> Result<()> {
    let mut session = match options.target.open_existing() {
        Err(error) if options.yes && error.downcast_ref().is_some_and(is_damage) => return delete_damaged(options),
        opened => opened?,
    };
    if !options.yes && !is_confirmed(&mut session)? {
        say("nothing was deleted");
        return Ok(());
    }
    let (name, trials) = (session.name().to_string(), trials(&session));
    session.delete()?;
    tell(options, &name, &format!("deleted study {name} with {trials}"))
}

/// Asks on a terminal; elsewhere, and while workers run trials, deleting needs --yes.
fn is_confirmed(session: &mut Session) -> Result<bool> {
    let running = session.survey(0, Duration::ZERO)?.elsewhere.len();
    if running > 0 {
        let are = if running == 1 { "is" } else { "are" };
        let running = counted(running, "trial");
        let message = format!("{running} of study {} {are} being run by workers", session.name());
        return Err(Usage::new("study-in-use", message).hint("stop them first, or use --yes").into());
    }
    let (name, trials) = (session.name(), trials(session));
    if !stdin().is_terminal() {
        let message = format!("nothing was deleted: study {name} has {trials}");
        return Err(Usage::new("confirmation", message).hint("use --yes to delete it with its log").into());
    }
    say(&format!("delete study {name} with its {trials}? [y/N]"));
    let mut answer = String::new();
    stdin().lock().read_line(&mut answer)?;
    Ok(["y", "yes"].contains(&answer.trim().to_lowercase().as_str()))
}

fn trials(session: &Session) -> String {
    counted(session.ledger().trials().len(), "trial")
}

/// A study whose log cannot be read can be removed all the same.
fn delete_damaged(options: &Options) -> Result<()> {
    let (store, row) = options.target.row(Access::Write)?;
    store.delete(row.id)?;
    tell(options, &row.name, &format!("deleted study {}, whose log was damaged", row.name))
}

fn tell(options: &Options, name: &str, text: &str) -> Result<()> {
    if options.target.json {
        return print_json(&report::studies::deleted(name));
    }
    say(text);
    Ok(())
}
