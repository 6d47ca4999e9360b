//! `manyhands bench`: the benches of the lab, measured on this machine.

mod quality;
mod strategy;
mod trust;

use anyhow::{Context, Result};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use manyhands_lab::Binary;
use manyhands_lab::bench::{Monitor, Section, Size, SpeedBench, Task};
use manyhands_lab::quality::{Protocol, Schedule};
use serde_json::Value as Json;

use crate::integer::integer_in;
use crate::output;
use crate::progress::TerminalProgress;

const EXAMPLES: &str = "\
Examples:
  manyhands bench                       every section, within two minutes
  manyhands bench --full                at the sizes the limits were set for
  manyhands bench --only append --json  one section, for programs
  manyhands bench --full --only durable --postgres postgres://me@host/scratch
  manyhands bench quality               how good suggestions are, not how fast
  manyhands bench strategy              how the default strategy was settled
  manyhands bench trust                 whether what a study says is true

The exit code is 1 if a limit is missed. RAYON_NUM_THREADS=1 measures one thread.";

/// Measure speed and memory against what the machine can do, and check the limits.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub struct Options {
    #[command(subcommand)]
    other: Option<Other>,
    /// Small sizes, within two minutes (the default)
    #[arg(long)]
    quick: bool,
    /// The sizes that the limits were set for; takes several minutes
    #[arg(long, conflicts_with = "quick")]
    full: bool,
    /// Only this section; may be given several times
    #[arg(long, value_name = "NAME", value_parser = sections())]
    only: Vec<Section>,
    /// A PostgreSQL database whose fleets of workers are measured too, beside SQLite's (durable)
    #[arg(long, value_name = "URL")]
    postgres: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What else can be measured.
#[derive(Debug, Subcommand)]
enum Other {
    Quality(quality::Options),
    Strategy(strategy::Options),
    Trust(trust::Options),
}

/// Which random runs: shared by the benches of quality, of the strategy and of trust.
#[derive(Debug, Args)]
struct SeedOptions {
    /// Runs of each problem and pool
    #[arg(long, value_name = "N", default_value_t = Protocol::default().seeds, value_parser = integer_in::<usize>(0..))]
    seeds: usize,
    /// The seed of the first run; the others follow
    #[arg(long, value_name = "SEED", default_value_t = Protocol::default().first_seed, value_parser = integer_in::<u64>(0..))]
    first_seed: u64,
}

impl SeedOptions {
    /// The default protocol with these seeds.
    fn protocol(&self) -> Protocol {
        Protocol { seeds: self.seeds, first_seed: self.first_seed, ..Protocol::default() }
    }
}

/// How runs are made: shared by the benches of quality and of the strategy.
#[derive(Debug, Args)]
struct RunOptions {
    #[command(flatten)]
    seeds: SeedOptions,
    /// Evaluations of a run on a problem [default: 60; on bbob problems 120 in 10 dimensions, 200 from 20]
    #[arg(long, value_name = "N", value_parser = integer_in::<usize>(0..))]
    evaluations: Option<usize>,
    /// Suggestions at a time, from 1 to 20; with --asynchronous, workers
    #[arg(long, value_name = "N", default_value_t = Protocol::default().batch, value_parser = integer_in::<usize>(0..))]
    batch: usize,
    /// Evaluations take random times; each result is told as it comes, and one new suggestion asked for
    #[arg(long)]
    asynchronous: bool,
}

impl RunOptions {
    fn protocol(&self) -> Protocol {
        let schedule = if self.asynchronous { Schedule::Asynchronous } else { Schedule::Batches };
        let &Self { evaluations, batch, .. } = self;
        Protocol { evaluations, batch, schedule, ..self.seeds.protocol() }
    }
}

fn sections() -> impl TypedValueParser<Value = Section> {
    let value = |section: Section| PossibleValue::new(section.name()).help(section.title());
    PossibleValuesParser::new(Section::ALL.map(value)).try_map(|name| {
        Section::ALL.into_iter().find(|section| section.name() == name).ok_or("there is no such section")
    })
}

/// Runs a bench and prints its report; whether every limit was kept.
pub fn run(options: &Options) -> Result<bool> {
    match &options.other {
        Some(Other::Quality(options)) => return quality::run(options).map(|()| true),
        Some(Other::Strategy(options)) => return strategy::run(options).map(|()| true),
        Some(Other::Trust(options)) => return trust::run(options).map(|()| true),
        None => {}
    }
    let size = if options.full { Size::Full } else { Size::Quick };
    let bench = SpeedBench { size, sections: options.only.clone(), postgres: options.postgres.clone() };
    let binary = Binary::at(std::env::current_exe().context("cannot find the path of this program")?);
    let report = bench.run(&binary, &Bars)?;
    print(options.json, || report.to_json(), || report.to_text())?;
    Ok(report.passed())
}

/// Measures one part of a bench in this process and prints the result as JSON.
pub fn run_part(part: &str) -> Result<()> {
    output::print(&manyhands_lab::bench::run_part(part, &Bars)?)
}

/// Prints a report as JSON or as text.
fn print(as_json: bool, json: impl FnOnce() -> Json, text: impl FnOnce() -> String) -> Result<()> {
    let text = if as_json { serde_json::to_string_pretty(&json())? } else { text() };
    output::print(&text)
}

/// Tasks as progress bars.
struct Bars;

impl Monitor for Bars {
    fn begin(&self, name: &str, steps: usize) -> Box<dyn Task> {
        Box::new(TerminalProgress::new(name, steps))
    }
}

impl Task for TerminalProgress {
    fn advance(&self, steps: usize) {
        Self::advance(self, steps);
    }
}
