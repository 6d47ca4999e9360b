//! Real Fourier transforms between an evenly spaced grid and the spectrum of its zero-padded extension.
//!
//! | symbol | in code | meaning | shape |
//! |---|---|---|---|
//! | m | `grid` | points along each axis of the grid | d |
//! | p | `padded` | points along each axis after padding, m <= p | d |
//! | N | `padded_len` | product of p | 1 |
//! | z | `spectrum` | the half of the spectrum that determines it (the last axis is real) | p_1 x .. x p_{d-1} x (p_d/2 + 1) |
//!
//! Arrays are row-major, the last axis fastest. Transforms are not normalized: there and back multiplies by N.
//! Lines outside the grid are zero on the way in and unwanted on the way out, so neither way touches them.
//! Every line is transformed on its own, so results do not depend on the number of threads.

use std::fmt;
use std::sync::Arc;

use rayon::prelude::*;
use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};
use rustfft::num_complex::Complex;
use rustfft::{Fft, FftPlanner};

/// Neighbouring columns transformed together: 16 complex numbers are four cache lines of each row.
const STRIP: usize = 16;

/// One cache line between the buffered columns, so that lengths that are powers of two do not collide in the cache.
const GAP: usize = 4;

/// At most this many buffers exist at once, so that the memory needed does not depend on the number of threads.
const LANES: usize = 16;

type Spectrum = Vec<Complex<f64>>;

/// Transforms of one padded grid, their plans made once.
#[derive(Clone)]
pub(crate) struct GridFft {
    grid: Vec<usize>,
    padded: Vec<usize>,
    line_forward: Arc<dyn RealToComplex<f64>>,
    line_inverse: Arc<dyn ComplexToReal<f64>>,
    /// Forward and inverse plan of every axis but the last.
    columns: Vec<[Arc<dyn Fft<f64>>; 2]>,
}

impl fmt::Debug for GridFft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GridFft").field("grid", &self.grid).field("padded", &self.padded).finish_non_exhaustive()
    }
}

impl GridFft {
    /// Plans for `grid` extended by zeros to `padded`; as many axes in both, and at least one.
    pub(crate) fn new(grid: &[usize], padded: &[usize]) -> Self {
        debug_assert!(!grid.is_empty() && grid.len() == padded.len());
        debug_assert!(grid.iter().zip(padded).all(|(m, p)| m <= p && *p > 0));
        let (mut real, mut complex) = (RealFftPlanner::new(), FftPlanner::new());
        let (last, leading) = (padded[padded.len() - 1], &padded[..padded.len() - 1]);
        Self {
            grid: grid.to_vec(),
            padded: padded.to_vec(),
            line_forward: real.plan_fft_forward(last),
            line_inverse: real.plan_fft_inverse(last),
            columns: leading.iter().map(|&p| [complex.plan_fft_forward(p), complex.plan_fft_inverse(p)]).collect(),
        }
    }

    /// The same plans, for another grid within the same padding.
    pub(crate) fn with_grid(self, grid: &[usize]) -> Self {
        debug_assert!(grid.len() == self.padded.len() && grid.iter().zip(&self.padded).all(|(m, p)| m <= p));
        Self { grid: grid.to_vec(), ..self }
    }

    /// Points of the grid.
    pub(crate) fn grid_len(&self) -> usize {
        self.grid.iter().product()
    }

    /// Points after padding.
    pub(crate) fn padded_len(&self) -> usize {
        self.padded.iter().product()
    }

    /// Points along each axis after padding.
    pub(crate) fn padded(&self) -> &[usize] {
        &self.padded
    }

    /// Complex numbers in one line of the spectrum.
    pub(crate) fn line_len(&self) -> usize {
        half(self.padded[self.last()])
    }

    /// A spectrum of zeros.
    pub(crate) fn zeros(&self) -> Spectrum {
        vec![Complex::ZERO; self.padded_len() / self.padded[self.last()] * self.line_len()]
    }

    /// The spectrum of the grid's values; `fill(row, line)` writes the row-th line of the grid.
    pub(crate) fn forward(&self, fill: impl Fn(usize, &mut [f64]) + Sync) -> Spectrum {
        let mut spectrum = self.zeros();
        self.lines_forward(&mut spectrum, fill);
        for (axis, [forward, _]) in self.columns.iter().enumerate().rev() {
            self.transform_columns(&mut spectrum, axis, forward.as_ref());
        }
        spectrum
    }

