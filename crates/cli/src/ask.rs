//! `manyhands ask`: suggestions, each aware of what is pending and of the ones before it.

use anyhow::Result;
use clap::Args;
use manyhands_core::{Suggestion, TrialState};
use serde_json::Value as Json;

use crate::show;
use crate::target::Target;
use crate::whole::whole;

const EXAMPLES: &str = "\
Examples:
  manyhands ask study.toml              one suggestion, for people
  manyhands ask study.toml -n 5 --json  five, for programs: trial, state, params, mean, sd, multiplier, score
  manyhands ask study.toml -n 8 --key plate-3   safe to repeat when the answer was lost
  manyhands tell study.toml 0 1.3       what came of trial 0";

/// Suggest trials to run, given what is observed and what is still pending.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    #[command(flatten)]
    pub target: Target,
    /// How many
    #[arg(short = 'n', long, value_name = "N", default_value_t = 1)]
    #[arg(allow_negative_numbers = true, value_parser = whole::<usize>(1..))]
    number: usize,
    /// A name for this ask: repeated with the same key it gives the same suggestions, with what became of them, and asks
    /// for nothing new
    #[arg(long, value_name = "TEXT")]
    key: Option<String>,
}

pub fn run(options: &Options) -> Result<()> {
    let mut session = options.target.open()?;
    let suggestions = match &options.key {
        Some(key) => session.ask_with_key(options.number, key)?,
        None => session.ask(options.number)?,
    };
    if options.target.json {
        let list = suggestions.iter().map(|suggestion| show::suggestion(suggestion, &session)).collect();
        return show::print(&Json::Array(list).to_string());
    }
    let names = session.spec().domain().names();
    let state = |s: &Suggestion| session.ledger().trials()[s.trial].state();
    // Of an ask that is repeated, some trials may have ended.
    let is_over = suggestions.iter().any(|suggestion| state(suggestion) != TrialState::Pending);
    let first = if is_over { &["trial", "state"][..] } else { &["trial"] };
    let header: Vec<String> = first.iter().chain(&names).chain(&["mean", "sd"]).map(ToString::to_string).collect();
    let row = |s: &Suggestion| {
        let first = [s.trial.to_string()].into_iter().chain(is_over.then(|| state(s).to_string()));
        let numbers = [s.choice.mean, s.choice.sd].map(show::stated);
        first.chain(s.choice.params.iter().map(show::text_of)).chain(numbers).collect()
    };
    show::print(&show::table(&header, &suggestions.iter().map(row).collect::<Vec<_>>()))
}
