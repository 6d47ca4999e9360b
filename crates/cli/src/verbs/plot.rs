//! `manyhands plot`: a picture of a study.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use manyhands_store::Session;

use crate::progress::say;
use crate::refusal::Usage;
use crate::target::Target;
use crate::write;

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
    pub target: Target,
    /// The file to write, .svg or .png
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

pub fn run(options: &Options) -> Result<()> {
    check(&options.output)?;
    let mut session = options.target.open_to_read()?;
    write(&mut session, &options.output)?;
    say(&format!("wrote {}", options.output.display()));
    Ok(())
}

/// Refuses names of other kinds of pictures.
pub fn check(path: &Path) -> Result<()> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("svg" | "png") => Ok(()),
        _ => {
            Err(Usage::new("usage", format!("a picture's name must end in .svg or .png, got {}", path.display()))
                .into())
        }
    }
}

/// Draws a study into a file, whose name says which kind of picture.
pub fn write(session: &mut Session, path: &Path) -> Result<()> {
    let name = session.name().to_string();
    let picture = manyhands_plots::draw(session.study()?, &name)?;
    let is_png = path.extension().is_some_and(|extension| extension == "png");
    let bytes = if is_png { picture.png } else { picture.svg.into_bytes() };
    write::file(path, &bytes)
}
