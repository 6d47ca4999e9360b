//! Why a run could not continue.

use std::fmt;
use std::path::{Path, PathBuf};

use manyhands_core::text::{quoted, trials};

use crate::{Cause, Failure};

/// A command that fails in the same way whatever its parameters are: it cannot work.
#[derive(Debug, Clone, PartialEq)]
pub struct Mistake {
    /// The command's words, with placeholders.
    pub command: String,
    /// How many trials failed so.
    pub failed: usize,
    /// Why the last one did.
    pub failure: Failure,
    /// Whether the others' standard error ended with another line, which differs in what belongs to the trial alone.
    pub is_varied: bool,
    /// The trials, which are cancelled and do not count, with those that were chosen and not started; not those that someone
    /// else has ended.
    pub cancelled: Vec<usize>,
    /// Those that were pending before the run, and are so again.
    pub pending: Vec<usize>,
    /// Where their logs are.
    pub logs: PathBuf,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { command, failed, failure, is_varied, cancelled, pending, .. } = self;
        write!(f, "the command {} failed in its first {failed} trials in the same way: ", quoted(command))?;
        match &failure.cause {
            Cause::NoValue(unreadable) => write!(f, "exit code 0, but {unreadable}")?,
            cause => write!(f, "{cause}")?,
        }
        match failure.last_line() {
            "" => write!(f, "; nothing on standard error")?,
            // It is safe to print already.
            line if *is_varied => {
                write!(f, "; standard error ends, but for the trial's own settings, with \"{line}\"")?;
            }
            line => write!(f, "; standard error ends with \"{line}\"")?,
        }
        match &cancelled[..] {
            [] if pending.is_empty() => write!(f, "; none of them counts")?,
            [] => {}
            [_] => write!(f, "; {} was cancelled and does not count", trials(cancelled))?,
            _ => write!(f, "; {} were cancelled and do not count", trials(cancelled))?,
        }
        match &pending[..] {
            [] => Ok(()),
            [_] => write!(f, "; {} was pending before this run and is again", trials(pending)),
            _ => write!(f, "; {} were pending before this run and are again", trials(pending)),
        }
    }
}

