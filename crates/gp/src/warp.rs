//! From the values of a black box to values that a Gaussian process can model, and back.
//!
//! | symbol | name | meaning |
//! |---|---|---|
//! | y | value | as told, larger is better |
//! | v | | (y - anchor)/unit, the anchor being the best value at hand |
//! | kappa | bend | how strongly the lower tail is compressed; 0 leaves it as it is |
//! | w(v) | | v for v >= 0, else -ln(1 - kappa v)/kappa: monotone, smooth, onto all reals |
//! | z | warped | (w(v) - shift)/spread: mean 0 and variance 1 over the data |
//!
//! Compressing the lower tail makes steep walls tame and, since it looks at distances from the best value, spreads out
//! the values near the optimum, where the decisions are made.

/// A unit is at least this much of the farthest value's distance from the best.
const SMALLEST_UNIT: f64 = 1e-140;

/// A monotone map of values, with its inverse.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Warp {
    anchor: f64,
    unit: f64,
    bend: f64,
    shift: f64,
    spread: f64,
}

impl Warp {
    /// The map that leaves every value as it is.
    pub fn identity() -> Self {
        Self { anchor: 0.0, unit: 1.0, bend: 0.0, shift: 0.0, spread: 1.0 }
    }

    /// The map with this bend that gives these values mean 0 and variance 1.
    pub fn standardizing(values: &[f64], bend: f64) -> Self {
        let anchor = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let anchor = if anchor.is_finite() { anchor } else { 0.0 };
        // Halved first: the difference of two finite values may not be finite.
        let mut below: Vec<f64> = values.iter().map(|y| 2.0 * (0.5 * anchor - 0.5 * y).min(0.25 * f64::MAX)).collect();
        below.sort_by(f64::total_cmp);
        let unit = below.get(below.len() / 2).copied().unwrap_or(0.0);
        let farthest = below.last().copied().unwrap_or(0.0);
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
        v * self.unit + self.anchor
    }

    /// ln dz/dy at a value.
    pub fn log_slope(&self, value: f64) -> f64 {
        let v = self.scaled(value);
        let bent = if v >= 0.0 { 0.0 } else { (-self.bend * v).ln_1p() };
        -bent - self.unit.ln() - self.spread.ln()
    }

    /// v of a value. Halved first: the difference of two finite values may not be finite.
    fn scaled(&self, value: f64) -> f64 {
        (0.5 * value - 0.5 * self.anchor) / self.unit * 2.0
    }

    /// How strongly the lower tail is compressed.
    pub fn bend(&self) -> f64 {
        self.bend
    }
}
