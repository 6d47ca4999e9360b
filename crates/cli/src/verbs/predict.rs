//! `manyhands predict`: the posterior at given points.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use manyhands_report as report;

use crate::output::{print, print_json};
use crate::table_input::points;
use crate::target::Target;

const EXAMPLES: &str = "\
Examples:
  printf 'x1,x2\\n0.5,2\\n3,7\\n' > points.csv
  manyhands predict study.toml --at points.csv
  manyhands predict study.toml --at points.csv --json

The file has one column per parameter and one row per point, as a spreadsheet saves it. mean and sd are given the observed trials, sd_pending given the
pending ones as well. Where kernel, noise and norm_bound are given, lower and upper are the ends of a confidence band that holds
everywhere at once (kind \"theorem\"); otherwise of the model's interval of probability 0.9 at each point, widened by what its
record asks for (kind \"model\").";

/// Predict values, with their uncertainty, at the points of a CSV file.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    #[command(flatten)]
    target: Target,
    /// A CSV file with one column per parameter; - for standard input
    #[arg(long, value_name = "FILE")]
    at: PathBuf,
}

pub fn run(options: &Options) -> Result<()> {
    let mut session = options.target.open_to_read()?;
    let rows = points(&options.at, session.spec().domain())?;
    let named: Vec<_> = rows.iter().map(|row| row.named.clone()).collect();
    let predictions = session.study()?.predict_named(&named)?;
    if options.target.json {
        return print_json(&report::predict::json(&session, &predictions));
    }
    print(&report::predict::text(&session, &rows, &predictions))
}
