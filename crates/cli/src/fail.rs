//! `manyhands fail` and `manyhands cancel`: trials that give no value.

use anyhow::Result;
use clap::Args;
use manyhands_core::TrialState;

use crate::show;
use crate::target::Target;
use crate::tell::number;

const FAIL: &str = "\
Example:
  manyhands fail study.toml 7 --reason diverged

The point of a failed trial counts as tried: others are preferred to it. If the trial was called off before it ran, use cancel.";

/// Record that a trial failed and gives no value.
#[derive(Debug, Args)]
#[command(after_help = FAIL)]
pub struct FailOptions {
    #[command(flatten)]
    pub target: Target,
    /// The trial's number
    #[arg(value_name = "TRIAL")]
    trial: String,
    /// Why it failed
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

pub fn fail(options: &FailOptions) -> Result<()> {
    let trial = number(&options.trial)?;
    options.target.open_to_tell()?.fail(trial, &options.reason)?;
    show::states(&[(trial, TrialState::Failed)], options.target.json)
}

const CANCEL: &str = "\
Example:
  manyhands cancel study.toml 7

The trial counts as if it had never been asked for; its point may be suggested again.";

/// Call off a trial: its point is free again, and a worker that runs it stops.
#[derive(Debug, Args)]
#[command(after_help = CANCEL)]
pub struct CancelOptions {
    #[command(flatten)]
    pub target: Target,
    /// The trial's number
    #[arg(value_name = "TRIAL")]
    trial: String,
}

pub fn cancel(options: &CancelOptions) -> Result<()> {
    let trial = number(&options.trial)?;
    options.target.open_to_tell()?.cancel(trial)?;
    show::states(&[(trial, TrialState::Cancelled)], options.target.json)
}
