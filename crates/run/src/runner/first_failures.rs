//! Failures before any success: they are held back until it is known whether the command can work at all.
//!
//! A trial that has ended cannot be cancelled. So while no trial of the study has succeeded, a failure is not recorded: its
//! trial stays pending and its lease is renewed. Three failures in the same way (see `likeness`) are a mistake, whose trials
//! are cancelled, but for those that were pending before the run, which are so again;
//! anything else shows that they are not, and then all of them are recorded. Nothing of it is written anywhere: a run that is
//! killed, or stopped urgently, leaves pending trials, which the next one runs again.

use std::time::Duration;

use manyhands_core::{Trial, TrialState};
use manyhands_store::{Claimed, LeaseRenewer, Reported};

use super::WorkerPool;
use crate::likeness::FailureKind;
use crate::unreported::Finished;
use crate::{Error, Failure, Mistake, News, Result, StartReason};

/// How many failures in the same way, with no success before them, are a mistake.
const FAILURES_OF_A_MISTAKE: usize = 3;

/// A trial that has failed, and whose failure is not recorded.
pub(super) struct FailedTrial {
    pub claimed: Claimed,
    /// How it came to be started.
    pub reason: StartReason,
    /// The name of its report.
    pub origin: String,
    /// Renews the lease until it is decided.
    pub renewer: LeaseRenewer,
    pub failure: Failure,
    pub took: Duration,
}

/// A trial that was chosen when three had failed in the same way.
struct UnstartedTrial {
    claimed: Claimed,
    /// Renews the lease until it is decided.
    renewer: LeaseRenewer,
}

/// The failures that are held back.
#[derive(Default)]
pub(super) struct FirstFailures {
    held: Vec<FailedTrial>,
    /// The failure that all of them are.
    kind: Option<FailureKind>,
    /// Trials that were chosen and not started, since the command seems not to work.
    unstarted: Vec<UnstartedTrial>,
    /// Whether it is known that the command can work, or that its failures differ: nothing is held back any more.
    is_decided: bool,
}

impl FirstFailures {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.held.len()
    }

    /// Whether as many as make a mistake have failed in the same way: nothing more is started.
    pub fn is_mistake(&self) -> bool {
        self.held.len() >= FAILURES_OF_A_MISTAKE
    }

    /// Whether a failure may be one more of a mistake.
    fn accepts(&self, failure: &Failure, kind: &FailureKind) -> bool {
        let is_like_others = self.held.is_empty() || self.kind.as_ref().is_some_and(|first| first.is_like(kind));
        !self.is_decided && failure.may_be_a_mistake() && is_like_others
    }
}

