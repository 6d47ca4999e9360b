//! `manyhands worker`: trials of a study that has several workers.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use manyhands_report as report;
use manyhands_run::{Stop, Summary};

use crate::integer::integer_in;
use crate::output::print_json;
use crate::signals;
use crate::stderr::say;
use crate::target::{Target, local_command};
use crate::workers::{WorkOptions, check_taken, control, exit_code, plan, store_file, time, work};

const EXAMPLES: &str = "\
Examples:
  manyhands worker study.toml --store postgres://me@host/studies
  manyhands worker branin --store postgres://me@host/studies --workers 4
  manyhands worker branin --store postgres://me@host/studies --command-from study.toml
  manyhands worker branin --store postgres://me@host/studies --leave-when-idle 30s     on a rented machine

Start any number of workers, on any machine that reaches the store. A trial whose worker dies is offered again when its
lease lapses; at once, if the worker was on this machine. Ctrl-C and TERM stop a worker as they stop `run`.

A study that is given by its name is run with the command that is in the store: anyone who can write to the store can run
commands as you. With --command-from only the command of your own file is run.";

/// Run trials of a study, as one of several workers.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    work: WorkOptions,
    /// How many trials at once
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = integer_in::<u32>(1..=10_000))]
    workers: u32,
    /// Run only the command of this study file, in its folder, and never the one that is in the store
    #[arg(long, value_name = "FILE")]
    command_from: Option<PathBuf>,
    #[arg(long = "trials", hide = true, value_name = "N", value_parser = no_trials)]
    _trials: Option<u32>,
    /// Exit with code 0 once there has been nothing to run here for TIME [default: 5s]; otherwise wait for the trials of
    /// other workers, to run them again if they are lost
    #[arg(long, value_name = "TIME", num_args = 0..=1, default_missing_value = "5s", value_parser = idle)]
    leave_when_idle: Option<Duration>,
}

fn idle(text: &str) -> Result<Duration, String> {
    let wrong = "it must be a time such as 0s, 30s or 5m; a study is named before --leave-when-idle";
    time(text)?.ok_or(wrong.to_string())
}

/// An option that workers do not have, with what there is instead.
fn no_trials(_: &str) -> Result<u32, String> {
    Err("a worker runs until the study has all its trials; set trials in [run] of the study file".to_string())
}

/// Runs it; the exit code.
pub fn run(options: &Options) -> Result<u8> {
    check_taken(&options.work, &options.target)?;
    let stop = Stop::new();
    let listening = signals::listen(&stop)?;
    let (mut session, settings, folder) = match options.command_from.as_deref() {
        Some(file) => {
            let session = options.target.open()?;
            let (settings, folder) = local_command(file, &session)?;
            (session, settings, folder)
        }
        None => {
            let (session, settings) = options.target.open_to_run()?;
            (session, settings, options.target.folder()?)
        }
    };
    store_file(&session, &options.target)?;
    let mut plan = plan(settings, folder, &options.work);
    plan.settings.workers = options.workers as usize;
    // Users start as many workers as they like; only max_pending limits all of them together.
    session.set_workers(None);
    plan.leave_when_idle = options.leave_when_idle;
    let control = control(&session, &plan, stop);
    listening.guard(&control.unreported);
    let summary = work(session, plan, &control, options.work.quiet)?;
    listening.close();
    finish(options, summary)?;
    Ok(exit_code(summary))
}

fn finish(options: &Options, summary: Summary) -> Result<()> {
    if options.target.json {
        let printed = print_json(&report::run::worker(summary));
        // Where the terminal is gone nobody reads it, and the exit code says the same.
        return if summary.interrupted { Ok(()) } else { printed };
    }
    report::run::worker_endings(summary).iter().for_each(|line| say(line));
    Ok(())
}
