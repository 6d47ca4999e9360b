//! The correlations with closed forms, over whole arrays of squared distances, compiled for the machine's vectors.
//!
//! Values depend on one entry each and use no fused operation, so they have the same bits in an array and alone, and on
//! every kind of CPU.

use pulp::{Arch, Simd, WithSimd};

/// Beyond this z every form is 0, and capping z there avoids infinity times 0.
pub(super) const FAR: f64 = 800.0;
pub(super) const SQRT_3: f64 = 1.732_050_807_568_877_2;
pub(super) const SQRT_5: f64 = 2.236_067_977_499_79;

/// A correlation as a function of the distance r in lengthscales.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Profile {
    /// exp(-r^2/2).
    SquaredExponential,
    /// Matern nu = 1/2: e^(-r).
    Half,
    /// Matern nu = 3/2: (1 + z) e^(-z), z = sqrt(3) r.
    ThreeHalves,
    /// Matern nu = 5/2: (1 + z + z^2/3) e^(-z), z = sqrt(5) r.
    FiveHalves,
}

impl Profile {
    /// Turns squared distances into `variance` times the correlation.
    pub fn apply(self, variance: f64, squares: &mut [f64]) {
        Arch::new().dispatch(Apply { profile: self, variance, values: squares });
    }

    /// Sets `values` to what [`Profile::apply`] makes of the squared distances that `ratios` holds, and these to
    /// `variance` times k'(r)/r, the factor of every first derivative; where nu = 1/2 has none, at r = 0, it is 0.
    pub fn apply_with_ratios(self, variance: f64, ratios: &mut [f64], values: &mut [f64]) {
        Arch::new().dispatch(ApplyWithRatios { profile: self, variance, ratios, values });
    }
}

struct Apply<'a> {
    profile: Profile,
    variance: f64,
    values: &'a mut [f64],
}

impl WithSimd for Apply<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { profile, variance, values } = self;
        match profile {
            Profile::SquaredExponential => {
                for value in values {
                    *value = variance * exp_of_negative(-0.5 * *value);
                }
            }
            Profile::Half => {
                for value in values {
                    *value = variance * exp_of_negative(-value.sqrt());
                }
            }
            Profile::ThreeHalves => {
                for value in values {
                    let z = capped(SQRT_3 * value.sqrt());
                    *value = variance * ((1.0 + z) * exp_of_negative(-z));
                }
            }
            Profile::FiveHalves => {
                for value in values {
                    let z = capped(SQRT_5 * value.sqrt());
                    *value = variance * ((1.0 + z + z * z / 3.0) * exp_of_negative(-z));
                }
            }
        }
    }
}

struct ApplyWithRatios<'a> {
    profile: Profile,
    variance: f64,
    ratios: &'a mut [f64],
    values: &'a mut [f64],
}

impl ApplyWithRatios<'_> {
    #[inline(always)]
    fn each(self, both: impl Fn(f64) -> (f64, f64)) {
        for (ratio, value) in self.ratios.iter_mut().zip(self.values) {
            (*value, *ratio) = both(*ratio);
        }
    }
}

impl WithSimd for ApplyWithRatios<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let variance = self.variance;
        match self.profile {
            Profile::SquaredExponential => self.each(|square| {
                let value = variance * exp_of_negative(-0.5 * square);
                (value, -value)
            }),
            Profile::Half => self.each(|square| {
                let r = square.sqrt();
                let value = variance * exp_of_negative(-r);
                (value, if r > 0.0 { -value / r } else { 0.0 })
            }),
            Profile::ThreeHalves => self.each(|square| {
                let z = capped(SQRT_3 * square.sqrt());
                let decay = exp_of_negative(-z);
                (variance * ((1.0 + z) * decay), -3.0 * variance * decay)
            }),
            Profile::FiveHalves => self.each(|square| {
                let z = capped(SQRT_5 * square.sqrt());
                let decay = exp_of_negative(-z);
                (variance * ((1.0 + z + z * z / 3.0) * decay), -5.0 / 3.0 * variance * ((1.0 + z) * decay))
            }),
        }
    }
}

#[inline(always)]
fn capped(z: f64) -> f64 {
    if z < FAR { z } else { FAR }
}

/// e^x for x <= 0, within two units in the last place; 0 below -708, where e^x leaves the normal numbers.
///
/// x = k ln 2 + r with |r| <= ln(2)/2, and the Taylor series of e^r to degree 13, whose remainder is below 5e-18.
#[inline(always)]
fn exp_of_negative(x: f64) -> f64 {
    const LOWEST: f64 = -708.0;
    const LN_2_HIGH: f64 = 6.931_471_803_691_238e-1; // the leading 32 bits: k times this is exact
    const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    // Adding this leaves round(x / ln 2) in the lowest bits.
    const SHIFT: f64 = 6_755_399_441_055_744.0;
    const COEFFICIENTS: [f64; 12] = [
        1.0 / 6_227_020_800.0,
        1.0 / 479_001_600.0,
        1.0 / 39_916_800.0,
        1.0 / 3_628_800.0,
        1.0 / 362_880.0,
        1.0 / 40_320.0,
        1.0 / 5_040.0,
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        0.5,
    ];
    let bounded = if x > LOWEST { x } else { LOWEST };
    let shifted = bounded * std::f64::consts::LOG2_E + SHIFT;
    let k = shifted - SHIFT;
    let r = (bounded - k * LN_2_HIGH) - k * LN_2_LOW;
    let mut series = COEFFICIENTS[0];
    for &coefficient in &COEFFICIENTS[1..] {
        series = series * r + coefficient;
    }
    let power = f64::from_bits((shifted.to_bits() << 52).wrapping_add(1023 << 52));
    let value = (1.0 + (r + r * r * series)) * power;
    if x > LOWEST { value } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponential_is_that_of_the_standard_library() {
        assert_eq!(exp_of_negative(0.0), 1.0);
        assert_eq!(exp_of_negative(-0.0), 1.0);
        assert_eq!(exp_of_negative(f64::NEG_INFINITY), 0.0);
        assert_eq!(exp_of_negative(-709.0), 0.0);
        for i in 0..2_000_000 {
            let x = -708.0 * (f64::from(i) / 2e6).powi(3);
            let (found, expected) = (exp_of_negative(x), x.exp());
            assert!((found / expected - 1.0).abs() <= 2.0 * f64::EPSILON, "e^{x}: {found}, {expected}");
        }
    }

    #[test]
    fn far_away_there_is_no_correlation() {
        for profile in [Profile::SquaredExponential, Profile::Half, Profile::ThreeHalves, Profile::FiveHalves] {
            let mut values = [f64::INFINITY, 1e300, 0.0];
            profile.apply(2.0, &mut values);
            assert_eq!(values, [0.0, 0.0, 2.0], "{profile:?}");
            let mut ratios = [f64::INFINITY, 1e300, 0.0];
            profile.apply_with_ratios(2.0, &mut ratios, &mut values);
            assert_eq!((values, ratios[0], ratios[1]), ([0.0, 0.0, 2.0], -0.0, -0.0), "{profile:?}");
        }
    }
}
