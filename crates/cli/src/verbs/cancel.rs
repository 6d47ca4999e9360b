//! `manyhands cancel`: a trial that is not to be run after all.

use anyhow::Result;
use clap::Args;
use manyhands_core::TrialState;

use crate::trial::TrialTarget;

const EXAMPLE: &str = "\
Example:
  manyhands cancel study.toml 7

The trial counts as if it had never been suggested.";

/// Cancel a trial: its point may be suggested again, and a worker that runs it stops.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub struct Options {
    #[command(flatten)]
    of: TrialTarget,
}

pub fn run(options: &Options) -> Result<()> {
    let trial = options.of.number()?;
    let mut session = options.of.target.open_to_tell()?;
    session.cancel(trial)?;
    options.of.print_end(&session, TrialState::Cancelled)
}
