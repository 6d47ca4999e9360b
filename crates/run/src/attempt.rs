//! One trial: its command is run, and run again if it fails and has retries left.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use manyhands_core::{Value, json};
use manyhands_store::TrialResult;

use crate::failure::{Cause, Failure};
use crate::group::{Ended, Group, NotStarted};
use crate::output::{Output, Printed};
use crate::template::Placeholders;
use crate::value::{PrintedValue, value_of};
use crate::{Error, News, Plan, Result, Stop};

/// Variables that say where the store is and hold its password. They are removed from a command's environment, unless
/// `[run] env` sets them.
const SECRETS: [&str; 6] =
    ["MANYHANDS_STORE", "MANYHANDS_STORE_FILE", "PGPASSWORD", "PGPASSFILE", "PGSERVICE", "PGSERVICEFILE"];

/// The time between SIGTERM and SIGKILL: usually, and when the runner itself has to end.
const GRACES: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(1));

/// One trial and what its command needs to know.
#[derive(Debug, Clone)]
pub struct Job {
    /// The study.
    pub study: String,
    /// The trial.
    pub trial: usize,
    /// Its parameters.
    pub params: Vec<(String, Value)>,
    /// Which of the run's workers it has, from 0: no two trials that run at the same time have the same.
    pub slot: usize,
    /// Set when the trial was cancelled or given to another worker: its command is to be stopped.
    pub called_off: Arc<AtomicBool>,
}

/// What became of a trial.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// It has a value, and perhaps metrics.
    Value(TrialResult),
    /// It failed, and has no retries left.
    Failed(Failure),
    /// It was stopped.
    Stopped,
    /// Its command cannot be run at all.
    Impossible(Error),
}

impl Outcome {
    /// What is to be recorded, if anything is: a value with its metrics, or the text that is stored of a failure.
    pub fn report(&self) -> Option<std::result::Result<TrialResult, String>> {
        match self {
            Self::Value(evaluation) => Some(Ok(evaluation.clone())),
            Self::Failed(failure) => Some(Err(failure.to_string())),
            Self::Stopped | Self::Impossible(_) => None,
        }
    }
}

impl Job {
    /// Runs the command until it gives a value or has no retries left.
    pub fn run(&self, plan: &Plan, stop: &Stop, notify: &dyn Fn(News)) -> Outcome {
        let mut tries = 0;
        loop {
            match self.attempt(plan, stop, notify) {
                Err(error) => return Outcome::Impossible(error),
                // Nothing more is started: the next run has the retries that are left.
                Ok(Outcome::Failed(_)) if tries < plan.settings.retries && stop.is_requested() => {
                    return Outcome::Stopped;
                }
                Ok(Outcome::Failed(failure)) if tries < plan.settings.retries => {
                    tries += 1;
                    notify(News::Retried { trial: self.trial, failure });
                }
                Ok(outcome) => return outcome,
            }
        }
    }

    fn attempt(&self, plan: &Plan, stop: &Stop, notify: &dyn Fn(News)) -> Result<Outcome> {
        let AttemptFiles { out: (out_path, out_file), err: (err_path, err_file), work } =
            AttemptFiles::next(plan, self)?;
        let mut command = self.command(plan, work.as_deref())?;
        let program = command.get_program().to_string_lossy().into_owned();
        let not_started = |why: NotStarted| match why {
            NotStarted::Guard(error) => Error::NoGuard { reason: error.to_string() },
            NotStarted::Command(error) => Error::CannotStart { program: program.clone(), reason: reason(&error) },
        };
        let mut group = Group::start(&mut command).map_err(not_started)?;
        let (out, err) = (group.child().stdout.take(), group.child().stderr.take());
        let no_thread = Error::no_thread("reads what a command prints");
        let out = out.map(|out| Output::read(out, out_file)).transpose().map_err(&no_thread)?;
        let err = err.map(|err| Output::read(err, err_file)).transpose().map_err(&no_thread)?;
        let start = Instant::now();
        let is_late = || plan.settings.timeout.is_some_and(|limit| start.elapsed() >= limit);
        let is_stop_wanted = || stop.is_urgent() || self.called_off.load(Ordering::Relaxed);
        let grace = || match stop.is_urgent() {
            true => Some(GRACES.1),
            false => (is_stop_wanted() || is_late()).then_some(GRACES.0),
        };
        let lost = |error: io::Error| Error::LostCommand { program: program.clone(), reason: error.to_string() };
        let ended = group.wait(grace).map_err(lost)?;
        let printed = |output: Option<Output>| output.map(|o| o.finish(|| stop.is_urgent())).unwrap_or_default();
        let (out, err) = (printed(out), printed(err));
        for (printed, file) in [(&out, &out_path), (&err, &err_path)] {
            if let Some(warning) = &printed.warning {
                notify(News::Warning { what: format!("trial {}: {warning} ({})", self.trial, file.display()) });
            }
        }
        Ok(match ended {
            Ended::ByItself(status) => self.outcome_of(status, &out, &err, notify),
            Ended::Stopped if is_stop_wanted() => Outcome::Stopped,
            Ended::Stopped => {
                let limit = plan.settings.timeout.unwrap_or_default();
                Outcome::Failed(Failure::new(Cause::TimedOut(limit), &err.tail))
            }
        })
    }

