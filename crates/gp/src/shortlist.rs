//! The highest value among many candidates, without the exact variance of those that cannot have it.
//!
//! | symbol | name | meaning |
//! |---|---|---|
//! | n | rows | rows of the view |
//! | v(c) | column | L^{-1} k(X, c) of candidate c, solved from the first row on |
//! | m | solved | how many entries of a column are solved |
//!
//! The variance given some of the rows is an upper bound of the variance given all of them. Means cost n operations each.
//! So the first bound is the variance given the few rows that are correlated with a candidate most; then columns are
//! solved in stages, which gives k(c, c) - |v_1..m(c)|^2, the variance given the first m rows, at (m/n)^2 of the price of
//! all. After each stage the candidates whose bound is below the best value known are dismissed. What is left is exact up
//! to rounding, and so is the choice: as with a [`Screen`](crate::Screen), good for ranking, not for reporting.
//!
//! Threads take whole chunks of fixed size: no bit depends on how many there are.

use std::ops::Range;

use faer::reborrow::{Reborrow, ReborrowMut};
use faer::{Accum, Mat};
use rayon::prelude::*;

use crate::acquisition::WithoutNan;
use crate::posterior::{most_correlated, remaining};
use crate::tuning::{LEADERS, NEARBY, NEARBY_FROM_ROWS, STAGES};
use crate::{Acquisition, Error, Factor, Points, Result, View, dense, vector};

/// Candidates that one task takes.
const CHUNK: usize = 64;
/// Values this close, relative to their size, are not told apart by bounds.
const SLACK: f64 = 1e-6;

/// Candidates of which only the best is wanted, kept while a batch grows.
///
/// ```
/// use manyhands_gp::{Kernel, Key, Points, Posterior, Prior, Shortlist, Variance};
/// # fn main() -> manyhands_gp::Result<()> {
/// let prior = Prior::new(Kernel::squared_exponential(&[0.2])?, 0.0, 0.01)?;
/// let mut posterior = Posterior::new(prior, 1)?;
/// posterior.observe(Key { id: 0, site: 0 }, &[0.3], 1.0)?;
/// let mut candidates = Shortlist::new(posterior.view(), Points::from_flat(1, vec![0.3, 0.9])?)?;
/// let values = candidates.highest(posterior.view(), &Variance);
/// assert!(values[1] > 0.9 && values[0] < values[1]);
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct Shortlist {
    candidates: Points,
    columns: Vec<PartialColumn>,
    /// Rows whose covariances the columns hold.
    rows: usize,
    /// Of the rows that give the means.
    observed: usize,
}

#[derive(Debug, Clone)]
struct PartialColumn {
    /// The solved entries, then covariances.
    entries: Vec<f64>,
    solved: usize,
    /// The sum of squares of the solved entries.
    explained: f64,
    prior: f64,
    mean: f64,
    /// The variance given the rows nearby.
    nearby: f64,
}

impl PartialColumn {
    /// The variance given the rows solved so far or those nearby, whichever is less; exact once all are solved.
    fn variance(&self) -> f64 {
        let variance = remaining(self.prior, self.explained);
        if self.solved == self.entries.len() { variance } else { variance.min(self.nearby) }
    }
}

impl Shortlist {
    /// The candidates given a view. Takes n numbers for each.
    pub fn new(view: View<'_>, candidates: Points) -> Result<Self> {
        let (expected, found) = (view.posterior().points().dimension(), candidates.dimension());
        if expected != found {
            return Err(Error::WrongLength { what: "a candidate", expected, found });
        }
        let kernel = view.prior().kernel();
        candidates.iter().try_for_each(|candidate| kernel.check_point(candidate))?;
        let column = |x: &[f64]| {
            let (entries, prior) = (vec![], kernel.variance_at(x));
            PartialColumn { entries, solved: 0, explained: 0.0, prior, mean: 0.0, nearby: prior }
        };
        let columns = candidates.iter().map(column).collect();
        let mut list = Self { candidates, columns, rows: 0, observed: 0 };
        list.begin(view);
        Ok(list)
    }

    /// The candidates.
    pub fn candidates(&self) -> &Points {
        &self.candidates
    }

    /// The value of every candidate that may have the highest one, and minus infinity for the others. Rows of the
    /// last call that the view still has must be its first ones.
    pub fn highest(&mut self, view: View<'_>, acquisition: &dyn Acquisition) -> Vec<f64> {
        self.extend(view);
        let mut open: Vec<usize> = (0..self.columns.len()).collect();
        if acquisition.grows_with_variance() {
            open = self.contenders(view, &open, acquisition);
            for stage in STAGES {
                self.solve(view, &open, (stage * self.rows as f64) as usize);
                open = self.contenders(view, &open, acquisition);
            }
        }
        self.values(view, &open, acquisition)
    }

    /// The values of all candidates. Rows of the last call that the view still has must be its first ones.
    pub fn all(&mut self, view: View<'_>, acquisition: &dyn Acquisition) -> Vec<f64> {
        self.extend(view);
        self.values(view, &(0..self.columns.len()).collect::<Vec<_>>(), acquisition)
    }

    fn values(&mut self, view: View<'_>, open: &[usize], acquisition: &dyn Acquisition) -> Vec<f64> {
        self.solve(view, open, self.rows);
        let mut values = vec![f64::NEG_INFINITY; self.columns.len()];
        for &index in open {
            values[index] = self.bound(index, acquisition);
        }
        values
    }

