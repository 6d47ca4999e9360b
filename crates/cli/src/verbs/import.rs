//! `manyhands import`: a study that was exported as a log, or results from before it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use manyhands_core::text::counted;
use manyhands_report::plate::ColumnMap;
use manyhands_store::{Access, Error as StoreError, OnConflict, Session, StudyLog};

use crate::assignment::Assignment;
use crate::refusal::Usage;
use crate::stderr::say;
use crate::store_option::StoreOption;
use crate::study_file::unreadable;
use crate::table_input::{TableInput, content};
use crate::target::Target;

const EXAMPLES: &str = "\
Examples:
  manyhands export branin --format log -o branin.log
  manyhands import branin.log --store postgres://me@host/studies

The imported log is the same, event for event, and so are the suggestions that follow.

  manyhands import study.toml --csv last-year.csv
  manyhands import study.toml --csv last-year.csv --column temp=\"T (C)\" --column value=Yield

A table of earlier results: one row per evaluation, one column per parameter, and one with the value. It is imported completely or
not at all; rows that the study has already, and rows without a value, are skipped. Further columns of numbers are kept as metrics.";

/// Import a study from another store, or a table of earlier results.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// The exported log; with --csv a study file (its study is created on first use), or the name of a study
    #[arg(value_name = "FILE|STUDY")]
    file: PathBuf,
    /// A table of earlier results; - for standard input
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// The column that has a parameter, or the value, where it is called otherwise; can be repeated
    #[arg(long, value_name = "NAME=COLUMN", requires = "csv")]
    column: Vec<Assignment>,
    #[command(flatten)]
    store: StoreOption,
    /// Print JSON, also for errors
    #[arg(long)]
    json: bool,
}

pub fn run(options: &Options) -> Result<()> {
    match &options.csv {
        Some(table) => import_table(options, table),
        None => import_log(options),
    }
}

fn import_table(options: &Options, table: &Path) -> Result<()> {
    let names = options.column.iter().map(|column| (column.name.clone(), column.text.clone())).collect();
    let map = ColumnMap { names, is_external: true };
    let (shown, bytes) = (table.display().to_string(), content(table)?);
    let study = options.file.to_string_lossy().into_owned();
    let target = Target::new(study, options.store.clone(), options.json);
    TableInput { shown, bytes, map, on_conflict: OnConflict::Refuse }.record(&target)
}

fn import_log(options: &Options) -> Result<()> {
    let path = &options.file;
    let text = fs::read_to_string(path).map_err(|error| unreadable(path, &error))?;
    // A log that is refused makes no store.
    let log = StudyLog::read(&text).map_err(|error| match error {
        StoreError::CorruptExport { .. } | StoreError::CorruptExportedEvent(_) => {
            let message = format!("{} is not a complete log: {error}", path.display());
            let is_table =
                path.extension().is_some_and(|ending| ["csv", "tsv", "toml"].iter().any(|known| ending == *known));
            let table = "a table of results is imported into a study with: manyhands import STUDY --csv FILE";
            let hint = if is_table { Some(table.to_string()) } else { error.hint() };
            anyhow::Error::from(Usage { code: error.code(), message, hint })
        }
        error => error.into(),
    })?;
    let session = Session::import(options.store.open(Access::Create)?, log)?;
    let trials = counted(session.ledger().trials().len(), "trial");
    say(&format!("imported study {} with {trials}", session.name()));
    Ok(())
}
