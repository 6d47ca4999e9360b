//! The state of every trial: the fold over the log without the model. A [`Study`](crate::Study) is this and the model.

use std::collections::VecDeque;

use manyhands_gp::Key;

use crate::event::{Asked, Enqueued, Event, Included};
use crate::trial::{Start, Trial, TrialEnd, TrialState};
use crate::{Direction, Error, Phase, Result};

/// All trials of a study, and its log.
///
/// ```
/// use manyhands_core::{Event, Ledger, TrialState};
/// use manyhands_core::event::Included;
/// # fn main() -> manyhands_core::Result<()> {
/// let mut ledger = Ledger::default();
/// ledger.apply(Event::Included(Included { trial: 0, candidate: 3, params: vec![], value: None }))?;
/// assert_eq!(ledger.pending(), 1);
/// ledger.apply(Event::Told { trial: 0, value: 1.5 })?;
/// assert_eq!(ledger.trial(0)?.state(), TrialState::Observed);
/// assert!(ledger.apply(Event::Cancelled { trial: 0 }).is_err());
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Default)]
pub struct Ledger {
    events: Vec<Event>,
    trials: Vec<Trial>,
    /// The points that are to be tried before any suggestion, the next one first.
    queue: VecDeque<Enqueued>,
    pending: usize,
    late: usize,
}

impl Ledger {
    /// The log. Event i has sequence number i + 1.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// All trials in order of their numbers.
    pub fn trials(&self) -> &[Trial] {
        &self.trials
    }

    /// The values of observed rows as they were told, larger is better, in the rows' order.
    pub(crate) fn values_of(&self, rows: &[Key], direction: Direction) -> Vec<f64> {
        let value = |key: &Key| self.trials.get(key.id as usize).and_then(|trial| trial.value()).unwrap_or(0.0);
        rows.iter().map(|key| direction.sign() * value(key)).collect()
    }

    /// How many trials are pending.
    pub fn pending(&self) -> usize {
        self.pending
    }

    /// The trial with the best value in a direction, and the value; the first among equals.
    pub fn extreme(&self, direction: Direction) -> Option<(usize, f64)> {
        let values = self.trials.iter().enumerate().filter_map(|(number, trial)| Some((number, trial.value()?)));
        values.reduce(|best, next| if direction.is_better(next.1, best.1) { next } else { best })
    }

    /// The points that are to be tried before any suggestion, the next one first.
    pub fn queue(&self) -> impl ExactSizeIterator<Item = &Enqueued> {
        self.queue.iter()
    }

    /// How many trials are in this state.
    pub fn count(&self, state: TrialState) -> usize {
        self.trials.iter().filter(|trial| trial.state() == state).count()
    }

    /// How many results came too late.
    pub fn late(&self) -> usize {
        self.late
    }

    /// The trial of this number.
    pub fn trial(&self, number: usize) -> Result<&Trial> {
        self.trials.get(number).ok_or(Error::UnknownTrial { trial: number, trials: self.trials.len() })
    }

    /// The trial of this number, if it is pending.
    pub fn pending_trial(&self, number: usize) -> Result<&Trial> {
        let trial = self.trial(number)?;
        match trial.state() {
            TrialState::Pending => Ok(trial),
            state => Err(Error::NotPending { trial: number, state }),
        }
    }

