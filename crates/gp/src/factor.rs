//! A Cholesky factor of K + noise I that grows and shrinks by rows.
//!
//! | symbol | name | shape |
//! |---|---|---|
//! | L | the factor, lower triangular | n x n |
//! | L L' | K + noise I | n x n |
//!
//! Rows lie in memory one after the other with a common stride, so that appending a row streams the factor once and
//! truncating drops rows without touching the others.
//!
//! Singular matrices: in exact arithmetic the squared pivot of a row is `noise + variance` with the variance of the new
//! point given the earlier ones, which is never negative. Rounding can make the computed variance negative next to
//! repeated points; it is then taken as 0, so no pivot ever falls below sqrt(noise) and no jitter is ever added. A factor
//! made at once has the pivots that the blocked routine gives it, at least sqrt(noise/2), or else it is grown row by row.

use std::ops::Range;

use faer::{MatMut, MatRef};

use crate::dense;
use crate::vector::{self, Rows};

/// The side of the squares that are transposed together.
const TILE: usize = 32;

/// The growing Cholesky factor.
#[derive(Debug, Clone, Default)]
pub struct Factor {
    entries: Vec<f64>,
    stride: usize,
    len: usize,
}

impl Factor {
    /// An empty factor.
    pub fn new() -> Self {
        Self::default()
    }

    /// The factor of K + noise I over `len` points at once, where `fill(i, rows, out)` sets `out` to the covariances of
    /// point i and the points `rows`. As pushing them one by one up to rounding, at the speed of matrix products, in
    /// the memory of the factor itself, and on one thread.
    pub(crate) fn of_covariances(len: usize, noise: f64, fill: impl Fn(usize, Range<usize>, &mut [f64])) -> Self {
        let mut factor = Self::default();
        // Some rows come before the next fit makes another one.
        factor.make_room(len + len / 16);
        if factor.factor_blocked(len, noise, &fill) {
            return factor;
        }
        // Next to repeated points rounding can exceed the noise. Growing by rows takes no variance as negative.
        factor.truncate(0);
        let mut row = vec![0.0; len + 1];
        for i in 0..len {
            fill(i, 0..i + 1, &mut row[..i + 1]);
            factor.push(&row[..i], row[i], noise);
        }
        factor
    }

    /// How many rows there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Appends the row of a point with the given `covariances` to the earlier points, own `variance` and `noise`.
    /// Costs one pass over the factor.
    pub fn push(&mut self, covariances: &[f64], variance: f64, noise: f64) {
        assert_eq!(covariances.len(), self.len);
        let mut row = covariances.to_vec();
        self.solve_lower(0, &mut row);
        self.push_solved(&row, variance, noise);
    }

    /// As [`Factor::push`], with the covariances already solved against the factor.
    pub(crate) fn push_solved(&mut self, row: &[f64], variance: f64, noise: f64) {
        assert_eq!(row.len(), self.len);
        self.reserve_row();
        let start = self.len * self.stride;
        self.entries[start..start + self.len].copy_from_slice(row);
        // Rounding can push the variance below zero next to a repeated point.
        let pivot = (noise + (variance - vector::squares(row)).max(0.0)).sqrt();
        self.entries[start + self.len] = pivot;
        self.len += 1;
    }

    /// Keeps the first `len` rows, bit for bit as they were when the last of them was pushed.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Row `index` up to its diagonal entry.
    #[inline]
    pub fn row(&self, index: usize) -> &[f64] {
        assert!(index < self.len);
        &self.entries[index * self.stride..index * self.stride + index + 1]
    }

    /// The diagonal entry of row `index`.
    #[inline]
    pub fn pivot(&self, index: usize) -> f64 {
        self.row(index)[index]
    }

    /// Solves `L v = b` with the leading `b.len()` rows, in place; entries before `start` hold the solution already.
    ///
    /// Panics if `b` is longer than the factor.
    pub fn solve_lower(&self, start: usize, b: &mut [f64]) {
        assert!(b.len() <= self.len);
        vector::solve_lower(self.rows(), start, b);
    }

