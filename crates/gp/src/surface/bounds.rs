//! Upper bounds on the variance of every candidate: what lets most of them be passed over.
//!
//! The variance given some of the rows is an upper bound of the variance given all of them, so a bound stays true as
//! long as none of the rows it was conditioned on has left.
//!
//! * On a grid with a product kernel every new row is swept over the whole grid at the price of one thin product per axis:
//!   row p of V = L^{-1} K(X, D) is K(D, X) times row p of L^{-1}. The surface is then exact up to `slack`, which is
//!   bounded from the rounding of its products and made anew from scratch before it grows.
//! * Elsewhere a bound falls only when its candidate is refreshed ("lazy greedy"). A start with many rows at once begins
//!   from the variance given a few dozen of them that are well spread.

use std::collections::HashSet;

use rayon::prelude::*;

use super::columns::Exact;
use crate::posterior::remaining;
use crate::restricted::{Restricted, Structure};
use crate::{Factor, vector};
use crate::{Key, View};

/// Rows that a cold start conditions every candidate on.
const SPREAD: usize = 48;
/// Sweeps after which the surface is made anew, and new rows from which one making is cheaper than as many sweeps.
const SWEEPS: usize = 64;
const MANY_ROWS: usize = 24;
const CHUNK: usize = 1 << 12;

/// Variance bounds over the domain.
#[derive(Debug, Clone)]
pub(crate) struct Bounds {
    /// Given the rows in `conditioned`; on a product grid within `slack` of the truth on both sides.
    upper: Vec<f64>,
    /// Given the rows in `settled_rows`, observed ones, which outlive pending ones; kept where bounds fall lazily.
    settled: Vec<f64>,
    settled_rows: Vec<Key>,
    conditioned: Vec<Key>,
    slack: f64,
    sweeps: usize,
}

impl Bounds {
    /// The prior's variances.
    pub fn new(restricted: &Restricted) -> Self {
        let upper: Vec<f64> = (0..restricted.domain().len()).map(|i| restricted.variance(i)).collect();
        let settled = if swept(restricted) { Vec::new() } else { upper.clone() };
        Self { upper, settled, settled_rows: Vec::new(), conditioned: Vec::new(), slack: 0.0, sweeps: 0 }
    }

    /// An interval that holds the variance of candidate `index`.
    pub fn interval(&self, index: usize) -> (f64, f64) {
        let value = self.upper[index];
        if self.are_tight() { ((value - self.slack).max(0.0), value + self.slack) } else { (0.0, value + self.slack) }
    }

    /// Whether the bounds are the variances themselves, up to slack.
    pub fn are_tight(&self) -> bool {
        self.settled.is_empty()
    }

    /// The upper ends from which [`Bounds::interval`]s are made, and the slack to add to them.
    pub fn uppers(&self) -> (&[f64], f64) {
        (&self.upper, self.slack)
    }

    /// Brings the bounds to the rows of `view`: forgets rows that left, sweeps new ones where that is cheap.
    pub fn sync(&mut self, restricted: &Restricted, view: View<'_>) {
        if swept(restricted) {
            self.sync_swept(restricted, view);
        } else {
            self.sync_lazy(restricted, view);
        }
        self.conditioned = view.keys().to_vec();
    }

    fn sync_swept(&mut self, restricted: &Restricted, view: View<'_>) {
        let Structure::PerAxis(kron) = restricted.structure() else { return };
        let (keys, known) = (view.keys(), self.conditioned.len());
        let leading = keys.len() >= known && same_rows(&keys[..known], &self.conditioned);
        let new = keys.len().saturating_sub(known);
        let remake = !leading || new > MANY_ROWS || self.sweeps + new > SWEEPS;
        if remake && kron.variance_bytes(keys.len()) <= restricted.budget() {
            self.remake(restricted, view);
            return;
        }
        if !leading {
            *self = Self::new(restricted);
        } else if !keys.starts_with(&self.conditioned) {
            self.slack += reordering(restricted, view);
        }
        (self.conditioned.len()..keys.len()).for_each(|row| self.sweep(restricted, view, row));
    }

    fn sync_lazy(&mut self, restricted: &Restricted, view: View<'_>) {
        let keys = view.keys();
        if self.conditioned.is_empty() && keys.len() > SPREAD {
            self.begin_spread(restricted, view);
        }
        if keys.starts_with(&self.conditioned) {
            self.settled_rows = keys[..view.observed()].to_vec();
            return;
        }
        if !contains_all(&keys[..view.observed()], &self.settled_rows) {
            *self = Self::new(restricted);
        } else if !contains_all(keys, &self.conditioned) {
            self.upper.copy_from_slice(&self.settled);
        }
        self.settled_rows = keys[..view.observed()].to_vec();
        self.slack = self.slack.max(reordering(restricted, view));
    }

