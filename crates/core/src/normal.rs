//! The standard normal distribution, accurate in its tails.
//!
//! | symbol | name | meaning |
//! |---|---|---|
//! | phi | density | exp(-z^2/2)/sqrt(2 pi) |
//! | Phi | cumulative | erfc(-z/sqrt 2)/2 |
//! | ln Phi | ln_cumulative | which does not underflow |
//! | erfcx | scaled_erfc | exp(x^2) erfc(x), which stays a number where erfc underflows |

use std::f64::consts::{PI, SQRT_2};

/// From here on the asymptotic series of erfcx is exact to the last bit with the terms below.
const ASYMPTOTIC: f64 = 20.0;

/// phi(z).
pub(crate) fn density(z: f64) -> f64 {
    (-0.5 * z * z).exp() / (2.0 * PI).sqrt()
}

/// Phi(z).
///
/// ```
/// use manyhands_core::normal::cumulative;
/// assert_eq!(cumulative(0.0), 0.5);
/// assert!((cumulative(1.959_963_984_540_054) - 0.975).abs() < 1e-15);
/// ```
pub fn cumulative(z: f64) -> f64 {
    0.5 * libm::erfc(-z / SQRT_2)
}

/// ln Phi(z).
pub(crate) fn ln_cumulative(z: f64) -> f64 {
    if z > 0.0 {
        (-0.5 * libm::erfc(z / SQRT_2)).ln_1p()
    } else if z > -1.0 {
        cumulative(z).ln()
    } else {
        -0.5 * z * z + (0.5 * scaled_erfc(-z / SQRT_2)).ln()
    }
}

/// phi(z)/Phi(z), the derivative of ln Phi.
pub(crate) fn inverse_mills(z: f64) -> f64 {
    if z > -1.0 { density(z) / cumulative(z) } else { (2.0 / PI).sqrt() / scaled_erfc(-z / SQRT_2) }
}

/// erfcx(x) = exp(x^2) erfc(x) for x >= 0, to a few units in the last place.
pub(crate) fn scaled_erfc(x: f64) -> f64 {
    if x < ASYMPTOTIC {
        // The rounding of x^2 would be magnified by the exponential, so it is put back: x^2 = square + error exactly.
        let square = x * x;
        let error = x.mul_add(x, -square);
        return square.exp() * (1.0 + error) * libm::erfc(x);
    }
    // Abramowitz and Stegun 7.1.23: sum of (-1)^k (2k - 1)!!/(2 x^2)^k.
    let u = 1.0 / (2.0 * x * x);
    let series = (1..=8).rev().fold(1.0, |sum, k| 1.0 - f64::from(2 * k - 1) * u * sum);
    series / (x * PI.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn erfcx_is_that_of_forty_digits() {
        // exp(x^2) erfc(x) in 40 digits by mpmath.
        let known = [
            (0.0, 1.0),
            (0.1, 0.896_456_979_969_126_7),
            (0.5, 0.615_690_344_192_925_9),
            (1.0, 0.427_583_576_155_807),
            (2.5, 0.210_806_364_061_143_6),
            (5.0, 0.110_704_637_733_068_63),
            (10.0, 0.056_140_992_743_822_59),
            (19.9, 0.028_315_573_983_185_766),
            (20.1, 0.028_034_523_526_966_875),
            (100.0, 0.005_641_613_782_989_433),
            (1e8, 5.641_895_835_477_562e-9),
        ];
        for (x, expected) in known {
            let found = scaled_erfc(x);
            assert!((found / expected - 1.0).abs() <= 4.0 * f64::EPSILON, "erfcx({x}) = {found}, not {expected}");
        }
    }

    #[test]
    fn the_logarithm_of_the_distribution_is_that_of_forty_digits() {
        // ln Phi(z) in 40 digits by mpmath.
        let known = [
            (8.0, -6.220_960_574_271_784e-16),
            (2.0, -0.023_012_909_328_963_49),
            (0.0, -std::f64::consts::LN_2),
            (-0.5, -1.175_911_761_593_618_6),
            (-1.0, -1.841_021_645_009_263_5),
            (-3.0, -6.607_726_221_510_35),
            (-10.0, -53.231_285_150_512_47),
            (-40.0, -804.608_442_013_753_8),
            (-1e6, -500_000_000_014.734_4),
        ];
        for (z, expected) in known {
            let found = ln_cumulative(z);
            assert!((found / expected - 1.0).abs() <= 1e-13, "ln Phi({z}) = {found}, not {expected}");
        }
        for z in [-30.0, -5.0, -1.0, -0.5, 0.0, 2.0, 5.0] {
            let step = 1e-5;
            let slope = (ln_cumulative(z + step) - ln_cumulative(z - step)) / (2.0 * step);
            assert!((inverse_mills(z) - slope).abs() <= 1e-7 * slope.abs().max(1.0), "{z}: {slope}");
        }
    }

    #[test]
    fn the_distribution_is_the_integral_of_its_density() {
        let (steps, width) = (40_000, 12.0 / 40_000.0);
        let integral: f64 = (0..steps).map(|i| density(-11.5 + (f64::from(i) + 0.5) * width)).sum::<f64>() * width;
        assert!((integral - cumulative(0.5)).abs() < 1e-8, "{integral}");
    }
}