    /// The outcome of a command that has ended by itself.
    fn outcome_of(&self, status: ExitStatus, out: &Printed, err: &Printed, notify: &dyn Fn(News)) -> Outcome {
        let cause = match value_of(out) {
            _ if !status.success() => Cause::of(status),
            Ok(PrintedValue { evaluation, dropped }) => {
                if let Some(what) = dropped.text() {
                    notify(News::NotKept { trial: self.trial, what });
                }
                return Outcome::Value(evaluation);
            }
            Err(unreadable) => Cause::NoValue(unreadable),
        };
        Outcome::Failed(Failure::new(cause, &err.tail))
    }

    fn command(&self, plan: &Plan, work: Option<&Path>) -> Result<Command> {
        let named: Vec<(&str, &Value)> = self.params.iter().map(|(name, value)| (name.as_str(), value)).collect();
        let folder = plan.folder.to_string_lossy();
        let built_in = Placeholders { study: &self.study, trial: self.trial, folder: &folder };
        let arguments = plan.settings.command.fill(&named, &built_in)?;
        let no_command = || Error::NoCommand { study: self.study.clone() };
        let (program, rest) = arguments.split_first().ok_or_else(no_command)?;
        // A path is relative to the study file's folder, regardless of the folder that the command runs in.
        let is_path = program.contains('/');
        let mut command = if is_path { Command::new(plan.folder.join(program)) } else { Command::new(program) };
        command.args(rest).current_dir(work.unwrap_or(&plan.folder));
        for name in SECRETS {
            command.env_remove(name);
        }
        command
            .env("MANYHANDS_PARAMS", json::named(named.iter().copied()).to_string())
            .env("MANYHANDS_TRIAL", self.trial.to_string())
            .env("MANYHANDS_SLOT", self.slot.to_string());
        command.env("MANYHANDS_STUDY", &self.study).env("MANYHANDS_FOLDER", &plan.folder);
        command.envs(plan.settings.env.iter().map(|(key, value)| (key, value)));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Ok(command)
    }
}

/// Where an attempt's output goes, and where it runs if it has a folder of its own. Nobody else writes there.
#[derive(Debug)]
struct AttemptFiles {
    out: (PathBuf, File),
    err: (PathBuf, File),
    work: Option<PathBuf>,
}

impl AttemptFiles {
    /// Of the next attempt: earlier ones stay, also those of a run that died. Each file is created at once, so that two
    /// runners that share a folder never share a log.
    fn next(plan: &Plan, job: &Job) -> Result<Self> {
        let folder = plan.logs(&job.study).join(format!("trial-{}", job.trial));
        fs::create_dir_all(&folder).map_err(Error::logs(&folder))?;
        for attempt in 1_u64.. {
            if let Some(files) = Self::of(&folder, attempt, plan.settings.own_folder)? {
                return Ok(files);
            }
        }
        Err(Error::Logs { path: folder, reason: "there are no more numbers for attempts".to_string() })
    }

    /// Of this attempt; none if a file of it is there already.
    fn of(folder: &Path, attempt: u64, own_folder: bool) -> Result<Option<Self>> {
        let work = folder.join(attempt.to_string());
        let path = |extension: &str| folder.join(format!("{attempt}.{extension}"));
        let (out, err) = (path("out"), path("err"));
        if work.exists() {
            return Ok(None);
        }
        let made = |path: &Path| unless_there(File::create_new(path)).map_err(Error::logs(path));
        let Some(out_file) = made(&out)? else { return Ok(None) };
        let Some(err_file) = made(&err)? else { return Ok(None) };
        if own_folder && unless_there(fs::create_dir(&work)).map_err(Error::logs(&work))?.is_none() {
            return Ok(None);
        }
        Ok(Some(Self { out: (out, out_file), err: (err, err_file), work: own_folder.then_some(work) }))
    }
}

/// What was created; none if it is there already.
fn unless_there<T>(made: io::Result<T>) -> io::Result<Option<T>> {
    match made {
        Ok(made) => Ok(Some(made)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(None),
        Err(error) => Err(error),
    }
}

/// What the system said, without its number.
fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such program".to_string(),
        io::ErrorKind::PermissionDenied => "permission denied: it is not executable".to_string(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn runners_that_share_a_folder_never_share_a_log() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("2.err"), "of an earlier run").unwrap();
        fs::create_dir(folder.path().join("3")).unwrap();
        let next =
            |own: bool| (1..).find_map(|attempt| AttemptFiles::of(folder.path(), attempt, own).unwrap()).unwrap().out.0;
        let made = std::thread::scope(|scope| {
            let runners: Vec<_> =
                (0..8).map(|i| scope.spawn(move || (0..10).map(|_| next(i % 2 == 0)).collect())).collect();
            runners.into_iter().map(|runner| runner.join().unwrap()).collect::<Vec<Vec<PathBuf>>>()
        });
        let made: Vec<PathBuf> = made.into_iter().flatten().collect();
        assert_eq!(made.iter().collect::<HashSet<_>>().len(), 80);
        assert!(!made.contains(&folder.path().join("2.out")) && !made.contains(&folder.path().join("3.out")));
        assert_eq!(fs::read_to_string(folder.path().join("2.err")).unwrap(), "of an earlier run");
    }
}
