//! Which kind of pick comes next: of the queue, of the first design, of the initialization scheme, or of the rule.
//!
//! Choosing reads the log's state and the seed, and nothing else. With one worker IGP-BUCB and GP-BTS are IGP-UCB and
//! GP-TS, by this same code.

use super::{Asking, Study};
use crate::event::{Asked, ENGINE};
use crate::rules::{Pick, RuleState, StudyState};
use crate::trial::TrialState;
use crate::{Choice, Result};

impl Study {
    /// The next picks of an ask, the first of them for trial number `trial`, based on all events up to `seen` and the
    /// tentative picks.
    pub(super) fn choose(&mut self, trial: usize, seen: usize, asking: Asking) -> Result<Vec<Asked>> {
        let choices = match self.choose_before_rule(trial)? {
            Some(choice) => vec![choice],
            None => {
                let rule = self.spec.strategy().rule;
                let mut state = self.state(Pick { trial, by_rule: asking.by_rule });
                rule.choose(&mut state, asking.most)?
            }
        };
        let asked = |(trial, choice): (usize, Choice)| {
            let choice = self.with_expectation(trial, choice)?;
            Ok(Asked { trial, choice, seen, engine: ENGINE })
        };
        (trial..).zip(choices).map(asked).collect()
    }

    /// A pick of the queue, of the first design or of the initialization scheme, if one of them has any left.
    fn choose_before_rule(&mut self, trial: usize) -> Result<Option<Choice>> {
        if let Some(queued) = self.choose_queued(trial)? {
            return Ok(Some(queued));
        }
        match self.choose_design(trial)? {
            Some(choice) => Ok(Some(choice)),
            None => self.choose_initial(trial),
        }
    }

    /// What a rule reads when it makes this pick.
    fn state(&mut self, pick: Pick) -> RuleState<'_> {
        let (spec, ledger, posterior, warp) = (&self.spec, &self.ledger, &self.posterior, self.learning.warp());
        RuleState::new(StudyState { spec, ledger, posterior, warp }, &mut *self.chooser, pick)
    }

    /// As [`Study::state`], at the first pick of an ask.
    pub(super) fn state_at_first_pick(&mut self, trial: usize) -> RuleState<'_> {
        self.state(Pick { trial, by_rule: 0 })
    }

    /// A quasi-random pick, while a learned model has few values, or where the strategy asks for some.
    fn choose_design(&mut self, trial: usize) -> Result<Option<Choice>> {
        let by_dimension = self.learner.as_ref().map_or(0, |learner| learner.design());
        let wanted = self.spec.strategy().design.unwrap_or(by_dimension);
        let placed = trial - self.count(TrialState::Cancelled);
        if placed >= wanted && (self.learner.is_none() || self.posterior.observed() > 0) {
            return Ok(None);
        }
        self.state_at_first_pick(trial).design()
    }

    /// max k(x,x) over the domain.
    pub fn largest_variance(&self) -> f64 {
        self.chooser.largest_variance(self.posterior.prior())
    }
}