/// Why a run ended early; what was recorded stays.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The store or the study refused.
    #[error(transparent)]
    Session(#[from] manyhands_store::Error),
    /// The study does not say what to run.
    #[error("study {} has no [run] with a command", quoted(study))]
    NoCommand {
        /// The study.
        study: String,
    },
    /// `[run]` of a stored study cannot be read.
    #[error("[run] of study {}, as it is in the store, cannot be read: {reason}", quoted(study))]
    StoredSettings {
        /// The study.
        study: String,
        /// What is wrong, and where.
        reason: String,
    },
    /// The command cannot be started.
    #[error("cannot start {}: {reason}", quoted(program))]
    CannotStart {
        /// The command's first word.
        program: String,
        /// What the system said.
        reason: String,
    },
    /// The shell that guards a command's process group cannot be started.
    #[error("cannot start /bin/sh, which ends a trial's command if manyhands is killed: {reason}")]
    NoGuard {
        /// What the system said.
        reason: String,
    },
    /// A command that was started can be neither waited for nor stopped.
    #[error("cannot wait for {}, or stop it: {reason}", quoted(program))]
    LostCommand {
        /// The command's first word.
        program: String,
        /// What the system said.
        reason: String,
    },
    /// The system refuses to start a thread.
    #[error("cannot start a thread that {task}: {reason}")]
    NoThread {
        /// What it was to do.
        task: &'static str,
        /// What the system said.
        reason: String,
    },
    /// Every trial of this run has failed.
    #[error(
        "{failed} trials in a row failed in this run, and none succeeded; they are recorded as failed; the last one: {failure}"
    )]
    AllFail {
        /// How many.
        failed: usize,
        /// Why the last one did.
        failure: Failure,
        /// Where their logs are.
        logs: PathBuf,
    },
    /// The command fails in the same way whatever its parameters are.
    #[error("{0}")]
    Mistake(Box<Mistake>),
    /// The study has all its trials, and none of them a value.
    #[error("{}", all_failed(*failed))]
    NoneSucceeded {
        /// How many.
        failed: usize,
        /// Where their logs are.
        logs: PathBuf,
    },
    /// A folder or a log cannot be written.
    #[error("cannot write {}: {reason}", path.display())]
    Logs {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// The folder of unreported outcomes cannot be read.
    #[error("cannot read {}: {reason}", path.display())]
    UnreadableFolder {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// A bug in manyhands.
    #[error("internal error while {doing}: {what}")]
    Internal {
        /// What was being done.
        doing: String,
        /// What went wrong.
        what: String,
    },
}

impl Error {
    /// That a file or folder cannot be written.
    pub(crate) fn logs(path: &Path) -> impl Fn(std::io::Error) -> Self + use<> {
        let path = path.to_path_buf();
        move |error| Self::Logs { path: path.clone(), reason: error.to_string() }
    }

    /// That a folder cannot be read.
    pub(crate) fn unreadable(path: &Path) -> impl Fn(std::io::Error) -> Self + use<> {
        let path = path.to_path_buf();
        move |error| Self::UnreadableFolder { path: path.clone(), reason: error.to_string() }
    }

    /// That a thread cannot be started.
    pub(crate) fn no_thread(task: &'static str) -> impl Fn(std::io::Error) -> Self {
        move |error| Self::NoThread { task, reason: error.to_string() }
    }

    /// A word for programs; it stays when messages change.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Session(error) => error.code(),
            Self::NoCommand { .. } => "no-command",
            Self::StoredSettings { .. } => "stored-run",
            Self::CannotStart { .. } | Self::NoGuard { .. } | Self::LostCommand { .. } | Self::NoThread { .. } => {
                "cannot-start"
            }
            Self::AllFail { .. } | Self::Mistake(_) | Self::NoneSucceeded { .. } => "all-fail",
            Self::Logs { .. } | Self::UnreadableFolder { .. } => "logs",
            Self::Internal { .. } => "internal",
        }
    }

    /// Whether the request or a file is at fault, and not the command, the state of the study or the machine.
    pub fn is_bad_input(&self) -> bool {
        match self {
            Self::Session(error) => error.is_bad_input(),
            Self::NoCommand { .. } | Self::StoredSettings { .. } => true,
            Self::CannotStart { .. }
            | Self::NoGuard { .. }
            | Self::LostCommand { .. }
            | Self::NoThread { .. }
            | Self::UnreadableFolder { .. }
            | Self::AllFail { .. }
            | Self::Mistake(_)
            | Self::NoneSucceeded { .. }
            | Self::Logs { .. }
            | Self::Internal { .. } => false,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Session(error) => return error.hint(),
            Self::NoCommand { .. } => "add [run] with command = [\"PROGRAM\", \"ARGUMENT\", ...] to the study file",
            Self::StoredSettings { .. } => {
                "a newer manyhands may have written it; give your own study file in place of the study's name, or, to \
                 worker, with --command-from"
            }
            Self::CannotStart { .. } => {
                "check the command in [run]: its first word is a program on the PATH or a path from the study file's \
                 folder; the trial was not run and is offered again"
            }
            Self::NoGuard { .. } => {
                "every trial needs a POSIX shell at /bin/sh; the trial was not run and is offered again"
            }
            Self::LostCommand { .. } => {
                "its process may still run: end it by hand; the trial has no result and is offered again"
            }
            Self::NoThread { .. } => {
                "end other programs, use fewer workers, or raise the limits on processes and memory (ulimit -u, \
                 ulimit -v); a trial that has no result is offered again"
            }
            Self::AllFail { logs, .. } => {
                let logs = logs.display();
                return Some(format!(
                    "look at the logs in {logs}; `manyhands retry STUDY TRIAL` has one of them run again, --keep-going \
                     continues anyway"
                ));
            }
            Self::Mistake(mistake) => {
                let logs = mistake.logs.display();
                return Some(format!(
                    "look at the logs in {logs}, fix the command, and run it again; --keep-going records such trials as \
                     failed and goes on"
                ));
            }
            Self::NoneSucceeded { logs, .. } => {
                let logs = logs.display();
                return Some(format!("look at the logs in {logs}, fix the command, and continue with more --trials"));
            }
            Self::Logs { .. } => "free disk space or change permissions, or name another folder with logs in [run]",
            Self::UnreadableFolder { .. } => "change its permissions, or name another folder with logs in [run]",
            Self::Internal { .. } => {
                "please report it; what was recorded is safe, and the same command continues from there"
            }
        };
        Some(hint.to_string())
    }
}

fn all_failed(failed: usize) -> String {
    if failed == 1 {
        "the study's one trial failed".to_string()
    } else {
        format!("all {failed} trials of the study failed")
    }
}

/// The result of running.
pub type Result<T> = std::result::Result<T, Error>;
