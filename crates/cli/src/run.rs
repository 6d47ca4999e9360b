//! `manyhands run` and `manyhands worker`: trials, run by this machine, until the study has all of them.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;
use manyhands_core::TrialState;
use manyhands_run::{Error as RunError, Plan, Stop, Summary};
use manyhands_store::Session;

use crate::live::Live;
use crate::progress::say;
use crate::target::Target;
use crate::whole::whole;
use crate::{plot, show, signals, status};

const RUN: &str = "\
Examples:
  manyhands run study.toml                 as many trials at once as [run] says, until there are enough
  manyhands run study.toml                 again: it goes on where it was
  manyhands run study.toml --workers 8 --trials 200
  manyhands run study.toml --sync          whole batches: nothing new before all of it is done

Ctrl-C finishes what runs and starts nothing more; a second Ctrl-C stops what runs, which is then run again next time.
Values are the last line of what the command prints: a number, or a JSON object with \"value\". What it prints is kept in
the folder manyhands-logs beside the study file.";

/// Run a study: start its command with suggested parameters, several at once, and record what comes back.
#[derive(Debug, Args)]
#[command(after_help = RUN)]
pub struct RunOptions {
    #[command(flatten)]
    pub target: Target,
    #[command(flatten)]
    how: How,
    /// How many trials at once [default: workers in the study file]
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..=10_000))]
    workers: Option<u32>,
    /// How many trials the study is to have [default: trials in the study file]
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..))]
    trials: Option<u32>,
    /// Wait for whole batches before suggesting the next
    #[arg(long)]
    sync: bool,
    /// Where the picture goes, .svg or .png [default: in the folder of the logs]
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

const WORKER: &str = "\
Examples:
  manyhands worker study.toml --store postgres://me@host/studies
  manyhands worker branin --store postgres://me@host/studies --workers 4

Start as many as you like, on as many machines as reach the store. A trial whose worker dies is offered again once its
lease has lapsed; at once, if the worker was on this machine.";

/// Serve a study that others serve too: run its trials one after the other.
#[derive(Debug, Args)]
#[command(after_help = WORKER)]
pub struct WorkerOptions {
    #[command(flatten)]
    pub target: Target,
    #[command(flatten)]
    how: How,
    /// How many trials at once
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole::<u32>(1..=10_000))]
    workers: u32,
}

/// What running has in common.
#[derive(Debug, Args)]
struct How {
    /// Go on although nothing but failures comes back
    #[arg(long)]
    keep_going: bool,
    /// How long a trial is kept for a worker that is not heard of any more
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = term)]
    lease: Duration,
    /// Say nothing while it runs
    #[arg(short, long)]
    quiet: bool,
}

fn term(text: &str) -> Result<Duration, String> {
    match humantime::parse_duration(text) {
        Ok(term) if term >= Duration::from_secs(1) => Ok(term),
        _ => Err("it must be a time from 1s, such as 60s or 5m".to_string()),
    }
}

pub fn run(options: &RunOptions) -> Result<ExitCode> {
    options.plot.as_deref().map_or(Ok(()), plot::check)?;
    let mut session = options.target.open()?;
    let mut plan = plan(&session, &options.target, &options.how)?;
    plan.workers = options.workers.map_or(plan.workers, |workers| workers as usize);
    plan.trials = options.trials.map(|trials| trials as usize).or(plan.trials);
    plan.sync = options.sync;
    if options.workers.is_some() {
        session.set_workers(Some(plan.workers));
    }
    let (summary, plan) = work(session, &options.target, plan, options.how.quiet)?;
    finish(options, summary, &plan)
}

pub fn worker(options: &WorkerOptions) -> Result<ExitCode> {
    let mut session = options.target.open()?;
    let mut plan = plan(&session, &options.target, &options.how)?;
    plan.workers = options.workers as usize;
    // How many workers there are is for whoever starts them to say; only max_pending binds them all.
    session.set_workers(None);
    let (summary, _) = work(session, &options.target, plan, options.how.quiet)?;
    let done = serde_json::json!({"told": summary.told, "failed": summary.failed, "interrupted": summary.interrupted});
    if options.target.json {
        show::print(&done.to_string())?;
    } else {
        say(&format!("this worker recorded {} values and {} failures", summary.told, summary.failed));
    }
    Ok(code(summary))
}

fn plan(session: &Session, target: &Target, how: &How) -> Result<Plan> {
    if target.file().is_some() {
        session.keep_text()?;
    }
    let no_command = || RunError::NoCommand { study: session.name().to_string() };
    let settings = session.run().cloned().ok_or_else(no_command)?;
    Ok(Plan {
        workers: settings.workers,
        trials: settings.trials,
        settings,
        folder: target.folder()?,
        sync: false,
        keep_going: how.keep_going,
        term: how.lease,
    })
}

fn work(session: Session, target: &Target, plan: Plan, quiet: bool) -> Result<(Summary, Plan)> {
    let stop = Stop::new();
    let _listening = signals::listen(&stop)?;
    let mut asker = target.open()?;
    asker.set_workers(session.workers());
    let live = Live::new(&session, &plan, quiet, || target.open().ok());
    let summary = manyhands_run::run(session, asker, plan.clone(), &stop, |news| live.hear(&news));
    live.finish();
    Ok((summary?, plan))
}

/// The best point, the certificate, and where the picture is.
fn finish(options: &RunOptions, summary: Summary, plan: &Plan) -> Result<ExitCode> {
    let mut session = options.target.open()?;
    let folder = options.target.file().and_then(|file| file.parent().map(Path::to_path_buf)).unwrap_or_default();
    let beside_logs = || folder.join(&plan.settings.logs).join(session.name()).join(format!("{}.svg", session.name()));
    let picture = options.plot.clone().unwrap_or_else(beside_logs);
    // What was found is told even if it cannot be drawn.
    let drawn = draw(&mut session, &picture);
    if options.target.json {
        let mut status = status::status_json(&mut session, false)?;
        status["interrupted"] = summary.interrupted.into();
        status["picture"] = drawn.as_ref().ok().map(|()| picture.display().to_string()).into();
        show::print(&status.to_string())?;
    } else {
        show::print(&status::status_text(&mut session, false)?)?;
        if drawn.is_ok() {
            show::print(&format!("picture: {}", picture.display()))?;
        }
        if summary.exhausted {
            say("every candidate has been tried");
        }
        if summary.interrupted {
            say("interrupted; the same command goes on where it was");
        }
    }
    drawn?;
    let failed = session.ledger().count(TrialState::Failed);
    if !summary.interrupted && failed > 0 && session.ledger().count(TrialState::Observed) == 0 {
        let logs = plan.folder.join(&plan.settings.logs).join(session.name());
        return Err(RunError::NoneSucceeded { failed, logs }.into());
    }
    Ok(code(summary))
}

fn draw(session: &mut Session, picture: &Path) -> Result<()> {
    if let Some(folder) = picture.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    }
    plot::write(session, picture)
}

/// As shells have it for what was interrupted.
fn code(summary: Summary) -> ExitCode {
    if summary.interrupted { ExitCode::from(130) } else { ExitCode::SUCCESS }
}
