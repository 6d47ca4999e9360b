//! `manyhands best`: the best trial.

use anyhow::Result;
use clap::Args;
use manyhands_report as report;

use crate::output::{print, print_json};
use crate::target::Target;

const EXAMPLES: &str = "\
Examples:
  manyhands best study.toml
  manyhands best branin --json | jq .params

The best trial is the observed one with the best confidence bound, which need not have the best value. Above 1,000 values
only the 64 best values are compared, each by a model of the values nearby, and regret_bound is null.";

/// Show the best trial.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    #[command(flatten)]
    target: Target,
}

pub fn run(options: &Options) -> Result<()> {
    let mut session = options.target.open_to_read()?;
    let best = session.study()?.best()?;
    let domain = session.spec().domain();
    if options.target.json {
        return print_json(&report::best::json(&best, domain));
    }
    print(&report::best::text(&best, domain))
}
