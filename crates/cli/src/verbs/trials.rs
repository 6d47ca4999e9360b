//! `manyhands trials`: the trials with their states and values, all or some of them.

use anyhow::Result;
use clap::{Args, ValueEnum};
use manyhands_core::TrialState;
use manyhands_report::trials::{TrialColumn, TrialColumns, TrialOrder, TrialSelection, UnknownColumn};
use manyhands_report::trials::{hidden_metrics_line, json, text};
use manyhands_store::Session;

use crate::integer::integer_in;
use crate::output::{print, print_json};
use crate::refusal::Usage;
use crate::stderr::say;
use crate::target::Target;

const EXAMPLES: &str = "\
Examples:
  manyhands trials study.toml
  manyhands trials study.toml --top 10                  the ten best values, the best first
  manyhands trials study.toml --sort lr --reverse       by a column, the largest first
  manyhands trials study.toml --sort seconds --top 5    the five with the least of a column
  manyhands trials branin --state failed,pending --json";

/// List trials with their states and values.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    #[command(flatten)]
    target: Target,
    /// Only the N best observed trials, the best first; with --sort, the first N in that order
    #[arg(long, value_name = "N", value_parser = integer_in::<usize>(1..))]
    top: Option<usize>,
    /// In the order of a column: trial, state, a parameter, value, a metric, asked_at, told_at, reason or aim
    #[arg(long, value_name = "COLUMN")]
    sort: Option<String>,
    /// The largest first; blank cells still come last
    #[arg(long)]
    reverse: bool,
    /// Only trials in this state; may be given several times, or several with commas
    #[arg(long, value_enum, value_delimiter = ',')]
    state: Vec<StateName>,
}

/// A state of trials, as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum StateName {
    Observed,
    Pending,
    Failed,
    Cancelled,
}

impl From<StateName> for TrialState {
    fn from(name: StateName) -> Self {
        match name {
            StateName::Observed => Self::Observed,
            StateName::Pending => Self::Pending,
            StateName::Failed => Self::Failed,
            StateName::Cancelled => Self::Cancelled,
        }
    }
}

pub fn run(options: &Options) -> Result<()> {
    check(options)?;
    let session = options.target.open_to_read()?;
    let selection = selection(options, &session)?;
    if options.target.json {
        return print_json(&json(&session, &selection)?);
    }
    print(&text(&session, &selection)?)?;
    hidden_metrics_line(&session, &selection)?.iter().for_each(|line| say(line));
    Ok(())
}

/// The best trials are observed ones: other states alone leave none. What the reverse of the best is would be a guess.
fn check(options: &Options) -> Result<()> {
    if let (Some(most), None, true) = (options.top, &options.sort, options.reverse) {
        let message = "--top with --reverse needs --sort COLUMN, the order whose other end is meant";
        let hint = format!("--top {most} --sort value --reverse lists the {most} largest values");
        return Err(Usage::new("usage", message).hint(hint).into());
    }
    if options.sort.is_some()
        || options.top.is_none()
        || options.state.is_empty()
        || options.state.contains(&StateName::Observed)
    {
        return Ok(());
    }
    let message = "--top lists observed trials, and --state leaves none of them";
    Err(Usage::new("usage", message).hint("leave out --state, or add observed to it").into())
}

fn selection(options: &Options, session: &Session) -> Result<TrialSelection> {
    let column = match &options.sort {
        Some(name) => Some(TrialColumns::of(session).find(name).map_err(unknown)?),
        None => options.reverse.then_some(TrialColumn::Trial),
    };
    let order = match (options.top, column) {
        (_, Some(column)) => TrialOrder::Sorted { column, is_reversed: options.reverse },
        (Some(_), None) => TrialOrder::Best,
        (None, None) => TrialOrder::Number,
    };
    let states = options.state.iter().map(|name| TrialState::from(*name)).collect();
    Ok(TrialSelection { states, order, most: options.top })
}

fn unknown(error: UnknownColumn) -> Usage {
    Usage { code: "unknown-column", message: error.to_string(), hint: error.hint() }
}
