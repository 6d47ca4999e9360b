//! What becomes of trials: told, failed, cancelled, reported by a worker, or made elsewhere.

use manyhands_core::{Event, Value};

use super::{Claimed, Session};
use crate::store::{Append, Appended};
use crate::{Result, Time, encode};

/// An evaluation made elsewhere: parameters by name, and the value if it is there already.
#[derive(Debug, Clone, PartialEq)]
pub struct Outside {
    /// The values of the parameters, by name.
    pub params: Vec<(String, Value)>,
    /// The value; none while it is still under way.
    pub value: Option<f64>,
}

/// What became of a worker's report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reported {
    /// It is in the log.
    Recorded,
    /// Someone else was given the trial, or it has ended: kept as evidence only.
    TooLate,
}

impl Session {
    /// A trial's value arrived.
    pub fn tell(&mut self, trial: usize, value: f64) -> Result<()> {
        self.spec().check_value(trial, value)?;
        self.end(trial, &Event::Told { trial, value })
    }

    /// A trial failed and gives no value.
    pub fn fail(&mut self, trial: usize, reason: &str) -> Result<()> {
        self.end(trial, &Event::Failed { trial, reason: reason.to_string() })
    }

    /// A trial was called off; its point is free again.
    pub fn cancel(&mut self, trial: usize) -> Result<()> {
        self.end(trial, &Event::Cancelled { trial })
    }

    fn end(&mut self, trial: usize, event: &Event) -> Result<()> {
        let events = [encode(event)?];
        loop {
            self.sync()?;
            self.ledger.pending_trial(trial)?;
            let append = Append { origin: &self.origin(), events: &events, ..Append::default() };
            // Someone else may have ended it in between: the next look says so.
            if self.store.append(self.id, &append)? == Appended::Stored {
                self.look_again();
                return Ok(());
            }
        }
    }

    /// What a worker found: a value, or why there is none. Repeated with the same `origin` it is stored once.
    pub fn report(
        &mut self,
        claimed: &Claimed,
        origin: &str,
        outcome: std::result::Result<f64, String>,
    ) -> Result<Reported> {
        let trial = claimed.trial;
        let event = match &outcome {
            Ok(value) => {
                self.spec().check_value(trial, *value)?;
                Event::Told { trial, value: *value }
            }
            Err(reason) => Event::Failed { trial, reason: reason.clone() },
        };
        let (events, fence) = ([encode(&event)?], claimed.fence());
        let releases = [fence];
        let append = Append { origin, events: &events, fence: Some(fence), releases: &releases, ..Append::default() };
        let reported = match self.store.append(self.id, &append)? {
            Appended::Stored => Reported::Recorded,
            Appended::Fenced { .. } | Appended::Taken { .. } => {
                let events = [encode(&Event::LateResult { trial, outcome })?];
                self.store.append(self.id, &Append { origin: &self.origin(), events: &events, ..Append::default() })?;
                Reported::TooLate
            }
        };
        self.look_again();
        Ok(reported)
    }

    /// Adds an evaluation made elsewhere, or one under way elsewhere; the number of its trial.
    pub fn include(&mut self, outside: &Outside) -> Result<usize> {
        loop {
            let study = self.study()?;
            let included = study.propose_included(&outside.params, outside.value)?;
            let trial = included.trial;
            let events = [encode(&Event::Included(included))?];
            let append = Append { origin: &self.origin(), events: &events, ..Append::default() };
            // Taken: another trial has got this number in between.
            if self.store.append(self.id, &append)? == Appended::Stored {
                self.look_again();
                return Ok(trial);
            }
        }
    }

    /// Takes in what was just logged. It is in the log even if that cannot be read now; the next look finds it.
    pub(super) fn look_again(&mut self) {
        let _ = self.sync();
    }

    /// A name that no other append has, for [`Session::report`].
    pub fn new_origin(&self) -> String {
        self.origin()
    }

    /// A name that no other append has.
    pub(super) fn origin(&self) -> String {
        use std::sync::atomic::{AtomicU64, Ordering};
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let (holder, count) = (&self.holder, COUNT.fetch_add(1, Ordering::Relaxed));
        format!("{}/{}/{}/{}/{count}", holder.host, holder.pid, holder.started, Time::now().micros())
    }
}
