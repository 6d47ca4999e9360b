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

The best trial is the observed one whose value is surest to be good: the one with the best bound. Above 1,000 values it is
the surest of the 64 best values, each judged by the values nearby, and it has no regret_bound.";

/// Show the best trial.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    #[command(flatten)]
    pub target: Target,
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
