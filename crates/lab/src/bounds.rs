//! The paper's regret bounds with explicit constants, as functions of a finished run, for any max k(x,x).
//!
//! | symbol | name | meaning |
//! |---|---|---|
//! | T | rounds | length of the run |
//! | gamma_T | information | maximum information gain of T points, or an upper bound of it |
//! | xi_M | hallucination | the hallucination factor used, or an upper bound of it |
//! | kappa | largest_variance | max k(x,x); the paper takes 1 |
//! | p | anti-concentration | 1/(4 e sqrt(pi)), Lemma 11 |
//! | w_t, c_t | | sqrt(4 ln t + 2 ln |D_t|) and v_t (1 + w_t), Definition 4 |
//! | a | tolerance | abs(f(x) - f(\[x\]_t)) <= a/t^2: 1 for the appendix's D_t, 0 where D is finite and D_t = D |
//!
//! What kappa changes: |f(x)| <= B sqrt(k(x,x)) by the reproducing property, so that a round's regret is at most
//! 2 B sqrt(kappa) where the paper has 2 B, and sigma <= sqrt(kappa) where it has 1. Bands, multipliers, gamma and xi
//! depend on k and lambda through k/lambda alone. So measuring f in other units (k -> s k, lambda -> s lambda, R -> sqrt(s) R;
//! B is the norm of sqrt(s) f under s k as of f under k) multiplies every bound by sqrt(s), as it does the regret, if a is
//! measured in the same units.
//!
//! The appendix's proof of Theorem 1 omits the factor 1/sqrt(lambda) of beta_T; it is kept here.

use std::f64::consts::{E, PI};

use manyhands_core::theory::{Assumptions, Discretization};
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
    ///
    /// As z/ln(1 + z) does not decrease, sigma^2 <= kappa gives sigma^2 <= kappa ln(1 + sigma^2/lambda)/ln(1 + kappa/lambda);
    /// the sum of these is at most 2 kappa gamma_T/ln(1 + kappa/lambda) <= (2 lambda + kappa) gamma_T, by
    /// ln(1 + z) >= 2 z/(2 + z); the rest is Cauchy and Schwarz.
    pub fn sum_of_sds(&self, noise: f64) -> f64 {
        ((2.0 * noise + self.largest_variance) * self.rounds as f64 * self.information).sqrt()
    }
}

/// What GP-BTS draws its samples on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SampledSet {
    /// A finite domain of this many candidates: D_t = D.
    Candidates(usize),
    /// The appendix's D_t.
    Growing(Discretization),
}

impl SampledSet {
    /// ln |D_t|.
    fn log_size(&self, t: usize) -> f64 {
        match self {
            Self::Candidates(candidates) => (*candidates as f64).ln(),
            Self::Growing(discretization) => discretization.log_size(t),
        }
    }

    /// a.
    fn tolerance(&self) -> f64 {
        match self {
            Self::Candidates(_) => 0.0,
            Self::Growing(discretization) => discretization.tolerance,
        }
    }
}

/// The most that one round can cost: max f - min f <= 2 B sqrt(kappa).
pub fn largest_regret(norm_bound: f64, largest_variance: f64) -> f64 {
    2.0 * norm_bound * largest_variance.sqrt()
}

/// Theorem 1: with probability at least 1 - delta the cumulative regret of IGP-BUCB is at most
/// 2 sqrt(xi) (B + R/sqrt(lambda) sqrt(2 (gamma_T + ln(1/delta)))) sqrt((2 lambda + kappa) T gamma_T).
pub fn igp_bucb_bound(assumptions: &Assumptions, run: &Horizon) -> f64 {
    2.0 * assumptions.igp_bucb(run.information, run.hallucination) * run.sum_of_sds(assumptions.noise)
}

/// The last round of which the drift of GP-BTS's proof says nothing: p <= 1/t^2.
const EARLY: usize = 4;

