//! From the values of a black box to values that a Gaussian process can model, and back.
//!
//! | symbol | name | meaning |
//! |---|---|---|
//! | y | value | as told, larger is better |
//! | v | | (y - anchor)/unit, the anchor being the best value observed |
//! | kappa | bend | how strongly the lower tail is compressed; 0 leaves it as it is |
//! | w(v) | | v for v >= 0, else -ln(1 - kappa v)/kappa: monotone, smooth, onto all reals |
//! | z | warped | (w(v) - shift)/spread: mean 0 and variance 1 over the data |
//!
//! Compressing the lower tail flattens steep walls and, since it works on distances from the best value, spreads out the
//! values near the optimum, where decisions are made.

use crate::tuning::{FIRST_VALUES, SMALLEST_SHARE};

/// The positive half of the 20 nodes of Gauss-Hermite quadrature for the normal distribution, with their weights.
const NODES: [(f64, f64); 10] = [
    (0.3469641570813559, 0.2607930634495548),
    (1.042945348802751, 0.16173933398400003),
    (1.7452473208141268, 0.06150637206397696),
    (2.458663611172368, 0.013997837447100996),
    (3.1890148165533896, 0.0018301031310804924),
    (3.9439673506573163, 0.00012882627996192942),
    (4.734581334046055, 4.4021210902308646e-06),
    (5.5787388058932015, 6.127490259982928e-08),
    (6.510590157013654, 2.4820623623151797e-10),
    (7.619048541679758, 1.2578006724379264e-13),
];

/// A unit is at least this much of the farthest value's distance from the best.
const SMALLEST_UNIT: f64 = 1e-140;

/// A monotone map of values, with its inverse.
///
/// ```
/// use manyhands_gp::Warp;
/// let warp = Warp::standardizing(&[1.0, 2.0, -300.0, 1.5], 1.0);
/// assert!((warp.inverse(warp.forward(1.2)) - 1.2).abs() < 1e-9);
/// assert!(warp.forward(-300.0) > -5.0); // the far tail is compressed
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Warp {
    anchor: f64,
    unit: f64,
    bend: f64,
    shift: f64,
    spread: f64,
}

impl Warp {
    /// Inverses are kept to this size, so that differences of two of them are finite.
    pub const LARGEST: f64 = 0.25 * f64::MAX;

    /// The map that leaves every value as it is.
    pub fn identity() -> Self {
        Self { anchor: 0.0, unit: 1.0, bend: 0.0, shift: 0.0, spread: 1.0 }
    }

    /// The map with this bend that gives these values, in the order in which they came, mean 0 and variance 1.
    pub fn standardizing(values: &[f64], bend: f64) -> Self {
        let anchor = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let anchor = if anchor.is_finite() { anchor } else { 0.0 };
        // Halved first: the difference of two finite values may not be finite.
        let below: Vec<f64> = values.iter().map(|y| 2.0 * (0.5 * anchor - 0.5 * y).min(0.25 * f64::MAX)).collect();
        let early = median(&below[..below.len().min(FIRST_VALUES)]);
        let unit = median(&below).max(SMALLEST_SHARE * early);
        let farthest = below.iter().copied().fold(0.0, f64::max);
        // No v may be so large that its square is not finite.
        let unit = if unit > 0.0 { unit.max(farthest * SMALLEST_UNIT) } else { farthest };
        let unit = if unit >= f64::MIN_POSITIVE { unit } else { 1.0 };
        let raw = Self { anchor, unit, bend, shift: 0.0, spread: 1.0 };
        let warped: Vec<f64> = values.iter().map(|y| raw.forward(*y)).collect();
        let count = warped.len().max(1) as f64;
        let shift = warped.iter().sum::<f64>() / count;
        let variance = warped.iter().map(|w| (w - shift).powi(2)).sum::<f64>() / count;
        let spread = if variance.sqrt() > 1e-12 * shift.abs().max(1e-300) { variance.sqrt() } else { 1.0 };
        Self { shift, spread, ..raw }
    }

    /// The map with these numbers: anchor, unit, bend, shift, spread; none if they are not those of one.
    pub fn from_numbers(numbers: [f64; 5]) -> Option<Self> {
        let [anchor, unit, bend, shift, spread] = numbers;
        let is_map = numbers.iter().all(|n| n.is_finite()) && unit > 0.0 && spread > 0.0 && bend >= 0.0;
        is_map.then_some(Self { anchor, unit, bend, shift, spread })
    }

    /// Anchor, unit, bend, shift, spread.
    pub fn numbers(&self) -> [f64; 5] {
        [self.anchor, self.unit, self.bend, self.shift, self.spread]
    }

    /// z of a value.
    pub fn forward(&self, value: f64) -> f64 {
        let v = self.scaled(value);
        let bent = if v >= 0.0 || self.bend == 0.0 { v } else { -(-self.bend * v).ln_1p() / self.bend };
        (bent - self.shift) / self.spread
    }

    /// The value that has this z.
    pub fn inverse(&self, warped: f64) -> f64 {
        let bent = warped * self.spread + self.shift;
        let v = if bent >= 0.0 || self.bend == 0.0 { bent } else { -(-self.bend * bent).exp_m1() / self.bend };
        // Far below all values the inverse leaves the floats; bounds stay finite.
        (v * self.unit + self.anchor).clamp(-Self::LARGEST, Self::LARGEST)
    }

    /// ln dz/dy at a value.
    pub fn log_slope(&self, value: f64) -> f64 {
        let v = self.scaled(value);
        let bent = if v >= 0.0 { 0.0 } else { (-self.bend * v).ln_1p() };
        -bent - self.unit.ln() - self.spread.ln()
    }

    /// Mean and standard deviation of the value whose z is normal with these: exact for a warp without bend, otherwise by
    /// Gauss-Hermite quadrature.
    pub fn moments(&self, mean: f64, sd: f64) -> (f64, f64) {
        if self.bend == 0.0 {
            return (self.inverse(mean), sd * self.spread * self.unit);
        }
        // Relative to the middle, so that nothing cancels, and to the largest deviation, so that no square overflows.
        let middle = self.inverse(mean);
        let deviations = NODES.map(|(node, weight)| {
            (self.inverse(mean + sd * node) - middle, self.inverse(mean - sd * node) - middle, weight)
        });
        let largest =
            deviations.iter().fold(f64::MIN_POSITIVE, |most, (up, down, _)| most.max(up.abs()).max(down.abs()));
        let (mut first, mut second) = (0.0, 0.0);
        for (up, down, weight) in deviations {
            let (up, down) = (up / largest, down / largest);
            first += weight * (up + down);
            second += weight * (up * up + down * down);
        }
        (middle + first * largest, (second - first * first).max(0.0).sqrt() * largest)
    }

    /// dz/dy at the best value that the map was made from, and above it.
    pub fn slope_at_best(&self) -> f64 {
        1.0 / (self.unit * self.spread)
    }

    /// v of a value. Halved first: the difference of two finite values may not be finite.
    fn scaled(&self, value: f64) -> f64 {
        (0.5 * value - 0.5 * self.anchor) / self.unit * 2.0
    }

    /// How far a value can be from the one that the model has for it because of its size alone.
    pub fn resolution(value: f64) -> f64 {
        (4.0 * f64::EPSILON * value.abs()).max(value.abs() - Self::LARGEST)
    }

    /// How strongly the lower tail is compressed.
    pub fn bend(&self) -> f64 {
        self.bend
    }
}

/// The upper median; 0 if empty.
fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
}
