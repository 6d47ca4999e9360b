//! `manyhands import`: a study that was exported as a log.

use std::fs;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use manyhands_core::text::counted;
use manyhands_store::{Access, Error as StoreError, Session, StudyLog};

use crate::refusal::Usage;
use crate::stderr::say;
use crate::store_option::StoreOption;
use crate::study_file::unreadable;

const EXAMPLE: &str = "\
Example:
  manyhands export branin --format log -o branin.log
  manyhands import branin.log --store postgres://me@host/studies

The imported log is the same, event for event, and so are the suggestions that follow.";

/// Import a study that was exported as a log from another store.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub struct Options {
    /// The exported log
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    store: StoreOption,
}

pub fn run(options: &Options) -> Result<()> {
    let path = &options.file;
    let text = fs::read_to_string(path).map_err(|error| unreadable(path, &error))?;
    // A log that is refused makes no store.
    let log = StudyLog::read(&text).map_err(|error| match error {
        StoreError::CorruptExport { .. } | StoreError::CorruptExportedEvent(_) => {
            let message = format!("{} is not a complete log: {error}", path.display());
            anyhow::Error::from(Usage { code: error.code(), message, hint: error.hint() })
        }
        error => error.into(),
    })?;
    let session = Session::import(options.store.open(Access::Create)?, log)?;
    let trials = counted(session.ledger().trials().len(), "trial");
    say(&format!("imported study {} with {trials}", session.name()));
    Ok(())
}
