//! GP-BTS, the paper's Algorithm 2: the argmax of a sample of GP(mu_S, v_t^2 k_{t-1}). With one worker it is GP-TS.

use super::{Formulas, OF_THEOREMS, RuleState};
use crate::{Choice, Result, Strategy};

pub(super) struct GpBts;

impl Formulas for GpBts {
    fn multiplier(&self, state: &mut RuleState<'_>) -> Result<f64> {
        let (assumptions, hallucination) = (state.assumptions()?, state.hallucination()?);
        Ok(assumptions.gp_bts(state.information_observed()?, hallucination))
    }

    fn choose(&self, state: &mut RuleState<'_>, multiplier: f64) -> Result<Choice> {
        state.argmax_of_sample(multiplier)
    }

    fn needs_norm_bound(&self) -> bool {
        true
    }

    fn reads(&self, _: &Strategy) -> &'static [&'static str] {
        OF_THEOREMS
    }

    fn samples(&self) -> bool {
        true
    }
}
