//! `manyhands ask`: suggestions, each aware of pending trials and of the suggestions before it.

use anyhow::Result;
use clap::Args;
use manyhands_report as report;

use crate::integer::integer_in;
use crate::output::{print, print_json};
use crate::target::Target;

const EXAMPLES: &str = "\
Examples:
  manyhands ask study.toml              one suggestion, for people
  manyhands ask study.toml -n 5 --json  five, for programs: trial, state, params, mean, sd, multiplier, score
  manyhands ask study.toml -n 8 --key plate-3   safe to repeat when the answer was lost
  manyhands tell study.toml 0 1.3       the result of trial 0";

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
}

pub fn run(options: &Options) -> Result<()> {
    let mut session = options.target.open_to_ask()?;
    let suggestions = match &options.key {
        Some(key) => session.ask_with_key(options.number, key)?,
        None => session.ask(options.number)?,
    };
    if options.target.json {
        return print_json(&report::ask::json(&session, &suggestions));
    }
    print(&report::ask::text(&session, &suggestions))
}
