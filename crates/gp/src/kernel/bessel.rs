//! The Matern correlation at any smoothness, from the modified Bessel function of the second kind.
//!
//! | symbol | name in code | meaning |
//! |---|---|---|
//! | nu | order | smoothness, 0 < nu <= 50 |
//! | z | z | sqrt(2 nu) r, the scaled distance, >= 0 |
//! | K_nu | scaled_bessel | modified Bessel function, here e^z K_nu(z) |
//! | M_nu(z) | correlation | 2^(1-nu) / Gamma(nu) z^nu K_nu(z), which is 1 at z = 0 |
//! | c | | 2^(1-nu) / Gamma(nu) |
//!
//! Two facts justify the branches. M_nu(z) is the mean of exp(-(z/2)^2 / t) over t ~ Gamma(nu, 1), so that cutting the
//! Taylor series of exp errs by at most the first term left out; and 1 - e^(-u) <= u^a for every 0 < a <= 1, so that
//! 1 - M_nu(z) <= (z/2)^(2a) Gamma(nu - a) / Gamma(nu) for a < nu.

use faer::c64;
use libm::{lgamma, tgamma};

/// Past this z every correlation of order <= 50 and all its derivatives are below 1e-320.
const FAR: f64 = 1000.0;

/// Below this z the series at zero are exact to rounding.
const NEAR: f64 = 1e-20;

/// Euler's constant.
const EULER_GAMMA: f64 = 0.577_215_664_901_532_9;

/// zeta(3) / 3, the third-order coefficient of ln Gamma at 1.
const ZETA_3_OVER_3: f64 = 0.400_685_634_386_531_4;

/// M_nu(z) = 2^(1-nu) / Gamma(nu) z^nu K_nu(z), relative error below 1e-12 wherever it exceeds 1e-290.
pub(super) fn correlation(order: f64, z: f64) -> f64 {
    if z == 0.0 {
        1.0
    } else if z > FAR {
        0.0
    } else if order > 10.0 && z < 1.0 {
        // Here K_nu(z) may overflow (nu = 50: below z = 1e-5).
        taylor(order, z)
    } else if order >= 0.5 && (z < NEAR || (order >= 1.0 && z < 1e-10)) {
        // 1 - M_nu(z) < 1e-17: a = 0.45 in the bound above for nu >= 1/2, a = 0.9 for nu >= 1.
        1.0
    } else if z < NEAR {
        rough(order, z)
    } else {
        // Left are nu <= 10 with z >= 1e-10, nu < 1 with z >= 1e-20, nu > 10 with z >= 1: there K_nu(z) < 1e110.
        // Rounding must not lift a covariance above the variance.
        (prefactor(order, z) * scaled_bessel(order, z) * (-0.5 * z).exp()).clamp(0.0, 1.0)
    }
}

/// c z^nu K_{nu-steps}(z), for z > 0: what the derivatives of M_nu are made of, since d/dz z^nu K_nu = -z^nu K_{nu-1}.
///
/// Every case is a correlation of another order, K_{-m} = K_m being used where nu < steps, except order 0.
pub(super) fn lowered(order: f64, steps: u8, z: f64) -> f64 {
    if z > FAR {
        return 0.0;
    }
    let rest = order - f64::from(steps);
    let half = 0.5 * z;
    if rest > 0.0 {
        let factor: f64 = (1..=steps).map(|step| half / (order - f64::from(step))).product();
        factor * correlation(rest, z)
    } else if rest < 0.0 {
        tgamma(-rest) * reciprocal_gamma(order) * half.powf(order + rest) * correlation(-rest, z)
    } else if z < NEAR {
        2.0 * half.powf(order) * reciprocal_gamma(order) * -(half.ln() + EULER_GAMMA)
    } else {
        prefactor(order, z) * scaled_bessel(0.0, z) * (-0.5 * z).exp()
    }
}

/// c z^nu e^(-z/2): one half of the exponential, since e^(-z) underflows before M_nu does.
///
/// (z/2)^nu < 1e135 for nu <= 50 and z <= 1000, so that no factor overflows.
fn prefactor(order: f64, z: f64) -> f64 {
    2.0 * (0.5 * z).powf(order) * reciprocal_gamma(order) * (-0.5 * z).exp()
}

/// 1 / Gamma(nu), written so that a tiny nu does not overflow.
fn reciprocal_gamma(order: f64) -> f64 {
    order / tgamma(1.0 + order)
}

