//! The ends of trials: told, failed, cancelled or reported by a worker; and trials that were made elsewhere.

use manyhands_core::event::Enqueued;
use manyhands_core::{Choice, Event, Ledger, Phase, Spec, Trial, TrialState, Value};

use super::{Claimed, Session};
use crate::codec::encode;
use crate::record::{Append, Appended, NewEvent};
use crate::{Error, Result, Time};

/// The result of a trial: its value, and further numbers that came with it.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialResult {
    /// The value.
    pub value: f64,
    /// Further numbers, by name; the model does not see them.
    pub metrics: Vec<(String, f64)>,
}

impl From<f64> for TrialResult {
    fn from(value: f64) -> Self {
        Self { value, metrics: vec![] }
    }
}

/// An evaluation made elsewhere: parameters by name, and how it ended if it has.
#[derive(Debug, Clone, PartialEq)]
pub struct ExternalEvaluation {
    /// The values of the parameters, by name.
    pub params: Vec<(String, Value)>,
    /// A value, or why there is none; none while it is still under way.
    pub outcome: Option<std::result::Result<f64, String>>,
    /// Further numbers, by name; the model does not see them.
    pub metrics: Vec<(String, f64)>,
}

impl ExternalEvaluation {
    /// Of these parameters with this value, or without one still under way; without further numbers.
    pub fn new(params: Vec<(String, Value)>, value: Option<f64>) -> Self {
        Self { params, outcome: value.map(Ok), metrics: vec![] }
    }
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
    /// A trial's value arrived, perhaps with further numbers. Telling a trial what it was told before changes nothing.
    pub fn tell(&mut self, trial: usize, evaluation: impl Into<TrialResult>) -> Result<()> {
        let TrialResult { value, metrics } = evaluation.into();
        self.spec().check_value(trial, value)?;
        check_metrics(&metrics)?;
        self.end(trial, &Event::Told { trial, value }, &metrics)
    }

    /// A trial failed and gives no value.
    pub fn fail(&mut self, trial: usize, reason: &str) -> Result<()> {
        self.end(trial, &Event::Failed { trial, reason: reason.to_string() }, &[])
    }

    /// A trial was cancelled; its point is free again.
    pub fn cancel(&mut self, trial: usize) -> Result<()> {
        self.end(trial, &Event::Cancelled { trial }, &[])
    }

