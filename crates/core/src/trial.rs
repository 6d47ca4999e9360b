//! A trial: how it began, how it ended, and what of its record was amended since.

use std::fmt;

use crate::event::{ActualSetting, Amended, Event};
use crate::{Aim, Choice, Error, Phase, Result, Value};

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
    /// The setting that it was really made with, where that is not the requested one.
    actual: Option<ActualSetting>,
    /// None while it is pending.
    end: Option<TrialEnd>,
    /// What amendments have replaced, the last one last.
    replaced: Vec<Replaced>,
    /// Why its earlier attempts failed.
    failures: Vec<String>,
    metrics: Vec<(String, f64)>,
}

/// What an amendment has replaced.
#[derive(Debug, Clone, PartialEq)]
struct Replaced {
    /// The actual setting before it; none where it left that.
    actual: Option<Option<ActualSetting>>,
    /// The end before it; none where it left that.
    end: Option<TrialEnd>,
}

/// How a trial began.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Start {
    Suggested(Choice),
    Included { candidate: usize, params: Vec<Value> },
}

/// How a trial ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TrialEnd {
    Observed(f64),
    Failed(String),
    Cancelled,
}

impl Trial {
    pub(crate) fn new(number: usize, start: Start, end: Option<TrialEnd>) -> Self {
        Self { number, start, actual: None, end, replaced: vec![], failures: vec![], metrics: vec![] }
    }

    /// The trial's number.
    pub fn number(&self) -> usize {
        self.number
    }

    /// The candidate's index in the domain; on a space that is not finite, the trial's number.
    /// Where an amendment says which one was really tried, that one.
    pub fn candidate(&self) -> usize {
        let requested = match &self.start {
            Start::Suggested(choice) => choice.candidate,
            Start::Included { candidate, .. } => *candidate,
        };
        self.actual.as_ref().and_then(|actual| actual.candidate).unwrap_or(requested)
    }

    /// The values of its parameters as logged; empty for pools: the candidate identifies the row, and
    /// [`Study::params`](crate::Study::params) has its values. Where an amendment says which values they really had, those.
    pub fn logged_params(&self) -> &[Value] {
        self.actual.as_ref().map_or_else(|| self.requested_params(), |actual| &actual.params)
    }

    /// As [`Trial::logged_params`], as they were requested.
    pub fn requested_params(&self) -> &[Value] {
        match &self.start {
            Start::Suggested(choice) => &choice.params,
            Start::Included { params, .. } => params,
        }
    }

    /// Whether it was made with other values of its parameters than requested.
    pub fn is_moved(&self) -> bool {
        self.actual.is_some()
    }

    /// The setting that it was really made with, where that is not the requested one.
    pub(crate) fn actual(&self) -> Option<&ActualSetting> {
        self.actual.as_ref()
    }

    /// How many amendments its record has; those that were taken back do not count.
    pub fn amendments(&self) -> usize {
        self.replaced.len()
    }

    /// Whether its record is, or was before an amendment, one with these values of the parameters and this end: a value, or that
    /// there is none.
    pub fn has_been(&self, params: &[Value], outcome: std::result::Result<f64, ()>) -> bool {
        let (mut actual, mut end) = (self.actual.as_ref(), self.end.as_ref());
        let is_so = |actual: Option<&ActualSetting>, end: Option<&TrialEnd>| {
            let is_ended_so = match (end, outcome) {
                (Some(TrialEnd::Observed(value)), Ok(told)) => *value == told,
                (Some(TrialEnd::Failed(_)), Err(())) => true,
                _ => false,
            };
            is_ended_so && actual.map_or_else(|| self.requested_params(), |actual| &actual.params) == params
        };
        let mut found = is_so(actual, end);
        for earlier in self.replaced.iter().rev() {
            actual = earlier.actual.as_ref().map_or(actual, Option::as_ref);
            end = earlier.end.as_ref().or(end);
            found |= is_so(actual, end);
        }
        found
    }

    /// The number of the present attempt, from 0: how often it was reopened.
    pub fn attempt(&self) -> usize {
        self.failures.len()
    }

    /// Why its earlier attempts failed, in order.
    pub fn earlier_failures(&self) -> &[String] {
        &self.failures
    }

    /// Further numbers that came with it, by name, in the order in which the names first came.
    pub fn metrics(&self) -> &[(String, f64)] {
        &self.metrics
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
            Phase::Rule | Phase::Queued => None,
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

    /// The setting that it has now is part of the result: that it is another one than the requested is no amendment of it.
    pub(crate) fn end(&mut self, end: TrialEnd) {
        self.end = Some(end);
        self.replaced.clear();
    }

    /// Further numbers: those of a known name replace the earlier ones.
    pub(crate) fn measure(&mut self, metrics: &[(String, f64)]) {
        for (name, value) in metrics {
            match self.metrics.iter_mut().find(|(known, _)| known == name) {
                Some((_, known)) => *known = *value,
                None => self.metrics.push((name.clone(), *value)),
            }
        }
    }

    /// Amends, restores or reopens it; refused where that is not possible in its state.
    pub(crate) fn revise(&mut self, event: &Event) -> Result<()> {
        match event {
            Event::Amended(amended) => self.amend(amended),
            Event::Restored { .. } => self.restore(),
            Event::Reopened { .. } => self.reopen(),
            _ => Err(Error::Internal { what: "an event that revises nothing" }),
        }
    }

    fn amend(&mut self, Amended { setting, outcome, .. }: &Amended) -> Result<()> {
        let (trial, state) = (self.number, self.state());
        let is_possible = match state {
            TrialState::Observed | TrialState::Failed => setting.is_some() || outcome.is_some(),
            TrialState::Pending => setting.is_some() && outcome.is_none(),
            TrialState::Cancelled => false,
        };
        if !is_possible {
            return Err(Error::NotAmendable { trial, state });
        }
        let actual = setting.as_ref().map(|setting| self.actual.replace(setting.clone()));
        let end = outcome.as_ref().and_then(|outcome| {
            self.end.replace(match outcome {
                Ok(value) => TrialEnd::Observed(*value),
                Err(reason) => TrialEnd::Failed(reason.clone()),
            })
        });
        self.replaced.push(Replaced { actual, end });
        Ok(())
    }

    fn restore(&mut self) -> Result<()> {
        let Replaced { actual, end } = self.replaced.pop().ok_or(Error::NotAmended { trial: self.number })?;
        if let Some(actual) = actual {
            self.actual = actual;
        }
        if end.is_some() {
            self.end = end;
        }
        Ok(())
    }

    /// The next attempt is at the requested point, and its record is its own.
    fn reopen(&mut self) -> Result<()> {
        let (trial, state) = (self.number, self.state());
        let reason = self.reason().ok_or(Error::NotFailed { trial, state })?.to_string();
        self.failures.push(reason);
        (self.actual, self.end) = (None, None);
        self.replaced.clear();
        self.metrics.clear();
        Ok(())
    }
}
