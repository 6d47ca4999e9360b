//! The paper's regret bounds with explicit constants, as functions of a finished run.
//!
//! | symbol | name | meaning |
//! |---|---|---|
//! | T | rounds | length of the run |
//! | gamma_T | information | maximum information gain of T points, or an upper bound of it |
//! | xi_M | hallucination | the hallucination factor used |
//! | kappa | largest_variance | max k(x,x); the paper takes 1 |
//! | p | anti-concentration | 1/(4 e sqrt(pi)), Lemma 11 |
//! | w_t, c_t | | sqrt(4 ln t + 2 ln |D_t|) and v_t (1 + w_t), Definition 4 |
//!
//! The appendix's proof of Theorem 1 omits the factor 1/sqrt(lambda) of beta_T; it is kept here.

use std::f64::consts::{E, PI};

use manyhands_core::theory::Assumptions;
use manyhands_core::{Phase, Suggestion};

/// A finished run, as the theorems see it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Horizon {
    /// T.
    pub rounds: usize,
    /// gamma_T or an upper bound of it.
    pub information: f64,
    /// xi_M.
    pub hallucination: f64,
    /// max k(x,x) over the domain.
    pub largest_variance: f64,
}

impl Horizon {
    /// sqrt((2 lambda + kappa) T gamma_T), a bound on the sum of sigma_{t-1}(x_t): Lemma 1, equation (5), whose kappa is 1.
    pub fn sum_of_sds(&self, noise: f64) -> f64 {
        ((2.0 * noise + self.largest_variance) * self.rounds as f64 * self.information).sqrt()
    }
}

/// Theorem 1: with probability at least 1 - delta the cumulative regret of IGP-BUCB is at most
/// 2 sqrt(xi) (B + R/sqrt(lambda) sqrt(2 (gamma_T + ln(1/delta)))) sqrt((2 lambda + kappa) T gamma_T).
pub fn igp_bucb_bound(assumptions: &Assumptions, run: &Horizon) -> f64 {
    2.0 * assumptions.igp_bucb(run.information, run.hallucination) * run.sum_of_sds(assumptions.noise)
}

/// Theorem 2, equation (9) of the paper: with probability at least 1 - delta the cumulative regret of GP-BTS is at most
/// (11 c_T/p) sqrt((2 lambda + kappa) T gamma_T) + (2 B + 1) pi^2/6 + ((4 B + 11) c_T/p) sqrt(2 T ln(2/delta)).
///
/// `log_candidates` is ln |D_T|: d ln(B L r d T^2) for the appendix's discretization ([`log_discretization`]), or the
/// logarithm of the size of a finite domain (where the terms for leaving the discretization are not needed but kept).
pub fn gp_bts_bound(assumptions: &Assumptions, run: &Horizon, log_candidates: f64) -> f64 {
    let (t, b) = (run.rounds as f64, assumptions.norm_bound);
    let p = 1.0 / (4.0 * E * PI.sqrt());
    let spread = (4.0 * t.max(1.0).ln() + 2.0 * log_candidates.max(0.0)).sqrt();
    let c = assumptions.gp_bts(run.information, run.hallucination) * (1.0 + spread);
    11.0 * c / p * run.sum_of_sds(assumptions.noise)
        + (2.0 * b + 1.0) * PI * PI / 6.0
        + (4.0 * b + 11.0) * c / p * (2.0 * t * (2.0 / assumptions.delta).ln()).sqrt()
}

/// ln |D_t| = d ln(B L r d t^2) of the appendix's discretization.
pub fn log_discretization(norm_bound: f64, lipschitz: f64, side: f64, dimension: usize, t: usize) -> f64 {
    let d = dimension as f64;
    d * (norm_bound * lipschitz * side * d * (t * t) as f64).ln()
}

/// The regret that T_init initial picks add to a bound (Corollary 1): 2 B T_init.
pub fn initialization_bound(norm_bound: f64, picks: usize) -> f64 {
    2.0 * norm_bound * picks as f64
}

/// The realised form of Theorem 1: 2 sum_t beta_t sigma_{t-1}(x_t) over a run of IGP-BUCB with a valid hallucination
/// factor and `width` 1. Picks of the initialization scheme count 2 B max sqrt(k(x,x)) each, which bounds the spread of f.
pub fn realised_bound(suggestions: &[Suggestion], norm_bound: f64, largest_variance: f64) -> f64 {
    let initial = 2.0 * norm_bound * largest_variance.sqrt();
    suggestions
        .iter()
        .map(|s| if s.choice.phase == Phase::Initial { initial } else { 2.0 * s.choice.multiplier * s.choice.sd })
        .sum()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use manyhands_core::theory::{a_priori_hallucination, initialization_variance, worst_case_hallucination};
    use manyhands_core::{Domain, Initial, Rule, Spec, Strategy, Study};
    use manyhands_gp::{Grid, Kernel, Prior};

    const ASSUMPTIONS: Assumptions = Assumptions { norm_bound: 1.5, noise_bound: 0.2, noise: 0.025, delta: 0.1 };
    const RUN: Horizon = Horizon { rounds: 200, information: 7.5, hallucination: 4.0, largest_variance: 2.0 };

    fn close(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() <= 1e-14, "{found}, by hand {expected}");
    }

    #[test]
    fn the_bounds_are_the_paper_s_formulas_in_thirty_digits() {
        close(ASSUMPTIONS.band(7.5), 7.100_738_549_296_954);
        close(ASSUMPTIONS.gp_bts(7.5, 4.0), 14.590_745_148_673_19);
        close(ASSUMPTIONS.gp_bucb(200, 7.5, 4.0), 1_988.016_491_589_891_5);
        close(RUN.sum_of_sds(0.025), 55.452_682_532_047_086);
        close(igp_bucb_bound(&ASSUMPTIONS, &RUN), 1_575.020_002_068_930_2);
        let log_candidates = log_discretization(1.5, 5.0, 1.0, 2, 200);
        close(log_candidates, 26.609_369_868_396_567);
        close(gp_bts_bound(&ASSUMPTIONS, &RUN, log_candidates), 3_244_047.162_355_445);
        close(initialization_bound(1.5, 10), 30.0);
    }

    #[test]
    fn hallucination_factors_are_the_formulas_by_hand() {
        close(a_priori_hallucination(5, 2.0, 0.025), 321.0);
        assert_eq!(a_priori_hallucination(1, 2.0, 0.025), 1.0);
        close(worst_case_hallucination(2.0f64.ln()), 4.0);
        close(initialization_variance(2.0, 5, 0.025), 0.018_75);
        assert_eq!(initialization_variance(2.0, 1, 0.025), f64::INFINITY);
    }

    #[test]
    fn a_realised_bound_adds_twice_the_width_and_the_spread_for_initial_picks() {
        let domain = Domain::Grid(Grid::even(&[(0.0, 1.0, 30)]).unwrap());
        let prior = Prior::new(Kernel::squared_exponential(&[0.2]).unwrap(), 0.0, 0.01).unwrap();
        let strategy = Strategy { initial: Initial::Count(2), ..Strategy::new(Rule::IgpBucb, 1.5) };
        let run = Study::new(Spec::new(domain, prior, strategy).unwrap()).unwrap().ask(5).unwrap();
        let by_rule: f64 = run[2..].iter().map(|s| 2.0 * s.choice.multiplier * s.choice.sd).sum();
        // Two initial picks with B = 1.5 and kappa = 4 count 2 * 1.5 * 2 each.
        close(realised_bound(&run, 1.5, 4.0), 12.0 + by_rule);
    }
}
