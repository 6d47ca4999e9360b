//! Upper bounds that fall only when their candidate is evaluated ("lazy greedy"), for domains without structure.
//!
//! The variance given some of the rows is an upper bound of the variance given all of them, so a bound stays true as
//! long as none of the rows it was conditioned on has left. A start with many rows at once begins from the variance given
//! a few dozen of them that are well spread.

use rayon::prelude::*;

use super::bounds::{contains_all, reordering};
use super::columns::Exact;
use crate::posterior::remaining;
use crate::restricted::Restricted;
use crate::{Factor, Key, View, vector};

/// Rows that a cold start conditions every candidate on.
const SPREAD: usize = 48;
/// Candidates that one task works on.
const CHUNK: usize = 1 << 12;

/// Lazily falling bounds.
#[derive(Debug, Clone)]
pub(super) struct Lazy {
    /// Given rows among `conditioned`.
    upper: Vec<f64>,
    conditioned: Vec<Key>,
    /// Given rows among `settled_rows`, observed ones, which outlive pending ones.
    settled: Vec<f64>,
    settled_rows: Vec<Key>,
    slack: f64,
}

impl Lazy {
    /// The prior's variances.
    pub fn new(restricted: &Restricted) -> Self {
        let upper: Vec<f64> = (0..restricted.domain().len()).map(|i| restricted.variance(i)).collect();
        let settled = upper.clone();
        Self { upper, conditioned: Vec::new(), settled, settled_rows: Vec::new(), slack: 0.0 }
    }

    /// The bounds, and the slack to add to them.
    pub fn uppers(&self) -> (&[f64], f64) {
        (&self.upper, self.slack)
    }

    /// Brings the bounds to the rows of `view`: contributions of removed rows are dropped.
    pub fn sync(&mut self, restricted: &Restricted, view: View<'_>) {
        let keys = view.keys();
        if self.conditioned.is_empty() && keys.len() > SPREAD {
            self.begin_spread(restricted, view);
        }
        if !keys.starts_with(&self.conditioned) {
            if !contains_all(&keys[..view.observed()], &self.settled_rows) {
                *self = Self::new(restricted);
            } else if !contains_all(keys, &self.conditioned) {
                self.upper.copy_from_slice(&self.settled);
            }
            self.slack = self.slack.max(reordering(restricted, view));
        }
        self.settled_rows = keys[..view.observed()].to_vec();
        self.conditioned = keys.to_vec();
    }

    /// Lowers the bounds of candidates that were evaluated exactly.
    pub fn refresh(&mut self, exact: &[Exact]) {
        for e in exact {
            self.upper[e.index] = self.upper[e.index].min(e.variance);
            self.settled[e.index] = self.settled[e.index].min(e.variance_observed);
        }
    }

    /// Conditions every candidate on [`SPREAD`] rows, each the one least explained by those before it.
    fn begin_spread(&mut self, restricted: &Restricted, view: View<'_>) {
        let (chosen, factor) = spread_rows(restricted, view);
        let sites: Vec<usize> = chosen.iter().map(|&i| view.keys()[i].site).collect();
        let spread = restricted.domain().points_at(&sites);
        self.upper.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, upper)| {
            let mut column = vec![0.0; spread.len()];
            for (i, value) in upper.iter_mut().enumerate() {
                let point = restricted.domain().point(chunk * CHUNK + i);
                restricted.kernel().fill(&point, &spread, 0..spread.len(), &mut column);
                factor.solve_lower(0, &mut column);
                *value = remaining(*value, vector::squares(&column));
            }
        });
        self.slack = self.slack.max(reordering(restricted, view));
        if chosen.iter().all(|&row| row < view.observed()) {
            self.settled.copy_from_slice(&self.upper);
        }
    }
}

/// Well-spread rows and the factor of their covariance.
fn spread_rows(restricted: &Restricted, view: View<'_>) -> (Vec<usize>, Factor) {
    let (points, kernel) = (view.posterior().points(), restricted.kernel());
    let rows = view.keys().len();
    let mut left: Vec<f64> = (0..rows).map(|i| kernel.variance_at(points.get(i))).collect();
    let mut solved: Vec<Vec<f64>> = vec![Vec::new(); rows];
    let (mut chosen, mut factor) = (Vec::new(), Factor::new());
    for _ in 0..SPREAD.min(rows) {
        let pick = (0..rows).fold(0, |best, i| if left[i] > left[best] { i } else { best });
        factor.push_solved(&solved[pick], kernel.variance_at(points.get(pick)), view.prior().noise());
        chosen.push(pick);
        // Once only: conditioning twice on a row that came once would be no bound.
        left[pick] = f64::NEG_INFINITY;
        for (i, column) in solved.iter_mut().enumerate() {
            column.push(kernel.covariance(points.get(i), points.get(pick)));
            factor.solve_lower(column.len() - 1, column);
            left[i] -= column[column.len() - 1].powi(2);
        }
    }
    (chosen, factor)
}
