//! `manyhands bench strategy`: the experiments that settled the default strategy, run again.

use anyhow::Result;
use clap::Args;
use manyhands_lab::quality::StrategyBench;

use super::{SeedOptions, print};
use crate::progress::TerminalProgress;

const EXAMPLES: &str = "\
Examples:
  manyhands bench strategy                      every question; a quarter of an hour on two cores
  manyhands bench strategy widths --seeds 40    one question, more runs
  manyhands bench strategy bends --problems branin-noise-5 hartmann6

Questions: bends, kernels, lengthscales, noise, design, widths, schedules. Each is asked on the same problems: medians of
log10 of the simple regret after 60 evaluations, in batches of 5 unless the answer says otherwise. The first answer is the
default. Medians of 20 runs vary by about 0.2 between sets of seeds (--first-seed), more where some runs
end in another optimum; `mean` is over the problems shown.";

/// Run the experiments that settled the default strategy: every choice against its alternatives.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Only these questions
    #[arg(value_name = "QUESTION")]
    questions: Vec<String>,
    #[command(flatten)]
    seeds: SeedOptions,
    /// Other problems than the usual fourteen
    #[arg(long, value_name = "NAME", num_args = 1..)]
    problems: Vec<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Makes the runs and prints the report.
pub fn run(options: &Options) -> Result<()> {
    let bench = StrategyBench::new(&options.questions, &options.problems, options.seeds.protocol())?;
    let progress = TerminalProgress::new("strategy", bench.runs());
    let report = bench.run(&|| progress.advance(1))?;
    drop(progress);
    print(options.json, || report.to_json(), || report.to_text())
}
