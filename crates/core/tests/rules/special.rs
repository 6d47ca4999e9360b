//! Tails of the normal and chi-square distributions for the oracles of rules, by quadrature and recursions of their own.
//!
//! | symbol | name | meaning |
//! |---|---|---|
//! | Phi, phi | cdf, density | standard normal |
//! | int v^p exp(-v - v^2/(2 a^2)) dv | tail_integral | over v > 0: what is left of Mills's ratio and of h(z) |
//! | h(z) | - | E max(0, Z + z) = phi(z) + z Phi(z) |
//! | EI | log_improvement | E max(0, f - tau) = sd h((mean - tau)/sd), as a logarithm |

use std::f64::consts::{PI, SQRT_2};

/// The integral over v > 0 of v^p exp(-v - v^2/(2 a^2)), a >= 1: with v = e^s the trapezoid rule converges exponentially,
/// here as exp(-pi^2/(2 step)), which is below rounding.
fn tail_integral(p: i32, a: f64) -> f64 {
    const STEP: f64 = 0.125;
    let term = |s: f64| (f64::from(p + 1) * s - s.exp() - 0.5 * (s.exp() / a).powi(2)).exp();
    (-320..=40).map(|i| STEP * term(STEP * f64::from(i))).sum()
}

pub fn log_density(z: f64) -> f64 {
    -0.5 * z * z - 0.5 * (2.0 * PI).ln()
}

pub fn cdf(z: f64) -> f64 {
    0.5 * libm::erfc(-z / SQRT_2)
}

/// ln Phi(z).
pub fn log_cdf(z: f64) -> f64 {
    if z > 0.0 {
        (-cdf(-z)).ln_1p()
    } else if z > -30.0 {
        cdf(z).ln()
    } else {
        log_density(z) - (-z).ln() + tail_integral(0, -z).ln()
    }
}

/// ln EI.
pub fn log_improvement(mean: f64, sd: f64, tau: f64) -> f64 {
    let z = (mean - tau) / sd;
    if z > -1.0 {
        (sd * (log_density(z).exp() + z * cdf(z))).ln()
    } else {
        sd.ln() + log_density(z) - 2.0 * (-z).ln() + tail_integral(1, -z).ln()
    }
}

/// P(X > x) for X chi-square with this many degrees of freedom, by the recursion from those of one and two.
pub fn chi_square_tail(x: f64, degrees: usize) -> f64 {
    let half = 0.5 * x;
    let (mut tail, mut k) = if degrees % 2 == 1 { (libm::erfc(half.sqrt()), 1) } else { ((-half).exp(), 2) };
    while k < degrees {
        let shape = 0.5 * k as f64;
        tail += (shape * half.ln() - half - libm::lgamma(shape + 1.0)).exp();
        k += 2;
    }
    tail
}

/// Nodes and weights of Gauss and Legendre on [-1, 1], by Newton's method on the recursion of the polynomials.
pub fn gauss_legendre(n: usize) -> Vec<(f64, f64)> {
    let node = |i: usize| {
        let mut x = (PI * (i as f64 + 0.75) / (n as f64 + 0.5)).cos();
        let mut slope = 0.0;
        for _ in 0..50 {
            let (mut before, mut now) = (1.0, x);
            for k in 2..=n {
                let k = k as f64;
                (before, now) = (now, ((2.0 * k - 1.0) * x * now - (k - 1.0) * before) / k);
            }
            slope = n as f64 * (x * now - before) / (x * x - 1.0);
            x -= now / slope;
        }
        (x, 2.0 / ((1.0 - x * x) * slope * slope))
    };
    (0..n).map(node).collect()
}

#[test]
fn tails_agree_with_tables_and_with_each_other() {
    // Abramowitz and Stegun, tables 26.2 and 26.8; Gauss's rule integrates x^6 over [-1, 1] to 2/7.
    assert!((log_cdf(-5.0) + 15.064_998_393_988_73).abs() < 1e-12);
    assert!((chi_square_tail(3.841_458_820_694_124, 1) - 0.05).abs() < 1e-12);
    assert!((chi_square_tail(18.307_038_053_275_146, 10) - 0.05).abs() < 1e-12);
    assert!((chi_square_tail(11.070_497_693_516_35, 5) - 0.05).abs() < 1e-12);
    let sixth: f64 = gauss_legendre(5).into_iter().map(|(x, weight)| weight * x.powi(6)).sum();
    assert!((sixth - 2.0 / 7.0).abs() < 1e-14);
    for z in [-1.001, -3.0, -8.0, -29.0] {
        let by_integral = log_density(z) - (-z).ln() + tail_integral(0, -z).ln();
        assert!((by_integral - cdf(z).ln()).abs() < 1e-12 * by_integral.abs());
        let textbook = (log_density(z).exp() + z * cdf(z)).ln();
        // The textbook formula cancels: z^2 roundings of phi(z), of which phi(z)/z^2 is left.
        assert!((log_improvement(z, 1.0, 0.0) - textbook).abs() < 1e-15 * z.powi(4).max(10.0));
    }
}