    /// The grid's values from a spectrum, which is consumed.
    ///
    /// Where the last frequency is its own mirror image (0 and half the length) the real part is taken, so the
    /// spectrum need not be Hermitian there.
    pub(crate) fn inverse(&self, mut spectrum: Spectrum, values: &mut [f64]) {
        for (axis, [_, inverse]) in self.columns.iter().enumerate() {
            self.transform_columns(&mut spectrum, axis, inverse.as_ref());
        }
        self.lines_inverse(&spectrum, values);
    }

    /// An upper bound on what one transform and its plans take, in bytes, for any grid within `padded`.
    pub(crate) fn bytes(padded: &[usize]) -> usize {
        let complex = size_of::<Complex<f64>>();
        let (last, leading) = (padded[padded.len() - 1], &padded[..padded.len() - 1]);
        let lines = product(leading);
        let spectrum = lines.saturating_mul(half(last)).saturating_mul(complex);
        // Twiddle factors of nested plans, two directions.
        let plans = padded.iter().fold(0, |sum: usize, &p| sum.saturating_add(p.saturating_mul(4 * complex)));
        // A line of reals, one of the spectrum and the plan's scratch.
        let line_buffers = lines.min(LANES).saturating_mul(last.saturating_mul(2 * complex));
        let column_buffers = (0..leading.len()).map(|axis| Self::column_bytes(padded, axis)).max().unwrap_or(0);
        spectrum.saturating_add(plans).saturating_add(line_buffers.max(column_buffers))
    }

    /// What transforming the columns of one axis takes beside the spectrum: a slice per row and strip, and the buffers.
    fn column_bytes(padded: &[usize], axis: usize) -> usize {
        let inner = product(&padded[axis + 1..padded.len() - 1]).saturating_mul(half(padded[padded.len() - 1]));
        let strips = product(&padded[..axis]).saturating_mul(inner.div_ceil(STRIP));
        let slices = strips.saturating_mul(padded[axis].saturating_add(8)).saturating_mul(size_of::<&mut [f64]>());
        let columns = inner.min(STRIP) + 2;
        let buffer = columns.saturating_mul(padded[axis].saturating_add(GAP)).saturating_mul(size_of::<Complex<f64>>());
        slices.saturating_add(strips.min(LANES).saturating_mul(buffer))
    }

    fn last(&self) -> usize {
        self.padded.len() - 1
    }

    /// Whether the block with this row-major index over the axes before `axis` lies in the grid.
    fn inside(&self, mut block: usize, axis: usize) -> bool {
        self.padded[..axis].iter().zip(&self.grid[..axis]).rev().all(|(&p, &m)| {
            let index = block % p;
            block /= p;
            index < m
        })
    }

    fn lines_forward(&self, spectrum: &mut [Complex<f64>], fill: impl Fn(usize, &mut [f64]) + Sync) {
        let last = self.last();
        let rows = spectrum.chunks_exact_mut(self.line_len()).enumerate();
        let mut lines: Vec<_> = rows.filter(|(row, _)| self.inside(*row, last)).map(|(_, line)| line).collect();
        let share = lines.len().div_ceil(LANES);
        let buffers = || (self.line_forward.make_input_vec(), self.line_forward.make_scratch_vec());
        lines.par_iter_mut().enumerate().with_min_len(share).for_each_init(buffers, |(reals, scratch), (row, line)| {
            let (inside, padding) = reals.split_at_mut(self.grid[last]);
            fill(row, inside);
            padding.fill(0.0);
            let outcome = self.line_forward.process_with_scratch(reals, line, scratch);
            debug_assert!(outcome.is_ok(), "the lengths are the plan's own");
        });
    }

