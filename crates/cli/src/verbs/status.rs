//! `manyhands status`: the state of a study.

use anyhow::Result;
use clap::Args;
use manyhands_report::status::{Effort, json, text};

use crate::output::{print, print_json};
use crate::target::Target;

const EXAMPLES: &str = "\
Examples:
  manyhands status study.toml
  manyhands status branin --json     counts, best, information, hallucination, multiplier, certificate, outlook
  manyhands status branin --outlook  above 1,000 values too

Where kernel, noise and norm_bound are given, the certificate bounds the distance from the optimum: a theorem. A learned model
has an outlook instead: how much better than the best point the functions are that it holds possible, and how often its
intervals have held so far. It is an opinion, and is not given before 20 trials or where its intervals held too seldom.
Above 1,000 values outlook or certificate, the information and the hallucination factor take seconds to minutes and are left
out (null in JSON) unless --outlook asks for them.";

/// Show the state of a study: its trials, the best point, and what may still be gained.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    #[command(flatten)]
    target: Target,
    /// Compute the outlook or the certificate above 1,000 values too
    #[arg(long, visible_alias = "certificate")]
    outlook: bool,
}

pub fn run(options: &Options) -> Result<()> {
    let mut session = options.target.open_to_read()?;
    let effort = if options.outlook { Effort::Full } else { Effort::Bounded };
    if options.target.json {
        return print_json(&json(&mut session, effort)?);
    }
    print(&text(&mut session, effort)?)
}