    /// Those whose bound reaches the best value of the leaders, which are solved to the end.
    fn contenders(&mut self, view: View<'_>, open: &[usize], acquisition: &dyn Acquisition) -> Vec<usize> {
        let mut order = open.to_vec();
        order.sort_by(|&a, &b| self.bound(b, acquisition).total_cmp(&self.bound(a, acquisition)).then(a.cmp(&b)));
        let leaders = &order[..LEADERS.min(order.len())];
        self.solve(view, leaders, self.rows);
        let best = leaders.iter().map(|&index| self.bound(index, acquisition)).fold(f64::NEG_INFINITY, f64::max);
        let least = best - SLACK * best.abs().max(1.0);
        open.iter().copied().filter(|&index| self.bound(index, acquisition) >= least).collect()
    }

    /// The value given the rows solved so far, which is a bound if it grows with the variance.
    fn bound(&self, index: usize, acquisition: &dyn Acquisition) -> f64 {
        WithoutNan(acquisition).value(self.columns[index].mean, self.columns[index].variance())
    }

    /// Fills in all covariances, and the means.
    fn begin(&mut self, view: View<'_>) {
        self.rows = 0;
        self.fill(view);
        let (weights, mean) = (view.weights(), view.prior().mean());
        for column in &mut self.columns {
            (column.solved, column.explained) = (0, 0.0);
            column.mean = mean + vector::dot(&column.entries[..weights.len()], &weights);
        }
        let is_worthwhile = self.rows >= NEARBY_FROM_ROWS;
        self.columns.par_chunks_mut(CHUNK).for_each(|columns| {
            for column in columns {
                column.nearby = if is_worthwhile { variance_nearby(view, column) } else { column.prior };
            }
        });
        self.observed = view.observed();
    }

    /// Accounts for rows that came since.
    fn extend(&mut self, view: View<'_>) {
        if self.observed != view.observed() || view.keys().len() < self.rows {
            // Other values, other means; and entries that are solved, also with rows that left, hold no covariances any more.
            return self.begin(view);
        }
        self.fill(view);
    }

    fn fill(&mut self, view: View<'_>) {
        let (points, kernel) = (view.posterior().points(), view.prior().kernel());
        let (start, rows, candidates) = (self.rows, view.keys().len(), &self.candidates);
        self.columns.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, columns)| {
            for (i, column) in columns.iter_mut().enumerate() {
                column.entries.resize(rows, 0.0);
                kernel.fill(candidates.get(chunk * CHUNK + i), points, start..rows, &mut column.entries[start..]);
            }
        });
        self.rows = rows;
    }

    /// Solves the columns of some candidates up to `rows`, where they are not yet.
    fn solve(&mut self, view: View<'_>, indices: &[usize], rows: usize) {
        let factor = view.posterior().factor();
        let mut wanted = vec![false; self.columns.len()];
        indices.iter().for_each(|&index| wanted[index] = true);
        let columns = self.columns.iter_mut().zip(wanted);
        let mut columns: Vec<&mut PartialColumn> =
            columns.filter(|(column, wanted)| *wanted && column.solved < rows).map(|(column, _)| column).collect();
        // Those that are equally far are solved together.
        columns.sort_by_key(|column| column.solved);
        for equal in columns.chunk_by_mut(|a, b| a.solved == b.solved) {
            equal.par_chunks_mut(CHUNK).for_each(|chunk| {
                let start = chunk[0].solved;
                solve_together(factor, start..rows, chunk);
                for column in chunk {
                    column.explained = vector::add_squares(column.explained, &column.entries[start..rows]);
                    column.solved = rows;
                }
            });
        }
    }
}

/// The variance given the rows that a column, of which nothing is solved, is correlated with most.
fn variance_nearby(view: View<'_>, column: &PartialColumn) -> f64 {
    let (points, prior) = (view.posterior().points(), view.prior());
    let rows = most_correlated(&column.entries, NEARBY);
    let nearby = Points::trusted(points.dimension(), rows.iter().flat_map(|&row| points.get(row)).copied().collect());
    let factor = Factor::of_covariances(rows.len(), prior.noise(), |i, others, out| {
        prior.kernel().fill(nearby.get(i), &nearby, others, out);
    });
    let mut solved: Vec<f64> = rows.iter().map(|&row| column.entries[row]).collect();
    factor.solve_lower(0, &mut solved);
    remaining(column.prior, vector::squares(&solved))
}

/// Solves the entries `range` of some columns, those before being solved, as products of matrices.
fn solve_together(factor: &Factor, range: Range<usize>, columns: &mut [&mut PartialColumn]) {
    let (start, rows) = (range.start, range.end);
    let mut sides = Mat::from_fn(rows, columns.len(), |i, j| columns[j].entries[i]);
    let (known, mut wanted) = sides.as_mut().split_at_row_mut(start);
    let below = factor.leading(rows).submatrix(start, 0, rows - start, start);
    dense::multiply(wanted.rb_mut(), Accum::Add, below, known.rb(), -1.0);
    let own = factor.leading(rows).submatrix(start, start, rows - start, rows - start);
    dense::solve_lower(own, wanted.rb_mut());
    for (j, column) in columns.iter_mut().enumerate() {
        column.entries[start..rows].copy_from_slice(&sides.col_as_slice(j)[start..]);
    }
}
