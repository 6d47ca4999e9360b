//! Quadratic polynomials over a box, and upper bounds of their maximum.
//!
//! | symbol | name in code | meaning |
//! |---|---|---|
//! | t | step | \|t_i\| <= h_i |
//! | h | half | half-widths of the box |
//! | | constant, linear, squares | a + sum_i b_i t_i + sum over i <= j of q_ij t_i t_j |
//! | | rest | the polynomial stands for every function within `rest` of it over the box |
//!
//! **The bound.** For h_i, h_j > 0 the inequality of arithmetic and geometric means gives
//! q t_i t_j <= |q| (t_i^2 h_j/h_i + t_j^2 h_i/h_j)/2, with equality at two of the corners. With the mixed terms so moved
//! to the diagonal each coordinate is maximized by itself: b t + q t^2 over [-h, h] has its maximum at -b/(2q) if q < 0 and
//! this lies inside, otherwise at the end on the side of b.

/// A function known up to `rest` as a quadratic polynomial.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Quadratic {
    pub constant: f64,
    pub linear: Vec<f64>,
    /// Coefficients of t_i t_j, i <= j, in the order of [`pairs`].
    pub squares: Vec<f64>,
    pub rest: f64,
}

/// An upper bound over the box, and the step at which the bound's own polynomial is highest.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct BoxMaximum {
    pub upper: f64,
    pub step: Vec<f64>,
}

/// (0, 0), (0, 1), ..., (0, m-1), (1, 1), ..., (m-1, m-1).
pub(super) fn pairs(len: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..len).flat_map(move |i| (i..len).map(move |j| (i, j)))
}

impl Quadratic {
    /// This function plus `factor` times another.
    pub fn plus(&self, factor: f64, other: &Self) -> Self {
        let add = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a + factor * b).collect();
        Self {
            constant: self.constant + factor * other.constant,
            linear: add(&self.linear, &other.linear),
            squares: add(&self.squares, &other.squares),
            rest: self.rest + factor.abs() * other.rest,
        }
    }

    /// The function that is 0, in `len` variables.
    pub fn zero(len: usize) -> Self {
        Self { constant: 0.0, linear: vec![0.0; len], squares: vec![0.0; len * (len + 1) / 2], rest: 0.0 }
    }

    /// The polynomial at a step.
    pub fn at(&self, step: &[f64]) -> f64 {
        let linear: f64 = self.linear.iter().zip(step).map(|(b, t)| b * t).sum();
        let squares: f64 = pairs(step.len()).zip(&self.squares).map(|((i, j), q)| q * step[i] * step[j]).sum();
        self.constant + linear + squares
    }

    /// An upper bound over the box with half-widths `half`, all positive.
    pub fn peak(&self, half: &[f64]) -> BoxMaximum {
        let mut diagonal = vec![0.0; half.len()];
        for ((i, j), &q) in pairs(half.len()).zip(&self.squares) {
            if i == j {
                diagonal[i] += q;
            } else {
                let ratio = half[j] / half[i];
                diagonal[i] += 0.5 * q.abs() * ratio;
                diagonal[j] += 0.5 * q.abs() / ratio;
            }
        }
        let mut upper = self.constant + self.rest;
        let mut step = Vec::with_capacity(half.len());
        for ((&b, &q), &h) in self.linear.iter().zip(&diagonal).zip(half) {
            let inside = -0.5 * b / q;
            let t = if q < 0.0 && inside.abs() < h { inside } else { h.copysign(b) };
            upper += b * t + q * t * t;
            step.push(t);
        }
        BoxMaximum { upper, step }
    }

    /// A lower bound over the box.
    pub fn floor(&self, half: &[f64]) -> f64 {
        let zero = Self::zero(half.len());
        -zero.plus(-1.0, self).peak(half).upper
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(crate::seeded::config(256))]

        #[test]
        fn no_step_beats_the_peak(numbers in prop::collection::vec(-2.0f64..2.0, 30), len in 1usize..4) {
            let mut next = numbers.iter().copied().cycle();
            let mut take = |count: usize| -> Vec<f64> { next.by_ref().take(count).collect() };
            let polynomial =
                Quadratic { constant: 0.3, linear: take(len), squares: take(len * (len + 1) / 2), rest: 0.1 };
            let half: Vec<f64> = take(len).iter().map(|h| h.abs() + 0.01).collect();
            let peak = polynomial.peak(&half);
            let floor = polynomial.floor(&half);
            let side = 9usize;
            for index in 0..side.pow(len as u32) {
                let step: Vec<f64> = (0..len)
                    .map(|j| half[j] * ((index / side.pow(j as u32) % side) as f64 / 4.0 - 1.0))
                    .collect();
                let value = polynomial.at(&step);
                prop_assert!(value + 0.1 <= peak.upper + 1e-13 * (1.0 + peak.upper.abs()));
                prop_assert!(value - 0.1 >= floor - 1e-13 * (1.0 + floor.abs()));
            }
        }
    }
}
