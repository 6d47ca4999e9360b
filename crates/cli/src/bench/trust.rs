//! `manyhands bench trust`: whether what a study says is true, on problems whose optimum is known.

use anyhow::Result;
use clap::Args;
use manyhands_lab::trust::TrustBench;

use super::{SeedOptions, print};
use crate::progress::TerminalProgress;

const EXAMPLES: &str = "\
Examples:
  manyhands bench trust                                the problems that figures are reported from, 20 runs each
  manyhands bench trust --seeds 100 --first-seed 201   as in docs/trust.md
  manyhands bench trust --tuned                        the problems that the constants were chosen on
  manyhands bench trust --only branin hartmann6

Every run is 100 evaluations in batches of 5, with a learned model. After 20, 40, 60 and 100 of them: whether the best point
can be improved by no more than the model said (right), what it said beside the truth (gain, regret), how often its intervals
have held so far (record) and how many at random points hold the true value (coverage, which should be 0.9). Also: the true
regret of the point recommended, beside that of the best reading, and what the rules of `stop` save and cost.

Everything is the same for any number of threads (RAYON_NUM_THREADS).";

/// Measure how far what a study says can be trusted: the best point, what may still be gained, intervals, stopping.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Only these problems, of either half
    #[arg(long, value_name = "NAME", num_args = 1..)]
    only: Vec<String>,
    /// The problems that the constants were chosen on, instead of the others
    #[arg(long, conflicts_with = "only")]
    tuned: bool,
    #[command(flatten)]
    seeds: SeedOptions,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Makes the runs and prints the report.
pub fn run(options: &Options) -> Result<()> {
    let bench = TrustBench::new(&options.only, options.tuned, options.seeds.protocol())?;
    let progress = TerminalProgress::new("trust", bench.runs());
    let report = bench.run(&|| progress.advance(1))?;
    drop(progress);
    print(options.json, || report.to_json(), || report.to_text())
}