impl<F: Fn(News)> WorkerPool<'_, F> {
    /// A command has failed: the failure is held back while it may be a mistake, and else recorded.
    pub(super) fn fail(&mut self, failed: FailedTrial) -> Result<()> {
        let trial = failed.claimed.trial;
        let kind = FailureKind::of(&failed.failure, trial, &self.session.params(trial)?);
        let is_accepted = self.first_failures.accepts(&failed.failure, &kind);
        if !self.plan.keep_going && is_accepted && !self.has_succeeded() {
            self.first_failures.kind.get_or_insert(kind);
            return self.hold_back(failed);
        }
        // Three that failed in the same way stay a mistake, whatever fails after them.
        if !self.first_failures.is_mistake() {
            self.record_first_failures()?;
        }
        self.record_failure(failed)
    }

    fn hold_back(&mut self, failed: FailedTrial) -> Result<()> {
        self.control.unreported.settle(&failed.origin)?;
        let (trial, failure, took) = (failed.claimed.trial, failed.failure.clone(), failed.took);
        self.first_failures.held.push(failed);
        (self.notify)(News::HeldBack { trial, failure, took });
        if self.first_failures.len() == FAILURES_OF_A_MISTAKE && !self.trials.running.is_empty() {
            (self.notify)(News::Suspended { failed: FAILURES_OF_A_MISTAKE, running: self.trials.running.len() });
        }
        Ok(())
    }

    /// Keeps a trial that was chosen for this run until it is known whether the command can work.
    pub(super) fn keep_unstarted(&mut self, claimed: Claimed) -> Result<()> {
        let renewer = self.session.renew_until_dropped(&claimed, self.plan.term)?;
        self.first_failures.unstarted.push(UnstartedTrial { claimed, renewer });
        Ok(())
    }

    /// Whether a suggested trial of the study has a value, as far as this process knows.
    fn has_succeeded(&self) -> bool {
        let has_value = |trial: &Trial| trial.choice().is_some() && trial.state() == TrialState::Observed;
        self.session.ledger().trials().iter().any(has_value)
    }

    /// Decides about the failures that are held back, if that is possible now: a success ends the doubt, and a mistake is
    /// certain once nothing runs any more.
    pub(super) fn judge_first_failures(&mut self) -> Result<()> {
        if self.first_failures.held.is_empty() {
            return Ok(());
        }
        if self.has_succeeded() {
            return self.record_first_failures();
        }
        if !self.trials.running.is_empty() || self.asker.is_asking {
            return Ok(());
        }
        if self.first_failures.is_mistake() {
            // Another worker may have had a success meanwhile.
            return match self.with_retries(|session, _| session.sync())? {
                Some(()) if self.has_succeeded() => self.record_first_failures(),
                Some(()) => self.withdraw_first_failures(),
                None => Ok(()),
            };
        }
        // A trial that is held back is pending: where max_pending leaves no place, no third one can be tried.
        let is_full = self.session.spec().strategy().max_pending.is_some() && self.free_places() == 0;
        if self.is_ending() || self.is_complete() || is_full {
            return self.record_first_failures();
        }
        Ok(())
    }

    /// At the end of a run: records them, or leaves their trials for the next run if there is no time.
    pub(super) fn settle_first_failures(&mut self) -> Result<()> {
        if !self.stop().is_urgent() {
            return self.record_first_failures();
        }
        for FailedTrial { claimed, renewer, .. } in std::mem::take(&mut self.first_failures.held) {
            drop(renewer);
            self.release(&claimed);
            (self.notify)(News::Stopped { trial: claimed.trial });
        }
        for UnstartedTrial { claimed, renewer } in std::mem::take(&mut self.first_failures.unstarted) {
            drop(renewer);
            self.release(&claimed);
        }
        Ok(())
    }

    /// Records them as the failures that they are; from now on none is held back. What was not started for their sake is.
    pub(super) fn record_first_failures(&mut self) -> Result<()> {
        self.first_failures.is_decided = true;
        let held = std::mem::take(&mut self.first_failures.held);
        // All of them before the first is recorded, which may take long: from here on they are kept if they cannot be.
        for FailedTrial { claimed, origin, failure, .. } in &held {
            self.control.unreported.add(Finished::of(claimed, origin.clone(), Err(failure.to_string())));
        }
        held.into_iter().try_for_each(|failed| self.record_failure(failed))?;
        for UnstartedTrial { claimed, renewer } in std::mem::take(&mut self.first_failures.unstarted) {
            drop(renewer);
            self.start(claimed, StartReason::New)?;
        }
        Ok(())
    }

    /// Cancels their trials, so that they do not count, and ends the run. Those that it has not chosen itself, as they were
    /// asked for by hand or left by another run, are pending as before.
    fn withdraw_first_failures(&mut self) -> Result<()> {
        let held = std::mem::take(&mut self.first_failures.held);
        let Some(failure) = held.last().map(|failed| failed.failure.clone()) else { return Ok(()) };
        let (failed, mut cancelled, mut pending) = (held.len(), vec![], vec![]);
        let is_varied = held.iter().any(|other| other.failure.last_line() != failure.last_line());
        for FailedTrial { claimed, reason, origin, renewer, .. } in held {
            if reason != StartReason::New {
                drop(renewer);
                self.release(&claimed);
                pending.push(claimed.trial);
                continue;
            }
            cancelled.extend(self.withdraw(&claimed, &origin, renewer)?);
        }
        cancelled.extend(self.withdraw_unstarted()?);
        cancelled.sort_unstable();
        pending.sort_unstable();
        let command = self.plan.settings.command.words().collect::<Vec<_>>().join(" ");
        let logs = self.plan.logs(self.session.name());
        let mistake = Mistake { command, failed, failure, is_varied, cancelled, pending, logs };
        self.progress.error = Some(Error::Mistake(Box::new(mistake)));
        Ok(())
    }

    /// Cancels the trials that were chosen and not started; which.
    fn withdraw_unstarted(&mut self) -> Result<Vec<usize>> {
        let mut cancelled = vec![];
        for UnstartedTrial { claimed, renewer } in std::mem::take(&mut self.first_failures.unstarted) {
            let origin = self.session.new_origin();
            cancelled.extend(self.withdraw(&claimed, &origin, renewer)?);
        }
        Ok(cancelled)
    }

    /// Cancels a trial; its number, unless someone else has ended it or was given it.
    fn withdraw(&mut self, claimed: &Claimed, origin: &str, renewer: LeaseRenewer) -> Result<Option<usize>> {
        let withdrawn = self.with_retries(|session, _| session.withdraw(claimed, origin))?;
        if withdrawn.is_none() {
            drop(renewer);
            self.release(claimed);
        }
        Ok((withdrawn == Some(Reported::Recorded)).then_some(claimed.trial))
    }
}
