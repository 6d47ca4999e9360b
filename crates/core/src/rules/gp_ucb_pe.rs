//! GP-UCB-PE (Contal et al. 2013): the first pick of a batch by an upper bound, the others by pure exploration of the region
//! where the maximum may be.
//!
//! | symbol | name | meaning |
//! |---|---|---|
//! | t | batch | how many different counts of arrived values this rule's picks were based on, the present one included |
//! | beta_t | squared_width | 2 ln(\|D\| t^2 pi^2/(6 delta)), or the strategy's `beta` |
//! | y* | threshold | max over D of mean - sqrt(beta_t) sd, from observed points alone |
//! | R | region | mean + 2 sqrt(beta_{t+1}) sd >= y*, from observed points alone |
//!
//! A pick is first when no pending pick of this rule was made at the present number of values. The first pick sees pending
//! points in its sd: in a synchronous batch there are none, and asynchronously it would otherwise repeat them. Values are
//! counted as they arrive; to amend one changes no count.

use manyhands_gp::{ConfidenceBound, LevelSet, StandardDeviation};

use super::gp_ucb::{self, squared_width};
use super::{Formulas, RuleState};
use crate::{Aim, Choice, Result, Strategy};

pub(super) struct GpUcbPe;

impl Formulas for GpUcbPe {
    fn multiplier(&self, state: &mut RuleState<'_>) -> Result<f64> {
        squared_width(state, state.batch()).map(f64::sqrt)
    }

    fn choose(&self, state: &mut RuleState<'_>, multiplier: f64) -> Result<Choice> {
        if state.is_first_of_batch() {
            return gp_ucb::upper(state, multiplier);
        }
        let region = PromisingRegion::new(state, multiplier)?;
        explore(state, &region)
    }

    fn reads(&self, strategy: &Strategy) -> &'static [&'static str] {
        gp_ucb::reads(strategy)
    }

    fn check(&self, strategy: &Strategy, candidates: Option<usize>) -> Result<()> {
        gp_ucb::check_width(strategy, candidates)
    }
}

/// The region where the maximum may be, from the multiplier sqrt(beta_t) of a batch.
pub(super) struct PromisingRegion {
    upper: ConfidenceBound,
    threshold: f64,
}

impl PromisingRegion {
    pub fn new(state: &mut RuleState<'_>, multiplier: f64) -> Result<Self> {
        let wider = squared_width(state, state.batch() + 1)?.sqrt();
        let upper = ConfidenceBound(2.0 * state.widened(wider)?);
        Ok(Self { upper, threshold: state.highest_observed(-multiplier)? })
    }

    pub fn level_set(&self) -> LevelSet<'_> {
        LevelSet { acquisition: &self.upper, threshold: self.threshold }
    }
}

/// The point of largest sd in the region, or anywhere if nothing of it may be chosen.
pub(super) fn explore(state: &mut RuleState<'_>, region: &PromisingRegion) -> Result<Choice> {
    let choice = match state.argmax_within(&StandardDeviation, &region.level_set())? {
        Some(choice) => choice,
        None => state.argmax(&StandardDeviation)?,
    };
    Ok(Choice { aim: Some(Aim::Exploring), ..choice })
}
