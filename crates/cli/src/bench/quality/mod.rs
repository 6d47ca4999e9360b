//! `manyhands bench quality`: how close to the optimum the optimizer gets, on known problems and real pools.

mod report;
mod table;

use std::io::{Write, stdout};
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use manyhands_lab::quality::{Bench, Contender, Program, Protocol, Schedule, Selection};

use self::report::Report;
use crate::integer::integer_in;
use crate::progress::Progress;
use crate::stderr::say;

const EXAMPLES: &str = r#"Examples:
  manyhands bench quality                                   every problem, 20 games of 60 evaluations each
  manyhands bench quality --only branin hartmann6 --seeds 5
  manyhands bench quality --asynchronous --batch 10         ten workers, results one by one
  manyhands bench quality --data ~/data --only suzuki       a pool of real candidates
  manyhands bench quality --list                            what there is to play
  manyhands bench quality --only branin --against "tpe=python3 crates/lab/peers/peers.py optuna-tpe"

Problems: median and quartiles of log10 of the simple regret, that is, of the distance to the optimum of the best point
evaluated, judged by its true value. Pools: evaluations until one of the best 1 % of the candidates is evaluated,
without repeats; an evaluation draws one of a candidate's measurements. The files are looked for in the folder of
--data and in its folder `pools`.

A program of --against is started for each game. It reads a line of JSON at a time: first the problem,
  {"play": "training", "seed": 7, "batch": 5, "direction": "minimize", "constraints": [],
   "parameters": [{"name": "lr", "float": [1e-5, 0.1], "scale": "log"}, {"name": "act", "choice": ["relu", "gelu"]}]}
then {"ask": 5}, which it answers with {"points": [{"lr": 0.01, "act": "relu"}, ...]} on one line, and
{"tell": {"trial": 0, "value": 0.3}} for every result. Trials are numbered from 0 in the order of the points. The command is
split at spaces, without quoting; an answer is waited for as long as it takes; pools are not played.

Everything but the seconds is the same for any number of threads (RAYON_NUM_THREADS). A missed aim is shown and does not
change the exit code."#;

/// Measure how good suggestions are: regret on known problems, evaluations needed on pools of real candidates.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Only these problems or pools
    #[arg(long, value_name = "NAME", num_args = 1..)]
    only: Vec<String>,
    /// Games of each problem and pool
    #[arg(long, value_name = "N", default_value_t = Protocol::default().seeds, value_parser = integer_in::<usize>(0..))]
    seeds: usize,
    /// The seed of the first game; the others follow
    #[arg(long, value_name = "SEED", default_value_t = Protocol::default().first_seed, value_parser = integer_in::<u64>(0..))]
    first_seed: u64,
    /// Evaluations of a problem
    #[arg(long, value_name = "N", default_value_t = Protocol::default().evaluations, value_parser = integer_in::<usize>(0..))]
    evaluations: usize,
    /// Suggestions at a time, from 1 to 20; with --asynchronous, workers
    #[arg(long, value_name = "N", default_value_t = Protocol::default().batch, value_parser = integer_in::<usize>(0..))]
    batch: usize,
    /// Evaluations take random times; each result is told as it comes, and one new suggestion asked for
    #[arg(long)]
    asynchronous: bool,
    /// The folder that holds the files of pools; without it, no pools
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Let another program play the problems too; give it once for each
    #[arg(long, value_name = "NAME=COMMAND")]
    against: Vec<String>,
    /// Say what there is to play, and play nothing
    #[arg(long)]
    list: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

impl Options {
    fn protocol(&self) -> Protocol {
        let schedule = if self.asynchronous { Schedule::Asynchronous } else { Schedule::Batches };
        let &Self { evaluations, batch, seeds, first_seed, .. } = self;
        Protocol { evaluations, batch, schedule, seeds, first_seed, ..Protocol::default() }
    }
}

/// Plays, and prints what came of it.
pub fn run(options: &Options) -> Result<()> {
    let text = if options.list { list(options)? } else { play(options)? };
    writeln!(stdout(), "{text}").context("cannot write to standard output")?;
    Ok(())
}

fn list(options: &Options) -> Result<String> {
    let selection = Selection::new(&[], None)?;
    if options.json {
        return Ok(serde_json::to_string_pretty(&report::list(&selection))?);
    }
    Ok(table::list(&selection))
}

fn play(options: &Options) -> Result<String> {
    let (protocol, threads) = (options.protocol(), rayon::current_num_threads());
    protocol.check()?;
    let selection = Selection::new(&options.only, options.data.as_deref())?;
    for skipped in &selection.skipped {
        say(&format!("skipped: {skipped}"));
    }
    let programs = options.against.iter().map(|text| Program::parse(text).map(Contender::Program));
    let programs = programs.collect::<Result<Vec<_>, _>>()?;
    let bench = |contenders: Vec<Contender>| Bench { contenders, protocol, threads };
    let on_spaces = bench([Contender::ON_SPACES, &programs].concat());
    let on_pools = bench(Contender::ON_POOLS.to_vec());
    let games = on_spaces.games(selection.problems.len()) + on_pools.games(selection.pools.len());
    let progress = Progress::new("quality", games);
    let tick = || progress.advance(1);
    let problems = on_spaces.play(&selection.problems, &tick)?;
    let pools = on_pools.play(&selection.pools, &tick)?;
    drop(progress);
    let report = Report::new(protocol, selection, problems, pools);
    Ok(if options.json { serde_json::to_string_pretty(&report.to_json())? } else { table::render(&report) })
}
