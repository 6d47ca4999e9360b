//! A product kernel on a grid: sums over the grid by one thin matrix per axis.
//!
//! | symbol | name | shape |
//! |---|---|---|
//! | m_a, r_a | points and rank of axis a | |
//! | Phi_a | factor of the axis, k_a = Phi_a Phi_a' | m_a x r_a |
//! | phi(x) | the product of one row of each Phi_a | R = r_1 ... r_d |
//! | C | core: sum_s w_s phi(x_s) | r_1 x ... x r_d |
//! | A | L^{-1} phi(X) | n x R |
//!
//! k(x, y) = variance * phi(x)' phi(y), so K(D, X) w costs the core plus one product per axis, and the variance over the
//! whole grid, k(x,x) - |A phi(x)|^2, costs the products of its slices. Results go to bounds and to Thompson samples.

use faer::{Accum, Mat, MatMut, MatRef};
use rayon::prelude::*;

use crate::lowrank::LowRank;
use crate::posterior::remaining;
use crate::{Factor, Grid, Kernel, Points, Result, dense};

/// Entries of the grid that one task works on: fits a second-level cache, and does not depend on the thread count.
const CHUNK: usize = 1 << 16;
/// Rows of a core summed at a time.
const SOURCES: usize = 1 << 10;

/// A product kernel restricted to a grid, and to further points off the grid that sums may start from.
#[derive(Debug, Clone)]
pub(crate) struct Kron {
    shape: Vec<usize>,
    axes: Vec<LowRank>,
    variance: f64,
}

impl Kron {
    /// The restriction, if the kernel is a product over coordinates; refuses factors beyond `budget` bytes.
    /// Row m_a + s of Phi_a belongs to point s of `others`.
    pub fn new(kernel: &Kernel, grid: &Grid, others: &Points, budget: usize) -> Result<Option<Self>> {
        let Some(kernels) = (0..grid.axes().len()).map(|a| kernel.axis(a)).collect::<Option<Vec<_>>>() else {
            return Ok(None);
        };
        let factor = |(a, kernel): (usize, &Kernel)| {
            let coordinates = grid.axes()[a].iter().copied().chain(others.iter().map(|point| point[a]));
            let points = Points::from_flat(1, coordinates.collect())?;
            let diagonal = points.iter().map(|x| kernel.variance_at(x)).collect();
            let fill = |j: usize, out: &mut [f64]| kernel.fill(points.get(j), &points, 0..points.len(), out);
            LowRank::new(diagonal, fill, budget)
        };
        let axes = kernels.iter().enumerate().map(factor).collect::<Result<_>>()?;
        Ok(Some(Self { shape: grid.shape(), axes, variance: kernel.variance() }))
    }

    /// How many points the grid has.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// R, the length of a core.
    pub fn rank(&self) -> usize {
        self.axes.iter().map(LowRank::rank).product()
    }

    /// The shape of a core.
    pub fn core_shape(&self) -> Vec<usize> {
        self.axes.iter().map(LowRank::rank).collect()
    }

    /// A bound on |k(x, y) - variance phi(x)' phi(y)|.
    pub fn residual(&self) -> f64 {
        let product: f64 = self.axes.iter().map(|axis| 1.0 + axis.residual()).product();
        self.variance * (product - 1.0)
    }

    /// The variance of every point.
    pub fn variance(&self) -> f64 {
        self.variance
    }

    /// C = variance * sum_s weights[s] phi(x_s), where x_s has row `positions[s][a]` of Phi_a.
    pub fn core(&self, positions: &[Vec<usize>], weights: &[f64]) -> Vec<f64> {
        let first = self.axes[0].rank();
        let mut core = vec![0.0; self.rank()];
        for (positions, weights) in positions.chunks(SOURCES).zip(weights.chunks(SOURCES)) {
            let phi = self.axes[0].factor();
            let weighted = |c: usize, s: usize| self.variance * weights[s] * phi[(positions[s][0], c)];
            let left = Mat::from_fn(first, positions.len(), weighted);
            let right = self.rest_rows(positions);
            let rest = right.nrows();
            // The row-major core (first x rest) is the column-major (rest x first).
            let out = MatMut::from_column_major_slice_mut(&mut core, rest, first);
            dense::multiply(out, Accum::Add, right.as_ref(), left.transpose(), 1.0);
        }
        core
    }

