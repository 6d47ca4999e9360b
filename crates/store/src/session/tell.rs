//! The ends of trials: told, failed, cancelled or reported by a worker; and trials that were made elsewhere.

use manyhands_core::{Event, Trial, TrialState, Value};

use super::{Claimed, Session};
use crate::codec::encode;
use crate::record::{Append, Appended, NewEvent};
use crate::{Error, Result, Time};

/// An evaluation made elsewhere: parameters by name, and the value if it is there already.
#[derive(Debug, Clone, PartialEq)]
pub struct ExternalEvaluation {
    /// The values of the parameters, by name.
    pub params: Vec<(String, Value)>,
    /// The value; none while it is still under way.
    pub value: Option<f64>,
}

/// Whether a worker's report counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reported {
    /// It is in the log.
    Recorded,
    /// Someone else was given the trial, or it has ended: it is stored as a late result, not used by the model.
    TooLate,
}

impl Session {
    /// A trial's value arrived. Telling a trial the value that it has changes nothing.
    pub fn tell(&mut self, trial: usize, value: f64) -> Result<()> {
        self.spec().check_value(trial, value)?;
        self.end(trial, &Event::Told { trial, value })
    }

    /// A trial failed and gives no value.
    pub fn fail(&mut self, trial: usize, reason: &str) -> Result<()> {
        self.end(trial, &Event::Failed { trial, reason: reason.to_string() })
    }

    /// A trial was cancelled; its point is free again.
    pub fn cancel(&mut self, trial: usize) -> Result<()> {
        self.end(trial, &Event::Cancelled { trial })
    }

    fn end(&mut self, trial: usize, event: &Event) -> Result<()> {
        let (events, origin) = ([encode(event)?], self.new_origin());
        // A trial that is known to be pending needs no look at the log: should it have ended since, the append says so.
        if self.ledger().pending_trial(trial).is_err() {
            self.sync()?;
        }
        loop {
            if has_same_end(self.ledger().trial(trial)?, event) {
                return Ok(());
            }
            if let (Event::Told { value, .. }, Some(before)) = (event, self.ledger().trial(trial)?.value()) {
                return Err(Error::OtherValue { trial, before, now: *value });
            }
            self.ledger().pending_trial(trial)?;
            let append = Append { origin: &origin, events: &events, ..Append::default() };
            if let Appended::Stored { .. } = self.append(&append)? {
                return Ok(());
            }
            // Someone else has ended it in between.
            self.sync()?;
        }
    }

    /// Records a worker's result: a value, or why there is none. A report that is repeated, because its answer was lost,
    /// has the same origin and is recorded once.
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
        let (events, fence) = ([encode(&event)?], Some(claimed.fence()));
        let append = Append { origin, events: &events, fence, ..Append::default() };
        match self.append(&append)? {
            Appended::Stored { .. } => Ok(Reported::Recorded),
            Appended::Fenced { .. } | Appended::Taken { .. } => {
                let (events, origin) = ([encode(&Event::LateResult { trial, outcome })?], format!("{origin}/late"));
                self.append(&Append { origin: &origin, events: &events, ..Append::default() })?;
                Ok(Reported::TooLate)
            }
        }
    }

    /// Cancels a trial that a worker holds, as its command cannot work. [`Reported::TooLate`], and nothing is logged, if
    /// someone else was given the trial, or it has ended.
    pub fn withdraw(&mut self, claimed: &Claimed, origin: &str) -> Result<Reported> {
        let (events, fence) = ([encode(&Event::Cancelled { trial: claimed.trial })?], Some(claimed.fence()));
        match self.append(&Append { origin, events: &events, fence, ..Append::default() })? {
            Appended::Stored { .. } => Ok(Reported::Recorded),
            Appended::Fenced { .. } | Appended::Taken { .. } => Ok(Reported::TooLate),
        }
    }

    /// Adds an evaluation made elsewhere, or one under way elsewhere; the number of its trial.
    pub fn include(&mut self, outside: &ExternalEvaluation) -> Result<usize> {
        let origin = self.new_origin();
        let mut proposed = self.model()?.propose_included(&outside.params, outside.value);
        if proposed.is_err() {
            self.sync()?;
            proposed = self.model()?.propose_included(&outside.params, outside.value);
        }
        loop {
            let included = proposed?;
            let trial = included.trial;
            let events = [encode(&Event::Included(included))?];
            let append = Append { origin: &origin, events: &events, ..Append::default() };
            if let Appended::Stored { .. } = self.append(&append)? {
                return Ok(trial);
            }
            // Another trial has got this number in between.
            self.sync()?;
            proposed = self.model()?.propose_included(&outside.params, outside.value);
        }
    }

    /// Logs events that were made elsewhere, all of them or none; refused unless they can follow the log. For measurements
    /// with large logs, not for users: nothing else logs choices that no session has made.
    #[doc(hidden)]
    pub fn extend(&mut self, events: &[Event]) -> Result<()> {
        let encoded: Vec<NewEvent> = events.iter().map(encode).collect::<Result<_>>()?;
        let origin = self.new_origin();
        loop {
            self.sync()?;
            let mut ledger = self.ledger().clone();
            events.iter().try_for_each(|event| ledger.apply(event.clone()))?;
            let append = Append { origin: &origin, events: &encoded, ..Append::default() };
            if let Appended::Stored { .. } = self.append(&append)? {
                return Ok(());
            }
        }
    }

    /// A name that no other append has.
    pub fn new_origin(&self) -> String {
        use std::sync::atomic::{AtomicU64, Ordering};
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let (holder, count) = (&self.holder, COUNT.fetch_add(1, Ordering::Relaxed));
        format!("{}/{}/{}/{}/{count}", holder.host, holder.pid, holder.started, Time::now().micros())
    }
}

/// Whether a trial has already ended in this very way.
fn has_same_end(trial: &Trial, event: &Event) -> bool {
    match event {
        Event::Told { value, .. } => trial.value() == Some(*value),
        Event::Failed { reason, .. } => trial.state() == TrialState::Failed && trial.reason() == Some(reason),
        Event::Cancelled { .. } => trial.state() == TrialState::Cancelled,
        _ => false,
    }
}
