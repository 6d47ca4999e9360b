//! `manyhands cancel`: a trial that is not to be run after all.

use anyhow::Result;
use clap::Args;
use manyhands_core::TrialState;

use super::tell::{print_ends, trial_number};
use crate::target::Target;

const EXAMPLE: &str = "\
Example:
  manyhands cancel study.toml 7

The trial counts as if it had never been suggested.";

/// Cancel a trial: its point may be suggested again, and a worker that runs it stops.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub struct Options {
    #[command(flatten)]
    pub target: Target,
    /// The trial's number
    #[arg(value_name = "TRIAL")]
    trial: String,
}

pub fn run(options: &Options) -> Result<()> {
    let trial = trial_number(&options.trial)?;
    options.target.open_to_tell()?.cancel(trial)?;
    print_ends(&[(trial, TrialState::Cancelled)], options.target.json)
}
