//! Which kind of pick comes next: of the first design, of the initialization scheme, or of the rule.
//!
//! Choosing reads the log's state and the seed, and nothing else. With one worker IGP-BUCB and GP-BTS are IGP-UCB and
//! GP-TS, by this same code.

use manyhands_gp::Key;

use super::{Asking, Study};
use crate::event::{Asked, ENGINE};
use crate::ledger::TrialState;
use crate::rules::{Pick, RuleState, StudyState};
use crate::strategy::Initial;
use crate::theory::initialization_variance;
use crate::{Choice, Phase, Result};

impl Study {
    /// The next picks of an ask, the first of them for trial number `trial`, based on all events up to `seen` and the
    /// tentative picks.
    pub(super) fn choose(&mut self, trial: usize, seen: usize, asking: Asking) -> Result<Vec<Asked>> {
        let choices = match self.choose_design(trial)? {
            Some(choice) => vec![choice],
            None => match self.choose_initial(trial)? {
                Some(choice) => vec![choice],
                None => {
                    let rule = self.spec.strategy().rule;
                    let mut state = self.state(Pick { trial, by_rule: asking.by_rule });
                    rule.choose(&mut state, asking.most)?
                }
            },
        };
        let asked = |(trial, choice): (usize, Choice)| {
            let (mean, sd) = self.in_units(choice.mean, choice.sd);
            Asked { trial, choice: Choice { mean, sd, ..choice }, seen, engine: ENGINE }
        };
        Ok((trial..).zip(choices).map(asked).collect())
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

    /// A pick of the initialization scheme, if it is not over: it is over for good once the rule has chosen.
    fn choose_initial(&mut self, trial: usize) -> Result<Option<Choice>> {
        if self.ledger.trials().iter().any(|trial| trial.phase() == Some(Phase::Rule)) {
            return Ok(None);
        }
        let strategy = self.spec.strategy();
        let target = match (strategy.initial, strategy.max_pending) {
            (Initial::None, _) => return Ok(None),
            (Initial::Count(count), _) => {
                if trial - self.count(TrialState::Cancelled) >= count {
                    return Ok(None);
                }
                f64::NEG_INFINITY
            }
            (Initial::Until(target), workers) => {
                initialization_variance(target, workers.unwrap_or(1), self.posterior.prior().noise())
            }
        };
        let largest = self.state_at_first_pick(trial).largest_sd()?;
        let is_small = largest.variance <= target;
        let is_over = is_small && (self.posterior.pending() == 0 || self.settled_variance()? <= target);
        Ok((!is_over).then_some(Choice { phase: Phase::Initial, ..largest.choice }))
    }

    /// The largest variance over the domain without the pending points: xi is relative to the observed points, so a pick of
    /// the initialization scheme counts only when its value has arrived. Failed points count too, as their values never will.
    fn settled_variance(&self) -> Result<f64> {
        let failed =
            |key: &Key| self.ledger.trial(key.id as usize).is_ok_and(|trial| trial.state() == TrialState::Failed);
        let hallucinated = &self.posterior.keys()[self.posterior.observed()..];
        let pending: Vec<Key> = hallucinated.iter().filter(|key| !failed(key)).copied().collect();
        self.chooser.variance_without(&self.posterior, &pending)
    }

    /// max k(x,x) over the domain.
    pub fn largest_variance(&self) -> f64 {
        self.chooser.largest_variance(self.posterior.prior())
    }
}
