//! `manyhands verify`: whether a stored study is undamaged, and whether its choices follow from its log.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use manyhands_report as report;
use manyhands_store::Inspection;

use crate::output::{print, print_json};
use crate::refusal::Usage;
use crate::stderr::say;
use crate::target::Target;
use crate::write;

const EXAMPLES: &str = "\
Examples:
  manyhands verify study.toml               check the hashes, the order of the log, and the file
  manyhands verify study.toml --choices     also repeat every choice and fit, bit for bit (takes as long as choosing did)
  manyhands verify branin --salvage branin.log     save the undamaged events for `manyhands import`

The running hash detects damage, such as a changed byte or a lost page; it does not protect against forgery.
Choices of an older engine cannot be repeated. They are counted, and the log stays valid.";

/// Check a stored study for damage.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    #[command(flatten)]
    target: Target,
    /// Repeat every choice and every fit and compare them bit for bit
    #[arg(long)]
    choices: bool,
    /// Write the events before the first damaged one to FILE, which `manyhands import` reads
    #[arg(long, value_name = "FILE")]
    salvage: Option<PathBuf>,
}

/// Whether no damage was found.
pub fn run(options: &Options) -> Result<bool> {
    if options.salvage.as_deref() == Some(Path::new("-")) {
        return Err(Usage::new("usage", "--salvage needs a file, got -: standard output has the result").into());
    }
    options.salvage.as_deref().map_or(Ok(()), write::check_folder)?;
    let inspection = options.target.inspect()?;
    let mut faults = inspection.faults.clone();
    let verified = match options.choices {
        true => inspection.verify_choices().map(Some),
        false => inspection.replay().map(|()| None),
    };
    let choices = verified.unwrap_or_else(|error| {
        faults.push(error.to_string());
        None
    });
    if options.target.json {
        print_json(&report::verify::json(&inspection, choices.as_ref(), &faults))?;
    } else {
        print(&report::verify::text(&inspection, choices.as_ref()))?;
        report::verify::fault_lines(&faults).iter().for_each(|line| say(line));
        if !faults.is_empty() && options.salvage.is_none() {
            say(&report::verify::hint_line(&inspection));
        }
    }
    if let Some(file) = &options.salvage {
        salvage(inspection, file)?;
    }
    Ok(faults.is_empty())
}

/// Writes the sound events to a file.
fn salvage(inspection: Inspection, file: &Path) -> Result<()> {
    if !inspection.has_sound_file() {
        let message =
            "nothing was written: the study file that the store has is damaged, and its log needs a sound one";
        return Err(Usage::new("damaged-file", message).hint(report::verify::OWN_FILE).into());
    }
    let events = inspection.events();
    write::file(file, inspection.salvage()?.as_bytes())?;
    say(&report::verify::salvaged_line(events, &file.display().to_string()));
    Ok(())
}
