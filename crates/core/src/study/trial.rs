//! One trial: where it was put and what became of it.

use std::fmt;

use super::chooser::Place;
use crate::event::{Asked, Phase};
use crate::spec::Direction;
use crate::{Domain, Value};

/// What became of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TrialState {
    /// Its value has not arrived.
    Pending,
    /// Its value has arrived.
    Observed,
    /// It will give no value.
    Failed,
    /// It was called off.
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

/// A trial to run.
#[derive(Debug, Clone, PartialEq)]
pub struct Suggestion {
    /// The trial's number, to be told with its value.
    pub trial: usize,
    /// The candidate's index in the domain; on a space that is not finite, the trial's number.
    pub candidate: usize,
    /// Its coordinates, as the model sees them.
    pub point: Vec<f64>,
    /// The values of its parameters or columns, in the order of [`Domain::names`]; none where there are no names.
    pub params: Vec<Value>,
    /// Its mean when it was chosen, in the user's units; before a learned model has seen any value, 0.
    pub mean: f64,
    /// Its standard deviation given observed and pending trials when it was chosen, in the user's units; before a learned
    /// model has seen any value, relative to the unknown spread of the values.
    pub sd: f64,
    /// The rule's multiplier; 0 for a pick by the sd alone (initialization scheme, or a search that has converged).
    pub multiplier: f64,
    /// What was maximized: larger is better, whatever the direction; in the model's own units, which are those of warped
    /// values where it is learned.
    pub score: f64,
    /// No point of the domain has a score higher than this one's by more than this; none where that is not proven.
    pub gap: Option<f64>,
    /// What picked it.
    pub phase: Phase,
}

impl Suggestion {
    /// The parameters by name.
    pub fn named<'a>(&'a self, domain: &'a Domain) -> impl Iterator<Item = (&'a str, &'a Value)> {
        domain.named(&self.params)
    }
}

/// A trial and what became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    place: Place,
    point: Vec<f64>,
    /// None for a trial from elsewhere.
    asked: Option<Asked>,
    state: TrialState,
    value: Option<f64>,
    reason: Option<String>,
}

impl Trial {
    pub(super) fn new(place: Place, point: Vec<f64>, asked: Option<Asked>) -> Self {
        Self { place, point, asked, state: TrialState::Pending, value: None, reason: None }
    }

    pub(crate) fn observe(&mut self, value: f64) {
        (self.state, self.value) = (TrialState::Observed, Some(value));
    }

    pub(crate) fn fail(&mut self, reason: &str) {
        (self.state, self.reason) = (TrialState::Failed, Some(reason.to_string()));
    }

    pub(crate) fn cancel(&mut self) {
        self.state = TrialState::Cancelled;
    }

    /// The trial's number.
    pub fn number(&self) -> usize {
        self.place.trial
    }

    /// The candidate's index in the domain; on a space that is not finite, the trial's number.
    pub fn candidate(&self) -> usize {
        self.place.candidate
    }

    /// The candidate's coordinates, as the model sees them.
    pub fn point(&self) -> &[f64] {
        &self.point
    }

    /// The values of its parameters or columns, in the order of [`Domain::names`]; none where there are no names.
    pub fn params(&self) -> &[Value] {
        &self.place.params
    }

    /// What picked it; none for a trial from elsewhere.
    pub fn phase(&self) -> Option<Phase> {
        self.asked.as_ref().map(|asked| asked.phase)
    }

    /// What became of it.
    pub fn state(&self) -> TrialState {
        self.state
    }

    /// Its value in the user's units, once observed.
    pub fn value(&self) -> Option<f64> {
        self.value
    }

    /// Why it failed, if it did.
    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    /// The trial as it was suggested, in the user's units; none for a trial from elsewhere.
    pub(crate) fn suggestion(&self, direction: Direction) -> Option<Suggestion> {
        let asked = self.asked.as_ref()?;
        Some(Suggestion {
            trial: asked.trial,
            candidate: asked.candidate,
            point: self.point.clone(),
            params: self.place.params.clone(),
            mean: direction.sign() * asked.mean,
            sd: asked.sd,
            multiplier: asked.multiplier,
            score: asked.score,
            gap: asked.gap,
            phase: asked.phase,
        })
    }
}