    fn lines_inverse(&self, spectrum: &[Complex<f64>], values: &mut [f64]) {
        let last = self.last();
        let rows = spectrum.chunks_exact(self.line_len()).enumerate();
        let lines = rows.filter(|(row, _)| self.inside(*row, last)).map(|(_, line)| line);
        let mut pairs: Vec<_> = lines.zip(values.chunks_exact_mut(self.grid[last].max(1))).collect();
        let share = pairs.len().div_ceil(LANES);
        let plan = &self.line_inverse;
        let buffers = || (plan.make_input_vec(), plan.make_output_vec(), plan.make_scratch_vec());
        pairs.par_iter_mut().with_min_len(share).for_each_init(buffers, |(copy, reals, scratch), (line, values)| {
            copy.copy_from_slice(line);
            for (frequency, entry) in copy.iter_mut().enumerate() {
                if is_own_mirror(frequency, self.padded[last]) {
                    entry.im = 0.0;
                }
            }
            let outcome = plan.process_with_scratch(copy, reals, scratch);
            debug_assert!(outcome.is_ok(), "the lengths are the plan's own and the mirrored entries real");
            values.copy_from_slice(&reals[..values.len()]);
        });
    }

    /// Transforms along an axis other than the last, for those indices of the axes before it that lie in the grid.
    fn transform_columns(&self, spectrum: &mut [Complex<f64>], axis: usize, plan: &dyn Fft<f64>) {
        let len = self.padded[axis];
        if len == 1 {
            return;
        }
        let inner = self.padded[axis + 1..self.last()].iter().product::<usize>() * self.line_len();
        let blocks = spectrum.chunks_exact_mut(len * inner).enumerate();
        let inside = blocks.filter(|(block, _)| self.inside(*block, axis)).map(|(_, block)| block);
        let mut strips: Vec<_> = inside.flat_map(|block| strips_of(block, len, inner)).collect();
        let share = strips.len().div_ceil(LANES);
        let width = inner.min(STRIP);
        let buffers =
            || (vec![Complex::ZERO; width * (len + GAP)], vec![Complex::ZERO; plan.get_inplace_scratch_len()]);
        strips.par_iter_mut().with_min_len(share).for_each_init(buffers, |(buffer, scratch), strip| {
            transform_strip(strip, plan, buffer, scratch);
        });
    }
}

/// The columns of a `len` x `inner` block in strips of neighbours; a strip is its piece of every row.
fn strips_of(block: &mut [Complex<f64>], len: usize, inner: usize) -> Vec<Vec<&mut [Complex<f64>]>> {
    let mut strips: Vec<_> = (0..inner.div_ceil(STRIP)).map(|_| Vec::with_capacity(len)).collect();
    for row in block.chunks_exact_mut(inner) {
        for (strip, piece) in strips.iter_mut().zip(row.chunks_mut(STRIP)) {
            strip.push(piece);
        }
    }
    strips
}

/// Copies a strip's columns into contiguous lines, transforms these, and copies them back.
fn transform_strip(
    strip: &mut [&mut [Complex<f64>]],
    plan: &dyn Fft<f64>,
    buffer: &mut [Complex<f64>],
    scratch: &mut [Complex<f64>],
) {
    let (len, stride) = (strip.len(), strip.len() + GAP);
    for (row, piece) in strip.iter().enumerate() {
        for (column, &entry) in piece.iter().enumerate() {
            buffer[column * stride + row] = entry;
        }
    }
    let width = strip.first().map_or(0, |piece| piece.len());
    for line in buffer.chunks_exact_mut(stride).take(width) {
        plan.process_with_scratch(&mut line[..len], scratch);
    }
    for (row, piece) in strip.iter_mut().enumerate() {
        for (column, entry) in piece.iter_mut().enumerate() {
            *entry = buffer[column * stride + row];
        }
    }
}

/// The least length of at least `least` that is 1, or even (which halves the real transform) and a product of 2, 3, 5.
pub(crate) fn smooth_length(least: usize) -> usize {
    if least <= 1 {
        return 1;
    }
    let mut half = least.div_ceil(2);
    while !is_smooth(half) {
        half += 1;
    }
    2 * half
}

fn is_smooth(mut number: usize) -> bool {
    for prime in [2, 3, 5] {
        while number.is_multiple_of(prime) {
            number /= prime;
        }
    }
    number == 1
}

/// How many of the frequencies, or lags, of a length differ by more than their sign.
pub(crate) fn half(len: usize) -> usize {
    len / 2 + 1
}

