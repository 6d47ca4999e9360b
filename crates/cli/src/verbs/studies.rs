//! `manyhands studies`: what a store holds.

use anyhow::Result;
use clap::Args;
use manyhands_report::studies::{json, list, text};
use manyhands_store::Access;

use crate::output::{print, print_json};
use crate::store_option::StoreOption;

const EXAMPLES: &str = "\
Examples:
  manyhands studies
  manyhands studies --store postgres://me@host/studies --json";

/// List the studies of a store.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    #[command(flatten)]
    store: StoreOption,
    /// Print JSON, also for errors
    #[arg(long)]
    json: bool,
}

pub fn run(options: &Options) -> Result<()> {
    let studies = list(&options.store.open(Access::Read)?)?;
    if options.json {
        return print_json(&json(&studies));
    }
    print(&text(&studies))
}
