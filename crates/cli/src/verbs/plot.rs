//! `manyhands plot`: a picture of a study.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use crate::picture;
use crate::stderr::say;
use crate::target::Target;

const EXAMPLES: &str = "\
Examples:
  manyhands plot study.toml -o branin.svg
  manyhands plot branin -o branin.png

It shows the values by trial with the best so far and, for one or two parameters, the posterior mean with its
band and the trials on it.";

/// Draw a picture of a study.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    #[command(flatten)]
    target: Target,
    /// The file to write, .svg or .png
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

pub fn run(options: &Options) -> Result<()> {
    picture::check(&options.output)?;
    let mut session = options.target.open_to_read()?;
    picture::write(&mut session, &options.output)?;
    say(&format!("wrote {}", options.output.display()));
    Ok(())
}
