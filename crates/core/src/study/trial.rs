//! One trial: where it was put and what became of it.

use std::fmt;

use crate::event::Asked;
use crate::spec::Direction;

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
    /// The candidate's index in the domain.
    pub candidate: usize,
    /// Its coordinates.
    pub point: Vec<f64>,
    /// Its mean when it was chosen, in the user's units.
    pub mean: f64,
    /// Its standard deviation given observed and pending trials when it was chosen.
    pub sd: f64,
    /// The rule's multiplier; 0 for a pick of the initialization scheme, which has none.
    pub multiplier: f64,
    /// What was maximized: larger is better, whatever the direction.
    pub score: f64,
    /// Whether the initialization scheme picked it, and not the rule.
    pub initial: bool,
}

/// A trial and what became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    asked: Asked,
    point: Vec<f64>,
    state: TrialState,
    value: Option<f64>,
    reason: Option<String>,
}

impl Trial {
    pub(crate) fn new(asked: Asked, point: Vec<f64>) -> Self {
        Self { asked, point, state: TrialState::Pending, value: None, reason: None }
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
        self.asked.trial
    }

    /// The candidate's index in the domain.
    pub fn candidate(&self) -> usize {
        self.asked.candidate
    }

    /// The candidate's coordinates.
    pub fn point(&self) -> &[f64] {
        &self.point
    }

    /// Whether it was picked by the initialization scheme.
    pub fn is_initial(&self) -> bool {
        self.asked.initial
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

    /// The trial as it was suggested, in the user's units.
    pub(crate) fn suggestion(&self, direction: Direction) -> Suggestion {
        Suggestion {
            trial: self.asked.trial,
            candidate: self.asked.candidate,
            point: self.point.clone(),
            mean: direction.sign() * self.asked.mean,
            sd: self.asked.sd,
            multiplier: self.asked.multiplier,
            score: self.asked.score,
            initial: self.asked.initial,
        }
    }
}