/// e^z K_nu(z), for 1e-20 <= z <= 1000, where Amos' algorithm neither overflows nor fails.
fn scaled_bessel(order: f64, z: f64) -> f64 {
    complex_bessel::besselk_scaled(order, c64::new(z, 0.0)).map_or(f64::NAN, |k| k.re)
}

/// sum_k (-z^2/4)^k Gamma(nu-k) / (Gamma(nu) k!), for nu > 10 and z < 1.
///
/// Stopped after k = 8 the error is at most the term k = 9, below (1/4)^9 / (9! 9!) = 3e-17.
fn taylor(order: f64, z: f64) -> f64 {
    let square = 0.25 * z * z;
    let mut term = 1.0;
    let mut sum = 1.0;
    for k in 1..=8 {
        let k = f64::from(k);
        term *= -square / (k * (order - k));
        sum += term;
    }
    sum
}

/// 1 - Gamma(1-nu) / Gamma(1+nu) (z/2)^(2 nu), for nu < 1/2 and z < 1e-20: what is left out is of relative order z^2.
///
/// The logarithm of the second term is formed first, as it tends to 0 with nu.
fn rough(order: f64, z: f64) -> f64 {
    let log_gammas = if order < 1e-3 {
        // 1 - nu would be rounded; the next term, of order nu^5, is below 1e-14 of 2 nu ln(z/2).
        2.0 * order * (EULER_GAMMA + ZETA_3_OVER_3 * order * order)
    } else {
        lgamma(1.0 - order) - lgamma(1.0 + order)
    };
    -(2.0 * order * (0.5 * z).ln() + log_gammas).exp_m1()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn references() -> Vec<[f64; 3]> {
        let text = include_str!("../../tests/data/matern.json");
        let file: serde_json::Value = serde_json::from_str(text).unwrap();
        let rows = file["rows"].as_array().unwrap();
        rows.iter().map(|row| [0, 1, 2].map(|i| row[i].as_f64().unwrap())).collect()
    }

    #[test]
    fn the_general_routine_equals_forty_digit_arithmetic() {
        let rows = references();
        assert!(rows.len() > 300);
        for [order, r, expected] in rows {
            let found = correlation(order, (2.0 * order).sqrt() * r);
            assert!((found / expected - 1.0).abs() < 1e-12, "nu {order}, r {r}: {found} against {expected}");
        }
    }

    #[test]
    fn branches_meet_at_their_borders() {
        // Neighbouring arguments, one on each side: the step is a rounding of z, worth at most z^2 / z eps.
        for (order, border) in
            [(10.5, 1.0), (49.9, 1.0), (1.0, 1e-10), (7.3, 1e-10), (0.5, NEAR), (0.9, NEAR), (0.2, NEAR)]
        {
            let (below, above) = (correlation(order, border * (1.0 - 1e-15)), correlation(order, border));
            assert!((below / above - 1.0).abs() < 1e-13, "nu {order} at {border}: {below} against {above}");
        }
        let (below, above) = (correlation(10.0, 0.7), correlation(10.0 + 1e-14, 0.7));
        assert!((below / above - 1.0).abs() < 1e-13, "{below} against {above}");
    }

    #[test]
    fn a_tiny_order_keeps_its_relative_accuracy() {
        // M_nu(z) -> 2 nu K_0(z), K_0(z) = -ln(z/2) - gamma for tiny z; the next term is of relative order nu ln z.
        for z in [1e-300f64, 1e-30, 1e-15] {
            let order = 1e-17;
            let expected = -2.0 * order * ((0.5 * z).ln() + EULER_GAMMA);
            assert!((correlation(order, z) / expected - 1.0).abs() < 1e-13, "z {z}");
        }
    }

    #[test]
    fn lowering_obeys_the_recurrence_of_bessel_functions() {
        // K_{nu-2} + 2 (nu-1) / z K_{nu-1} = K_nu, in every case of the sign of nu - 1 and nu - 2.
        for order in [0.3, 0.5, 0.8, 1.0, 1.3, 1.5, 2.0, 2.7, 4.2, 11.5, 30.0] {
            for z in [1e-3, 0.4, 1.0, 3.0, 40.0] {
                let sum = lowered(order, 2, z) + 2.0 * (order - 1.0) / z * lowered(order, 1, z);
                let size = lowered(order, 2, z) + (2.0 * (order - 1.0) / z * lowered(order, 1, z)).abs();
                assert!((sum - correlation(order, z)).abs() < 1e-13 * size, "nu {order}, z {z}");
            }
        }
    }
}
