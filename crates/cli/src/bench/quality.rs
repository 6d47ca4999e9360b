//! `manyhands bench quality`: how close to the optimum the optimizer gets, on known problems and real pools.

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, ValueEnum};
use manyhands_lab::quality::{OptimizerProgram, ProblemSet, QualityBench, QualityRequest, RulesBench, Selection};

use super::{RunOptions, print};
use crate::integer::integer_in;
use crate::progress::TerminalProgress;
use crate::stderr::say;

const EXAMPLES: &str = r#"Examples:
  manyhands bench quality                                   every problem, 20 runs of 60 evaluations each
  manyhands bench quality --only branin hartmann6 --seeds 5
  manyhands bench quality --asynchronous --batch 10         ten workers, results one by one
  manyhands bench quality --set test --dimensions 2 5       the BBOB functions, which nothing was tuned on
  manyhands bench quality --data ~/data --only suzuki       a pool of real candidates
  manyhands bench quality --only bbob-f15-d5 bbob-f15-d5-noise-5
  manyhands bench quality --list                            the problems and pools
  manyhands bench quality --rules --seeds 10                the rules with learned models, beside auto
  manyhands bench quality --only branin --against "tpe=python3 crates/lab/peers/peers.py optuna-tpe"
  manyhands bench quality --results runs.csv --against "tpe@4.5=python3 crates/lab/peers/peers.py optuna-tpe"
  manyhands bench quality --results runs.csv others.csv.gz --only-results

Problems: median and quartiles of log10 of the simple regret, that is, of the distance to the optimum of the best point
evaluated, by its true value, and of the inference regret, that of the point recommended at the end: for other programs the one
with the best observed value. A run is stuck if it ends with at least half of the regret of the second-best local optimum. The
others are tested against manyhands in pairs of runs with the same seed (signed-rank test, corrected for their number). Pools: evaluations until one of the best 1 % or 5 % of the candidates is
evaluated, without repeats; an evaluation draws one of a candidate's measurements. The files are looked for in the folder of
--data and in its folder `pools`. Each pool is split in two halves, suzuki-a to tune on and suzuki-b to test on, by places in a
fixed shuffle: without --only, --set tuning runs the first halves and --set test the others.

The 24 functions of the BBOB set run where they are named: bbob-f01-d2 to bbob-f24-d40, in 2, 3, 5, 10, 20 and 40 dimensions, and
with -noise-P behind the name under noise of P % of their standard deviation, P one of 1, 5, 20 and 100. The run with seed n is on
COCO's instance n. Their regrets end at 1e-8.

--rules runs the rules on the problems, with the same seeds, design and noise: medians with quartiles, mean ranks, and paired
signed-rank tests against auto, which decide nothing with fewer than 10 seeds. Two rules are left out: gp-bucb, whose multiplier
is wider than that of igp-bucb, and gp-bucb-bayesian, which needs a finite domain. gp-ucb, gp-ucb-pe, dpp and local-penalization have beta = 4, since their theorems count
candidates. igp-bucb and gp-bts have the widths of their theorems, with which they are nearly random where the model is learned.

A program of --against is started for each run. It reads a line of JSON at a time: first the problem,
  {"play": "training", "seed": 7, "batch": 5, "direction": "minimize", "constraints": [],
   "parameters": [{"name": "lr", "float": [1e-5, 0.1], "scale": "log"}, {"name": "act", "choice": ["relu", "gelu"]}]}
then {"ask": 5}, which it answers with {"points": [{"lr": 0.01, "act": "relu"}, ...]} on one line, and
{"tell": {"trial": 0, "value": 0.3}} for every result. Trials are numbered from 0 in the order of the points. The command is
split at spaces, without quoting; there is no time limit on answers; it is not run on pools.

--results keeps runs on problems, one line each, as soon as they are made: an interrupted comparison goes on where it stopped,
and every system that is in the files is compared. A run is known by its system, problem, seed, batch, schedule and evaluations,
not by its version: take lines out to have runs made again. Regrets have two decimals of log10 there, and in the report.