/// Theorem 2, equation (9) of the paper: with probability at least 1 - delta the cumulative regret of GP-BTS is at most
///
/// (11 c_T/p) sqrt((2 lambda + kappa) T gamma_T) + 2 B sqrt(kappa) min(T, 4) + (2 B sqrt(kappa) + a) sum_{t > 4} 1/t^2
/// + (max(4 B sqrt(kappa) c_T/p, 4 B sqrt(kappa) + a) + 11 sqrt(kappa) c_T/p) sqrt(2 T ln(2/delta)).
///
/// The proof (Chowdhury and Gopalan 2017, Lemmas 9 to 13) with kappa in place of 1, where the band of v_t holds:
/// - f_t leaves its own band with probability at most 1/t^2; otherwise, for the unsaturated x of least sigma,
///   f(\[x*\]_t) - f(x_t) <= c_t (2 sigma(x) + sigma(x_t)). As x_t is unsaturated with probability at least p - 1/t^2,
///   sigma(x) <= E sigma(x_t)/(p - 1/t^2) <= (5/p) E sigma(x_t), so that E r_t <= (11 c_t/p) E sigma(x_t) +
///   (2 B sqrt(kappa) + a)/t^2. This needs 1/t^2 < p, which is t >= 5: the paper's sum, (2 B + 1) pi^2/6, counts the rounds
///   before as well, of which the argument says nothing; here each counts the most it can cost.
/// - What r_t exceeds that by is a supermartingale with increments of at most 2 B sqrt(kappa) + (11 c_T/p) sqrt(kappa) +
///   (2 B sqrt(kappa) + a)/t^2; Azuma and Hoeffding give the last term. The paper's (4 B + 11) c_T/p takes 4 B + 1 to be at
///   most 4 B c_T/p, as it is for B >= 0.15; the maximum keeps the bound valid for every B.
pub fn gp_bts_bound(assumptions: &Assumptions, run: &Horizon, sampled: &SampledSet) -> f64 {
    let (t, kappa, a) = (run.rounds, run.largest_variance, sampled.tolerance());
    let p = 1.0 / (4.0 * E * PI.sqrt());
    let spread = (4.0 * (t.max(1) as f64).ln() + 2.0 * sampled.log_size(t)).sqrt();
    let scaled = assumptions.gp_bts(run.information, run.hallucination) * (1.0 + spread) / p;
    let most = largest_regret(assumptions.norm_bound, kappa);
    let late: f64 = PI * PI / 6.0 - (1..=EARLY).map(|t| 1.0 / (t * t) as f64).sum::<f64>();
    let drift = most * t.min(EARLY) as f64 + (most + a) * late;
    let increment = (2.0 * most * scaled).max(2.0 * most + a) + 11.0 * kappa.sqrt() * scaled;
    11.0 * scaled * run.sum_of_sds(assumptions.noise)
        + drift
        + increment * (2.0 * t as f64 * (2.0 / assumptions.delta).ln()).sqrt()
}

/// The regret that T_init initial picks add to a bound (Corollary 1): 2 B sqrt(kappa) T_init.
pub fn initialization_bound(norm_bound: f64, largest_variance: f64, picks: usize) -> f64 {
    largest_regret(norm_bound, largest_variance) * picks as f64
}

/// The realised form of Theorem 1, round by round: 2 sum_{s <= t} beta_s sigma_{s-1}(x_s) over a run of IGP-BUCB with a valid
/// hallucination factor and `width` 1. Picks of the initialization scheme count the most they can cost.
pub fn realised_bounds(suggestions: &[Suggestion], norm_bound: f64, largest_variance: f64) -> Vec<f64> {
    let initial = largest_regret(norm_bound, largest_variance);
    let add = |sum: &mut f64, s: &Suggestion| {
        *sum += if s.choice.phase == Phase::Initial { initial } else { 2.0 * s.choice.multiplier * s.choice.sd };
        Some(*sum)
    };
    suggestions.iter().scan(0.0, add).collect()
}

