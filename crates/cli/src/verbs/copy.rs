//! `manyhands copy`: a study that goes on in another space.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use manyhands_core::text::quoted;
use manyhands_report as report;
use manyhands_store::{Access, CopyPlan, Error as StoreError, Session};

use crate::assignment::Assignment;
use crate::output::print_json;
use crate::refusal::Usage;
use crate::stderr::say;
use crate::store_option::{StoreOption, open};
use crate::study_file::read;
use crate::target::Target;

const EXAMPLES: &str = "\
Examples:
  manyhands copy train wider.toml                      trials of the study train that fit the space of wider.toml come along
  manyhands copy train.toml wider.toml --default dropout=0.0    wider.toml has a new parameter; the old trials had 0.0

Values, failures, metrics and times come along, as evaluations made elsewhere: they do not count as trials of the new study.
What does not fit is listed. The old study stays as it is.";

/// Start a study with the trials of another: for a wider, narrower or extended space, or a longer list of candidates.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// The study to copy: its name, or its study file
    #[arg(value_name = "OLD")]
    old: String,
    /// The study file of the new study; its name must be another one
    #[arg(value_name = "NEW.toml")]
    new: PathBuf,
    /// The value that a parameter, which only the new study has, had in the old trials; can be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    default: Vec<Assignment>,
    #[command(flatten)]
    store: StoreOption,
    /// Print JSON, also for errors
    #[arg(long)]
    pub json: bool,
}

pub fn run(options: &Options) -> Result<()> {
    let location = options.store.location(Some(&options.new))?;
    let (source, _) = read(&options.new, || open(&location, Access::Read).ok())?;
    let domain = source.study().spec.domain();
    let plan = CopyPlan { defaults: options.default.iter().map(|assignment| assignment.read(domain)).collect() };
    let old = Target::new(options.old.clone(), options.store.clone(), options.json);
    let mut old = match old.file() {
        Some(_) => old.open_existing()?,
        None => {
            let holding = options.store.location_of(&options.old, &options.new)?;
            let opened = open(&holding, Access::Write)
                .and_then(|store| Session::open(store, &options.old, &holding.to_string()));
            opened.map_err(|error| absent(error, options))?
        }
    };
    let copied = old.copy_to(|| open(&location, Access::Create), source, &plan)?;
    if options.json {
        return print_json(&report::copy::json(&copied));
    }
    report::copy::lines(old.name(), &copied).iter().for_each(|line| say(line));
    Ok(())
}

/// The error that the old study is in neither of the stores where it is looked for by its name.
fn absent(error: StoreError, options: &Options) -> anyhow::Error {
    if options.store.is_given() || !matches!(error, StoreError::NoStore { .. } | StoreError::Empty { .. }) {
        return error.into();
    }
    let (old, new) = (quoted(&options.old), options.new.display());
    let message = format!("there is no study {old} in a store beside {new}, and none in the current folder");
    Usage::new("unknown-study", message).hint("give its study file, or name its store with --store").into()
}