Everything but the seconds is the same for any number of threads (RAYON_NUM_THREADS). A missed aim is shown and does not
change the exit code."#;

/// Measure how good suggestions are: regret on known problems, evaluations needed on pools of real candidates.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Only these problems or pools
    #[arg(long, value_name = "NAME", num_args = 1..)]
    only: Vec<String>,
    /// Which problems and pools run where none is named
    #[arg(long, value_enum, default_value_t = SetName::Tuning, conflicts_with_all = ["only", "rules"])]
    set: SetName,
    /// The dimensions of the test set [default: all six]
    #[arg(long, value_name = "D", num_args = 1.., value_parser = integer_in::<usize>(0..))]
    dimensions: Vec<usize>,
    /// The test set under noise of P % of each function's standard deviation: 1, 5, 20 or 100
    #[arg(long, value_name = "P", default_value_t = 0, value_parser = integer_in::<u32>(0..))]
    noise: u32,
    #[command(flatten)]
    runs: RunOptions,
    /// The folder that holds the files of pools; without it, no pools
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Run another program on the problems too; may be given several times
    #[arg(long, value_name = "NAME[@VERSION]=COMMAND")]
    against: Vec<String>,
    /// Append every run on a problem to this CSV file, and make none that is in it; further files are only read
    #[arg(long, value_name = "FILE", num_args = 1..)]
    results: Vec<PathBuf>,
    /// Make no run: compare the systems that --results has runs of
    #[arg(long, requires = "results", conflicts_with = "against")]
    only_results: bool,
    /// Compare the rules with each other, on the problems
    #[arg(long, conflicts_with_all = ["data", "list", "results"])]
    rules: bool,
    /// List the problems and pools, and run nothing
    #[arg(long)]
    list: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The sets of problems.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum SetName {
    /// The problems that constants are chosen on, and halves of the pools
    Tuning,
    /// The 24 functions of the BBOB set, and the other halves of the pools
    Test,
}

impl Options {
    fn set(&self) -> Result<ProblemSet> {
        let dimensions = if self.dimensions.is_empty() { &ProblemSet::DIMENSIONS[..] } else { &self.dimensions };
        match self.set {
            SetName::Test => Ok(ProblemSet::Test { dimensions: dimensions.to_vec(), noise: self.noise }),
            SetName::Tuning if self.dimensions.is_empty() && self.noise == 0 => Ok(ProblemSet::Tuning),
            SetName::Tuning => {
                let (allowed, value) = ("test for --dimensions and --noise".to_string(), "tuning".to_string());
                Err(manyhands_lab::Error::Setting { setting: "set", allowed, value }.into())
            }
        }
    }
}

/// Makes the runs and prints the report.
pub fn run(options: &Options) -> Result<()> {
    if options.list {
        let selection = Selection::new(&[], &options.set()?, None)?;
        return print(options.json, || selection.to_json(), || selection.to_text());
    }
    let programs = options.against.iter().map(|text| OptimizerProgram::parse(text)).collect::<Result<_, _>>()?;
    if options.rules {
        return compare_rules(options, programs);
    }
    let bench = QualityBench::new(QualityRequest {
        names: options.only.clone(),
        set: options.set()?,
        data: options.data.clone(),
        programs,
        protocol: options.runs.protocol(),
        results: options.results.clone(),
        only_results: options.only_results,
    })?;
    for skipped in bench.skipped() {
        say(&format!("skipped: {skipped}"));
    }
    let progress = TerminalProgress::new("quality", bench.runs());
    let report = bench.run(&|| progress.advance(1))?;
    drop(progress);
    print(options.json, || report.to_json(), || report.to_text())
}

/// Makes the runs of the rules and prints the report.
fn compare_rules(options: &Options, programs: Vec<OptimizerProgram>) -> Result<()> {
    let bench = RulesBench::new(&options.only, programs, options.runs.protocol())?;
    let progress = TerminalProgress::new("rules", bench.runs());
    let report = bench.run(&|| progress.advance(1))?;
    drop(progress);
    print(options.json, || report.to_json(), || report.to_text())
}
