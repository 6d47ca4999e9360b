//! `manyhands run`: a study's trials, run by this machine, until the study has all of them.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use manyhands_core::TrialState;
use manyhands_report as report;
use manyhands_report::status::Effort;
use manyhands_run::{Error as RunError, Plan, Stop, Summary};
use manyhands_store::Session;

use crate::integer::integer_in;
use crate::output::{print, print_json};
use crate::signals;
use crate::stderr::say;
use crate::target::Target;
use crate::workers::{WorkOptions, check_taken, control, exit_code, plan, store_file, work};
use crate::{exit, picture, write};

const EXAMPLES: &str = "\
Examples:
  manyhands run study.toml                 as many trials at once as [run] says, until all have ended
  manyhands run study.toml                 again: it continues where it stopped
  manyhands run study.toml --workers 8 --trials 200
  manyhands run study.toml --sync          in batches: nothing is started before the whole batch has ended
  manyhands run study.toml --adopt         after `ask`: it runs the trials that were asked for, too

Ctrl-C waits for the running trials and starts no more. A second Ctrl-C, or TERM, stops them, to be run again next time, and
ends the process within three seconds; a result that cannot be recorded by then is kept beside the logs, and the same
command reports it later.
A trial's value is the last line that its command prints: a number, or a JSON object with \"value\". All that it prints is
kept in the folder manyhands-logs beside the study file.";

/// Run a study: start its command with suggested parameters, several at once, and record the results.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    work: WorkOptions,
    /// How many trials at once [default: workers in the study file]
    #[arg(long, value_name = "N", value_parser = integer_in::<u32>(1..=10_000))]
    workers: Option<u32>,
    /// How many trials to suggest, over all runs; evaluations from elsewhere do not count [default: trials in the study
    /// file]
    #[arg(long, value_name = "N", value_parser = integer_in::<u32>(1..))]
    trials: Option<u32>,
    /// Wait for a whole batch to end before suggesting the next
    #[arg(long)]
    sync: bool,
    /// Where the picture goes, .svg or .png [default: in the folder of the logs]
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

/// Runs it; the exit code.
pub fn run(options: &Options) -> Result<u8> {
    options.plot.as_deref().map_or(Ok(()), picture::check)?;
    check_taken(&options.work, &options.target)?;
    let stop = Stop::new();
    let listening = signals::listen(&stop)?;
    let (mut session, settings) = options.target.open_to_run()?;
    store_file(&session, &options.target)?;
    let mut plan = plan(settings, options.target.folder()?, &options.work);
    if let Some(workers) = options.workers {
        plan.settings.workers = workers as usize;
        session.set_workers(Some(plan.settings.workers));
    }
    plan.settings.trials = options.trials.map(|trials| trials as usize).or(plan.settings.trials);
    plan.sync = options.sync;
    let reader = session.another_session();
    let control = control(&session, &plan, stop);
    listening.guard(&control.unreported);
    let summary = work(session, plan.clone(), &control, options.work.quiet)?;
    listening.close();
    if control.stop.is_urgent() {
        return cut_short(options, reader.name());
    }
    finish(options, reader, summary, &plan)
}

/// There is no time for the summary and the picture.
fn cut_short(options: &Options, name: &str) -> Result<u8> {
    if options.target.json {
        // Where the terminal is gone nobody reads it, and the exit code says the same.
        let _ = print_json(&report::run::cut_short(name));
    } else {
        say(report::run::HOW_TO_CONTINUE);
    }
    Ok(exit::INTERRUPTED)
}

/// The best point, what may still be gained, and where the picture is.
fn finish(options: &Options, session: Session, summary: Summary, plan: &Plan) -> Result<u8> {
    // Picture and status are of the same moment.
    let mut session = session.frozen()?;
    let path = picture_path(options, plan, session.name());
    // The status is printed even if the picture cannot be drawn.
    let drawn = make_folder(options, &path).and_then(|()| picture::write(&mut session, &path, None));
    let shown = matches!(drawn, Ok(true)).then(|| path.display().to_string());
    if options.target.json {
        let status = report::status::json(&mut session, Effort::Bounded)?;
        print_json(&report::run::json(status, summary, shown.as_deref()))?;
    } else {
        print(&report::status::text(&mut session, Effort::Bounded)?)?;
        shown.map_or(Ok(()), |path| print(&report::run::picture_line(&path)))?;
        let by_hand = session.by_hand()?;
        report::run::endings(summary, session.ledger().pending(), &by_hand).iter().for_each(|line| say(line));
    }
    drawn?;
    let failed = session.ledger().count(TrialState::Failed);
    if !summary.interrupted && failed > 0 && session.ledger().count(TrialState::Observed) == 0 {
        let logs = plan.logs(session.name());
        return Err(RunError::NoneSucceeded { failed, logs }.into());
    }
    Ok(exit_code(summary))
}

/// Where the picture goes: beside the logs by default.
fn picture_path(options: &Options, plan: &Plan, study: &str) -> PathBuf {
    let folder = options.target.file().and_then(|file| file.parent().map(Path::to_path_buf)).unwrap_or_default();
    let beside_logs = || folder.join(&plan.settings.logs).join(study).join(format!("{study}.svg"));
    options.plot.clone().unwrap_or_else(beside_logs)
}

/// Makes the folder of the logs, where no trial has; one that the user has named is there.
fn make_folder(options: &Options, path: &Path) -> Result<()> {
    if options.plot.is_some() {
        return Ok(());
    }
    let folder = write::folder_of(path);
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))
}
