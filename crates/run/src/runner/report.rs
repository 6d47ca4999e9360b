//! The end of trials: their outcomes are recorded in the log, or kept next to the logs where that is not possible.

use std::path::Path;
use std::time::Duration;

use manyhands_core::TrialState;
use manyhands_store::{Claimed, Error as StoreError, Reported, TrialResult};

use super::first_failures::FailedTrial;
use super::{FAILURES_TO_GIVE_UP, Running, WorkerPool};
use crate::attempt::Outcome;
use crate::unreported::{Finished, Saved};
use crate::{CallOffReason, Cause, Error, Failure, News, Result, StudyProgress};

impl<F: Fn(News)> WorkerPool<'_, F> {
    /// Reports what earlier runs had to leave next to the logs.
    pub(super) fn report_left_over(&mut self) -> Result<()> {
        for (path, read) in self.control.unreported.left_over()? {
            match read.and_then(|finished| self.known(finished)) {
                Ok(finished) => self.deliver_left_over(&path, finished)?,
                Err(reason) => {
                    let what = format!("{} is not reported and stays: {reason}", path.display());
                    (self.notify)(News::Warning { what });
                }
            }
        }
        Ok(())
    }

    /// The same, if the study has such a trial: a store may have been restored from a copy without it.
    fn known(&self, finished: Finished) -> std::result::Result<Finished, String> {
        self.session.ledger().trial(finished.trial).map(|_| finished).map_err(|error| error.to_string())
    }

    fn deliver_left_over(&mut self, path: &Path, finished: Finished) -> Result<()> {
        let Finished { trial, attempt, token, origin, outcome } = finished;
        let Some((reported, outcome)) =
            self.deliver(&Claimed::restored(trial, attempt, token), &origin, outcome, |reason| reason)?
        else {
            return Ok(());
        };
        self.control.unreported.remove(path)?;
        let (progress, outcome) = (StudyProgress::of(&self.session), outcome.map(|evaluation| evaluation.value));
        (self.notify)(News::Delivered { trial, outcome, reported, progress });
        Ok(())
    }

    /// Keeps what could not be reported for the next run.
    pub(super) fn save_unreported(&mut self, result: &Result<crate::Summary>) {
        if matches!(result, Err(Error::Session(StoreError::Deleted))) {
            self.control.unreported.forget();
        }
        self.control.unreported.save().into_iter().for_each(|saved| (self.notify)(saved.news()));
    }

    pub(super) fn end(&mut self, trial: usize, outcome: Outcome, took: Duration) -> Result<()> {
        let Some(place) = self.trials.running.iter().position(|running| running.claimed.trial == trial) else {
            return Ok(());
        };
        let Running { claimed, reason, origin, renewer, called_off, .. } = self.trials.running.remove(place);
        match outcome {
            Outcome::Value(evaluation) => self.record(&claimed, &origin, Ok(evaluation), took)?,
            Outcome::Failed(failure) => self.fail(FailedTrial { claimed, reason, origin, renewer, failure, took })?,
            Outcome::Stopped if called_off.load(std::sync::atomic::Ordering::Relaxed) => {
                let reason = match self.session.trial(trial)?.state() {
                    TrialState::Cancelled => CallOffReason::Cancelled,
                    _ => CallOffReason::GivenAway,
                };
                (self.notify)(News::CalledOff { trial, reason });
            }
            Outcome::Stopped => {
                drop(renewer);
                self.release(&claimed);
                (self.notify)(News::Stopped { trial });
            }
            Outcome::Impossible(error) => {
                drop(renewer);
                self.release(&claimed);
                self.progress.error = Some(error);
            }
        }
        Ok(())
    }

    /// Releases a trial, so that others can have it at once. A lease that cannot be released lapses by itself.
    pub(super) fn release(&mut self, claimed: &Claimed) {
        if let Err(error) = self.session.release(claimed) {
            let trial = claimed.trial;
            let what = format!("trial {trial} is offered again only when its lease has lapsed: {error}");
            (self.notify)(News::Warning { what });
        }
    }

    /// Records a failure.
    pub(super) fn record_failure(&mut self, failed: FailedTrial) -> Result<()> {
        let FailedTrial { claimed, origin, renewer, failure, took, .. } = failed;
        let recorded = self.record(&claimed, &origin, Err(failure), took);
        drop(renewer);
        recorded
    }

    /// Records a result in the log, however long that takes: it may have cost hours.
    fn record(
        &mut self,
        claimed: &Claimed,
        origin: &str,
        outcome: std::result::Result<TrialResult, Failure>,
        took: Duration,
    ) -> Result<()> {
        let trial = claimed.trial;
        let refused = |reason| Failure { cause: Cause::Refused(reason), stderr_tail: String::new() };
        match self.deliver(claimed, origin, outcome, refused)? {
            // An urgent stop came first: it is kept for the next run.
            None => {}
            Some((Reported::TooLate, _)) => (self.notify)(News::TooLate { trial }),
            Some((Reported::Recorded, Ok(TrialResult { value, .. }))) => {
                self.progress.summary.told += 1;
                self.progress.failures_in_a_row = 0;
                // One that was still running shows that not all fail: the run goes on.
                self.progress.error.take_if(|error| matches!(error, Error::AllFail { .. }));
                let progress = StudyProgress::of(&self.session);
                let aim = self.session.trial(trial)?.aim();
                (self.notify)(News::Told { trial, value, aim, took, progress });
                self.record_first_failures()?;
            }
            Some((Reported::Recorded, Err(failure))) => {
                self.progress.summary.failed += 1;
                self.progress.failures_in_a_row += 1;
                let progress = StudyProgress::of(&self.session);
                (self.notify)(News::Failed { trial, failure: failure.clone(), took, progress });
                if matches!(failure.cause, Cause::Refused(_)) {
                    // It gave a number: the command can work.
                    self.record_first_failures()?;
                }
                self.give_up_if_all_fail(failure);
            }
        }
        Ok(())
    }

    /// Ends the run if no trial has succeeded and too many have failed, unless the plan says to continue.
    fn give_up_if_all_fail(&mut self, failure: Failure) {
        let (failed, most) = (self.progress.failures_in_a_row, FAILURES_TO_GIVE_UP.max(self.plan.settings.workers));
        if self.progress.summary.told == 0 && failed >= most && !self.plan.keep_going {
            let logs = self.plan.logs(self.session.name());
            self.progress.error = Some(Error::AllFail { failed, failure, logs });
        }
    }

    /// Reports an outcome until the store has acknowledged it; what was recorded. A value that the study refuses is recorded
    /// as a failure, which `refused` makes of the reason. None if an urgent stop came first.
    fn deliver<E: std::fmt::Display>(
        &mut self,
        claimed: &Claimed,
        origin: &str,
        outcome: std::result::Result<TrialResult, E>,
        refused: fn(String) -> E,
    ) -> Result<Option<(Reported, std::result::Result<TrialResult, E>)>> {
        let report = outcome.as_ref().map(Clone::clone).map_err(ToString::to_string);
        let reported = match self.with_retries(|session, _| session.report(claimed, origin, report.clone())) {
            Err(Error::Session(StoreError::Study(refusal))) if outcome.is_ok() => {
                return self.deliver(claimed, origin, Err(refused(refusal.to_string())), refused);
            }
            reported => reported?,
        };
        if reported.is_some() {
            self.control.unreported.settle(origin)?;
        }
        Ok(reported.map(|reported| (reported, outcome)))
    }
}

impl Saved {
    /// The news of it.
    pub fn news(&self) -> News {
        let trial = self.finished.trial;
        match &self.file {
            Ok(path) => News::Kept { trial, path: path.clone() },
            Err(error) => {
                let outcome = match &self.finished.outcome {
                    Ok(evaluation) => format!("value {}", evaluation.value),
                    Err(reason) => format!("failure ({reason})"),
                };
                News::Warning { what: format!("trial {trial}: its {outcome} could not be recorded, nor kept: {error}") }
            }
        }
    }
}
