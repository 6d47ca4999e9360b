//! The widths of confidence bands and the multipliers of the rules: one formula, one function.
//!
//! | symbol | name | meaning |
//! |---|---|---|
//! | B | norm_bound | bound on the function's RKHS norm |
//! | R | noise_bound | the noise is R-sub-Gaussian |
//! | lambda | noise | regulariser of the posterior |
//! | delta | delta | the band may fail with this probability |
//! | gamma | information | maximum or realised information gain, of S(t) or t points |
//! | xi | hallucination | bound on sigma_S(x)^2/sigma_{t-1}(x)^2, Definition 2 and Lemma 5 of the paper |
//! | alpha | band | multiplier of sigma_S |
//! | beta_t, v_t | igp_bucb, gp_bts | multipliers of sigma_{t-1} |

use std::f64::consts::PI;

/// What is assumed of the function and the noise.
///
/// ```
/// use manyhands_core::theory::Assumptions;
/// let assumptions = Assumptions { norm_bound: 1.0, noise_bound: 0.1, noise: 0.01, delta: 0.1 };
/// let band = assumptions.band(2.0);
/// assert!((band - (1.0 + (2.0 * (2.0 - 0.1f64.ln())).sqrt())).abs() < 1e-12);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Assumptions {
    /// B: the function's RKHS norm is at most this.
    pub norm_bound: f64,
    /// R: the noise is sub-Gaussian with this constant.
    pub noise_bound: f64,
    /// lambda: the variance that regularises the posterior.
    pub noise: f64,
    /// The probability with which the statements may fail.
    pub delta: f64,
}

impl Assumptions {
    /// alpha = B + R/sqrt(lambda) sqrt(2 (information + ln(1/delta))): with probability at least 1 - delta, at all x and t,
    /// |f(x) - mu_S(x)| <= alpha sigma_S(x). Lemma 3 of the paper, with the realised information gain of the observed
    /// points allowed in place of its maximum (Durand, Maillard and Pineau 2017, Theorem 2.1).
    pub fn band(&self, information: f64) -> f64 {
        self.norm_bound + self.noise_bound / self.noise.sqrt() * (2.0 * (information - self.delta.ln())).sqrt()
    }

    /// beta_t of IGP-BUCB (Algorithm 1): sqrt(xi) (B + R/sqrt(lambda) sqrt(2 (gamma_S(t) + ln(1/delta)))). By Lemma 6 the
    /// band mu_S +- beta_t sigma_{t-1} holds at all x and t with probability at least 1 - delta.
    pub fn igp_bucb(&self, information: f64, hallucination: f64) -> f64 {
        hallucination.sqrt() * self.band(information)
    }

    /// v_t of GP-BTS (Algorithm 2): as beta_t, with ln(2/delta).
    pub fn gp_bts(&self, information: f64, hallucination: f64) -> f64 {
        Self { delta: self.delta / 2.0, ..*self }.igp_bucb(information, hallucination)
    }

    /// The multiplier of GP-BUCB (Desautels, Krause and Burdick 2014, Theorem 2, case 3):
    /// sqrt(xi (2 B^2 + 300 gamma_t ln^3(t/delta))), with gamma_t and not gamma_S(t).
    pub fn gp_bucb(&self, t: usize, information: f64, hallucination: f64) -> f64 {
        let log = (t as f64).ln() - self.delta.ln();
        (hallucination * (2.0 * self.norm_bound.powi(2) + 300.0 * information * log.powi(3))).sqrt()
    }

    /// The multiplier of GP-BUCB where f is a draw of the prior on a finite domain (Desautels, Krause and Burdick 2014,
    /// Theorem 2, case 1): sqrt(2 xi ln(|D| t^2 pi^2/(6 delta))). Their index is the last round that was observed; with t,
    /// as in [`Assumptions::gp_bucb`], the multiplier is a little larger and their bound holds all the more.
    pub fn gp_bucb_bayesian(&self, t: usize, candidates: usize, hallucination: f64) -> f64 {
        (hallucination * gp_ucb_squared_width(t, candidates, self.delta)).sqrt()
    }
}

/// beta_t of GP-UCB where f is a draw of the prior on a finite domain (Srinivas et al. 2012, Theorem 1):
/// 2 ln(|D| t^2 pi^2/(6 delta)).
///
/// ```
/// use manyhands_core::theory::gp_ucb_squared_width;
/// let by_hand = 2.0 * (100.0 * 9.0 * std::f64::consts::PI.powi(2) / 0.6f64).ln();
/// assert!((gp_ucb_squared_width(3, 100, 0.1) - by_hand).abs() < 1e-13 * by_hand);
/// ```
pub fn gp_ucb_squared_width(t: usize, candidates: usize, delta: f64) -> f64 {
    2.0 * log_union_bound(t, candidates, delta)
}

/// ln(|D| t^2 pi^2/(6 delta)): the logarithm of a union bound over all candidates and rounds.
pub fn log_union_bound(t: usize, candidates: usize, delta: f64) -> f64 {
    (candidates as f64).ln() + 2.0 * (t as f64 * PI / 6.0f64.sqrt()).ln() - delta.ln()
}

/// The a-priori hallucination factor 1 + (M - 1) max k(x,x)/lambda: valid before any data, attained by repeats.
pub fn a_priori_hallucination(max_pending: usize, largest_variance: f64, noise: f64) -> f64 {
    1.0 + (max_pending.max(1) - 1) as f64 * largest_variance / noise
}

/// The paper's choice xi_M = exp(2 gamma_{M-1}) (Lemma 4), from gamma_{M-1}.
pub fn worst_case_hallucination(information: f64) -> f64 {
    (2.0 * information).exp()
}

/// The variance below which the initialization scheme certifies sqrt(xi) <= target: xi <= 1 + (M - 1) max sigma^2/lambda.
/// With one worker there is nothing to wait for.
pub fn initialization_variance(target: f64, max_pending: usize, noise: f64) -> f64 {
    initialization_variance_beside(target, 1.0, max_pending, noise)
}

/// As [`initialization_variance`], beside failed points that stay hallucinated and whose own factor is `failed`: xi is at most
/// failed + (M - 1) max sigma^2/lambda, as the largest eigenvalue of a covariance is at most the sum of those of its diagonal
/// blocks. Minus infinity where one worker has failed too much.
///
/// ```
/// use manyhands_core::theory::{initialization_variance, initialization_variance_beside};
/// let alone = initialization_variance(2.0, 5, 0.025);
/// assert_eq!(initialization_variance_beside(2.0, 2.5, 5, 0.025), alone / 2.0);
/// ```
pub fn initialization_variance_beside(target: f64, failed: f64, max_pending: usize, noise: f64) -> f64 {
    let left = target * target - failed;
    if max_pending > 1 { noise * left / (max_pending - 1) as f64 } else { f64::INFINITY.copysign(left) }
}
