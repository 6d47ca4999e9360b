//! `manyhands run` and `manyhands worker`: trials, run by this machine, until the study has all of them.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;
use manyhands_core::file::RunSettings;
use manyhands_core::{TrialState, counted};
use manyhands_run::{Control, Error as RunError, Plan, Stop, Summary, Unreported};
use manyhands_store::{Session, Source};

use crate::live::Live;
use crate::progress::say;
use crate::signals::{GOES_ON, INTERRUPTED};
use crate::target::{Target, local_command};
use crate::whole::whole;
use crate::{plot, show, signals, status};

const RUN: &str = "\
Examples:
  manyhands run study.toml                 as many trials at once as [run] says, until there are enough
  manyhands run study.toml                 again: it goes on where it was
  manyhands run study.toml --workers 8 --trials 200
  manyhands run study.toml --sync          whole batches: nothing new before all of it is done

Ctrl-C finishes what runs and starts nothing more; a second Ctrl-C, or TERM, stops what runs, which is then run again next
time: the process is gone within three seconds, and a result that could not be recorded by then is kept beside the logs,
from where the same command reports it.
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
    /// How many trials are to be suggested, all runs together; evaluations from elsewhere do not count [default: trials in
    /// the study file]
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
  manyhands worker branin --store postgres://me@host/studies --command-from study.toml
  manyhands worker branin --store postgres://me@host/studies --leave-when-idle 30s     on a rented machine

Start as many as you like, on as many machines as reach the store. A trial whose worker dies is offered again once its
lease has lapsed; at once, if the worker was on this machine. It stops as `run` does: on Ctrl-C, a second one, or TERM.

A study that is given by its name is run with the command that is in the store: who can write the store can run commands
as you. With --command-from only the command of a file of yours is run.";

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
    /// Run only the command of this study file, in its folder, and never the one that is in the store
    #[arg(long, value_name = "FILE")]
    command_from: Option<PathBuf>,
    #[arg(long = "trials", hide = true, value_name = "N", value_parser = no_trials)]
    _trials: Option<u32>,
    /// Leave, with exit code 0, once there has been nothing to run here for TIME [default: 5s]; otherwise it waits for the
    /// trials of others, which it would run again should they be lost
    #[arg(long, value_name = "TIME", num_args = 0..=1, default_missing_value = "5s", value_parser = idle)]
    leave_when_idle: Option<Duration>,
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
    /// Take this trial away from the worker that holds it, and run it here; may be given several times. That worker, if
    /// it still runs, stops its command when it next renews its lease (every third of --lease); what it reports before
    /// is kept as a late result
    #[arg(long, value_name = "TRIAL", value_parser = whole::<usize>(0..))]
    take: Vec<usize>,
    /// Say nothing while it runs
    #[arg(short, long)]
    quiet: bool,
}

fn term(text: &str) -> Result<Duration, String> {
    match time(text)? {
        Some(term) if term >= Duration::from_secs(1) => Ok(term),
        _ => Err("it must be a time from 1s, such as 60s or 5m".to_string()),
    }
}

fn idle(text: &str) -> Result<Duration, String> {
    let wrong = "it must be a time such as 0s, 30s or 5m; a study is named before --leave-when-idle";
    time(text)?.ok_or(wrong.to_string())
}

/// A length of time, if it is one; a number alone is refused.
fn time(text: &str) -> Result<Option<Duration>, String> {
    match humantime::parse_duration(text) {
        Ok(time) => Ok(Some(time)),
        Err(_) if text.trim().parse::<f64>().is_ok() => Err("a time needs its unit, such as 2s or 10m".to_string()),
        Err(_) => Ok(None),
    }
}

/// An option that workers do not have, with what there is instead.
fn no_trials(_: &str) -> Result<u32, String> {
    Err("a worker goes on until the study has all its trials; set trials in [run] of the study file".to_string())
}

pub fn run(options: &RunOptions) -> Result<ExitCode> {
    options.plot.as_deref().map_or(Ok(()), plot::check)?;
    let stop = Stop::new();
    let listening = signals::listen(&stop)?;
    let mut session = options.target.open_with(runnable)?;
    let mut plan = plan(&session, &options.target, &options.how, None)?;
    plan.workers = options.workers.map_or(plan.workers, |workers| workers as usize);
    plan.trials = options.trials.map(|trials| trials as usize).or(plan.trials);
    plan.sync = options.sync;
    if options.workers.is_some() {
        session.set_workers(Some(plan.workers));
    }
    let twin = session.twin();
    let control = control(&session, &plan, stop);
    listening.guard(&control.unreported);
    let summary = work(session, plan.clone(), &control, options.how.quiet)?;
    listening.close();
    if control.stop.is_urgent() {
        return cut_short(options, twin.name());
    }
    finish(options, twin, summary, &plan)
}