    /// Refuses an event that cannot be the next one.
    pub fn check(&self, event: &Event) -> Result<()> {
        match event {
            Event::Asked(Asked { trial, seen, choice, .. }) => {
                self.check_start(*trial, *seen)?;
                if let Some(number) = choice.not_finite() {
                    return Err(self.bad_log(&format!("it holds the number {number}, which is not finite")));
                }
                let is_next = |next: &Enqueued| next.is_at(choice.candidate, &choice.params);
                match choice.phase == Phase::Queued && !self.queue.front().is_some_and(is_next) {
                    true => Err(self.bad_log("it was taken from the queue, which has another point first")),
                    false => Ok(()),
                }
            }
            Event::Included(included) => self.check_start(included.trial, 0),
            Event::Fitted(fitted) => self.check_seen(fitted.seen),
            Event::Told { trial, .. } | Event::Failed { trial, .. } | Event::Cancelled { trial } => {
                self.pending_trial(*trial).map(drop)
            }
            Event::LateResult { trial, .. } | Event::Measured { trial, .. } => self.trial(*trial).map(drop),
            Event::Amended(_) | Event::Restored { .. } | Event::Reopened { .. } => self.revised(event).map(drop),
            Event::Enqueued(_) | Event::Cleared => Ok(()),
        }
    }

    /// The trial that an event is about, as it is after it; refused where it cannot be amended, restored or reopened so.
    pub(crate) fn revised(&self, event: &Event) -> Result<Trial> {
        let number = event.trial().ok_or(Error::Internal { what: "a revision is about no trial" })?;
        let mut trial = self.trial(number)?.clone();
        trial.revise(event)?;
        Ok(trial)
    }

    /// Appends the next event of the log, if it can follow the events before it.
    pub fn apply(&mut self, event: Event) -> Result<()> {
        self.check(&event)?;
        self.record(event);
        Ok(())
    }

    /// Appends an event that was checked.
    pub(crate) fn record(&mut self, event: Event) {
        match &event {
            Event::Asked(Asked { choice, .. }) => {
                if choice.phase == Phase::Queued {
                    self.queue.pop_front();
                }
                self.begin(Start::Suggested(choice.clone()), None);
            }
            Event::Included(Included { candidate, params, value, .. }) => {
                let start = Start::Included { candidate: *candidate, params: params.clone() };
                self.begin(start, value.map(TrialEnd::Observed));
            }
            Event::Told { trial, value } => self.end(*trial, TrialEnd::Observed(*value)),
            Event::Failed { trial, reason } => self.end(*trial, TrialEnd::Failed(reason.clone())),
            Event::Cancelled { trial } => self.end(*trial, TrialEnd::Cancelled),
            Event::LateResult { .. } => self.late += 1,
            Event::Amended(_) | Event::Restored { .. } | Event::Reopened { .. } => self.revise(&event),
            Event::Measured { trial, metrics } => self.trials[*trial].measure(metrics),
            Event::Enqueued(enqueued) => self.queue.push_back(enqueued.clone()),
            Event::Cleared => self.queue.clear(),
            Event::Fitted(_) => {}
        }
        self.events.push(event);
    }

    /// The error that the next event cannot follow, and why.
    pub(crate) fn bad_log(&self, reason: &str) -> Error {
        Error::BadLog { sequence: self.events.len() + 1, reason: reason.to_string() }
    }

    fn check_start(&self, trial: usize, seen: usize) -> Result<()> {
        if trial != self.trials.len() {
            return Err(self.bad_log(&format!("trial {trial} begins, {} is next", self.trials.len())));
        }
        self.check_seen(seen)
    }

    fn check_seen(&self, seen: usize) -> Result<()> {
        if seen > self.events.len() { Err(self.bad_log("it refers to later events")) } else { Ok(()) }
    }

    fn begin(&mut self, start: Start, end: Option<TrialEnd>) {
        self.pending += usize::from(end.is_none());
        self.trials.push(Trial::new(self.trials.len(), start, end));
    }

    fn end(&mut self, trial: usize, end: TrialEnd) {
        self.trials[trial].end(end);
        self.pending -= 1;
    }

    /// Amends, restores or reopens a trial, which was checked.
    fn revise(&mut self, event: &Event) {
        if let Ok(trial) = self.revised(event) {
            self.pending += usize::from(trial.state() == TrialState::Pending);
            self.pending -= usize::from(self.trials[trial.number()].state() == TrialState::Pending);
            let number = trial.number();
            self.trials[number] = trial;
        }
    }
}
