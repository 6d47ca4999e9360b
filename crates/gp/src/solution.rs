//! The factor of a posterior and its whitened values, computed when they are first read and extended from what is still
//! valid.
//!
//! So replaying a log costs as much as the state that is read at its end, and reading rows alone costs no factor at all.

use std::sync::{Mutex, OnceLock, PoisonError};

use crate::{Factor, Points, Prior, vector};

/// Rows that are solved together: as many columns as stay in the cache while the factor is read once.
const PANEL: usize = 64;

/// Factor and whitened values of a posterior's rows.
#[derive(Debug, Clone, Default)]
pub(crate) struct Solution {
    pub factor: Factor,
    /// L_O^{-1} (y - prior mean).
    pub whitened: Vec<f64>,
    /// (K_O + lambda I)^{-1} (y - prior mean), made when it is first read.
    weights: OnceLock<Vec<f64>>,
    start: Option<UnfactoredRows>,
}

/// Rows to be factored at once, and how many of them are still in place.
#[derive(Debug, Clone)]
struct UnfactoredRows {
    points: Points,
    kept: usize,
}

impl Solution {
    /// Rows that are factored at once when the factor is first read.
    pub fn at_once(points: Points) -> Self {
        let kept = points.len();
        Self { start: Some(UnfactoredRows { points, kept }), ..Self::default() }
    }

    /// Drops the rows from `rows` on. Values of rows that stay are kept.
    pub fn truncate(&mut self, rows: usize) {
        match &mut self.start {
            Some(start) => start.kept = start.kept.min(rows),
            None => self.factor.truncate(rows),
        }
    }

    /// Accounts for all rows and values. A row's bits follow from its point and the rows before it, so it makes no
    /// difference when that happens.
    pub fn catch_up(&mut self, prior: &Prior, points: &Points, residuals: &[f64]) {
        if let Some(UnfactoredRows { points, kept }) = self.start.take() {
            self.factor = Factor::of_covariances(points.len(), prior.noise(), |i, rows, out| {
                prior.kernel().fill(points.get(i), &points, rows, out);
            });
            self.factor.truncate(kept);
        }
        while self.factor.len() < points.len() {
            self.append(prior, points, PANEL.min(points.len() - self.factor.len()));
        }
        for row in self.whitened.len()..residuals.len() {
            let entries = self.factor.row(row);
            let explained = vector::dot(&entries[..row], &self.whitened);
            self.whitened.push((residuals[row] - explained) / entries[row]);
        }
    }

    /// (K_O + lambda I)^{-1} (y - prior mean).
    pub fn weights(&self) -> &[f64] {
        self.weights.get_or_init(|| {
            let mut weights = self.whitened.clone();
            self.factor.solve_upper(&mut weights);
            weights
        })
    }

    /// Appends the next `count` rows, each with the bits that it would have alone.
    fn append(&mut self, prior: &Prior, points: &Points, count: usize) {
        let first = self.factor.len();
        let mut rows: Vec<Vec<f64>> = (first..first + count).map(|row| vec![0.0; row]).collect();
        for (row, covariances) in (first..).zip(&mut rows) {
            prior.kernel().fill(points.get(row), points, 0..row, covariances);
        }
        let mut leading: Vec<&mut [f64]> = rows.iter_mut().map(|row| &mut row[..first]).collect();
        self.factor.solve_lower_many(0, &mut leading);
        for (row, mut entries) in (first..).zip(rows) {
            self.factor.solve_lower(first, &mut entries);
            self.factor.push_solved(&entries, prior.kernel().variance_at(points.get(row)), prior.noise());
        }
    }
}

/// [`Solution`], caught up when it is read.
#[derive(Debug, Default)]
pub(crate) struct LazySolution {
    ready: OnceLock<Solution>,
    /// Out of date until then.
    stale: Mutex<Solution>,
}

impl LazySolution {
    pub fn new(stale: Solution) -> Self {
        Self { ready: OnceLock::new(), stale: Mutex::new(stale) }
    }

    /// The solution; `finish` brings it up to date if it is not.
    pub fn read(&self, finish: impl FnOnce(&mut Solution)) -> &Solution {
        self.ready.get_or_init(|| {
            let mut solved = std::mem::take(&mut *self.stale.lock().unwrap_or_else(PoisonError::into_inner));
            finish(&mut solved);
            solved
        })
    }

    /// The solution, which the caller is about to make out of date.
    pub fn change(&mut self) -> &mut Solution {
        let stale = self.stale.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(ready) = self.ready.take() {
            *stale = ready;
            stale.weights.take();
        }
        stale
    }
}

impl Clone for LazySolution {
    fn clone(&self) -> Self {
        match self.ready.get() {
            Some(ready) => Self { ready: OnceLock::from(ready.clone()), stale: Mutex::default() },
            None => Self::new(self.stale.lock().unwrap_or_else(PoisonError::into_inner).clone()),
        }
    }
}
