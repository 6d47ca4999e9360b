//! `manyhands status`: the state of a study.

use anyhow::Result;
use clap::Args;
use manyhands_report::status::{Effort, json, text};

use crate::output::{print, print_json};
use crate::target::Target;

const EXAMPLES: &str = "\
Examples:
  manyhands status study.toml
  manyhands status branin --json     counts, best, information, hallucination, multiplier, certificate
  manyhands status branin --certificate

Above 1,000 values the certificate, the information and the hallucination factor take seconds to minutes and are left out
(null in JSON) unless --certificate asks for them.";

/// Show the state of a study: its trials, the best of them, and a bound on the distance from the optimum.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    #[command(flatten)]
    target: Target,
    /// Compute the certificate above 1,000 values too
    #[arg(long)]
    certificate: bool,
}

pub fn run(options: &Options) -> Result<()> {
    let mut session = options.target.open_to_read()?;
    let effort = if options.certificate { Effort::Full } else { Effort::Bounded };
    if options.target.json {
        return print_json(&json(&mut session, effort)?);
    }
    print(&text(&mut session, effort)?)
}
