//! Sums of a stationary covariance over an evenly spaced grid, by Fourier transform.
//!
//! | symbol | in code | meaning | shape |
//! |---|---|---|---|
//! | m | `shape` | points along each axis of the grid | d |
//! | p | `padded` | at least 2m - 1, so that wrapped sums do not reach the grid | d |
//! | k | `covariance` | covariance of two grid points, by lag | m |
//! | w | `weights` | one weight per source | n |
//! | k^ | `spectrum` | Fourier transform of k, mirrored and wrapped, over the product of p | p |
//!
//! `K(D, X) w` costs O(N log N) for N padded points, however many sources there are.

use rayon::prelude::*;

use crate::even::EvenTable;
use crate::fft::{GridFft, product, smooth_length};

/// Rounding of one transform is at most this times eps times log2 of the length, relative to the 2-norm.
///
/// Higham (2002), Theorem 24.2, gives mu + 4 (sqrt 2 + mu) eps/2 per factor of two, where mu is the error of a twiddle
/// factor. Plans take the cosine of a rounded angle of up to 2 pi, so mu <= 16 eps/2; together under 12 eps.
const ROUNDING_PER_DOUBLING: f64 = 12.0;

/// The matrix-vector product K(D, X) w for a stationary covariance, D an evenly spaced grid and X some of its points.
#[derive(Debug, Clone)]
pub struct Convolution {
    fft: GridFft,
    spectrum: EvenTable,
    table_norm: f64,
    table_max: f64,
}

impl Convolution {
    /// Prepares the sums over a grid of this shape; `covariance(lag)` has `lag[a]` the index difference along axis a.
    ///
    /// The covariance is asked for each lag below `shape` once. An empty shape is a grid of one point.
    pub fn new(shape: &[usize], covariance: impl Fn(&[usize]) -> f64) -> Self {
        // A one-point axis in front changes nothing and makes the empty shape an ordinary one.
        let grid = if shape.is_empty() { vec![1] } else { shape.to_vec() };
        let padded: Vec<usize> = grid.iter().map(|&m| smooth_length((2 * m).saturating_sub(1))).collect();
        let table = EvenTable::new(&padded, |lag| {
            let within = lag.iter().zip(&grid).all(|(lag, m)| lag < m);
            if within { covariance(&lag[..shape.len()]) } else { 0.0 }
        });
        let table_norm = table.norm();
        let table_max = table.values().iter().fold(0.0, |max: f64, value| max.max(value.abs()));
        let fft = GridFft::new(&padded, &padded);
        let mut spectrum = table.into_spectrum(&fft);
        let scale = 1.0 / product(&padded) as f64;
        spectrum.map(|value| value * scale);
        Self { fft: fft.with_grid(&grid), spectrum, table_norm, table_max }
    }

    /// Writes `out[i]`, the sum over s of `weights[s] * covariance(|i - sources[s]|)`, for every point i of the grid.
    ///
    /// Points are numbered row-major, the last axis fastest; repeats of a source add up.
    ///
    /// # Panics
    ///
    /// If `out` is not one number per grid point, there is not one weight per source, or a source is not on the grid.
    pub fn apply(&self, sources: &[usize], weights: &[f64], out: &mut [f64]) {
        assert_eq!(out.len(), self.fft.grid_len(), "one entry of out per grid point");
        assert_eq!(sources.len(), weights.len(), "one weight per source");
        out.fill(0.0);
        for (&source, weight) in sources.iter().zip(weights) {
            out[source] += weight;
        }
        let mut spectrum = self.fft.forward(|row, line| line.copy_from_slice(&out[row * line.len()..][..line.len()]));
        spectrum.par_chunks_exact_mut(self.fft.line_len()).enumerate().for_each(|(row, line)| {
            line.iter_mut().zip(self.spectrum.line(row)).for_each(|(entry, factor)| *entry *= factor);
        });
        self.fft.inverse(spectrum, out);
    }

