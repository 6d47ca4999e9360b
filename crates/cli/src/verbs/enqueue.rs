//! `manyhands enqueue`: points that are tried before suggestions.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use manyhands_core::text::counted;
use manyhands_core::{Domain, Value};
use manyhands_report as report;

use crate::assignment::Assignment;
use crate::output::{print, print_json};
use crate::stderr::say;
use crate::table_input;
use crate::target::Target;

const EXAMPLES: &str = "\
Examples:
  manyhands enqueue study.toml lr=0.003 layers=4 act=gelu    one point
  manyhands enqueue study.toml --csv points.csv               one row per point, one column per parameter
  manyhands enqueue study.toml                                what is in the queue
  manyhands enqueue study.toml --clear                        forget what is in the queue

`run`, `worker` and `ask` take enqueued points before they suggest others, in the order of the queue. They count as trials.";

/// Have points of your own tried first.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    #[command(flatten)]
    target: Target,
    /// The values of the parameters; those with one value may be left out
    #[arg(value_name = "NAME=VALUE", index = 2)]
    point: Vec<Assignment>,
    /// A table of points: one row per point, one column per parameter; - for standard input
    #[arg(long, value_name = "FILE", conflicts_with = "point")]
    csv: Option<PathBuf>,
    /// Forget the points that are in the queue
    #[arg(long, conflicts_with_all = ["point", "csv"])]
    clear: bool,
}

pub fn run(options: &Options) -> Result<()> {
    if options.clear {
        let mut session = options.target.open_to_tell()?;
        let cleared = session.clear_queue()?;
        say(&format!("forgot {} of the queue", counted(cleared, "point")));
        return if options.target.json { print_json(&report::queue::json(&session)) } else { Ok(()) };
    }
    let session = match (&options.csv, options.point.as_slice()) {
        (None, []) => options.target.open_to_read()?,
        _ => {
            let mut points = Vec::new();
            // Read before anything is created.
            let mut session = options.target.open_with(|source| {
                points = self::points(options, source.study().spec.domain())?;
                Ok(())
            })?;
            if points.is_empty() {
                points = self::points(options, session.spec().domain())?;
            }
            session.enqueue(&points)?;
            session
        }
    };
    if options.target.json {
        return print_json(&report::queue::json(&session));
    }
    print(&report::queue::text(&session))
}

/// The points that were given, by name; refused where one is not in the domain.
fn points(options: &Options, domain: &Domain) -> Result<Vec<Vec<(String, Value)>>> {
    let Some(path) = &options.csv else {
        let point: Vec<(String, Value)> = options.point.iter().map(|assignment| assignment.read(domain)).collect();
        domain.embed_named(&point)?;
        return Ok(vec![point]);
    };
    Ok(table_input::points(path, domain)?.into_iter().map(|row| row.named).collect())
}