    /// One column per source: the product of its rows of Phi_2 ... Phi_d, last axis fastest.
    fn rest_rows(&self, positions: &[Vec<usize>]) -> Mat<f64> {
        let rest: usize = self.axes[1..].iter().map(LowRank::rank).product();
        let mut out = Mat::zeros(rest, positions.len());
        for (s, position) in positions.iter().enumerate() {
            let mut product = vec![1.0];
            for (axis, &i) in self.axes.iter().zip(position).skip(1) {
                let phi = axis.factor();
                product = product.iter().flat_map(|p| (0..axis.rank()).map(move |c| p * phi[(i, c)])).collect();
            }
            out.col_mut(s).iter_mut().zip(product).for_each(|(slot, p)| *slot = p);
        }
        out
    }

    /// phi(x_s)' C for each source: the value at x_s of what [`Kron::visit`] expands.
    pub fn values_at(&self, positions: &[Vec<usize>], core: &[f64]) -> Vec<f64> {
        let first = self.axes[0].rank();
        let rest = core.len() / first;
        let mut values = Vec::with_capacity(positions.len());
        for positions in positions.chunks(SOURCES) {
            let right = self.rest_rows(positions);
            let mut product = Mat::zeros(first, positions.len());
            let core = MatRef::from_column_major_slice(core, rest, first);
            dense::multiply(product.as_mut(), Accum::Replace, core.transpose(), right.as_ref(), 1.0);
            let phi = self.axes[0].factor();
            values.extend(
                positions
                    .iter()
                    .enumerate()
                    .map(|(s, p)| (0..first).map(|c| phi[(p[0], c)] * product[(c, s)]).sum::<f64>()),
            );
        }
        values
    }

    /// Calls `each(chunk of state, the same chunk of Phi C)` over the whole grid, `state` having one entry per point.
    pub fn visit(&self, core: &[f64], state: &mut [f64], each: impl Fn(&mut [f64], &[f64]) + Sync) {
        let inner: usize = self.shape[1..].iter().product();
        let rows = (CHUNK / inner).max(1);
        let task = |(block, state): (usize, &mut [f64])| {
            let from = block * rows;
            let values = self.expand_rows(core, from, state.len() / inner);
            each(state, &values);
        };
        if state.len() <= CHUNK {
            state.chunks_mut(rows * inner).enumerate().for_each(task);
        } else {
            state.par_chunks_mut(rows * inner).enumerate().for_each(task);
        }
    }

    /// Phi C for `count` positions of the first axis, beginning at `from`.
    fn expand_rows(&self, core: &[f64], from: usize, count: usize) -> Vec<f64> {
        let mut shape = self.core_shape();
        let rest = shape[1..].iter().product();
        let phi = self.axes[0].factor().subrows(from, count);
        let mut values = vec![0.0; rest * count];
        contract(&mut values, MatRef::from_column_major_slice(core, rest, shape[0]), phi);
        let mut outer = count;
        for a in 1..self.axes.len() {
            let rest: usize = shape[a + 1..].iter().product();
            let phi = self.phi(a);
            let mut next = vec![0.0; outer * phi.nrows() * rest];
            if rest == 1 {
                let input = MatRef::from_column_major_slice(&values, shape[a], outer);
                let out = MatMut::from_column_major_slice_mut(&mut next, phi.nrows(), outer);
                dense::multiply(out, Accum::Replace, phi, input, 1.0);
            } else {
                let blocks = values.chunks(shape[a] * rest).zip(next.chunks_mut(phi.nrows() * rest));
                blocks.for_each(|(input, out)| {
                    contract(out, MatRef::from_column_major_slice(input, rest, shape[a]), phi);
                });
            }
            shape[a] = phi.nrows();
            outer *= phi.nrows();
            values = next;
        }
        values
    }

