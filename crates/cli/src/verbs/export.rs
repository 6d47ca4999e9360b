//! `manyhands export`: all trials, or the whole study, as text.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Args, ValueEnum};
use manyhands_report::trials;

use crate::output::print_as_is;
use crate::stderr::say;
use crate::target::Target;
use crate::write;

const EXAMPLES: &str = "\
Examples:
  manyhands export study.toml > trials.csv
  manyhands export branin --format jsonl -o trials.jsonl
  manyhands export old.toml --csv | manyhands tell new.toml -   results of one study for another
  manyhands export branin --format log -o branin.log     the whole study, for import into another store";

/// What an export looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One row per trial, one column per parameter and per metric
    Csv,
    /// One JSON object per line, one line per trial
    Jsonl,
    /// The study with its whole log, to be imported elsewhere
    Log,
}

/// Write all trials, or the whole study, as text.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    #[command(flatten)]
    target: Target,
    /// What to write [default: csv; jsonl with --json]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// The same as --format csv
    #[arg(long, conflicts_with_all = ["format", "json"])]
    csv: bool,
    /// The file to write to; - for standard output, which is the default
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub fn run(options: &Options) -> Result<()> {
    options.output.as_deref().map_or(Ok(()), write::check_folder)?;
    let default = if options.target.json { Format::Jsonl } else { Format::Csv };
    let text = match options.format.unwrap_or(default) {
        Format::Csv => {
            let session = options.target.open_to_read()?;
            trials::csv(&trials::TrialColumns::of(&session), &trials::flat_rows(&session)?)?
        }
        Format::Jsonl => trials::json_lines(&options.target.open_to_read()?)?,
        Format::Log => options.target.export_log()?,
    };
    let text = match text.trim_end() {
        "" => String::new(),
        text => format!("{text}\n"),
    };
    match &options.output {
        Some(path) if path != Path::new("-") => {
            write::file(path, text.as_bytes())?;
            say(&format!("wrote {}", path.display()));
            Ok(())
        }
        _ => print_as_is(&text),
    }
}