    /// [`Factor::solve_lower`] for right-hand sides of equal length, each with the bits it would have alone.
    pub(crate) fn solve_lower_many(&self, start: usize, columns: &mut [&mut [f64]]) {
        assert!(columns.iter().all(|c| c.len() <= self.len && c.len() == columns[0].len()));
        vector::solve_lower_many(self.rows(), start, columns);
    }

    /// Solves `L' u = b` with the leading `b.len()` rows, in place.
    pub(crate) fn solve_upper(&self, b: &mut [f64]) {
        assert!(b.len() <= self.len);
        vector::solve_upper(self.rows(), b);
    }

    /// `ln det(L L')` of the rows `rows`.
    pub(crate) fn log_det(&self, rows: Range<usize>) -> f64 {
        2.0 * rows.map(|i| self.pivot(i).ln()).sum::<f64>()
    }

    /// The leading `len` rows as a matrix, whose upper triangle means nothing.
    pub(crate) fn leading(&self, len: usize) -> MatRef<'_, f64> {
        assert!(len <= self.len);
        MatRef::from_row_major_slice_with_stride(&self.entries[..len * self.stride], len, len, self.stride)
    }

    fn rows(&self) -> Rows<'_> {
        Rows { entries: &self.entries, stride: self.stride }
    }

    /// Whether the blocked routine found a factor with every squared pivot above half the noise.
    fn factor_blocked(&mut self, len: usize, noise: f64, fill: &impl Fn(usize, Range<usize>, &mut [f64])) -> bool {
        let stride = self.stride;
        // The routine is at its best on columns that lie in one piece: column j is filled where row j will be.
        for j in 0..len {
            let column = &mut self.entries[j * stride + j..j * stride + len];
            fill(j, j..len, column);
            column[0] += noise;
        }
        let columns = &mut self.entries[..len * stride];
        let matrix = MatMut::from_column_major_slice_with_stride_mut(columns, len, len, stride);
        if dense::cholesky(matrix).is_none() {
            return false;
        }
        transpose_lower(&mut self.entries, stride, len);
        self.len = len;
        (0..len).all(|i| self.pivot(i).powi(2) >= 0.5 * noise)
    }

    fn reserve_row(&mut self) {
        if self.len == self.stride {
            self.make_room(self.stride + 1);
        }
    }

    /// Makes the stride large enough for `rows` rows and some more.
    fn make_room(&mut self, rows: usize) {
        // Columns at multiples of a power of two would share few places of the cache.
        let stride = rows.max(self.stride + self.stride / 4).next_multiple_of(64) + 8;
        let mut entries = vec![0.0; stride * stride];
        for i in 0..self.len {
            entries[i * stride..i * stride + i + 1].copy_from_slice(self.row(i));
        }
        (self.entries, self.stride) = (entries, stride);
    }
}