/// Whether a frequency of a transform of this length equals its negative.
pub(crate) fn is_own_mirror(frequency: usize, len: usize) -> bool {
    frequency == 0 || 2 * frequency == len
}

/// The product, or the largest integer if that is smaller.
pub(crate) fn product(shape: &[usize]) -> usize {
    shape.iter().fold(1, |product, &n| product.saturating_mul(n))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The half spectrum by its definition.
    fn direct(values: &[f64], grid: &[usize], padded: &[usize]) -> Spectrum {
        let unravel = |mut flat: usize, shape: &[usize]| -> Vec<usize> {
            let mut index = vec![0; shape.len()];
            for (i, n) in index.iter_mut().zip(shape).rev() {
                *i = flat % n;
                flat /= n;
            }
            index
        };
        let mut frequencies = padded.to_vec();
        frequencies[padded.len() - 1] = half(padded[padded.len() - 1]);
        (0..product(&frequencies))
            .map(|k| {
                let k = unravel(k, &frequencies);
                let terms = values.iter().enumerate().map(|(j, value)| {
                    let j = unravel(j, grid);
                    let turns: f64 = (0..grid.len()).map(|a| (j[a] * k[a]) as f64 / padded[a] as f64).sum();
                    Complex::from_polar(*value, -std::f64::consts::TAU * turns)
                });
                terms.sum()
            })
            .collect()
    }

    fn grids() -> impl Strategy<Value = (Vec<usize>, Vec<usize>, Vec<f64>)> {
        prop::collection::vec((1usize..8, 0usize..7), 1..4).prop_flat_map(|axes| {
            let grid: Vec<usize> = axes.iter().map(|(m, _)| *m).collect();
            let padded = axes.iter().map(|(m, extra)| m + extra).collect::<Vec<_>>();
            let values = prop::collection::vec(-1.0..1.0f64, product(&grid));
            (Just(grid), Just(padded), values)
        })
    }

    proptest! {
        #![proptest_config(crate::seeded::config(64))]

        #[test]
        fn forward_equals_the_definition((grid, padded, values) in grids()) {
            let fft = GridFft::new(&grid, &padded);
            let m = grid[grid.len() - 1];
            let found = fft.forward(|row, line| line.copy_from_slice(&values[row * m..(row + 1) * m]));
            let expected = direct(&values, &grid, &padded);
            prop_assert_eq!(found.len(), expected.len());
            let tolerance = 128.0 * f64::EPSILON * values.len() as f64;
            for (a, b) in found.iter().zip(&expected) {
                prop_assert!((a - b).norm() <= tolerance, "{} {}", a, b);
            }
        }

        #[test]
        fn there_and_back_multiplies_by_the_padded_length((grid, padded, values) in grids()) {
            let fft = GridFft::new(&grid, &padded);
            let m = grid[grid.len() - 1];
            let spectrum = fft.forward(|row, line| line.copy_from_slice(&values[row * m..(row + 1) * m]));
            let mut back = vec![f64::NAN; values.len()];
            fft.inverse(spectrum, &mut back);
            let len = fft.padded_len() as f64;
            for (a, b) in back.iter().zip(&values) {
                prop_assert!((a - b * len).abs() <= 64.0 * f64::EPSILON * len * (values.len() as f64).sqrt());
            }
        }
    }

    #[test]
    fn wide_columns_cross_the_strips() {
        let (grid, padded) = ([3, 40], [6, 80]);
        let values: Vec<f64> = (0..120).map(|i| f64::from(i).sin()).collect();
        let found = GridFft::new(&grid, &padded).forward(|row, line| line.copy_from_slice(&values[row * 40..][..40]));
        for (a, b) in found.iter().zip(&direct(&values, &grid, &padded)) {
            assert!((a - b).norm() <= 128.0 * f64::EPSILON * 120.0);
        }
    }

    #[test]
    fn smooth_lengths_are_the_least_even_ones() {
        let found: Vec<_> = [0, 1, 2, 3, 7, 13, 15, 1998, 1999].iter().map(|&n| smooth_length(n)).collect();
        assert_eq!(found, [1, 1, 2, 4, 8, 16, 16, 2000, 2000]);
    }
}
