//! GP-UCB-PE (Contal et al. 2013): the first pick of a batch by an upper bound, the others by pure exploration of the region
//! where the maximum may be.
//!
//! | symbol | name | meaning |
//! |---|---|---|
//! | t | batch | how many different counts of values this rule's picks were based on, the present one included |
//! | beta_t | squared_width | 2 ln(\|D\| t^2 pi^2/(6 delta)), or the strategy's `beta` |
//! | y* | threshold | max over D of mean - sqrt(beta_t) sd, from observed points alone |
//! | R | region | mean + 2 sqrt(beta_{t+1}) sd >= y*, from observed points alone |
//!
//! A pick is first when no pending pick of this rule was made at the present number of values. The first pick sees pending
//! points in its sd: in a synchronous batch there are none, and asynchronously it would otherwise repeat them.

use manyhands_gp::{ConfidenceBound, LevelSet, StandardDeviation};

use super::{Formulas, RuleState};
use crate::error::Need;
use crate::theory::log_union_bound;
use crate::{Aim, Choice, Error, Result, Strategy};

const BETA: Need = Need {
    key: "beta",
    meaning: "its squared width, on a space that is not finite: the theorem's value depends on the number of candidates",
    hint: "set beta in [strategy], give every float `points`, or use gp-ei or auto",
    code: "needs-beta",
};

pub(super) struct GpUcbPe;

impl Formulas for GpUcbPe {
    fn multiplier(&self, state: &mut RuleState<'_>) -> Result<f64> {
        squared_width(state, state.batch()).map(f64::sqrt)
    }

    fn choose(&self, state: &mut RuleState<'_>, multiplier: f64) -> Result<Choice> {
        if state.is_first_of_batch() {
            let choice = state.argmax(&ConfidenceBound(multiplier))?;
            return Ok(Choice { multiplier, ..choice });
        }
        let wider = squared_width(state, state.batch() + 1)?.sqrt();
        let acquisition = &ConfidenceBound(2.0 * state.widened(wider)?);
        let threshold = state.highest_observed(-multiplier)?;
        let region = LevelSet { acquisition, threshold };
        let choice = match state.argmax_within(&StandardDeviation, &region)? {
            Some(choice) => choice,
            None => state.argmax(&StandardDeviation)?,
        };
        Ok(Choice { aim: Some(Aim::Exploring), ..choice })
    }

    fn check(&self, strategy: &Strategy, candidates: Option<usize>) -> Result<()> {
        if candidates.is_some() || strategy.beta.is_some() {
            Ok(())
        } else {
            Err(Error::Needs { what: strategy.rule.into(), need: &BETA })
        }
    }
}

/// beta_t, as in GP-UCB (Srinivas et al. 2012, Theorem 1).
fn squared_width(state: &RuleState<'_>, t: usize) -> Result<f64> {
    let strategy = state.strategy();
    match strategy.beta {
        Some(beta) => Ok(beta),
        None => Ok(2.0 * log_union_bound(t, state.candidates()?, strategy.delta)),
    }
}
