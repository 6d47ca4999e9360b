//! `manyhands fail`: a trial that gives no value.

use anyhow::Result;
use clap::Args;
use manyhands_core::TrialState;

use super::tell::{print_ends, trial_number};
use crate::target::Target;

const EXAMPLE: &str = "\
Example:
  manyhands fail study.toml 7 --reason diverged

The point of a failed trial counts as tried: others are preferred to it. For a trial that did not run, use cancel.";

/// Record that a trial failed and gives no value.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub struct Options {
    #[command(flatten)]
    pub target: Target,
    /// The trial's number
    #[arg(value_name = "TRIAL")]
    trial: String,
    /// Why it failed
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

pub fn run(options: &Options) -> Result<()> {
    let trial = trial_number(&options.trial)?;
    options.target.open_to_tell()?.fail(trial, &options.reason)?;
    print_ends(&[(trial, TrialState::Failed)], options.target.json)
}
