//! `manyhands plot`: a picture of a study.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use serde_json::json;

use crate::output::print_json;
use crate::picture::{self, PlotKind};
use crate::stderr::say;
use crate::target::Target;

const EXAMPLES: &str = "\
Examples:
  manyhands plot study.toml -o branin.svg
  manyhands plot branin -o branin.png
  manyhands plot branin -o which-matter.png --kind importance

Without --kind it is one page: the values by trial, on a logarithmic scale of the distance from the best where they span
magnitudes; how much of the posterior mean's variance each parameter has a part in; slices of the posterior through the best
point, each with its interval; maps over the two most important parameters; and metrics, where trials have any.";

/// Draw a picture of a study.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    #[command(flatten)]
    target: Target,
    /// The file to write, .svg or .png
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Only this part of the page
    #[arg(long, value_enum)]
    kind: Option<PlotKind>,
}

pub fn run(options: &Options) -> Result<()> {
    picture::check(&options.output)?;
    let mut session = options.target.open_to_read()?;
    picture::write(&mut session, &options.output, options.kind)?;
    if options.target.json {
        return print_json(&json!({"picture": options.output.display().to_string()}));
    }
    say(&format!("wrote {}", options.output.display()));
    Ok(())
}
