//! The variance of every candidate of a grid with structure, updated with each row in one sweep over the grid.
//!
//! | symbol | name | meaning |
//! |---|---|---|
//! | V | | L^{-1} K(X, D); the variance at x is k(x,x) minus the squares of column x |
//! | w | weights | row p of L^{-1}: row p of V is K(D, X) w, one structured product |
//!
//! A new row takes one product, whatever the number of rows; a row that leaves is added back by the product it would take
//! to append it again. The variances are true up to `slack`, which is bounded from the rounding of the products. Thin
//! per-axis factors recompute the whole surface at the price of a few dozen sweeps, which resets the slack.

use std::collections::HashSet;

use rayon::prelude::*;

use super::bounds::{contains_all, reordering};
use crate::posterior::remaining;
use crate::restricted::{Restricted, Structure};
use crate::tuning::{MANY_ROWS, SOLVED_ROWS, SWEEPS};
use crate::{Factor, Key, View, vector};

/// The error of an FFT is spread evenly over the grid; this times the largest error at the rows' own sites bounds it.
const SAFETY: f64 = 64.0;
/// Rows from which that can be relied on.
const ENOUGH_ROWS: usize = 8;
const CHUNK: usize = 1 << 12;

/// Variances over the domain.
#[derive(Debug, Clone)]
pub(super) struct Swept {
    variances: Vec<f64>,
    conditioned: Vec<Key>,
    slack: f64,
    sweeps: usize,
}

/// One row of V: the last of `sites`, given the others, which are the leading rows of `factor`.
struct SweptRow<'a> {
    factor: &'a Factor,
    sites: &'a [usize],
}

impl Swept {
    /// The prior's variances.
    pub fn new(restricted: &Restricted) -> Self {
        let variances = (0..restricted.domain().len()).map(|i| restricted.variance(i)).collect();
        Self { variances, conditioned: Vec::new(), slack: 0.0, sweeps: 0 }
    }

    /// The variances, and how far they may be off.
    pub fn variances(&self) -> (&[f64], f64) {
        (&self.variances, self.slack)
    }

    /// Brings the variances to the rows of `view`.
    pub fn sync(&mut self, restricted: &Restricted, view: View<'_>) {
        let keys = view.keys();
        if keys.is_empty() && !self.conditioned.is_empty() {
            *self = Self::new(restricted);
        }
        if !keys.starts_with(&self.conditioned) && contains_all(keys, &self.conditioned) {
            self.slack += reordering(restricted, view);
        }
        let changed = !contains_all(keys, &self.conditioned);
        let new = keys.len().saturating_sub(self.conditioned.len());
        match restricted.structure() {
            Structure::PerAxis(kron)
                if (changed || new > MANY_ROWS || self.sweeps + new > SWEEPS)
                    && kron.variance_bytes(keys.len()) <= restricted.budget() =>
            {
                self.make_thin(restricted, view);
            }
            Structure::Stationary(_) if self.conditioned.is_empty() && SOLVED_ROWS.contains(&new) => {
                self.make_solved(restricted, view);
            }
            _ => self.sweep_changes(restricted, view),
        }
        self.conditioned = keys.to_vec();
    }

    /// Adds back the rows that left, and sweeps those that came.
    fn sweep_changes(&mut self, restricted: &Restricted, view: View<'_>) {
        let keys = view.keys();
        let known: HashSet<Key> = self.conditioned.iter().copied().collect();
        let (stayed, came): (Vec<Key>, Vec<Key>) = keys.iter().partition(|key| known.contains(key));
        let present: HashSet<&Key> = keys.iter().collect();
        let left: Vec<Key> = self.conditioned.iter().filter(|key| !present.contains(key)).copied().collect();
        if !left.is_empty() {
            self.sweep_after(restricted, view, &stayed, &left, 1.0);
        }
        if stayed == keys[..stayed.len()] {
            let sites: Vec<usize> = keys.iter().map(|key| key.site).collect();
            for row in stayed.len()..keys.len() {
                let row = SweptRow { factor: view.posterior().factor(), sites: &sites[..=row] };
                self.sweep(restricted, view, row, -1.0);
            }
        } else {
            self.sweep_after(restricted, view, &stayed, &came, -1.0);
        }
    }

    /// Sweeps `rows` as they would follow `before`, which the posterior's factor does not have in this order.
    fn sweep_after(&mut self, restricted: &Restricted, view: View<'_>, before: &[Key], rows: &[Key], sign: f64) {
        let sites: Vec<usize> = before.iter().chain(rows).map(|key| key.site).collect();
        let factor = factor_of(restricted, &sites, view.prior().noise());
        for row in before.len()..sites.len() {
            self.sweep(restricted, view, SweptRow { factor: &factor, sites: &sites[..=row] }, sign);
        }
        self.slack += reordering(restricted, view);
    }