    /// An upper bound on the absolute error of any entry of [`apply`](Self::apply) with these weights.
    ///
    /// With rho = 12 eps (log2 N + 1) for one transform, |w| the sum of the weights' absolute values (at least the
    /// 2-norm, also where sources repeat) and |k| the 2-norm of the wrapped covariance table: the transforms of k and of
    /// w each cost at most rho |w| |k| in an entry by Cauchy-Schwarz, the transform back rho times the 2-norm of the
    /// result, again at most rho |w| |k|; the pointwise products 4 eps |w| |k|; adding up n repeats n eps |w| max |k|.
    /// The error met in practice is smaller by sqrt N and more, as rounding spreads over all entries and cancels.
    pub fn error_bound(&self, weights: &[f64]) -> f64 {
        let weight_sum: f64 = weights.iter().map(|weight| weight.abs()).sum();
        let doublings = (self.fft.padded_len() as f64).log2() + 1.0;
        let transforms = (3.0 * ROUNDING_PER_DOUBLING * doublings + 4.0) * self.table_norm;
        f64::EPSILON * weight_sum * (transforms + weights.len() as f64 * self.table_max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn unravel(mut flat: usize, shape: &[usize]) -> Vec<usize> {
        let mut index = vec![0; shape.len()];
        for (i, n) in index.iter_mut().zip(shape).rev() {
            *i = flat % n;
            flat /= n;
        }
        index
    }

    fn covariance(lag: &[usize]) -> f64 {
        let distance: f64 = lag.iter().enumerate().map(|(a, &l)| (l * l) as f64 * 0.3 / (1.0 + a as f64)).sum();
        (-distance.sqrt()).exp()
    }

    fn direct(shape: &[usize], sources: &[usize], weights: &[f64]) -> Vec<f64> {
        let entry = |i: usize| {
            let i = unravel(i, shape);
            let terms = sources.iter().zip(weights).map(|(&s, weight)| {
                let lag: Vec<_> = unravel(s, shape).iter().zip(&i).map(|(s, i)| s.abs_diff(*i)).collect();
                weight * covariance(&lag)
            });
            terms.sum()
        };
        (0..product(shape)).map(entry).collect()
    }

    fn problems() -> impl Strategy<Value = (Vec<usize>, Vec<(usize, f64)>)> {
        prop::collection::vec(prop_oneof![Just(1usize), 1usize..12], 1..4).prop_flat_map(|shape| {
            let terms = prop::collection::vec((0..product(&shape), -10.0..10.0f64), 0..20);
            (Just(shape), terms)
        })
    }

    proptest! {
        #![proptest_config(crate::seeded::config(64))]

        #[test]
        fn convolution_equals_the_direct_sum((shape, terms) in problems()) {
            let (sources, weights): (Vec<_>, Vec<_>) = terms.into_iter().unzip();
            let convolution = Convolution::new(&shape, covariance);
            let mut found = vec![f64::NAN; product(&shape)];
            convolution.apply(&sources, &weights, &mut found);
            let bound = convolution.error_bound(&weights);
            prop_assert!(bound < 1e-10, "bound {}", bound);
            for (a, b) in found.iter().zip(&direct(&shape, &sources, &weights)) {
                prop_assert!((a - b).abs() <= bound, "{} {} {}", a, b, bound);
            }
        }
    }

    #[test]
    fn repeats_of_a_source_add_up() {
        let convolution = Convolution::new(&[5, 4], covariance);
        let (mut repeated, mut once) = ([0.0; 20], [0.0; 20]);
        convolution.apply(&[7, 7, 7], &[1.0, 2.0, 0.5], &mut repeated);
        convolution.apply(&[7], &[3.5], &mut once);
        assert_eq!(repeated, once);
    }

    #[test]
    fn only_lags_of_the_grid_are_asked_for_and_each_once() {
        let asked = std::cell::RefCell::new(Vec::new());
        Convolution::new(&[3, 1, 7], |lag| {
            asked.borrow_mut().push(lag.to_vec());
            covariance(lag)
        });
        let expected: Vec<_> = (0..21).map(|i| unravel(i, &[3, 1, 7])).collect();
        assert_eq!(asked.into_inner(), expected);
    }

    #[test]
    fn grids_of_one_point_and_of_none_are_grids() {
        let mut out = [0.0];
        Convolution::new(&[], |_| 2.0).apply(&[0], &[3.0], &mut out);
        assert_eq!(out, [6.0]);
        Convolution::new(&[4, 0], |_| 2.0).apply(&[], &[], &mut []);
    }

    #[test]
    fn the_sum_does_not_depend_on_the_number_of_threads() {
        let shape = [30, 70];
        let sources: Vec<usize> = (0..200).map(|i| i * 37 % 2100).collect();
        let weights: Vec<f64> = (0..200).map(|i| f64::from(i).sin()).collect();
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut out = vec![0.0; 2100];
                Convolution::new(&shape, covariance).apply(&sources, &weights, &mut out);
                out
            })
        };
        assert_eq!(run(1), run(2));
    }
}
