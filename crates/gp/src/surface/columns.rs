//! A cache of the solved columns v(x) = L^{-1} k(X, x) of the candidates that searches evaluate.
//!
//! A column is the one source of a candidate's exact mean and variance, cached or not: a cached column is extended by the
//! rows that came since, with the operations a fresh one would take, so the bits are the same. The cache has a budget of
//! bytes; past it the least recently used columns are dropped.

use std::collections::HashMap;

use rayon::prelude::*;

use crate::posterior::remaining;
use crate::restricted::Restricted;
use crate::vector;
use crate::{Marginal, View};

/// Columns solved by one task.
const TASK: usize = 16;
/// Fewer multiplications than this are not worth a second thread.
const PARALLEL: usize = 1 << 17;

/// A candidate's exact moments.
#[derive(Debug, Clone, Copy)]
pub(super) struct Exact {
    pub index: usize,
    pub mean: f64,
    pub variance: f64,
    pub variance_observed: f64,
}

impl Exact {
    pub fn marginal(&self) -> Marginal {
        Marginal { mean: self.mean, sd: self.variance.sqrt(), sd_observed: self.variance_observed.sqrt() }
    }

    /// What it would be if nothing were pending.
    pub fn given_observed_rows(&self) -> Self {
        Self { variance: self.variance_observed, ..*self }
    }
}

#[derive(Debug, Clone)]
struct CachedColumn {
    solved: Vec<f64>,
    used: u64,
}

/// A column of which the entries from `start` on are still to be solved.
struct Unsolved {
    index: usize,
    start: usize,
    column: Vec<f64>,
}

/// The cache of solved columns.
#[derive(Debug, Clone)]
pub(super) struct Columns {
    columns: HashMap<usize, CachedColumn>,
    entries: usize,
    budget: usize,
    clock: u64,
}

impl Columns {
    /// An empty cache of at most `budget` bytes.
    pub fn new(budget: usize) -> Self {
        Self { columns: HashMap::new(), entries: 0, budget, clock: 0 }
    }

    /// Forgets what the rows from `rows` on contributed.
    pub fn truncate(&mut self, rows: usize) {
        for column in self.columns.values_mut() {
            column.solved.truncate(rows);
        }
        self.entries = self.columns.values().map(|c| c.solved.len()).sum();
    }

    /// The exact moments of `indices`, in any order.
    pub fn exact(&mut self, restricted: &Restricted, view: View<'_>, indices: &[usize]) -> Vec<Exact> {
        self.clock += 1;
        let rows = view.keys().len();
        let mut work: Vec<Unsolved> = indices.iter().map(|&index| self.take(index, rows)).collect();
        work.sort_by_key(|w| (w.start, w.index));
        let tasks: Vec<&mut [Unsolved]> =
            work.chunk_by_mut(|a, b| a.start == b.start).flat_map(|group| group.chunks_mut(TASK)).collect();
        let cost: usize = tasks.iter().map(|task| task.len() * (rows - task[0].start + 1) * rows).sum();
        let solve = |task: &mut [Unsolved]| {
            extend(restricted, view, task);
            task.iter().map(|w| moments(restricted, view, w.index, &w.column)).collect()
        };
        let exact: Vec<Vec<Exact>> = if cost < PARALLEL {
            tasks.into_iter().map(solve).collect()
        } else {
            tasks.into_par_iter().map(solve).collect()
        };
        work.into_iter().for_each(|w| self.put(w));
        self.forget();
        exact.concat()
    }

    fn take(&mut self, index: usize, rows: usize) -> Unsolved {
        let mut column = self.columns.remove(&index).map(|c| c.solved).unwrap_or_default();
        self.entries -= column.len();
        let start = column.len().min(rows);
        // A column longer than the view was solved for more rows; its leading part is what the view asks for.
        column.resize(rows, 0.0);
        Unsolved { index, start, column }
    }

    fn put(&mut self, work: Unsolved) {
        self.entries += work.column.len();
        self.columns.insert(work.index, CachedColumn { solved: work.column, used: self.clock });
    }

    fn forget(&mut self) {
        if self.entries * size_of::<f64>() <= self.budget {
            return;
        }
        let mut ages: Vec<(u64, usize, usize)> =
            self.columns.iter().map(|(&index, c)| (c.used, index, c.solved.len())).collect();
        ages.sort_unstable();
        for (_, index, len) in ages {
            if self.entries * size_of::<f64>() <= self.budget / 2 {
                break;
            }
            self.columns.remove(&index);
            self.entries -= len;
        }
    }
}

fn extend(restricted: &Restricted, view: View<'_>, task: &mut [Unsolved]) {
    let start = task[0].start;
    let (points, rows) = (view.posterior().points(), view.keys().len());
    for work in task.iter_mut() {
        let point = restricted.domain().point(work.index);
        restricted.kernel().fill(&point, points, start..rows, &mut work.column[start..]);
    }
    let mut columns: Vec<&mut [f64]> = task.iter_mut().map(|w| w.column.as_mut_slice()).collect();
    view.posterior().factor().solve_lower_many(start, &mut columns);
}

fn moments(restricted: &Restricted, view: View<'_>, index: usize, column: &[f64]) -> Exact {
    let prior = restricted.variance(index);
    let (observed, pending) = column.split_at(view.observed());
    let explained = vector::squares(observed);
    Exact {
        index,
        mean: view.prior().mean() + vector::dot(observed, view.whitened()),
        variance: remaining(prior, vector::add_squares(explained, pending)),
        variance_observed: remaining(prior, explained),
    }
}
