//! GP-BUCB of Desautels, Krause and Burdick (2014), the paper's baseline: two multipliers, one argmax.

use super::{Formulas, OF_THEOREMS, RuleState};
use crate::compatibility::{BOX, refusal};
use crate::{Choice, Hallucination, Result, Rule, Strategy};

/// The RKHS case: with gamma_t of observed and pending points.
pub(super) struct GpBucb;

impl Formulas for GpBucb {
    fn multiplier(&self, state: &mut RuleState<'_>) -> Result<f64> {
        let (assumptions, hallucination, t) = (state.assumptions()?, state.hallucination()?, state.round());
        Ok(assumptions.gp_bucb(t, state.information(t)?, hallucination))
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

/// The Bayesian case on a finite domain: a union bound over the candidates.
pub(super) struct GpBucbBayesian;

impl Formulas for GpBucbBayesian {
    fn multiplier(&self, state: &mut RuleState<'_>) -> Result<f64> {
        let (assumptions, hallucination) = (state.assumptions()?, state.hallucination()?);
        Ok(assumptions.gp_bucb_bayesian(state.round(), state.candidates()?, hallucination))
    }

    fn choose(&self, state: &mut RuleState<'_>, multiplier: f64) -> Result<Choice> {
        state.argmax_upper(multiplier)
    }

    fn reads(&self, strategy: &Strategy) -> &'static [&'static str] {
        match strategy.hallucination {
            // exp(2 gamma_{M-1}).
            Hallucination::WorstCase => &["delta", "information", "hallucination", "width", "multiplier"],
            _ => &["delta", "hallucination", "width", "multiplier"],
        }
    }

    fn check(&self, strategy: &Strategy, candidates: Option<usize>) -> Result<()> {
        // The union bound is over candidates.
        let reason = "its multiplier counts the candidates; use gp-ucb with beta = 4.0, auto, or a grid of few points";
        if candidates.is_some() || strategy.multiplier.is_some() {
            Ok(())
        } else {
            Err(refusal(Rule::GpBucbBayesian, BOX, reason))
        }
    }
}
