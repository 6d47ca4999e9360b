//! Why a run could not go on.

use std::path::{Path, PathBuf};

use manyhands_core::text::quoted;

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
    /// The command cannot be started.
    #[error("cannot start {}: {reason}", quoted(program))]
    CannotStart {
        /// The command's first word.
        program: String,
        /// What the system said.
        reason: String,
    },
    /// Every trial so far has failed.
    #[error("{failed} trials in a row failed and none has succeeded; the last one said: {reason}")]
    AllFail {
        /// How many.
        failed: usize,
        /// Why the last one did.
        reason: String,
        /// Where their logs are.
        logs: PathBuf,
    },
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

    /// A word for programs; it stays when messages change.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Session(error) => error.code(),
            Self::NoCommand { .. } => "no-command",
            Self::CannotStart { .. } => "cannot-start",
            Self::AllFail { .. } | Self::NoneSucceeded { .. } => "all-fail",
            Self::Logs { .. } => "logs",
            Self::Internal { .. } => "internal",
        }
    }

    /// Whether the request or a file is at fault, and not the command, the state of the study or the machine.
    pub fn is_bad_input(&self) -> bool {
        match self {
            Self::Session(error) => error.is_bad_input(),
            Self::NoCommand { .. } => true,
            Self::CannotStart { .. }
            | Self::AllFail { .. }
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
            Self::CannotStart { .. } => {
                "check the command in [run]: its first word is a program on the PATH or a path from the study file's \
                 folder; the trial was not run and is offered again"
            }
            Self::AllFail { logs, .. } => {
                let logs = logs.display();
                return Some(format!("look at the logs in {logs}; --keep-going goes on all the same"));
            }
            Self::NoneSucceeded { logs, .. } => {
                let logs = logs.display();
                return Some(format!("look at the logs in {logs}, fix the command, and go on with more --trials"));
            }
            Self::Logs { .. } => "make room or change permissions, or name another folder with logs in [run]",
            Self::Internal { .. } => {
                "please report it; what was recorded is safe, and the same command goes on from there"
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