/// Copies the columns of a lower triangle, as they lie in memory, into its rows, tile by tile.
fn transpose_lower(entries: &mut [f64], stride: usize, len: usize) {
    for top in (0..len).step_by(TILE) {
        for left in (0..=top).step_by(TILE) {
            for i in top..(top + TILE).min(len) {
                for j in left..(left + TILE).min(i) {
                    entries[i * stride + j] = entries[j * stride + i];
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn spread(n: usize, scale: f64) -> Vec<Vec<f64>> {
        let x: Vec<f64> = (0..n).map(|i| (i as f64 * 0.618_033_988_7).fract()).collect();
        let k = |a: f64, b: f64| (-0.5 * ((a - b) / scale).powi(2)).exp();
        x.iter().map(|&a| x.iter().map(|&b| k(a, b)).collect()).collect()
    }

    fn grown(gram: &[Vec<f64>], noise: f64) -> Factor {
        let mut factor = Factor::new();
        for (i, row) in gram.iter().enumerate() {
            factor.push(&row[..i], row[i], noise);
        }
        factor
    }

    proptest! {
        #![proptest_config(crate::seeded::config(64))]

        #[test]
        fn the_factor_rebuilds_the_matrix(n in 1usize..150, scale in 0.01f64..2.0, noise in 1e-8f64..1.0) {
            let gram = spread(n, scale);
            let factor = grown(&gram, noise);
            for i in 0..n {
                for j in 0..=i {
                    let product: f64 = (0..=j).map(|s| factor.row(i)[s] * factor.row(j)[s]).sum();
                    let expected = gram[i][j] + if i == j { noise } else { 0.0 };
                    prop_assert!((product - expected).abs() <= 8.0 * (n + 1) as f64 * f64::EPSILON);
                }
            }
        }

        #[test]
        fn truncation_undoes_pushing(n in 2usize..150, keep in 0usize..150, scale in 0.05f64..1.0) {
            let keep = keep.min(n - 1);
            let gram = spread(n, scale);
            let mut factor = grown(&gram, 0.1);
            let whole = factor.clone();
            factor.truncate(keep);
            for (i, row) in gram.iter().enumerate().skip(keep) {
                factor.push(&row[..i], row[i], 0.1);
            }
            for i in 0..n {
                prop_assert_eq!(factor.row(i), whole.row(i));
            }
        }

        #[test]
        fn solves_invert_products(n in 1usize..120, scale in 0.05f64..1.0) {
            let factor = grown(&spread(n, scale), 0.05);
            let b: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
            let (mut v, mut u) = (b.clone(), b.clone());
            factor.solve_lower(0, &mut v);
            factor.solve_upper(&mut u);
            // Substitution is backward stable; |L| is at most sqrt(n + noise) and |v| at most |b| / sqrt(noise).
            let tolerance = 8.0 * (n * n) as f64 * f64::EPSILON / 0.05f64.sqrt() * (n as f64 + 1.0).sqrt();
            for i in 0..n {
                let lower: f64 = (0..=i).map(|j| factor.row(i)[j] * v[j]).sum();
                let upper: f64 = (i..n).map(|j| factor.row(j)[i] * u[j]).sum();
                prop_assert!((lower - b[i]).abs() <= tolerance);
                prop_assert!((upper - b[i]).abs() <= tolerance);
            }
        }

        #[test]
        fn solving_many_columns_together_or_in_stages_changes_no_bit(n in 1usize..100, start in 0usize..100, many in 1usize..12) {
            let factor = grown(&spread(n, 0.3), 0.05);
            let start = start.min(n);
            let columns: Vec<Vec<f64>> =
                (0..many).map(|k| (0..n).map(|i| ((i + k) as f64).cos()).collect()).collect();
            let mut together = columns.clone();
            let mut slices: Vec<&mut [f64]> = together.iter_mut().map(Vec::as_mut_slice).collect();
            factor.solve_lower_many(0, &mut slices);
            for (column, expected) in columns.into_iter().zip(together) {
                let mut staged = column;
                factor.solve_lower(0, &mut staged[..start]);
                factor.solve_lower(start, &mut staged);
                prop_assert_eq!(staged, expected);
            }
        }
    }

    #[test]
    fn many_columns_have_the_bits_that_each_has_alone_beyond_the_length_of_a_cache_block() {
        let (n, start) = (1100, 523);
        let factor = grown(&spread(n, 0.01), 0.05);
        let columns: Vec<Vec<f64>> = (0..11).map(|k| (0..n).map(|i| ((i * k + 1) as f64).cos()).collect()).collect();
        let mut together = columns.clone();
        let mut slices: Vec<&mut [f64]> = together.iter_mut().map(|column| &mut column[..start]).collect();
        factor.solve_lower_many(0, &mut slices);
        factor.solve_lower_many(start, &mut together.iter_mut().map(Vec::as_mut_slice).collect::<Vec<_>>());
        for (mut alone, expected) in columns.into_iter().zip(together) {
            factor.solve_lower(0, &mut alone);
            assert_eq!(alone, expected);
        }
    }
}