    /// Adds `sign` times the squares of one row of V.
    fn sweep(&mut self, restricted: &Restricted, view: View<'_>, row: SweptRow<'_>, sign: f64) {
        let mut weights = vec![0.0; row.sites.len()];
        weights[row.sites.len() - 1] = 1.0;
        row.factor.solve_upper(&mut weights);
        let add = |variances: &mut [f64], values: &[f64]| {
            variances.iter_mut().zip(values).for_each(|(s, v)| *s = remaining(*s, -sign * (v * v)));
        };
        let mut error = restricted.product_error(&weights);
        if let Structure::PerAxis(kron) = restricted.structure() {
            let core = kron.core(&restricted.positions(row.sites), &weights);
            kron.visit(&core, &mut self.variances, add);
        } else {
            let mut values = vec![0.0; self.variances.len()];
            restricted.add_product(row.sites, &weights, &mut values);
            self.variances.par_chunks_mut(CHUNK).zip(values.par_chunks(CHUNK)).for_each(|(s, v)| add(s, v));
            error = error.min(error_from_rows(restricted, view.prior().noise(), &row, &weights, &values));
        }
        let k = restricted.largest_variance();
        let error = error + view.rounding(vector::norm(&weights), k);
        self.slack += 2.0 * k.sqrt() * error + 2.0 * f64::EPSILON * k;
        self.sweeps += 1;
    }

    /// The whole surface from thin factors per axis.
    fn make_thin(&mut self, restricted: &Restricted, view: View<'_>) {
        let Structure::PerAxis(kron) = restricted.structure() else { return };
        let sites: Vec<usize> = view.keys().iter().map(|k| k.site).collect();
        self.variances = kron.variances(view.posterior().factor(), &restricted.positions(&sites));
        self.sweeps = 0;
        let (n, k) = (sites.len() as f64 + 1.0, restricted.largest_variance());
        let noise = view.prior().noise();
        // |L^{-1}| <= 1/sqrt(noise), |L| <= sqrt(n k + noise), and |V| <= sqrt(k) at every candidate.
        let substitution = 8.0 * n * f64::EPSILON * k * ((n * k + noise) / noise).sqrt();
        let truncation = 2.0 * (k * n / noise).sqrt() * kron.residual();
        self.slack = substitution + truncation + 4.0 * kron.rank() as f64 * f64::EPSILON * k;
    }

    /// The whole surface by solving every candidate's column, with the operations that its exact moments take.
    fn make_solved(&mut self, restricted: &Restricted, view: View<'_>) {
        const TOGETHER: usize = 16;
        let (points, rows) = (view.posterior().points(), view.keys().len());
        self.variances.par_chunks_mut(TOGETHER).enumerate().for_each(|(chunk, variances)| {
            let mut solved = vec![0.0; variances.len() * rows];
            for (i, column) in solved.chunks_mut(rows).enumerate() {
                let point = restricted.domain().point(chunk * TOGETHER + i);
                restricted.kernel().fill(&point, points, 0..rows, column);
            }
            let mut columns: Vec<&mut [f64]> = solved.chunks_mut(rows).collect();
            view.posterior().factor().solve_lower_many(0, &mut columns);
            for (i, (variance, column)) in variances.iter_mut().zip(&columns).enumerate() {
                *variance = remaining(restricted.variance(chunk * TOGETHER + i), vector::squares(column));
            }
        });
        self.slack = 0.0;
    }
}

/// The factor of the covariance of these candidates, in this order.
fn factor_of(restricted: &Restricted, sites: &[usize], noise: f64) -> Factor {
    let points = restricted.domain().points_at(sites);
    let mut factor = Factor::new();
    for (row, point) in points.iter().enumerate() {
        let mut covariances = vec![0.0; row];
        restricted.kernel().fill(point, &points, 0..row, &mut covariances);
        factor.push(&covariances, restricted.kernel().variance_at(point), noise);
    }
    factor
}

/// A bound on the error of a product by FFT from its error at the rows' own sites, where K = L L' - lambda I gives row p of
/// V as -lambda w_j, and as L_pp - lambda w_p at the row itself.
fn error_from_rows(restricted: &Restricted, noise: f64, row: &SweptRow<'_>, weights: &[f64], values: &[f64]) -> f64 {
    let last = weights.len() - 1;
    if last < ENOUGH_ROWS {
        return f64::INFINITY;
    }
    let exact = |j: usize| if j == last { row.factor.pivot(last) - noise * weights[j] } else { -noise * weights[j] };
    let largest = (0..=last).map(|j| (values[row.sites[j]] - exact(j)).abs()).fold(0.0, f64::max);
    let total: f64 = weights.iter().map(|w| w.abs()).sum();
    SAFETY * (largest + f64::EPSILON * restricted.largest_variance() * total) + restricted.unevenness() * total
}
