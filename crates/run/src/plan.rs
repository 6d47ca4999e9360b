//! What a run does, the news while it goes on, and its summary.

use std::path::PathBuf;
use std::time::Duration;

use manyhands_core::study::StopReason;
use manyhands_core::{Aim, Trial, TrialState, Value};
use manyhands_store::{Reported, Session};

use crate::{Failure, RunSettings};

/// What a run does.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The command, how many run at once here, how many trials the study shall have, time limit, retries, logs.
    pub settings: RunSettings,
    /// The study file's folder: commands run there, and paths start there.
    pub folder: PathBuf,
    /// Wait for whole batches before asking again.
    pub sync: bool,
    /// Continue although every trial fails.
    pub keep_going: bool,
    /// For how long a trial is held by a worker that has stopped renewing.
    pub term: Duration,
    /// End once there has been nothing to run here for this long, and nothing may be asked for; none to wait for the
    /// study's end.
    pub leave_when_idle: Option<Duration>,
    /// Trials to take away from whoever holds them, before anything else.
    pub take: Vec<usize>,
    /// Run the trials that were asked for by hand before the run began.
    pub adopt: bool,
}

impl Plan {
    /// As the settings say, in this folder; a worker's lease lasts for `term` unless it is renewed. The rest is off.
    pub fn new(settings: RunSettings, folder: PathBuf, term: Duration) -> Self {
        let (sync, keep_going, leave_when_idle, take, adopt) = (false, false, None, vec![], false);
        Self { settings, folder, sync, keep_going, term, leave_when_idle, take, adopt }
    }

    /// The folder of a study's logs.
    pub fn logs(&self, study: &str) -> PathBuf {
        self.folder.join(&self.settings.logs).join(study)
    }
}

/// How far a study is, all its workers together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StudyProgress {
    /// How many suggested trials have ended, with a value or without one.
    pub ended: usize,
}

impl StudyProgress {
    /// Of a session's study, as of its last look at the log.
    pub fn of(session: &Session) -> Self {
        let trials = session.ledger().trials();
        let has_ended = |trial: &&Trial| {
            trial.choice().is_some() && matches!(trial.state(), TrialState::Observed | TrialState::Failed)
        };
        Self { ended: trials.iter().filter(has_ended).count() }
    }
}

/// How a trial came to be started here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartReason {
    /// It has just been chosen.
    New,
    /// A run that has ended began it and left it unfinished.
    LeftUnfinished,
    /// A worker began it and does not renew its lease any more.
    Silent,
    /// The user took it away from the worker that held it.
    TakenAway,
    /// It had failed and was reopened, and may have been left unfinished since.
    Reopened,
    /// It was asked for by hand, and the user wants it to be run here.
    Adopted,
}

/// Why a trial that ran here was stopped although nobody stopped the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallOffReason {
    /// It was cancelled.
    Cancelled,
    /// Another worker has it.
    GivenAway,
}

/// News of a run.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum News {
    /// A trial has been started.
    Started {
        /// The trial.
        trial: usize,
        /// Its parameters.
        params: Vec<(String, Value)>,
        /// What it is for, where that is known.
        aim: Option<Aim>,
        /// How it came to be started.
        reason: StartReason,
    },
    /// A trial's command failed and is run again.
    Retried {
        /// The trial.
        trial: usize,
        /// Why it failed.
        failure: Failure,
    },
    /// A value is in the log.
    Told {
        /// The trial.
        trial: usize,
        /// Its value.
        value: f64,
        /// What it was for, where that is known.
        aim: Option<Aim>,
        /// How long it took.
        took: Duration,
        /// How the study stands with it.
        progress: StudyProgress,
    },
    /// A trial has failed before any trial of the study has succeeded: it is recorded, or cancelled, once it is known
    /// whether its command can work.
    HeldBack {
        /// The trial.
        trial: usize,
        /// Why it failed.
        failure: Failure,
        /// How long it took.
        took: Duration,
    },
    /// The first trials failed in the same way: nothing more is started unless one that is running succeeds.
    Suspended {
        /// How many failed.
        failed: usize,
        /// How many trials are running.
        running: usize,
    },
    /// Trials that were asked for by hand are pending when the run begins. They are not run here.
    ByHand {
        /// Which.
        trials: Vec<usize>,
    },
    /// A failure is in the log.
    Failed {
        /// The trial.
        trial: usize,
        /// Why.
        failure: Failure,
        /// How long it took.
        took: Duration,
        /// How the study stands with it.
        progress: StudyProgress,
    },
    /// A trial that ran here was cancelled by someone else, or given to another worker, and was stopped.
    CalledOff {
        /// The trial.
        trial: usize,
        /// Why it was stopped.
        reason: CallOffReason,
    },
    /// A trial was stopped before its end; it stays pending, for the next run.
    Stopped {
        /// The trial.
        trial: usize,
    },
    /// A result came after someone else was given the trial, or after it had ended: it is stored as a late result, not used
    /// by the model.
    TooLate {
        /// The trial.
        trial: usize,
    },
    /// An outcome that an earlier run had to leave next to the logs was reported.
    Delivered {
        /// The trial.
        trial: usize,
        /// Its value, or why there is none.
        outcome: Result<f64, String>,
        /// Whether it counts.
        reported: Reported,
        /// How the study stands with it.
        progress: StudyProgress,
    },
    /// An outcome that could not be reported was written next to the logs; the next run there reports it.
    Kept {
        /// The trial.
        trial: usize,
        /// The file.
        path: PathBuf,
    },
    /// There was nothing to run here for a while: the run ends although trials elsewhere are pending.
    Leaving {
        /// How long.
        idle: Duration,
        /// How many trials are pending.
        pending: usize,
    },
    /// A stop was requested: nothing more is started.
    Stopping {
        /// How many trials are running.
        running: usize,
        /// Whether they are stopped too.
        urgent: bool,
    },
    /// The study has enough trials: nothing more is started.
    Enough {
        /// Why.
        reason: StopReason,
        /// How many trials are running.
        running: usize,
    },
    /// Numbers that a trial's command printed are not kept as metrics. The same is said of one trial alone.
    NotKept {
        /// The trial.
        trial: usize,
        /// Which, and why.
        what: String,
    },
    /// Something went wrong that does not end the run.
    Warning {
        /// What.
        what: String,
    },
    /// Nothing runs here, and nothing may be started before trials elsewhere, or asked for by hand, have ended. Sent
    /// repeatedly.
    Waiting {
        /// How many trials are pending.
        pending: usize,
        /// How many of them are held by workers elsewhere.
        elsewhere: usize,
        /// Those that were asked for by hand and nobody runs, as far as is known.
        by_hand: Vec<usize>,
        /// How many may be, if that is bounded.
        most: Option<usize>,
    },
}

/// The result of a run.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Summary {
    /// Values recorded.
    pub told: usize,
    /// Failures recorded.
    pub failed: usize,
    /// Whether it was stopped before all trials of the study had ended.
    pub interrupted: bool,
    /// Whether every candidate of a pool has been tried.
    pub exhausted: bool,
    /// Why the study had enough trials before it had all of them, if it had.
    pub enough: Option<StopReason>,
    /// Whether it ended because there was nothing to run here.
    pub idle: bool,
}