    /// Takes over what exact moments say, where bounds fall lazily.
    pub fn refresh(&mut self, exact: &[Exact]) {
        if self.settled.is_empty() {
            return;
        }
        for e in exact {
            self.upper[e.index] = self.upper[e.index].min(e.variance);
            self.settled[e.index] = self.settled[e.index].min(e.variance_observed);
        }
    }

    fn remake(&mut self, restricted: &Restricted, view: View<'_>) {
        let Structure::PerAxis(kron) = restricted.structure() else { return };
        let sites: Vec<usize> = view.keys().iter().map(|k| k.site).collect();
        self.upper = kron.variances(view.posterior().factor(), &restricted.positions(&sites));
        self.sweeps = 0;
        let (n, k) = (sites.len() as f64 + 1.0, restricted.largest_variance());
        let noise = view.prior().noise();
        // |L^{-1}| <= 1/sqrt(noise), |L| <= sqrt(n k + noise), and |V| <= sqrt(k) at every candidate.
        let substitution = 8.0 * n * f64::EPSILON * k * ((n * k + noise) / noise).sqrt();
        let truncation = 2.0 * (k * n / noise).sqrt() * kron.residual();
        self.slack = substitution + truncation + 4.0 * kron.rank() as f64 * f64::EPSILON * k;
    }

    fn sweep(&mut self, restricted: &Restricted, view: View<'_>, row: usize) {
        let Structure::PerAxis(kron) = restricted.structure() else { return };
        let mut weights = vec![0.0; row + 1];
        weights[row] = 1.0;
        view.posterior().factor().solve_upper(&mut weights);
        let sites: Vec<usize> = view.keys()[..=row].iter().map(|k| k.site).collect();
        let core = kron.core(&restricted.positions(&sites), &weights);
        kron.visit(&core, &mut self.upper, |upper, values| {
            upper.iter_mut().zip(values).for_each(|(u, v)| *u = remaining(*u, v * v));
        });
        let k = restricted.largest_variance();
        let error = view.rounding(vector::norm(&weights), k) + restricted.product_error(&weights);
        self.slack += 2.0 * k.sqrt() * error + 2.0 * f64::EPSILON * k;
        self.sweeps += 1;
    }

    /// Conditions every candidate on [`SPREAD`] rows, each the one least explained by those before it.
    fn begin_spread(&mut self, restricted: &Restricted, view: View<'_>) {
        let (points, kernel) = (view.posterior().points(), restricted.kernel());
        let rows = view.keys().len();
        let mut left: Vec<f64> = (0..rows).map(|i| kernel.variance_at(points.get(i))).collect();
        let mut solved: Vec<Vec<f64>> = vec![Vec::new(); rows];
        let mut chosen = Vec::new();
        let mut factor = Factor::new();
        for _ in 0..SPREAD.min(rows) {
            let pick = (0..rows).fold(0, |best, i| if left[i] > left[best] { i } else { best });
            factor.push_solved(&solved[pick].clone(), kernel.variance_at(points.get(pick)), view.prior().noise());
            chosen.push(pick);
            // Once only: conditioning twice on a row that came once would be no bound.
            left[pick] = f64::NEG_INFINITY;
            for (i, column) in solved.iter_mut().enumerate() {
                column.push(kernel.covariance(points.get(i), points.get(pick)));
                factor.solve_lower(column.len() - 1, column);
                left[i] -= column[column.len() - 1].powi(2);
            }
        }
        let sites: Vec<usize> = chosen.iter().map(|&i| view.keys()[i].site).collect();
        let spread = restricted.domain().points_at(&sites);
        self.upper.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, upper)| {
            let mut column = vec![0.0; spread.len()];
            for (i, value) in upper.iter_mut().enumerate() {
                kernel.fill(&restricted.domain().point(chunk * CHUNK + i), &spread, 0..spread.len(), &mut column);
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

/// How far the variances computed with the same rows in two orders can differ.
///
/// Each answers for a matrix off by some E and so moves by |w|^2 |E|, w = (K + lambda I)^{-1} k(X, x), with
/// |w|^2 <= k/(4 lambda). Rounding errors of both signs make |E| about n eps (k + lambda) (Higham and Mary 2019); eight
/// times that for the two of them.
fn reordering(restricted: &Restricted, view: View<'_>) -> f64 {
    let (n, k) = (view.keys().len() as f64 + 1.0, restricted.largest_variance());
    4.0 * n * f64::EPSILON * k * (1.0 + k / view.prior().noise())
}

fn swept(restricted: &Restricted) -> bool {
    matches!(restricted.structure(), Structure::PerAxis(_))
}

fn same_rows(rows: &[Key], others: &[Key]) -> bool {
    rows == others || (rows.len() == others.len() && contains_all(rows, others))
}

fn contains_all(rows: &[Key], wanted: &[Key]) -> bool {
    let rows: HashSet<&Key> = rows.iter().collect();
    wanted.iter().all(|key| rows.contains(key))
}
