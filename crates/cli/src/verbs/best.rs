//! `manyhands best`: the best point.

use anyhow::Result;
use clap::Args;
use manyhands_report as report;

use crate::output::{print, print_json};
use crate::target::Target;

const EXAMPLES: &str = "\
Examples:
  manyhands best study.toml
  manyhands best branin --json | jq .params
  manyhands best branin --cautious

The best point is what to deploy. Where the noise is negligible it has the best value. Otherwise it is the setting, among
those tried, whose estimate (posterior mean) is best: the best of many noisy readings is mostly good luck. --cautious gives
the setting whose lower bound (upper when minimizing) is best: less good on average, and less often a disappointment.
Above 1,000 noisy values only the settings of the 64 best readings are compared, each by a model of the values nearby.";

/// Show the best point: what to deploy.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    #[command(flatten)]
    target: Target,
    /// The setting with the best lower bound (upper when minimizing) instead of the best estimate
    #[arg(long)]
    cautious: bool,
}

pub fn run(options: &Options) -> Result<()> {
    let mut session = options.target.open_to_read()?;
    let study = session.study()?;
    let best = if options.cautious { study.best_cautious()? } else { study.best()? };
    if options.target.json {
        return print_json(&report::best::json(&best, session.spec().domain()));
    }
    print(&report::best::text(&best, session.spec()))
}
