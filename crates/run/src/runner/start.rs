//! The start of trials: new ones, those that others have left behind, and those that the user takes away from others.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use manyhands_store::{Claimed, Session, Survey};

use super::asker::panic_error;
use super::{Control, Message, Running, WorkerPool};
use crate::attempt::{Job, Outcome};
use crate::unreported::Finished;
use crate::{Error, News, Result, StartReason};

impl<F: Fn(News)> WorkerPool<'_, F> {
    /// Looks at what others hold, and starts the trials that workers elsewhere have left behind; how many there are.
    pub(super) fn take_over(&mut self, most: usize) -> Result<usize> {
        let change_counter = self.session.change_counter();
        let Some(Survey { taken, silent, elsewhere }) =
            self.with_retries(|session, term| session.survey(most, term))?
        else {
            return Ok(0);
        };
        self.watch.record_look(change_counter, elsewhere, &self.session);
        let count = taken.len();
        for claimed in taken {
            let reason =
                if silent.contains(&claimed.trial) { StartReason::Silent } else { StartReason::LeftUnfinished };
            self.start(claimed, reason)?;
        }
        Ok(count)
    }

    /// Starts the trials that the user wants to take away from their workers.
    pub(super) fn take_requested(&mut self) -> Result<()> {
        for trial in self.plan.take.clone() {
            if let Some(claimed) = self.with_retries(|session, term| session.take(trial, term))? {
                self.start(claimed, StartReason::TakenAway)?;
            }
        }
        Ok(())
    }

    /// Starts a trial; one that comes after a stop was requested is released instead, for the next run.
    pub(super) fn start(&mut self, claimed: Claimed, reason: StartReason) -> Result<()> {
        let trial = claimed.trial;
        // Another session has asked for it; one read of the log makes all trials of a batch known here.
        let know = |session: &mut Session| if session.trial(trial).is_ok() { Ok(()) } else { session.sync() };
        let known = if self.is_ending() { None } else { self.with_retries(|session, _| know(session))? };
        if known.is_none() || self.is_ending() {
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
        let job = Job { study: self.session.name().to_string(), trial, params, called_off: called_off.clone() };
        let origin = self.session.new_origin();
        let renewer = self.session.renew_until_dropped(&claimed, self.plan.term).map_err(Error::from);
        let started = renewer.and_then(|renewer| self.spawn(job, &claimed, origin.clone()).map(|()| renewer));
        match started {
            Ok(renewer) => self.trials.running.push(Running { claimed, origin, renewer, called_off }),
            Err(error) => {
                self.release(&claimed);
                self.progress.error = Some(error);
            }
        }
        Ok(())
    }

    /// Runs the command of a trial on a thread of its own, which sends the outcome to the coordinator.
    fn spawn(&self, job: Job, claimed: &Claimed, origin: String) -> Result<()> {
        let (attempt, token) = (claimed.attempt, claimed.token);
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
                unreported.add(Finished { trial, attempt, token, origin, outcome });
            }
            let _ = messages.send(Message::Ended { trial, outcome, took: start.elapsed() });
        };
        let thread = std::thread::Builder::new().name(format!("trial {trial}")).spawn(work);
        thread.map(drop).map_err(Error::no_thread("runs a trial"))
    }
}
