//! Approximate means and variances of many candidates at once, kept up to date while a batch grows.
//!
//! | symbol | name | meaning |
//! |---|---|---|
//! | n | rows | rows of the view |
//! | v(c) | column | L^{-1} k(X, c) of candidate c; a new row p adds (k(p, c) - l_p' v(c))/pivot |
//!
//! All columns are solved together, as matrix products, so values are those of the posterior up to rounding and not bit
//! for bit. Threads take whole chunks of fixed size: no bit depends on how many there are.

use faer::MatMut;
use rayon::prelude::*;

use crate::acquisition::WithoutNan;
use crate::posterior::remaining;
use crate::{Acquisition, Error, Points, Result, View, dense, vector};

/// Candidates that one task takes.
const CHUNK: usize = 256;
/// Rows that can be appended before the columns are moved.
const ROOM: usize = 40;

/// Candidates with their means and variances: right up to rounding, so good for ranking, not for reporting.
///
/// ```
/// use manyhands_gp::{Kernel, Key, Points, Posterior, Prior, Screen};
/// # fn main() -> manyhands_gp::Result<()> {
/// let prior = Prior::new(Kernel::squared_exponential(&[0.2])?, 0.0, 0.01)?;
/// let mut posterior = Posterior::new(prior, 1)?;
/// posterior.observe(Key { id: 0, site: 0 }, &[0.3], 1.0)?;
/// let mut screen = Screen::new(posterior.view(), Points::from_flat(1, vec![0.3, 0.9])?)?;
/// assert!(screen.means()[0] > 0.9 && screen.variances()[1] > 0.9);
/// posterior.hallucinate(Key { id: 1, site: 1 }, &[0.9])?;
/// screen.append(posterior.view());
/// assert!(screen.variances()[1] < 0.1);
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct Screen {
    candidates: Points,
    /// One column after the other, `stride` apart.
    columns: Vec<f64>,
    stride: usize,
    rows: usize,
    means: Vec<f64>,
    variances: Vec<f64>,
}

impl Screen {
    /// The candidates given a view. Takes n numbers for each.
    pub fn new(view: View<'_>, candidates: Points) -> Result<Self> {
        let (columns, means, variances) = (vec![], vec![], vec![]);
        Self { candidates, columns, stride: 0, rows: 0, means, variances }.filled(view)
    }

    /// Other candidates, in the memory of this screen: allocating it anew takes longer than solving for a few rows.
    pub fn renewed(self, view: View<'_>, candidates: Points) -> Result<Self> {
        Self { candidates, rows: 0, ..self }.filled(view)
    }

    fn filled(mut self, view: View<'_>) -> Result<Self> {
        let (expected, found) = (view.posterior().points().dimension(), self.candidates.dimension());
        if expected != found {
            return Err(Error::WrongLength { what: "a candidate", expected, found });
        }
        self.candidates.iter().try_for_each(|candidate| view.prior().kernel().check_point(candidate))?;
        let len = self.candidates.len();
        self.stride = view.keys().len() + ROOM;
        self.columns.resize(len * self.stride, 0.0);
        self.means.resize(len, 0.0);
        self.variances.resize(len, 0.0);
        self.extend(view);
        Ok(self)
    }

    /// Accounts for rows that came since the last call, at n operations per row and candidate, and for values that came.
    /// The rows of the last call must still be the first ones.
    pub fn append(&mut self, view: View<'_>) {
        let rows = view.keys().len();
        if rows > self.stride {
            self.widen(rows + ROOM);
        }
        self.rows = self.rows.min(rows);
        self.extend(view);
    }

    /// The candidates.
    pub fn candidates(&self) -> &Points {
        &self.candidates
    }

    /// The candidates' means, from the view's observed rows.
    pub fn means(&self) -> &[f64] {
        &self.means
    }

    /// The candidates' variances given all of the view's rows; never negative.
    pub fn variances(&self) -> &[f64] {
        &self.variances
    }

    /// An acquisition's values at the candidates.
    pub fn values(&self, acquisition: &dyn Acquisition) -> Vec<f64> {
        let moments = self.means.iter().zip(&self.variances);
        moments.map(|(&mean, &variance)| WithoutNan(acquisition).value(mean, variance)).collect()
    }

    fn extend(&mut self, view: View<'_>) {
        let (stride, start) = (self.stride, self.rows);
        let candidates = &self.candidates;
        let chunks = self.columns.par_chunks_mut(CHUNK * stride);
        let moments = self.means.par_chunks_mut(CHUNK).zip(self.variances.par_chunks_mut(CHUNK));
        chunks.zip(moments).enumerate().for_each(|(index, (columns, (means, variances)))| {
            let first = index * CHUNK;
            fill(view, candidates, first, start, columns.chunks_exact_mut(stride));
            solve(view, start, columns, stride);
            for (i, column) in columns.chunks_exact(stride).enumerate() {
                (means[i], variances[i]) = moments_of(view, candidates.get(first + i), column);
            }
        });
        self.rows = view.keys().len();
    }

    fn widen(&mut self, stride: usize) {
        let mut columns = vec![0.0; self.candidates.len() * stride];
        for (wide, narrow) in columns.chunks_exact_mut(stride).zip(self.columns.chunks_exact(self.stride)) {
            wide[..self.rows].copy_from_slice(&narrow[..self.rows]);
        }
        (self.columns, self.stride) = (columns, stride);
    }
}

/// Sets each column's entries from `start` on to the covariances of its candidate and the view's rows.
fn fill<'a>(
    view: View<'_>,
    candidates: &Points,
    first: usize,
    start: usize,
    columns: impl Iterator<Item = &'a mut [f64]>,
) {
    let (points, rows, kernel) = (view.posterior().points(), view.keys().len(), view.prior().kernel());
    for (i, column) in columns.enumerate() {
        kernel.fill(candidates.get(first + i), points, start..rows, &mut column[start..rows]);
    }
}

/// Solves each column's entries from `start` on, those before being solved already.
fn solve(view: View<'_>, start: usize, columns: &mut [f64], stride: usize) {
    let (factor, rows) = (view.posterior().factor(), view.keys().len());
    if start > 0 {
        let mut columns: Vec<&mut [f64]> = columns.chunks_exact_mut(stride).map(|c| &mut c[..rows]).collect();
        factor.solve_lower_many(start, &mut columns);
    } else if rows > 0 {
        let count = columns.len() / stride;
        let sides = MatMut::from_column_major_slice_with_stride_mut(columns, rows, count, stride);
        dense::solve_lower(factor.leading(rows), sides);
    }
}

/// Mean and variance of a candidate from its solved column.
fn moments_of(view: View<'_>, candidate: &[f64], column: &[f64]) -> (f64, f64) {
    let (prior, solved) = (view.prior(), &column[..view.keys().len()]);
    let mean = prior.mean() + vector::dot(&solved[..view.observed()], view.whitened());
    (mean, remaining(prior.kernel().variance_at(candidate), vector::dot(solved, solved)))
}