    fn end(&mut self, trial: usize, event: &Event, metrics: &[(String, f64)]) -> Result<()> {
        let origin = self.new_origin();
        // A trial that is known to be pending needs no look at the log: should it have ended since, the append says so.
        if self.ledger().pending_trial(trial).is_err() {
            self.sync()?;
        }
        loop {
            let mut events: Vec<Event> = new_end(self.ledger(), trial, event)?.into_iter().collect();
            events.extend(new_metrics(self.ledger().trial(trial)?, metrics));
            if events.is_empty() {
                return Ok(());
            }
            let events: Vec<NewEvent> = events.iter().map(|event| self.encoded(event)).collect::<Result<_>>()?;
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
        outcome: std::result::Result<TrialResult, String>,
    ) -> Result<Reported> {
        let Claimed { trial, attempt, .. } = *claimed;
        let mut events = Vec::new();
        match &outcome {
            Ok(TrialResult { value, metrics }) => {
                self.spec().check_value(trial, *value)?;
                check_metrics(metrics)?;
                events.push(encode(&Event::Told { trial, value: *value }, attempt)?);
                if !metrics.is_empty() {
                    events.push(encode(&Event::Measured { trial, metrics: metrics.clone() }, attempt)?);
                }
            }
            Err(reason) => events.push(encode(&Event::Failed { trial, reason: reason.clone() }, attempt)?),
        }
        let append = Append { origin, events: &events, fence: Some(claimed.fence()), ..Append::default() };
        match self.append(&append)? {
            Appended::Stored { .. } => Ok(Reported::Recorded),
            Appended::Fenced { .. } | Appended::Taken { .. } | Appended::Outdated => {
                let late = Event::LateResult { trial, outcome: outcome.map(|evaluation| evaluation.value) };
                let (events, origin) = ([encode(&late, attempt)?], format!("{origin}/late"));
                self.append(&Append { origin: &origin, events: &events, ..Append::default() })?;
                Ok(Reported::TooLate)
            }
        }
    }

    /// Cancels a trial that a worker holds, as its command cannot work; a point that was enqueued is in the queue again.
    /// [`Reported::TooLate`], and nothing is logged, if someone else was given the trial, or it has ended.
    pub fn withdraw(&mut self, claimed: &Claimed, origin: &str) -> Result<Reported> {
        let Claimed { trial, attempt, .. } = *claimed;
        let mut events = vec![encode(&Event::Cancelled { trial }, attempt)?];
        let queued = self.trial(trial)?.choice().filter(|choice| choice.phase == Phase::Queued);
        if let Some(Choice { candidate, params, .. }) = queued {
            let candidate = self.spec().is_finite().then_some(*candidate);
            events.push(encode(&Event::Enqueued(Enqueued { candidate, params: params.clone() }), 0)?);
        }
        let fence = Some(claimed.fence());
        match self.append(&Append { origin, events: &events, fence, ..Append::default() })? {
            Appended::Stored { .. } => Ok(Reported::Recorded),
            Appended::Fenced { .. } | Appended::Taken { .. } | Appended::Outdated => Ok(Reported::TooLate),
        }
    }

    /// Adds an evaluation made elsewhere, or one under way elsewhere; the number of its trial.
    pub fn include(&mut self, outside: &ExternalEvaluation) -> Result<usize> {
        let events = self.log_decided(|session| events_of_external(session.spec(), session.ledger(), outside))?;
        events.first().and_then(Event::trial).ok_or(Error::Internal { what: "nothing was included" })
    }

    /// Logs events that were made elsewhere, all of them or none; refused unless they can follow the log. For measurements
    /// with large logs, not for users: nothing else logs choices that no session has made.
    #[doc(hidden)]
    pub fn extend(&mut self, events: &[Event]) -> Result<()> {
        self.log_decided(|_| Ok(events.to_vec())).map(drop)
    }

    /// A name that no other append has.
    pub fn new_origin(&self) -> String {
        use std::sync::atomic::{AtomicU64, Ordering};
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let (holder, count) = (&self.holder, COUNT.fetch_add(1, Ordering::Relaxed));
        format!("{}/{}/{}/{}/{count}", holder.host, holder.pid, holder.started, Time::now().micros())
    }
}

/// The event that ends a trial, none where it has ended in this very way; refused where it has ended in another.
fn new_end(ledger: &Ledger, trial: usize, event: &Event) -> Result<Option<Event>> {
    let record = ledger.trial(trial)?;
    if has_same_end(record, event) {
        return Ok(None);
    }
    if let (Event::Told { value, .. }, Some(before)) = (event, record.value()) {
        return Err(Error::OtherValue { trial, before, now: *value });
    }
    ledger.pending_trial(trial)?;
    Ok(Some(event.clone()))
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

/// The event that records those of these numbers that a trial does not have yet, if there are any.
pub(super) fn new_metrics(trial: &Trial, metrics: &[(String, f64)]) -> Option<Event> {
    let is_new = |metric: &&(String, f64)| !trial.metrics().contains(metric);
    let metrics: Vec<(String, f64)> = metrics.iter().filter(is_new).cloned().collect();
    (!metrics.is_empty()).then_some(Event::Measured { trial: trial.number(), metrics })
}

/// The events of an evaluation made elsewhere, after those of a ledger.
pub(super) fn events_of_external(spec: &Spec, ledger: &Ledger, outside: &ExternalEvaluation) -> Result<Vec<Event>> {
    let ExternalEvaluation { params, outcome, metrics } = outside;
    check_metrics(metrics)?;
    let value = outcome.as_ref().and_then(|outcome| outcome.as_ref().ok().copied());
    let included = spec.included(ledger, params, value)?;
    let trial = included.trial;
    let mut events = vec![Event::Included(included)];
    if let Some(Err(reason)) = outcome {
        events.push(Event::Failed { trial, reason: reason.clone() });
    }
    if !metrics.is_empty() {
        events.push(Event::Measured { trial, metrics: metrics.clone() });
    }
    Ok(events)
}

/// Refuses a name or a number that cannot be a metric.
pub(super) fn check_metrics(metrics: &[(String, f64)]) -> Result<()> {
    for (position, (name, value)) in metrics.iter().enumerate() {
        let is_name = !name.is_empty() && !name.chars().any(char::is_control);
        let is_new = metrics[..position].iter().all(|(other, _)| other != name);
        if !(is_name && is_new && value.is_finite()) {
            return Err(Error::BadMetric { name: name.clone(), value: *value });
        }
    }
    Ok(())
}