    /// The rows of Phi_a that belong to the grid.
    fn phi(&self, axis: usize) -> MatRef<'_, f64> {
        self.axes[axis].factor().subrows(0, self.shape[axis])
    }

    /// The bytes that [`Kron::variances`] takes beside its result.
    pub fn variance_bytes(&self, rows: usize) -> usize {
        size_of::<f64>() * rows.saturating_mul(self.rank()).saturating_mul(2)
    }

    /// The variance of every grid point given the points at `positions`, the factor's leading rows.
    pub fn variances(&self, factor: &Factor, positions: &[Vec<usize>]) -> Vec<f64> {
        let n = positions.len();
        let len = self.shape.iter().product();
        let prior = self.variance;
        if n == 0 {
            return vec![prior; len];
        }
        let solved = self.solved_features(factor, positions);
        let inner = len / self.shape[0];
        let mut out = vec![0.0; len];
        if self.axes.len() == 1 {
            out.copy_from_slice(&self.explained(&solved, n));
        } else {
            let rows = (CHUNK / inner).clamp(1, 16);
            let rest = self.rank() / self.axes[0].rank() * n;
            out.par_chunks_mut(inner * rows).enumerate().for_each(|(block, out)| {
                let phi = self.axes[0].factor().subrows(block * rows, out.len() / inner);
                let mut slices = vec![0.0; rest * phi.nrows()];
                contract(&mut slices, MatRef::from_column_major_slice(&solved, rest, phi.ncols()), phi);
                for (slice, out) in slices.chunks(rest).zip(out.chunks_mut(inner)) {
                    self.explained_below(slice, n, 1, out);
                }
            });
        }
        out.iter_mut().for_each(|value| *value = remaining(prior, prior * *value));
        out
    }

    /// A = L^{-1} sqrt(variance) phi(X), one column of n entries per core entry.
    fn solved_features(&self, factor: &Factor, positions: &[Vec<usize>]) -> Vec<f64> {
        let n = positions.len();
        let shape = self.core_shape();
        let scale = self.variance.sqrt();
        let mut features = vec![0.0; n * self.rank()];
        features.par_chunks_mut(n * 4).enumerate().for_each(|(block, four)| {
            for (k, column) in four.chunks_mut(n).enumerate() {
                let mut index = block * 4 + k;
                column.fill(scale);
                for (a, axis) in self.axes.iter().enumerate().rev() {
                    let (phi, c) = (axis.factor(), index % shape[a]);
                    index /= shape[a];
                    column.iter_mut().zip(positions).for_each(|(value, p)| *value *= phi[(p[a], c)]);
                }
            }
            let mut columns: Vec<&mut [f64]> = four.chunks_mut(n).collect();
            factor.solve_lower_many(0, &mut columns);
        });
        features
    }

    /// |A phi|^2 for the axes from `axis` on; `slice` holds A contracted over the earlier ones.
    fn explained_below(&self, slice: &[f64], n: usize, axis: usize, out: &mut [f64]) {
        if axis + 1 == self.axes.len() {
            out.copy_from_slice(&self.explained(slice, n));
            return;
        }
        let phi = self.phi(axis);
        let rest = slice.len() / phi.ncols();
        let inner = out.len() / phi.nrows();
        for (i, out) in out.chunks_mut(inner).enumerate() {
            let mut next = vec![0.0; rest];
            let slice = MatRef::from_column_major_slice(slice, rest, phi.ncols());
            contract(&mut next, slice, phi.subrows(i, 1));
            self.explained_below(&next, n, axis + 1, out);
        }
    }

    /// diag(Phi_d B'B Phi_d') for B of n x r_d.
    fn explained(&self, b: &[f64], n: usize) -> Vec<f64> {
        let phi = self.phi(self.axes.len() - 1);
        let b = MatRef::from_column_major_slice(b, n, phi.ncols());
        let mut gram = Mat::zeros(phi.ncols(), phi.ncols());
        dense::multiply(gram.as_mut(), Accum::Replace, b.transpose(), b, 1.0);
        let mut product = Mat::zeros(phi.nrows(), phi.ncols());
        dense::multiply(product.as_mut(), Accum::Replace, phi, gram.as_ref(), 1.0);
        let mut out = vec![0.0; phi.nrows()];
        for c in 0..phi.ncols() {
            let columns = product.col(c).iter().zip(phi.col(c).iter());
            out.iter_mut().zip(columns).for_each(|(value, (p, f))| *value += p * f);
        }
        out
    }
}

/// out (rest x count, column-major) = core (rest x r) * phi (count x r)'.
fn contract(out: &mut [f64], core: MatRef<'_, f64>, phi: MatRef<'_, f64>) {
    let out = MatMut::from_column_major_slice_mut(out, core.nrows(), phi.nrows());
    dense::multiply(out, Accum::Replace, core, phi.transpose(), 1.0);
}
