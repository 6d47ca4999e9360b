//! `auto`, the default of learned models: mean + width x sd, cycling through widths, and no uninformative trials.

use super::{Formulas, State};
use crate::tuning::{COVERED_SHARE, INFORMATIVE_SHARE, REPEAT_SHARE};
use crate::{Choice, Result};

pub(super) struct Auto;

impl Formulas for Auto {
    fn multiplier(&self, state: &mut State<'_>) -> Result<f64> {
        Ok(state.spec.tuning().width(state.trial))
    }

    /// The argmax, unless it repeats a point or is covered by pending ones without being informative: then the argmax with
    /// the largest width, or the point of largest sd where that has converged too, and at last the best new point. If there
    /// is none, the first argmax.
    fn choose(&self, state: &mut State<'_>, multiplier: f64) -> Result<Choice> {
        let wide = state.spec.tuning().widest() * state.strategy().width;
        let first = state.argmax_upper(multiplier)?;
        if multiplier < wide && !is_uninformative_repeat(state, &first)? && !is_covered(state, &first)? {
            return Ok(first);
        }
        let wider = if multiplier < wide { state.argmax_upper(wide)? } else { first.clone() };
        if wider.sd < INFORMATIVE_SHARE * variance_scale(state).sqrt() {
            return state.widest().map(|widest| widest.choice);
        }
        if !is_uninformative_repeat(state, &wider)? {
            return Ok(wider);
        }
        Ok(state.best_new(wide)?.unwrap_or(first))
    }
}

/// Whether the point was chosen before and its remaining variance is too small for a repeat to be informative.
fn is_uninformative_repeat(state: &State<'_>, choice: &Choice) -> Result<bool> {
    let known = state.chooser.is_known(state.posterior, choice)?;
    Ok(known && choice.sd * choice.sd <= REPEAT_SHARE * variance_scale(state))
}

/// Whether pending points remove nearly all of the variance at the point.
fn is_covered(state: &State<'_>, choice: &Choice) -> Result<bool> {
    let observed = state.chooser.observed_sd(state.posterior, choice)?;
    Ok(observed.is_some_and(|observed| choice.sd * choice.sd < COVERED_SHARE * observed * observed))
}

fn variance_scale(state: &State<'_>) -> f64 {
    state.chooser.variance_scale(state.posterior.prior())
}
