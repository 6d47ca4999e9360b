//! The paper's initialization scheme: picks of largest sd before the rule starts, a number of them or until xi is bounded.
//!
//! | symbol | name | meaning |
//! |---|---|---|
//! | O, P, F | observed, pending, failed | the rows of the posterior |
//! | C, M | target, workers | sqrt(xi) is to be at most C with M - 1 pending points, whichever they are |
//! | s^2 | variance | the largest sigma_O^2 of the points that may be chosen |
//! | xi_F | factor | the realised hallucination factor of F alone: 1 + lambda_max(C_F)/lambda, C_F its covariance given O |
//!
//! **What certifies C.** Failed points stay hallucinated for good, so that xi <= 1 + lambda_max/lambda of the covariance of P
//! and F given O. The largest eigenvalue of a positive semi-definite matrix is at most the sum of those of its diagonal blocks, and that of
//! P at most its trace, (M - 1) s^2: xi <= xi_F + (M - 1) s^2/lambda, for every later P. Without failures this is the paper's
//! condition.
//!
//! **Which picks.** While the sd given all rows is large somewhere, its maximum, so that failed points are not tried again at
//! once. After that only failures, or results that are still to come, can keep s^2 or xi_F too large, and the pick is the
//! maximum of the sd given O and P: at or near a failed point, whose failure may have been an accident.
//!
//! **Why it ends.** A value reduces the variance there. A failure leaves it; from the third one at a point or next to it the
//! scheme ends without a certificate once these failures alone take half of what C leaves to xi - 1. It also ends when s^2 is
//! a quarter of what is enough without failures, as in a pool without repeats, where a failed candidate is not tried again.
//! With at most two failures, and repeats, C is certified by then: xi_F - 1 <= 2 s^2/lambda.

use manyhands_gp::{Key, Posterior};

use super::Study;
use crate::chooser::Context;
use crate::strategy::Initial;
use crate::theory::{initialization_variance, initialization_variance_beside};
use crate::trial::TrialState;
use crate::tuning::{INITIAL_FAILURES, INITIAL_SHARE};
use crate::{Choice, Phase, Result};

/// The rows without a value.
struct Hallucinated {
    pending: Vec<Key>,
    failed: Vec<Key>,
}

impl Study {
    /// A pick of the initialization scheme, if it is not over: it is over for good once the rule has chosen.
    pub(super) fn choose_initial(&mut self, trial: usize) -> Result<Option<Choice>> {
        if self.ledger.trials().iter().any(|trial| trial.phase() == Some(Phase::Rule)) {
            return Ok(None);
        }
        let choice = match self.spec.strategy().initial {
            Initial::None => None,
            Initial::Count(count) if trial - self.count(TrialState::Cancelled) >= count => None,
            Initial::Count(_) => Some(self.state_at_first_pick(trial).largest_sd()?.choice),
            Initial::Until(target) => self.choose_until(trial, target)?,
        };
        Ok(choice.map(|choice| Choice { phase: Phase::Initial, ..choice }))
    }

    /// The next pick on the way to sqrt(xi) <= target; none once that is certified, or cannot be.
    fn choose_until(&mut self, trial: usize, target: f64) -> Result<Option<Choice>> {
        let (workers, noise) = (self.spec.strategy().max_pending.unwrap_or(1), self.posterior.prior().noise());
        let enough = initialization_variance(target, workers, noise);
        let largest = self.state_at_first_pick(trial).largest_sd()?;
        if largest.variance > enough {
            return Ok(Some(largest.choice));
        }
        let Hallucinated { pending, failed } = self.hallucinated();
        let settled = without(&self.posterior, &pending)?;
        let variance = self.chooser.largest_variance_given(settled.view().observed_only(), &pending).variance;
        if variance <= initialization_variance_beside(target, settled.hallucination_factor()?, workers, noise) {
            return Ok(None);
        }
        if failed.is_empty() {
            return Ok(Some(largest.choice));
        }
        if variance <= INITIAL_SHARE * enough {
            return Ok(None);
        }
        if self.chooser.left().is_some() {
            return Ok(Some(largest.choice));
        }
        self.choose_again(trial, target, &failed)
    }

    /// The point of largest sd as if nothing had failed; none if it has failed too often, there or next to it.
    fn choose_again(&mut self, trial: usize, target: f64, failed: &[Key]) -> Result<Option<Choice>> {
        let tried = without(&self.posterior, failed)?;
        let found = self.chooser.largest_variance_given(tried.view(), &[]);
        let (spec, view, noise) = (&self.spec, self.posterior.view(), self.posterior.prior().noise());
        let choice = self.chooser.choice_of(Context { spec, view, trial }, found.candidate, found.variance.sqrt())?;
        // A row at the point itself adds 1/noise to the reciprocal variance, one elsewhere adds less.
        let failures = noise * ((choice.sd * choice.sd).recip() - found.variance.recip());
        let is_often = failures >= INITIAL_FAILURES;
        let is_harmful = failures * found.variance / noise >= 0.5 * (target * target - 1.0);
        Ok((!(is_often && is_harmful)).then_some(choice))
    }

    fn hallucinated(&self) -> Hallucinated {
        let is_failed =
            |key: &Key| self.ledger.trial(key.id as usize).is_ok_and(|trial| trial.state() == TrialState::Failed);
        let rows = &self.posterior.keys()[self.posterior.observed()..];
        let (failed, pending) = rows.iter().partition(|key| is_failed(key));
        Hallucinated { pending, failed }
    }
}

/// The posterior without some of its rows that have no value.
fn without(posterior: &Posterior, rows: &[Key]) -> Result<Posterior> {
    let mut posterior = posterior.clone();
    rows.iter().try_for_each(|key| posterior.retract(key.id))?;
    Ok(posterior)
}