/// The last of [`realised_bounds`]; 0 for a run of no rounds.
pub fn realised_bound(suggestions: &[Suggestion], norm_bound: f64, largest_variance: f64) -> f64 {
    realised_bounds(suggestions, norm_bound, largest_variance).last().copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::experiment::{Feedback, simulate};
    use manyhands_core::theory::{a_priori_hallucination, initialization_variance, worst_case_hallucination};
    use manyhands_core::{Domain, Initial, Rule, Spec, Strategy, Study};
    use manyhands_gp::{Grid, Kernel, Prior};

    const ASSUMPTIONS: Assumptions = Assumptions { norm_bound: 1.5, noise_bound: 0.2, noise: 0.025, delta: 0.1 };
    const RUN: Horizon = Horizon { rounds: 200, information: 7.5, hallucination: 4.0, largest_variance: 2.0 };
    const CUBE: Discretization =
        Discretization { norm_bound: 1.5, lipschitz: 5.0, side: 1.0, dimension: 2, tolerance: 1.0 };

    fn close(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() <= 1e-14, "{found}, by hand {expected}");
    }

    #[test]
    fn the_bounds_are_the_formulas_in_thirty_digits() {
        close(ASSUMPTIONS.band(7.5), 7.100_738_549_296_954);
        close(ASSUMPTIONS.gp_bts(7.5, 4.0), 14.590_745_148_673_19);
        close(ASSUMPTIONS.gp_bucb(200, 7.5, 4.0), 1_988.016_491_589_891_5);
        close(RUN.sum_of_sds(0.025), 55.452_682_532_047_086);
        close(igp_bucb_bound(&ASSUMPTIONS, &RUN), 1_575.020_002_068_930_2);
        close(CUBE.log_size(200), 26.609_369_868_396_567);
        close(gp_bts_bound(&ASSUMPTIONS, &RUN, &SampledSet::Growing(CUBE)), 3_903_867.779_024_098);
        close(gp_bts_bound(&ASSUMPTIONS, &RUN, &SampledSet::Candidates(100)), 2_641_700.459_763_936_6);
        close(initialization_bound(1.5, 2.0, 10), 42.426_406_871_192_85);
    }

    /// Equation (9) as it is printed, where k(x,x) <= 1 and B >= 0.15: all that differs are the first four rounds.
    #[test]
    fn with_variance_1_theorem_2_is_equation_9_but_for_its_first_rounds() {
        let run = Horizon { largest_variance: 1.0, ..RUN };
        let (b, p) = (1.5, 1.0 / (4.0 * E * PI.sqrt()));
        let c = ASSUMPTIONS.gp_bts(7.5, 4.0) * (1.0 + (4.0 * 200f64.ln() + 2.0 * CUBE.log_size(200)).sqrt());
        let printed = 11.0 * c / p * run.sum_of_sds(0.025)
            + (2.0 * b + 1.0) * PI * PI / 6.0
            + (4.0 * b + 11.0) * c / p * (400.0 * 20f64.ln()).sqrt();
        // 1 + 1/4 + 1/9 + 1/16 = 205/144 of (2 B + 1), for 4 times 2 B.
        let early = 8.0 * b - (2.0 * b + 1.0) * 205.0 / 144.0;
        close(gp_bts_bound(&ASSUMPTIONS, &run, &SampledSet::Growing(CUBE)), printed + early);
    }

    /// For a small B the paper's 4 B c_T/p is less than the 4 B + 1 that it is to bound.
    #[test]
    fn the_increments_are_bounded_for_small_norms_too() {
        let assumptions = Assumptions { norm_bound: 1e-3, noise_bound: 1e-6, ..ASSUMPTIONS };
        let run = Horizon { hallucination: 1.0, largest_variance: 1.0, ..RUN };
        let sampled = SampledSet::Growing(Discretization { norm_bound: 1e-3, ..CUBE });
        let azuma = (400.0 * 20f64.ln()).sqrt();
        assert!(gp_bts_bound(&assumptions, &run, &sampled) > (4e-3 + 1.0) * azuma);
    }

    /// The same problem in other units: f and the noise sqrt(s) times as large, the variances s times. B is the norm of
    /// sqrt(s) f under s k, that of f under k.
    #[test]
    fn every_bound_is_measured_in_the_units_of_f() {
        for s in [4.0, 9.0, 0.3] {
            let unit = f64::sqrt(s);
            let assumptions = Assumptions { noise_bound: unit * 0.2, noise: s * 0.025, ..ASSUMPTIONS };
            let run = Horizon { largest_variance: s * 2.0, ..RUN };
            let cube = Discretization { lipschitz: unit * 5.0, tolerance: unit, ..CUBE };
            let sampled = [SampledSet::Candidates(100), SampledSet::Growing(CUBE)];
            let scaled = [SampledSet::Candidates(100), SampledSet::Growing(cube)];
            close(assumptions.gp_bts(7.5, 4.0), ASSUMPTIONS.gp_bts(7.5, 4.0));
            close(a_priori_hallucination(5, s * 2.0, s * 0.025), a_priori_hallucination(5, 2.0, 0.025));
            close(run.sum_of_sds(s * 0.025), unit * RUN.sum_of_sds(0.025));
            close(igp_bucb_bound(&assumptions, &run), unit * igp_bucb_bound(&ASSUMPTIONS, &RUN));
            for (scaled, sampled) in scaled.iter().zip(&sampled) {
                let expected = unit * gp_bts_bound(&ASSUMPTIONS, &RUN, sampled);
                close(gp_bts_bound(&assumptions, &run, scaled), expected);
            }
            close(initialization_bound(1.5, s * 2.0, 10), unit * initialization_bound(1.5, 2.0, 10));
        }
    }

    /// A run in other units chooses the same points, and its realised bound is measured in them. The factor 4 rounds nothing.
    #[test]
    fn a_realised_bound_is_measured_in_the_units_of_f() {
        let run = |s: f64| {
            let kernel = Kernel::squared_exponential(&[0.2]).unwrap().with_variance(s).unwrap();
            let domain = Domain::Grid(Grid::even(&[(0.0, 1.0, 30)]).unwrap());
            let prior = Prior::new(kernel, 0.0, s * 0.01).unwrap();
            let strategy = Strategy { initial: Initial::Count(2), ..Strategy::new(Rule::IgpBucb, 1.5) };
            let mut study = Study::new(Spec::new(domain, prior, strategy).unwrap()).unwrap();
            let reward = |x: f64| s.sqrt() * (5.0 * x).sin();
            let run = simulate(&mut study, &Feedback::Batch(3), 12, |one| reward(one.point[0])).unwrap();
            let chosen: Vec<usize> = run.iter().map(|one| one.choice.candidate).collect();
            (chosen, realised_bounds(&run, 1.5, s))
        };
        let ((chosen, bounds), (again, scaled)) = (run(1.0), run(4.0));
        assert_eq!(chosen, again);
        assert!(bounds.len() == 12 && bounds.windows(2).all(|pair| pair[0] < pair[1]));
        bounds.iter().zip(&scaled).for_each(|(bound, scaled)| close(*scaled, 2.0 * bound));
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
