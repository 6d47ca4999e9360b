//! Closed forms of the maximum information gain gamma_t: the orders of the paper's Lemma 2 with constant 1.

use manyhands_gp::{Family, Kernel};

/// The order of gamma_t for a kernel in `dimension` dimensions (Lemma 2): linear d ln t, squared exponential (ln t)^d,
/// Matern t^(d(d+1)/(2 nu + d(d+1))) ln t. None for an empirical covariance, for which the paper uses ln t.
///
/// For the squared exponential the paper's power is one less than that of its source, (ln t)^(d+1) (Srinivas et al. 2012,
/// Theorem 5). Constants being 1, neither is a bound: a band that must hold needs the realised gain or a certified one.
pub fn closed_form(kernel: &Kernel, t: usize, dimension: usize) -> Option<f64> {
    let (log, d) = (logarithm(t), dimension as f64);
    match kernel.family() {
        Family::Linear => Some(d * log),
        Family::SquaredExponential => Some(if t == 0 { 0.0 } else { log.powi(dimension as i32) }),
        Family::Matern { smoothness } => {
            let exponent = d * (d + 1.0) / (2.0 * smoothness + d * (d + 1.0));
            Some((t as f64).powf(exponent) * log)
        }
        Family::Empirical => None,
    }
}

/// gamma_t = ln t, as the paper takes it for sensor data; 0 for t = 0 and 1.
pub fn logarithm(t: usize) -> f64 {
    (t.max(1) as f64).ln()
}
