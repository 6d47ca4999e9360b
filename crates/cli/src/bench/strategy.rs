//! `manyhands bench strategy`: the experiments that settled the default strategy, run again.

use anyhow::Result;
use clap::Args;
use manyhands_lab::quality::StrategyBench;

use super::{RunOptions, print};
use crate::progress::TerminalProgress;

const EXAMPLES: &str = "\
Examples:
  manyhands bench strategy                      every question; a quarter of an hour on two cores
  manyhands bench strategy widths --seeds 40    one question, more runs
  manyhands bench strategy bends --problems branin-noise-5 hartmann6
  manyhands bench strategy widths --seeds 100 --asynchronous --batch 10

Questions: bends, kernels, lengthscales, noise, design, widths, choices, sums, elsewhere, repeats, pending, schedules. Each is asked on the same problems: log10 of the
simple regret at the end, by default after 60 evaluations, in batches of 5; the answers to schedules say otherwise. The first
answer is the default. Every other answer is tested against it in pairs of runs with the same seed, on each problem and on
all of them (`all`): in how many runs it ends with less regret, with more, or with the same; a signed-rank test, corrected for
the number of answers (Holm); the share of runs that end in a local optimum, or no better than half-way to one; what it costs.
Regrets below --floor are ties. Medians of 20 runs vary by about 0.2 between sets of seeds (--first-seed), more where some
runs end in another optimum: --seeds 100 shows smaller differences; a run takes about 0.1 s. `mean` is of the medians of the
problems shown.";

/// Run the experiments that settled the default strategy: every choice against its alternatives.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Only these questions
    #[arg(value_name = "QUESTION")]
    questions: Vec<String>,
    #[command(flatten)]
    runs: RunOptions,
    /// Regrets below this are alike where runs are compared
    #[arg(long, value_name = "REGRET", default_value_t = StrategyBench::FLOOR)]
    floor: f64,
    /// Other problems than the usual fourteen
    #[arg(long, value_name = "NAME", num_args = 1..)]
    problems: Vec<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Makes the runs and prints the report.
pub fn run(options: &Options) -> Result<()> {
    let bench = StrategyBench::new(&options.questions, &options.problems, options.runs.protocol(), options.floor)?;
    let progress = TerminalProgress::new("strategy", bench.runs());
    let report = bench.run(&|| progress.advance(1))?;
    drop(progress);
    print(options.json, || report.to_json(), || report.to_text())
}
