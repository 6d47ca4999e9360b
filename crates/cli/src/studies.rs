//! `manyhands studies` and `manyhands delete`: what a store holds, and what it shall hold no more.

use std::io::{BufRead, IsTerminal, stdin};
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use manyhands_core::{TrialState, counted};
use manyhands_store::{Access, Error as StoreError, Session};
use serde_json::{Value as Json, json};

use crate::progress::say;
use crate::refusal::Usage;
use crate::show;
use crate::target::{StoreOption, Target};

const STUDIES: &str = "\
Examples:
  manyhands studies
  manyhands studies --store postgres://me@host/studies --json";

/// List the studies of a store.
#[derive(Debug, Args)]
#[command(after_help = STUDIES)]
pub struct StudiesOptions {
    #[command(flatten)]
    store: StoreOption,
    /// Print JSON, also for errors
    #[arg(long)]
    pub json: bool,
}

pub fn studies(options: &StudiesOptions) -> Result<()> {
    let store = options.store.open(Access::Read)?;
    let (mut list, mut table) = (Vec::new(), Vec::new());
    for row in store.studies()? {
        let created = row.created.to_string();
        let session = match Session::open(store.clone(), &row.name, "") {
            Ok(session) => session,
            // The others are sound.
            Err(error @ (StoreError::Corrupt { .. } | StoreError::Damaged { .. })) => {
                list.push(json!({"study": row.name, "created_at": created, "damaged": error.to_string()}));
                table.push(vec![row.name, created[..19].replace('T', " "), format!("damaged: {error}")]);
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        let count = |state| session.ledger().count(state);
        let counts = [TrialState::Observed, TrialState::Pending, TrialState::Failed].map(count);
        let [observed, pending, failed] = counts;
        list.push(json!({
            "study": row.name, "created_at": created, "observed": observed, "pending": pending, "failed": failed,
        }));
        let counts = counts.map(|count| count.to_string());
        table.push([vec![row.name, created[..19].replace('T', " ")], counts.to_vec()].concat());
    }
    if options.json {
        return show::print(&Json::Array(list).to_string());
    }
    let header = ["study", "created (UTC)", "observed", "pending", "failed"].map(String::from);
    show::print(&show::table(&header, &table))
}

const DELETE: &str = "\
Example:
  manyhands delete branin --yes

The study and its whole log are gone for good; export it first with --format log to keep them.";

/// Delete a study and its log from the store.
#[derive(Debug, Args)]
#[command(after_help = DELETE)]
pub struct DeleteOptions {
    #[command(flatten)]
    pub target: Target,
    /// Do not ask first (it asks on a terminal), and do not mind workers that run its trials
    #[arg(short, long)]
    yes: bool,
}

pub fn delete(options: &DeleteOptions) -> Result<()> {
    let mut session = match options.target.open_existing() {
        Err(error) if options.yes && is_damaged(&error) => return delete_damaged(options),
        opened => opened?,
    };
    let running = session.survey(0, Duration::ZERO)?.elsewhere.len();
    if running > 0 && !options.yes {
        let are = if running == 1 { "is" } else { "are" };
        let running = counted(running, "trial");
        let message = format!("{running} of study {} {are} being run by workers", session.name());
        return Err(Usage::new("study-in-use", message).hint("stop them first, or say --yes").into());
    }
    let (name, trials) = (session.name().to_string(), counted(session.ledger().trials().len(), "trial"));
    if !options.yes && !stdin().is_terminal() {
        let message = format!("nothing was deleted: study {name} has {trials}");
        return Err(Usage::new("confirmation", message).hint("say --yes to delete it with its log").into());
    }
    if !options.yes {
        say(&format!("delete study {name} with its {trials}? [y/N]"));
        let mut answer = String::new();
        stdin().lock().read_line(&mut answer)?;
        if !["y", "yes"].contains(&answer.trim().to_lowercase().as_str()) {
            say("nothing was deleted");
            return Ok(());
        }
    }
    session.delete()?;
    if options.target.json {
        return show::print(&json!({"study": name, "deleted": true}).to_string());
    }
    say(&format!("deleted study {name} with {trials}"));
    Ok(())
}

fn is_damaged(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(StoreError::Corrupt { .. } | StoreError::Damaged { .. }))
}

/// A study whose log cannot be read can be removed all the same.
fn delete_damaged(options: &DeleteOptions) -> Result<()> {
    let (store, row) = options.target.row(Access::Write)?;
    store.delete(row.id)?;
    if options.target.json {
        return show::print(&json!({"study": row.name, "deleted": true}).to_string());
    }
    say(&format!("deleted study {}, whose log was damaged", row.name));
    Ok(())
}
