//! What `run` and `worker` have in common: options, the plan, and the work itself.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use manyhands_core::study::StopRule;
use manyhands_run::{Control, Plan, RunSettings, Stop, Summary, Unreported};
use manyhands_store::{Access, Session};

use crate::caution;
use crate::exit;
use crate::integer::integer_in;
use crate::live::Live;
use crate::target::Target;

/// The options of both.
#[derive(Debug, Args)]
pub struct WorkOptions {
    /// Continue even if all trials fail. Otherwise three failures in a row (or as many as there are workers) before any
    /// success end the run; the same failure in the first three trials cancels them, too, so that they do not count
    #[arg(long)]
    keep_going: bool,
    /// How long a trial stays reserved for a worker that no longer renews its lease
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = term)]
    lease: Duration,
    /// Take this trial away from the worker that holds it and run it here; may be given several times. That worker, if
    /// it still runs, stops its command when it next renews its lease (three times per --lease); what it reports before
    /// that is kept as a late result
    #[arg(long, value_name = "TRIAL", value_parser = integer_in::<usize>(0..))]
    take: Vec<usize>,
    /// Run the trials here that were asked for by hand (`ask`) and are still pending, with their numbers and parameters.
    /// Otherwise they are left to whoever asked
    #[arg(long)]
    adopt: bool,
    /// Go on although `stop` in [run] says that the study has enough trials
    #[arg(long)]
    no_stop: bool,
    /// Print nothing while it runs
    #[arg(short, long)]
    pub quiet: bool,
}

fn term(text: &str) -> Result<Duration, String> {
    match time(text)? {
        Some(term) if term >= Duration::from_secs(1) => Ok(term),
        _ => Err("it must be a time from 1s, such as 60s or 5m".to_string()),
    }
}

/// A length of time, if it is one; a number alone is refused.
pub fn time(text: &str) -> Result<Option<Duration>, String> {
    match humantime::parse_duration(text) {
        Ok(time) => Ok(Some(time)),
        Err(_) if text.trim().parse::<f64>().is_ok() => Err("a time needs its unit, such as 2s or 10m".to_string()),
        Err(_) => Ok(None),
    }
}

/// The plan of the options.
pub fn plan(settings: RunSettings, folder: PathBuf, options: &WorkOptions) -> Plan {
    let mut plan = Plan::new(settings, folder, options.lease);
    if options.no_stop {
        plan.settings.stop = StopRule::default();
    }
    Plan { keep_going: options.keep_going, take: options.take.clone(), adopt: options.adopt, ..plan }
}

/// Refuses to take trials of a study that is not there, before it is made.
pub fn check_taken(options: &WorkOptions, target: &Target) -> Result<()> {
    if options.take.is_empty() { Ok(()) } else { target.row(Access::Read).map(drop) }
}

/// Stores the study file that was given, if one was, for those who know the study by its name.
pub fn store_file(session: &Session, target: &Target) -> Result<()> {
    if target.file().is_some() {
        session.store_text()?;
    }
    Ok(())
}

/// What stops the run, and what it saves before it ends.
pub fn control(session: &Session, plan: &Plan, stop: Stop) -> Control {
    Control { stop, unreported: Unreported::of(session, plan) }
}

/// Runs trials.
pub fn work(session: Session, plan: Plan, control: &Control, quiet: bool) -> Result<Summary> {
    caution::before_first_ask(&session);
    let live = Live::new(&session, &plan, quiet);
    let summary = manyhands_run::run(session, plan, control, |news| live.show(&news));
    drop(live);
    Ok(summary?)
}

/// The exit code of a run.
pub fn exit_code(summary: Summary) -> u8 {
    if summary.interrupted { exit::INTERRUPTED } else { exit::SUCCESS }
}
