//! The start of trials: new ones, those that others have left behind, and those that the user takes away from others.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use manyhands_store::{Claimed, Error as StoreError, Session};

use super::asker::panic_error;
use super::{Control, Message, Running, WorkerPool};
use crate::attempt::{Job, Outcome};
use crate::unreported::Finished;
use crate::{Error, News, Result, StartReason};

/// A trial that is to run here before any other.
pub(super) enum WantedTrial {
    /// Whoever holds it.
    Take(usize),
    /// If nobody holds it.
    Adopt(usize),
}

impl<F: Fn(News)> WorkerPool<'_, F> {
    /// Looks at what others hold, and starts the trials that workers elsewhere have left behind; how many there are.
    pub(super) fn take_over(&mut self, most: usize) -> Result<usize> {
        let change_counter = self.session.change_counter();
        let Some(mut found) = self.with_retries(|session, term| session.survey(most, term))? else {
            return Ok(0);
        };
        let (taken, silent) = (std::mem::take(&mut found.taken), std::mem::take(&mut found.silent));
        if !self.watch.has_looked() {
            self.handle_by_hand(&found.by_hand);
        }
        self.watch.record_look(change_counter, found, &self.session);
        let count = taken.len();
        for claimed in taken {
            // A reopened trial is offered as one that was left behind.
            let reason = match self.session.trial(claimed.trial)?.attempt() {
                _ if silent.contains(&claimed.trial) => StartReason::Silent,
                0 => StartReason::LeftUnfinished,
                _ => StartReason::Reopened,
            };
            self.start(claimed, reason)?;
        }
        Ok(count)
    }

    /// Trials that were asked for by hand before the run began are run here if the plan says so, and else named.
    fn handle_by_hand(&mut self, trials: &[usize]) {
        let is_wanted = |trial: &usize| self.plan.take.contains(trial);
        let trials: Vec<usize> = trials.iter().copied().filter(|trial| !is_wanted(trial)).collect();
        if self.plan.adopt {
            self.trials.wanted.extend(trials.into_iter().map(WantedTrial::Adopt));
        } else if !trials.is_empty() {
            (self.notify)(News::ByHand { trials });
        }
    }

    /// Notes the trials that the user wants to take away from their workers; refused if one of them is not pending.
    pub(super) fn want_requested(&mut self) -> Result<()> {
        if self.plan.take.is_empty() || self.with_retries(|session, _| session.sync())?.is_none() {
            return Ok(());
        }
        for trial in self.plan.take.clone() {
            self.session.ledger().pending_trial(trial).map_err(StoreError::from)?;
            self.trials.wanted.push_back(WantedTrial::Take(trial));
        }
        Ok(())
    }

    /// Starts up to `most` of the trials that are wanted here before any other; how many.
    pub(super) fn start_wanted(&mut self, most: usize) -> Result<usize> {
        let mut count = 0;
        while count < most
            && let Some(wanted) = self.trials.wanted.pop_front()
        {
            if let Some((claimed, reason)) = self.claim_wanted(wanted)? {
                self.start(claimed, reason)?;
                count += 1;
            }
        }
        Ok(count)
    }

    /// The claim on a trial that is wanted here; none if it has ended meanwhile, or others got there first.
    fn claim_wanted(&mut self, wanted: WantedTrial) -> Result<Option<(Claimed, StartReason)>> {
        let (claimed, reason) = match wanted {
            WantedTrial::Take(trial) => {
                let taken = self.with_retries(|session, term| session.take(trial, term));
                (taken, StartReason::TakenAway)
            }
            WantedTrial::Adopt(trial) => {
                let adopted = self.with_retries(|session, term| session.adopt(trial, term));
                (adopted.map(Option::flatten), StartReason::Adopted)
            }
        };
        match claimed {
            Err(Error::Session(StoreError::Study(refusal))) => {
                (self.notify)(News::Warning { what: refusal.to_string() });
                Ok(None)
            }
            claimed => Ok(claimed?.map(|claimed| (claimed, reason))),
        }
    }

    /// Starts a trial; one that comes after a stop was requested is released instead, for the next run, and one that was
    /// chosen for a command that seems not to work is kept until that is known.
    pub(super) fn start(&mut self, claimed: Claimed, reason: StartReason) -> Result<()> {
        let trial = claimed.trial;
        if self.first_failures.is_mistake() && reason == StartReason::New {
            return self.keep_unstarted(claimed);
        }
        // Another session has asked for it; one read of the log makes all trials of a batch known here.
        let know = |session: &mut Session| if session.trial(trial).is_ok() { Ok(()) } else { session.sync() };
        let known = if self.starts_nothing() { None } else { self.with_retries(|session, _| know(session))? };
        if known.is_none() || self.starts_nothing() {
            self.release(&claimed);
            return Ok(());
        }
        self.progress.idle_since = None;
        self.watch.trial_started();
        let params = self.session.params(trial)?;
        let params: Vec<_> = params.into_iter().map(|(name, value)| (name.to_string(), value)).collect();
        let aim = self.session.trial(trial)?.aim();
        (self.notify)(News::Started { trial, params: params.clone(), aim, reason });
        let called_off = Arc::new(AtomicBool::new(false));
        let slot = self.free_slot();
        let job = Job { study: self.session.name().to_string(), trial, params, slot, called_off: called_off.clone() };
        let origin = self.session.new_origin();
        let renewer = self.session.renew_until_dropped(&claimed, self.plan.term).map_err(Error::from);
        let started = renewer.and_then(|renewer| self.spawn(job, &claimed, origin.clone()).map(|()| renewer));
        match started {
            Ok(renewer) => self.trials.running.push(Running { claimed, reason, origin, slot, renewer, called_off }),
            Err(error) => {
                self.release(&claimed);
                self.progress.error = Some(error);
            }
        }
        Ok(())
    }

    /// The first worker, counted from 0, that has no trial.
    fn free_slot(&self) -> usize {
        let is_taken = |slot: &usize| self.trials.running.iter().any(|running| running.slot == *slot);
        (0..).find(|slot| !is_taken(slot)).unwrap_or_default()
    }

    /// Runs the command of a trial on a thread of its own, which sends the outcome to the coordinator.
    fn spawn(&self, job: Job, claimed: &Claimed, origin: String) -> Result<()> {
        let claimed = claimed.clone();
        let (trial, plan, messages) = (job.trial, self.plan.clone(), self.trials.messages.clone());
        let Control { stop, unreported } = self.control.clone();
        let work = move || {
            let start = Instant::now();
            // Neither send can fail: the coordinator receives until everything has ended.
            let notify = |news| drop(messages.send(Message::News(news)));
            let outcome = catch_unwind(AssertUnwindSafe(|| job.run(&plan, &stop, &notify)))
                .unwrap_or_else(|panic| Outcome::Impossible(panic_error("running a trial", panic.as_ref())));
            // Before anything else: from here on it is written next to the logs if it cannot be recorded.
            if let Some(outcome) = outcome.report() {
                unreported.add(Finished::of(&claimed, origin, outcome));
            }
            let _ = messages.send(Message::Ended { trial, outcome, took: start.elapsed() });
        };
        let thread = std::thread::Builder::new().name(format!("trial {trial}")).spawn(work);
        thread.map(drop).map_err(Error::no_thread("runs a trial"))
    }
}
