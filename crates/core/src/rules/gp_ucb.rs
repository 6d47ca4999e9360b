//! GP-UCB (Srinivas et al. 2010, 2012): argmax of mean + sqrt(beta_t) sd. It is GP-BUCB's Bayesian case without its
//! hallucination factor.
//!
//! | symbol | name | meaning |
//! |---|---|---|
//! | beta_t | squared_width | 2 ln(\|D\| t^2 pi^2/(6 delta)), or the strategy's `beta` |
//! | t | | the number of the round, from 1 |
//!
//! Pending points enter by the sd alone, which is the paper's hallucination; the source has no batch form.

use manyhands_gp::ConfidenceBound;

use super::{Formulas, RuleState};
use crate::error::Need;
use crate::theory::gp_ucb_squared_width;
use crate::{Choice, Error, Result, Rule, Strategy};

const BETA: Need = Need {
    key: "beta",
    meaning: "its squared width, where the candidates are too many to list: the theorem's value depends on their number",
    hint: "set beta = 4.0 in [strategy] (two standard deviations); or use gp-ei or auto; or give every float evenly spaced `points` (up to \
           131,072 candidates are listed where the model is learned, and a million where it is given)",
    code: "needs-beta",
};

/// As [`BETA`], for `local-penalization`.
const BETA_OF_BASE: Need = Need {
    hint: "set base = \"gp-ei\", which has no width, or beta = 4.0 in [strategy] (two standard deviations); or use gp-ei or auto; or give \
           every float few `points`",
    ..BETA
};

/// What rules with this width read: the theorem's delta only where the width is not given.
pub(super) fn reads(strategy: &Strategy) -> &'static [&'static str] {
    if strategy.beta.is_some() { &["width", "beta"] } else { &["delta", "width", "beta"] }
}

pub(super) struct GpUcb;

impl Formulas for GpUcb {
    fn multiplier(&self, state: &mut RuleState<'_>) -> Result<f64> {
        squared_width(state, state.round()).map(f64::sqrt)
    }

    fn choose(&self, state: &mut RuleState<'_>, multiplier: f64) -> Result<Choice> {
        upper(state, multiplier)
    }

    fn reads(&self, strategy: &Strategy) -> &'static [&'static str] {
        reads(strategy)
    }

    fn check(&self, strategy: &Strategy, candidates: Option<usize>) -> Result<()> {
        check_width(strategy, candidates)
    }
}

/// The argmax of mean + multiplier x sd, which never ignores pending points.
pub(super) fn upper(state: &mut RuleState<'_>, multiplier: f64) -> Result<Choice> {
    if multiplier == 0.0 && !state.has_values() {
        // All bounds are the prior mean.
        return state.largest_sd().map(|found| found.choice);
    }
    let choice = state.argmax(&ConfidenceBound(multiplier))?;
    Ok(Choice { multiplier, ..choice })
}

/// beta_t.
pub(super) fn squared_width(state: &RuleState<'_>, t: usize) -> Result<f64> {
    let strategy = state.strategy();
    match strategy.beta {
        Some(beta) => Ok(beta),
        None => Ok(gp_ucb_squared_width(t, state.candidates()?, strategy.delta)),
    }
}

/// Refuses a domain without a number of candidates where the strategy does not give the width.
pub(super) fn check_width(strategy: &Strategy, candidates: Option<usize>) -> Result<()> {
    if candidates.is_some() || strategy.beta.is_some() {
        Ok(())
    } else {
        let need = if strategy.rule == Rule::LocalPenalization { &BETA_OF_BASE } else { &BETA };
        Err(Error::Needs { what: strategy.rule.into(), need })
    }
}
