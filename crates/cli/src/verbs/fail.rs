//! `manyhands fail`: a trial that gives no value.

use anyhow::Result;
use clap::Args;
use manyhands_core::TrialState;

use crate::trial::TrialTarget;

const EXAMPLE: &str = "\
Example:
  manyhands fail study.toml 7 --reason diverged

The point of a failed trial counts as tried: others are preferred to it. For a trial that did not run, use cancel.";

/// Record that a trial failed and gives no value.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub struct Options {
    #[command(flatten)]
    of: TrialTarget,
    /// Why it failed
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

pub fn run(options: &Options) -> Result<()> {
    let trial = options.of.number()?;
    let mut session = options.of.target.open_to_tell()?;
    session.fail(trial, &options.reason)?;
    options.of.print_end(&session, TrialState::Failed)
}
