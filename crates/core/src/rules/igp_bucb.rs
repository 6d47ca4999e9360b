//! IGP-BUCB, the paper's Algorithm 1: argmax of mu_S + beta_t sigma_{t-1}. With one worker it is IGP-UCB.

use super::{Formulas, OF_THEOREMS, RuleState};
use crate::{Choice, Result, Strategy};

pub(super) struct IgpBucb;

impl Formulas for IgpBucb {
    fn multiplier(&self, state: &mut RuleState<'_>) -> Result<f64> {
        let (assumptions, hallucination) = (state.assumptions()?, state.hallucination()?);
        Ok(assumptions.igp_bucb(state.information_observed()?, hallucination))
    }

    fn choose(&self, state: &mut RuleState<'_>, multiplier: f64) -> Result<Choice> {
        state.argmax_upper(multiplier)
    }

    fn needs_norm_bound(&self) -> bool {
        true
    }

    fn reads(&self, _: &Strategy) -> &'static [&'static str] {
        OF_THEOREMS
    }
}
