//! What the lab refuses, with the value, what is allowed, and how to fix it.

use std::path::PathBuf;

/// A refusal, or a failure of the machine.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The optimizer refused a setting.
    #[error(transparent)]
    Study(#[from] manyhands_core::Error),
    /// A store that is measured refused.
    #[error(transparent)]
    Store(#[from] manyhands_store::Error),
    /// A setting has a value outside its range.
    #[error("{setting} must be {allowed}, got {value}")]
    Setting {
        /// The setting's name.
        setting: &'static str,
        /// The values it may have.
        allowed: String,
        /// What was given.
        value: String,
    },
    /// A feedback mapping is not one of the paper's.
    #[error("S({t}) = {observed} is not allowed: {reason}")]
    Feedback {
        /// The round.
        t: usize,
        /// S(t).
        observed: usize,
        /// The condition it breaks.
        reason: String,
    },
    /// A feedback mapping is not known for as many rounds as are played.
    #[error("the feedback mapping has {rounds} rounds, there is no S({t})")]
    FeedbackEnds {
        /// How many it has.
        rounds: usize,
        /// The first that is missing.
        t: usize,
    },
    /// A file is not the feedback mapping it should be.
    #[error("{} is not a feedback mapping: {reason}", path.display())]
    Mapping {
        /// The file.
        path: PathBuf,
        /// What is wrong, with the line.
        reason: String,
    },
    /// A test problem cannot be used.
    #[error("the problem \"{name}\" cannot be used: {reason}")]
    Problem {
        /// Its name.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// What an optimizer suggests cannot be evaluated.
    #[error("a suggestion for \"{problem}\" cannot be evaluated: {reason}")]
    Suggestion {
        /// The problem or pool.
        problem: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A file is not the pool it should be.
    #[error("{} is not a pool of candidates: {reason}", path.display())]
    Pool {
        /// The file.
        path: PathBuf,
        /// What is wrong, with the line.
        reason: String,
    },
    /// A file is not the results file it should be.
    #[error("{} is not a file of results: {reason}", path.display())]
    Results {
        /// The file.
        path: PathBuf,
        /// What is wrong, with the line.
        reason: String,
    },
    /// Threads cannot be started.
    #[error("cannot start {threads} threads: {reason}")]
    Threads {
        /// How many were wanted.
        threads: usize,
        /// What the system said.
        reason: String,
    },
    /// A file cannot be read.
    #[error("cannot read {}: {reason}", path.display())]
    CannotRead {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// A file cannot be written.
    #[error("cannot write {}: {reason}", path.display())]
    CannotWrite {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// A file is not the table it should be.
    #[error("{} is not a table of readings: {reason}", path.display())]
    Table {
        /// The file.
        path: PathBuf,
        /// What is wrong, with the line.
        reason: String,
    },
    /// A program that is compared does not follow the protocol.
    #[error("the program \"{name}\" cannot take part: {reason}")]
    Program {
        /// What it is called.
        name: String,
        /// What it did.
        reason: String,
    },
    /// A process that was started for a measurement failed.
    #[error("{command} failed: {reason}")]
    Process {
        /// The command with its arguments.
        command: String,
        /// Its last words, its exit status, or what the system said.
        reason: String,
    },
    /// A measurement did not do what it measures.
    #[error("cannot measure {what}: {reason}")]
    Measurement {
        /// What was to be measured.
        what: String,
        /// What happened instead.
        reason: String,
    },
    /// No panel and no further figure is left to run.
    #[error("there is nothing to run")]
    NothingToRun,
    /// A picture cannot be drawn.
    #[error(transparent)]
    Picture(#[from] manyhands_plots::Error),
}

impl From<manyhands_gp::Error> for Error {
    fn from(error: manyhands_gp::Error) -> Self {
        Self::Study(error.into())
    }
}

impl Error {
    /// A word for programs; it stays when messages change.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Study(error) => error.code(),
            Self::Store(error) => error.code(),
            Self::Setting { .. } => "setting",
            Self::Feedback { .. } | Self::FeedbackEnds { .. } | Self::Mapping { .. } => "feedback",
            Self::Problem { .. } => "problem",
            Self::Suggestion { .. } => "suggestion",
            Self::Pool { .. } => "pool",
            Self::Results { .. } => "results",
            Self::Threads { .. } => "threads",
            Self::CannotRead { .. } | Self::CannotWrite { .. } => "file",
            Self::Table { .. } => "table",
            Self::Program { .. } => "program",
            Self::Process { .. } => "process",
            Self::Measurement { .. } => "measurement",
            Self::NothingToRun => "nothing-to-run",
            Self::Picture(error) => error.code(),
        }
    }

    /// What to do about it, where the message does not say.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Study(error) => return error.hint().map(str::to_string),
            Self::Store(error) => return error.hint(),
            Self::Picture(error) => return error.hint().map(str::to_string),
            Self::Feedback { .. } => {
                "S(t) counts the rewards known when x_t is chosen; it never falls, and t - S(t) is from 1 to M"
            }
            Self::FeedbackEnds { .. } => "list as many rounds as are played, or play fewer",
            Self::Mapping { .. } => "a feedback mapping has a line per round: S(t) alone, or t and S(t)",
            Self::Table { .. } => {
                "a table has a header, a first column that numbers the rows, and one column of numbers per sensor"
            }
            Self::Pool { .. } => {
                "a pool has a header, one row per candidate, and an objective whose name begins with y_ or val_"
            }
            Self::Program { .. } => "`manyhands bench quality --help` says what a program reads and writes",
            Self::NothingToRun => "ask for other panels or further figures, or give the data folder",
            _ => return None,
        };
        Some(hint.to_string())
    }

    /// Whether the request or a file is at fault, and not the machine or what is measured.
    pub fn is_bad_input(&self) -> bool {
        match self {
            Self::Study(error) => error.is_bad_input(),
            Self::Store(error) => error.is_bad_input(),
            Self::Picture(error) => error.is_bad_input(),
            Self::Setting { .. }
            | Self::Feedback { .. }
            | Self::FeedbackEnds { .. }
            | Self::Mapping { .. }
            | Self::Problem { .. }
            | Self::Pool { .. }
            | Self::Results { .. }
            | Self::CannotRead { .. }
            | Self::Table { .. }
            | Self::Program { .. }
            | Self::NothingToRun => true,
            Self::Suggestion { .. }
            | Self::Threads { .. }
            | Self::CannotWrite { .. }
            | Self::Process { .. }
            | Self::Measurement { .. } => false,
        }
    }
}

/// The result of an operation of the lab.
pub type Result<T> = std::result::Result<T, Error>;
