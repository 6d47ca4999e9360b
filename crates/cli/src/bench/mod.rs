//! `manyhands bench`: how fast this is here, against what the machine can do, with the limits it must keep.

mod append;
mod certified;
mod durable;
mod fit;
mod fleet;
mod growth;
mod live;
mod measure;
mod million;
mod part;
mod problem;
mod products;
mod quality;
mod report;
mod rows;
mod sample;
mod strategy;
mod suggest;
mod table;
mod verbs;

use std::io::{Write, stdout};

use anyhow::{Context, Result};
use clap::{Args, Subcommand, ValueEnum};

pub use self::part::run_part;
use self::report::Report;
use crate::progress::Progress;

const EXAMPLES: &str = "\
Examples:
  manyhands bench                       every section, within two minutes
  manyhands bench --full                at the sizes the limits were set for
  manyhands bench --only append --json  one section, for programs
  manyhands bench --full --only durable --postgres postgres://me@host/scratch
  manyhands bench quality               how good suggestions are, not how fast
  manyhands bench strategy              how the default strategy was settled

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
    #[arg(long, value_name = "NAME")]
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
}

impl Options {
    /// Whether programs listen.
    pub fn speaks_json(&self) -> bool {
        match &self.other {
            Some(Other::Quality(options)) => options.json,
            Some(Other::Strategy(options)) => options.json,
            None => self.json,
        }
    }
}

/// How large the measurements are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Size {
    Quick,
    Full,
}

impl Size {
    /// The number of points that the runs go up to.
    fn rounds(self) -> usize {
        match self {
            Self::Quick => 300,
            Self::Full => 1000,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Section {
    /// Appending one point to the factor
    Append,
    /// A live run on 100,000 candidates
    Live,
    /// A live run on a million candidates
    Million,
    /// One exact posterior sample on a million candidates
    Sample,
    /// How the cost of a suggestion grows
    Growth,
    /// Suggestions of a learned model, fits included
    Suggest,
    /// Maxima with a proof, by branch and bound
    Certified,
    /// Asking and telling through a store, reopening a study, fleets of workers, what each verb costs
    Durable,
}

/// Runs the sections and prints what they found; whether every limit was kept.
pub fn run(options: &Options) -> Result<bool> {
    match &options.other {
        Some(Other::Quality(options)) => return quality::run(options).map(|()| true),
        Some(Other::Strategy(options)) => return strategy::run(options).map(|()| true),
        None => {}
    }
    let size = if options.full { Size::Full } else { Size::Quick };
    let mut report = Report::new(size);
    for &section in Section::value_variants() {
        if options.only.is_empty() || options.only.contains(&section) {
            section.run(size, options.postgres.as_deref(), &mut report)?;
        }
    }
    let text = if options.json { serde_json::to_string_pretty(&report.to_json())? } else { table::render(&report) };
    writeln!(stdout(), "{text}").context("cannot write to standard output")?;
    Ok(report.passed())
}

impl Section {
    fn run(self, size: Size, postgres: Option<&str>, report: &mut Report) -> Result<()> {
        let rounds = size.rounds();
        match self {
            Self::Append => report.rows.extend(append::measure(&Progress::new("append", append::REPEATS))?),
            Self::Live => report.rows.extend(live::measure(rounds)?),
            Self::Million => report.rows.extend(million::measure(rounds)?),
            Self::Sample => report.rows.extend(sample::measure(rounds)?),
            Self::Growth => report.growth.extend(growth::measure(size)?),
            Self::Suggest => report.rows.extend(suggest::measure(size)?),
            Self::Certified => report.rows.extend(certified::measure()?),
            Self::Durable => report.rows.extend(durable::measure(size, postgres)?),
        }
        Ok(())
    }
}