/// There is no time for the certificate and the picture.
fn cut_short(options: &RunOptions, name: &str) -> Result<ExitCode> {
    if options.target.json {
        // Where the terminal is gone nobody reads it, and the exit code says the same.
        let _ = show::print(&serde_json::json!({"study": name, "interrupted": true}).to_string());
    } else {
        say(GOES_ON);
    }
    Ok(ExitCode::from(INTERRUPTED))
}

pub fn worker(options: &WorkerOptions) -> Result<ExitCode> {
    let stop = Stop::new();
    let listening = signals::listen(&stop)?;
    let check = |source: &Source| if options.command_from.is_some() { Ok(()) } else { runnable(source) };
    let mut session = options.target.open_with(check)?;
    let local = options.command_from.as_deref().map(|file| local_command(file, &session)).transpose()?;
    let mut plan = plan(&session, &options.target, &options.how, local)?;
    plan.workers = options.workers as usize;
    // How many workers there are is for whoever starts them to say; only max_pending binds them all.
    session.set_workers(None);
    plan.leave_when_idle = options.leave_when_idle;
    let control = control(&session, &plan, stop);
    listening.guard(&control.unreported);
    let summary = work(session, plan, &control, options.how.quiet)?;
    listening.close();
    let Summary { told, failed, interrupted, idle, .. } = summary;
    if options.target.json {
        let done = serde_json::json!({"told": told, "failed": failed, "interrupted": interrupted, "idle": idle});
        let printed = show::print(&done.to_string());
        // Where the terminal is gone nobody reads it, and the exit code says the same.
        if !interrupted {
            printed?;
        }
    } else {
        say(&format!("this worker recorded {} and {}", counted(told, "value"), counted(failed, "failure")));
        if interrupted {
            say(GOES_ON);
        }
    }
    Ok(code(summary))
}

/// `local` is the command to run instead of the study's, with its folder.
fn plan(session: &Session, target: &Target, how: &How, local: Option<(RunSettings, PathBuf)>) -> Result<Plan> {
    if target.file().is_some() {
        session.keep_text()?;
    }
    let no_command = || RunError::NoCommand { study: session.name().to_string() };
    let (settings, folder) = match local {
        Some(local) => local,
        None => (session.run().cloned().ok_or_else(no_command)?, target.folder()?),
    };
    Ok(Plan {
        workers: settings.workers,
        trials: settings.trials,
        settings,
        folder,
        sync: false,
        keep_going: how.keep_going,
        term: how.lease,
        leave_when_idle: None,
        take: how.take.clone(),
    })
}

/// Refuses a study file without a command before a store is made for it.
fn runnable(source: &Source) -> Result<()> {
    let no_command = || RunError::NoCommand { study: source.study().name.clone() };
    Ok(source.study().run.as_ref().map(drop).ok_or_else(no_command)?)
}

fn control(session: &Session, plan: &Plan, stop: Stop) -> Control {
    Control { stop, unreported: Unreported::of(session, plan) }
}

/// All sessions share one store, and so one connection.
fn work(session: Session, plan: Plan, control: &Control, quiet: bool) -> Result<Summary> {
    let asker = session.twin();
    let live = Live::new(&session, &plan, quiet, || Some(session.twin()));
    let summary = manyhands_run::run(session, asker, plan, control, |news| live.hear(&news));
    live.finish();
    Ok(summary?)
}

/// The best point, the certificate, and where the picture is.
fn finish(options: &RunOptions, mut session: Session, summary: Summary, plan: &Plan) -> Result<ExitCode> {
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
            say(GOES_ON);
        }
    }
    drawn?;
    let failed = session.ledger().count(TrialState::Failed);
    if !summary.interrupted && failed > 0 && session.ledger().count(TrialState::Observed) == 0 {
        let logs = plan.logs(session.name());
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
    if summary.interrupted { ExitCode::from(INTERRUPTED) } else { ExitCode::SUCCESS }
}
