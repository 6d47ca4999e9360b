//! Parallel Thompson sampling (Kandasamy et al. 2018): the argmax of a sample of GP(mu_S, k_S), given observed points alone.
//!
//! Pending and failed points are ignored: workers differ because their samples do. So a point that fails may come up again.

use super::{Formulas, RuleState};
use crate::{Choice, Result, Strategy};

pub(super) struct AsyTs;

impl Formulas for AsyTs {
    fn multiplier(&self, _: &mut RuleState<'_>) -> Result<f64> {
        Ok(1.0)
    }

    fn choose(&self, state: &mut RuleState<'_>, multiplier: f64) -> Result<Choice> {
        state.argmax_of_sample_of_observed(multiplier)
    }

    fn reads(&self, _: &Strategy) -> &'static [&'static str] {
        &[]
    }

    fn samples(&self) -> bool {
        true
    }
}
