//! `auto`, the default of learned models: mean + width x sd, cycling through widths, and no uninformative trials.

use super::{Formulas, RuleState};
use crate::tuning::{COVERED_SHARE, INFORMATIVE_SHARE, REPEAT_SHARE};
use crate::{Aim, Choice, Result, Strategy};

pub(super) struct Auto;

impl Formulas for Auto {
    fn multiplier(&self, state: &mut RuleState<'_>) -> Result<f64> {
        Ok(state.tuning().width(state.trial()))
    }

    /// The argmax, unless it repeats a point or is covered by pending ones without being informative: then the argmax with
    /// the largest width, or the point of largest sd where that has converged too, and at last the best new point. If there
    /// is none, the first argmax.
    fn choose(&self, state: &mut RuleState<'_>, multiplier: f64) -> Result<Choice> {
        let wide = state.tuning().largest_width() * state.strategy().width;
        let mut first = state.argmax_upper(multiplier)?;
        if multiplier < wide {
            first.aim = Some(Aim::Greedy);
        }
        if multiplier < wide && !is_uninformative_repeat(state, &first)? && !is_covered(state, &first)? {
            return Ok(first);
        }
        let wider = if multiplier < wide { state.argmax_upper(wide)? } else { first.clone() };
        if wider.sd < INFORMATIVE_SHARE * state.variance_scale().sqrt() {
            return state.largest_sd().map(|found| found.choice);
        }
        if !is_uninformative_repeat(state, &wider)? {
            return Ok(wider);
        }
        Ok(state.best_new(wide)?.unwrap_or(first))
    }

    fn reads(&self, _: &Strategy) -> &'static [&'static str] {
        &["hallucination", "width"]
    }

    /// By experiment: see `docs/default-strategy.md`.
    fn climbs_on_large_grids(&self) -> bool {
        true
    }
}

/// Whether the point was chosen before and its remaining variance is too small for a repeat to be informative.
fn is_uninformative_repeat(state: &RuleState<'_>, choice: &Choice) -> Result<bool> {
    let known = state.is_known(choice)?;
    Ok(known && choice.sd * choice.sd <= REPEAT_SHARE * state.variance_scale())
}

/// Whether pending points remove nearly all of the variance at the point.
fn is_covered(state: &RuleState<'_>, choice: &Choice) -> Result<bool> {
    let observed = state.observed_sd(choice)?;
    Ok(observed.is_some_and(|observed| choice.sd * choice.sd < COVERED_SHARE * observed * observed))
}
