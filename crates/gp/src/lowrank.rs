//! A covariance matrix of many points as a product of thin factors, by partial Cholesky with pivoting.
//!
//! | symbol | name | shape |
//! |---|---|---|
//! | K | the covariance | N x N, never formed |
//! | Phi | factor | N x r |
//! | E | residual K - Phi Phi', positive semi-definite | every entry at most the largest diagonal one |
//!
//! Smooth kernels have a small numerical rank r (about 20 for a squared exponential with a fifth of the interval as
//! lengthscale), whatever N is. The residual's diagonal is known at every step, so the error is certified.

use faer::{Mat, MatRef};

use crate::{Error, Result};

/// The factor stops growing when no residual variance exceeds this many rounding errors of the largest variance.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

/// K = Phi Phi' + E with a small certified E.
#[derive(Debug, Clone)]
pub(crate) struct LowRank {
    factor: Mat<f64>,
    residual: f64,
}

impl LowRank {
    /// Factors the covariance with this `diagonal`, whose column `j` is written by `fill(j, out)`; refuses when the
    /// factor would take more than `budget` bytes.
    pub fn new(diagonal: Vec<f64>, fill: impl Fn(usize, &mut [f64]), budget: usize) -> Result<Self> {
        let len = diagonal.len();
        let largest = diagonal.iter().fold(0.0, |a: f64, &b| a.max(b));
        let mut left = diagonal;
        let mut columns: Vec<Vec<f64>> = Vec::new();
        loop {
            let (pivot, variance) = peak(&left);
            if variance <= ROUNDING * largest || columns.len() == len {
                let factor = Mat::from_fn(len, columns.len(), |i, j| columns[j][i]);
                return Ok(Self { factor, residual: variance.max(0.0) + ROUNDING * largest });
            }
            if (columns.len() + 1) * len * size_of::<f64>() > budget {
                return Err(Error::NoRoomToFactor { points: len, rank: columns.len(), left: variance, budget });
            }
            let column = next_column(&columns, pivot, variance, &fill, len);
            for (left, c) in left.iter_mut().zip(&column) {
                *left -= c * c;
            }
            left[pivot] = 0.0;
            columns.push(column);
        }
    }

    /// Phi, one row per point.
    pub fn factor(&self) -> MatRef<'_, f64> {
        self.factor.as_ref()
    }

    /// The number of columns of Phi.
    pub fn rank(&self) -> usize {
        self.factor.ncols()
    }

    /// A bound on every entry of the residual, rounding included.
    pub fn residual(&self) -> f64 {
        self.residual
    }
}

fn peak(values: &[f64]) -> (usize, f64) {
    values.iter().enumerate().fold((0, f64::NEG_INFINITY), |best, (i, &v)| if v > best.1 { (i, v) } else { best })
}

fn next_column(
    columns: &[Vec<f64>],
    pivot: usize,
    variance: f64,
    fill: &impl Fn(usize, &mut [f64]),
    len: usize,
) -> Vec<f64> {
    let mut column = vec![0.0; len];
    fill(pivot, &mut column);
    for earlier in columns {
        let factor = earlier[pivot];
        for (value, e) in column.iter_mut().zip(earlier) {
            *value -= factor * e;
        }
    }
    let scale = variance.sqrt();
    column.iter_mut().for_each(|value| *value /= scale);
    column[pivot] = scale;
    column
}

#[cfg(test)]
mod tests {
    use super::*;

    fn factored(kernel: impl Fn(f64, f64) -> f64, n: usize, budget: usize) -> Result<LowRank> {
        let x = move |i: usize| i as f64 / (n - 1) as f64;
        let fill = |j: usize, out: &mut [f64]| out.iter_mut().enumerate().for_each(|(i, o)| *o = kernel(x(i), x(j)));
        LowRank::new((0..n).map(|i| kernel(x(i), x(i))).collect(), fill, budget)
    }

    #[test]
    fn the_residual_bounds_every_entry_and_smooth_kernels_have_small_rank() {
        let smooth = |a: f64, b: f64| (-0.5 * ((a - b) / 0.2).powi(2)).exp();
        let rough = |a: f64, b: f64| (-((a - b) / 0.2).abs()).exp();
        let low = factored(smooth, 1000, 1 << 30).unwrap();
        assert!(low.rank() < 30, "rank {}", low.rank());
        let full = factored(rough, 200, 1 << 30).unwrap();
        for (low, kernel, n) in [(&low, &smooth as &dyn Fn(f64, f64) -> f64, 1000), (&full, &rough, 200)] {
            let phi = low.factor();
            for i in (0..n).step_by(7) {
                for j in (0..n).step_by(11) {
                    let product: f64 = (0..low.rank()).map(|c| phi[(i, c)] * phi[(j, c)]).sum();
                    let expected = kernel(i as f64 / (n - 1) as f64, j as f64 / (n - 1) as f64);
                    assert!((product - expected).abs() <= low.residual(), "{i} {j}: {product} {expected}");
                }
            }
            assert!(low.residual() <= 64.0 * f64::EPSILON);
        }
    }

    #[test]
    fn a_factor_beyond_the_budget_is_refused() {
        let refused = factored(|a, b| (-(a - b).abs()).exp(), 500, 500 * 8 * 10);
        assert!(matches!(refused, Err(Error::NoRoomToFactor { points: 500, rank: 10, .. })));
    }
}
