//! `auto`, the default of learned models: mean + width x sd, cycling through widths, and no uninformative trials.

use super::{Formulas, RuleState, elsewhere};
use crate::tuning::{COVERED_SHARE, ELSEWHERE_FROM_PARAMETERS, INFORMATIVE_SHARE, REPEAT_SHARE};
use crate::{Aim, Choice, Result, Strategy};

pub(super) struct Auto;

impl Formulas for Auto {
    fn multiplier(&self, state: &mut RuleState<'_>) -> Result<f64> {
        Ok(state.tuning().width(state.trial(), state.has_choices()))
    }

    /// The argmax, unless it repeats a point or is covered by pending ones without being informative: then the argmax with
    /// the largest width, or another place where that has converged too, and at last the best new point. If there is none,
    /// the first argmax. Once, the best setting again where the model sees much noise.
    fn choose(&self, state: &mut RuleState<'_>, multiplier: f64) -> Result<Choice> {
        let wide = state.tuning().largest_width() * state.strategy().width;
        if multiplier < wide
            && let Some(again) = best_setting_again(state, multiplier)?
        {
            return Ok(again);
        }
        let mut first = state.argmax_upper(multiplier)?;
        if multiplier < wide {
            first.aim = Some(Aim::Greedy);
        }
        if multiplier < wide && !is_uninformative_repeat(state, &first)? && !is_covered(state, &first)? {
            return Ok(first);
        }
        let wider = if multiplier < wide { state.argmax_upper(wide)? } else { first.clone() };
        if wider.sd < INFORMATIVE_SHARE * state.variance_scale().sqrt() {
            return look_elsewhere(state);
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

/// Where nothing is left to learn near the best point. If the tuning says so and there are several parameters: of ten trials eight
/// by a model of the values that are not near it, and one by the model of all values, both away from it; else, and where there is
/// no such point, the point of largest sd.
fn look_elsewhere(state: &mut RuleState<'_>) -> Result<Choice> {
    let distance = state.tuning().elsewhere.filter(|_| state.parameters() >= ELSEWHERE_FROM_PARAMETERS);
    let found = match (distance, state.trial() % 10) {
        (None, _) | (_, 1) => None,
        (_, 6) => elsewhere::by_all_values(state)?,
        (Some(distance), _) => elsewhere::by_remote_values(state, distance)?,
    };
    match found {
        Some(choice) => Ok(choice),
        None => state.largest_sd().map(|found| found.choice),
    }
}

/// The best setting again, where the fit takes much of the values for noise and no setting was tried twice: two equal values say
/// that there is none, and two different ones how much there is.
fn best_setting_again(state: &mut RuleState<'_>, multiplier: f64) -> Result<Option<Choice>> {
    let Some(values) = state.tuning().repeat_from else { return Ok(None) };
    if state.noise() <= state.tuning().bend_noise * state.variance_scale() || state.has_a_setting_twice() {
        return Ok(None);
    }
    match state.best_mean_row() {
        Some(best) if state.values() >= values => state.again(best, multiplier),
        _ => Ok(None),
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
