//! The state of every trial: the fold over the log without the model. A [`Study`](crate::Study) is this and the model.
//!
//! A trial's state is its end, which is accepted for a pending trial only. A later kind of event could amend a value by
//! replacing the end, or reopen a trial by removing it.

use std::fmt;

use crate::event::{Asked, Event, Included};
use crate::{Aim, Choice, Direction, Error, Phase, Result, Value};

/// The state of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TrialState {
    /// Its value has not arrived.
    Pending,
    /// Its value has arrived.
    Observed,
    /// It will give no value.
    Failed,
    /// It was cancelled.
    Cancelled,
}

impl fmt::Display for TrialState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pending => "pending",
            Self::Observed => "observed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        })
    }
}

/// A trial and its state.
///
/// ```
/// use manyhands_core::{Domain, Parameter, Space, Spec, Strategy, Study, TrialState};
/// # fn main() -> manyhands_core::Result<()> {
/// let space = Space::new(vec![Parameter::float("x", 0.0, 1.0)?], vec![])?;
/// let mut study = Study::new(Spec::learned(Domain::Space(space), Strategy::auto())?)?;
/// study.ask(2)?;
/// study.fail(0, "diverged")?;
/// let states: Vec<TrialState> = study.trials().iter().map(|trial| trial.state()).collect();
/// assert_eq!(states, [TrialState::Failed, TrialState::Pending]);
/// assert_eq!(study.trials()[0].reason(), Some("diverged"));
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    number: usize,
    start: Start,
    /// None while it is pending.
    end: Option<TrialEnd>,
}

/// How a trial began.
#[derive(Debug, Clone, PartialEq)]
enum Start {
    Suggested(Choice),
    Included { candidate: usize, params: Vec<Value> },
}

/// How a trial ended.
#[derive(Debug, Clone, PartialEq)]
enum TrialEnd {
    Observed(f64),
    Failed(String),
    Cancelled,
}

impl Trial {
    /// The trial's number.
    pub fn number(&self) -> usize {
        self.number
    }

    /// The candidate's index in the domain; on a space that is not finite, the trial's number.
    pub fn candidate(&self) -> usize {
        match &self.start {
            Start::Suggested(choice) => choice.candidate,
            Start::Included { candidate, .. } => *candidate,
        }
    }

    /// The values of its parameters as logged; empty for pools: the candidate identifies the row, and
    /// [`Study::params`](crate::Study::params) has its values.
    pub fn logged_params(&self) -> &[Value] {
        match &self.start {
            Start::Suggested(choice) => &choice.params,
            Start::Included { params, .. } => params,
        }
    }

    /// The choice that suggested it, as logged; none for a trial from elsewhere.
    pub fn choice(&self) -> Option<&Choice> {
        match &self.start {
            Start::Suggested(choice) => Some(choice),
            Start::Included { .. } => None,
        }
    }

    /// What picked it; none for a trial from elsewhere.
    pub fn phase(&self) -> Option<Phase> {
        self.choice().map(|choice| choice.phase)
    }

    /// What it is for; none for a trial from elsewhere, and in logs that do not say.
    pub fn aim(&self) -> Option<Aim> {
        let choice = self.choice()?;
        let by_phase = match choice.phase {
            Phase::Design => Some(Aim::Design),
            Phase::Initial => Some(Aim::Exploring),
            Phase::Rule => None,
        };
        choice.aim.or(by_phase)
    }

    /// Its state.
    pub fn state(&self) -> TrialState {
        match &self.end {
            None => TrialState::Pending,
            Some(TrialEnd::Observed(_)) => TrialState::Observed,
            Some(TrialEnd::Failed(_)) => TrialState::Failed,
            Some(TrialEnd::Cancelled) => TrialState::Cancelled,
        }
    }

    /// Its value in the user's units, once observed.
    pub fn value(&self) -> Option<f64> {
        match &self.end {
            Some(TrialEnd::Observed(value)) => Some(*value),
            _ => None,
        }
    }

    /// Why it failed, if it did.
    pub fn reason(&self) -> Option<&str> {
        match &self.end {
            Some(TrialEnd::Failed(reason)) => Some(reason),
            _ => None,
        }
    }
}

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

    /// How many trials are pending.
    pub fn pending(&self) -> usize {
        self.pending
    }

    /// The trial with the best value in a direction, and the value; the first among equals.
    pub fn extreme(&self, direction: Direction) -> Option<(usize, f64)> {
        let values = self.trials.iter().enumerate().filter_map(|(number, trial)| Some((number, trial.value()?)));
        values.reduce(|best, next| if direction.is_better(next.1, best.1) { next } else { best })
    }

    /// The trials that have a value, in the order in which the values arrived.
    pub fn values_in_order(&self) -> impl Iterator<Item = usize> {
        self.events.iter().filter(|event| event.brings_a_value()).filter_map(Event::trial)
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
                match choice.not_finite() {
                    Some(number) => Err(self.bad_log(&format!("it holds the number {number}, which is not finite"))),
                    None => Ok(()),
                }
            }
            Event::Included(included) => self.check_start(included.trial, 0),
            Event::Fitted(fitted) => self.check_seen(fitted.seen),
            Event::Told { trial, .. } | Event::Failed { trial, .. } | Event::Cancelled { trial } => {
                self.pending_trial(*trial).map(drop)
            }
            Event::LateResult { trial, .. } => self.trial(*trial).map(drop),
        }
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
            Event::Asked(Asked { choice, .. }) => self.begin(Start::Suggested(choice.clone()), None),
            Event::Included(Included { candidate, params, value, .. }) => {
                let start = Start::Included { candidate: *candidate, params: params.clone() };
                self.begin(start, value.map(TrialEnd::Observed));
            }
            Event::Told { trial, value } => self.end(*trial, TrialEnd::Observed(*value)),
            Event::Failed { trial, reason } => self.end(*trial, TrialEnd::Failed(reason.clone())),
            Event::Cancelled { trial } => self.end(*trial, TrialEnd::Cancelled),
            Event::LateResult { .. } => self.late += 1,
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
        self.trials.push(Trial { number: self.trials.len(), start, end });
    }

    fn end(&mut self, trial: usize, end: TrialEnd) {
        self.trials[trial].end = Some(end);
        self.pending -= 1;
    }
}
