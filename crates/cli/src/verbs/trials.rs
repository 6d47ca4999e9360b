//! `manyhands trials`: every trial with its state and value.

use anyhow::Result;
use clap::Args;
use manyhands_report as report;

use crate::output::{print, print_json};
use crate::target::Target;

const EXAMPLES: &str = "\
Examples:
  manyhands trials study.toml
  manyhands trials branin --json | jq '.[] | select(.state == \"failed\")'";

/// List all trials with their states and values.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    #[command(flatten)]
    target: Target,
}

pub fn run(options: &Options) -> Result<()> {
    let session = options.target.open_to_read()?;
    if options.target.json {
        return print_json(&report::trials::json(&session)?);
    }
    print(&report::trials::text(&session)?)
}
