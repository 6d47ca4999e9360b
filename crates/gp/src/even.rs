//! Arrays that do not change when any index is mirrored, kept at their distinct entries.
//!
//! | symbol | in code | meaning | shape |
//! |---|---|---|---|
//! | p | `padded` | length of each periodic axis | d |
//! | h | `half(p)` | distinct entries along each axis, p/2 + 1 | d |
//! | c_j | `values` | the entry at j, with c_j = c_{p-j} along every axis | h_1 x .. x h_d |
//!
//! A stationary covariance over a periodic grid is such an array, and so is its spectrum, which is therefore real.

use rustfft::num_complex::Complex;

use crate::fft::{GridFft, half, product};

/// A real array, even and periodic along every axis.
#[derive(Debug, Clone)]
pub(crate) struct EvenTable {
    padded: Vec<usize>,
    values: Vec<f64>,
}

impl EvenTable {
    /// The table of `entry(lag)` for lags 0 to p/2 along every axis.
    pub(crate) fn new(padded: &[usize], entry: impl Fn(&[usize]) -> f64) -> Self {
        let mut lag = vec![0; padded.len()];
        let mut values = Vec::with_capacity(Self::len_of(padded));
        for _ in 0..values.capacity() {
            values.push(entry(&lag));
            advance(&mut lag, padded);
        }
        Self { padded: padded.to_vec(), values }
    }

    /// How many entries such a table keeps.
    pub(crate) fn len_of(padded: &[usize]) -> usize {
        padded.iter().fold(1, |len, &p| len.saturating_mul(half(p)))
    }

    /// The kept entries.
    pub(crate) fn values(&self) -> &[f64] {
        &self.values
    }

    /// Replaces every entry by a function of it.
    pub(crate) fn map(&mut self, change: impl Fn(f64) -> f64) {
        self.values.iter_mut().for_each(|value| *value = change(*value));
    }

    /// The kept part of one line along the last axis; `row` is row-major over all of the axes before it.
    pub(crate) fn line(&self, mut row: usize) -> &[f64] {
        let (last, leading) = (self.padded.len() - 1, &self.padded[..self.padded.len() - 1]);
        let (mut kept_row, mut stride) = (0, 1);
        for &p in leading.iter().rev() {
            let index = row % p;
            row /= p;
            kept_row += stride * index.min(p - index);
            stride *= half(p);
        }
        let len = half(self.padded[last]);
        &self.values[kept_row * len..(kept_row + 1) * len]
    }

    /// The Euclidean norm over the whole array, mirrored entries included.
    pub(crate) fn norm(&self) -> f64 {
        self.sum_of(|value| value.powi(2)).sqrt()
    }

    /// The sum of a function of the entries over the whole array, mirrored entries included.
    pub(crate) fn sum_of(&self, term: impl Fn(f64) -> f64) -> f64 {
        let p = self.padded[self.padded.len() - 1];
        let rows = product(&self.padded[..self.padded.len() - 1]);
        let line_sum = |row| -> f64 { (0..p).map(|j| term(self.line(row)[j.min(p - j)])).sum() };
        (0..rows).map(line_sum).sum()
    }

    /// The table's spectrum, by a transform whose grid is the whole padded array.
    pub(crate) fn into_spectrum(mut self, fft: &GridFft) -> Self {
        let spectrum = fft.forward(|row, line| {
            let (kept, p) = (self.line(row), line.len());
            line.iter_mut().enumerate().for_each(|(j, entry)| *entry = kept[j.min(p - j)]);
        });
        let leading = &self.padded[..self.padded.len() - 1];
        let rows = spectrum.chunks_exact(fft.line_len()).enumerate();
        let kept_rows = rows.filter(|(row, _)| is_kept(*row, leading)).map(|(_, line)| line);
        for (kept, line) in self.values.chunks_exact_mut(fft.line_len()).zip(kept_rows) {
            // An even array has a real spectrum: the imaginary parts are rounding.
            kept.iter_mut().zip(line).for_each(|(value, Complex { re, .. })| *value = *re);
        }
        self
    }
}

/// The next lag in row-major order, each from 0 to p/2.
fn advance(lag: &mut [usize], padded: &[usize]) {
    for (index, &p) in lag.iter_mut().zip(padded).rev() {
        *index += 1;
        if *index < half(p) {
            return;
        }
        *index = 0;
    }
}

/// Whether no index of a row, row-major over `leading`, is past the middle of its axis.
fn is_kept(mut row: usize, leading: &[usize]) -> bool {
    leading.iter().rev().all(|&p| {
        let index = row % p;
        row /= p;
        index < half(p)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spectrum_is_the_cosine_sum_over_all_lags() {
        let padded = [4, 5, 6];
        let entry = |lag: &[usize]| 1.0 / (1.0 + lag[0] as f64 + 2.0 * lag[1] as f64 + 0.3 * (lag[2] * lag[2]) as f64);
        let found = EvenTable::new(&padded, entry).into_spectrum(&GridFft::new(&padded, &padded));
        let cosine = |j: usize, k: usize, p: usize| (std::f64::consts::TAU * (j * k) as f64 / p as f64).cos();
        let all = |a: usize| 0..padded[a];
        for (k0, k1, k2) in all(0).flat_map(|i| all(1).flat_map(move |j| (0..4).map(move |k| (i, j, k)))) {
            let mut expected = 0.0;
            for (j0, j1, j2) in all(0).flat_map(|i| all(1).flat_map(move |j| all(2).map(move |k| (i, j, k)))) {
                let lag = [j0.min(4 - j0), j1.min(5 - j1), j2.min(6 - j2)];
                expected += entry(&lag) * cosine(j0, k0, 4) * cosine(j1, k1, 5) * cosine(j2, k2, 6);
            }
            assert!((found.line(k0 * 5 + k1)[k2] - expected).abs() < 120.0 * 64.0 * f64::EPSILON);
        }
    }

    #[test]
    fn the_norm_counts_mirrored_entries() {
        let table = EvenTable::new(&[4, 3], |_| 2.0);
        assert!((table.norm() - 48.0f64.sqrt()).abs() < 1e-14);
        assert_eq!(table.values().len(), 6);
    }
}
