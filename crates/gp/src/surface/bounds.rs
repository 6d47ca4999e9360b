//! Bounds on the variance of every candidate, which dismiss most candidates without exact evaluation.
//!
//! On grids with structure the variances themselves are updated with every new row; elsewhere upper bounds fall as
//! candidates are evaluated.

use std::collections::HashSet;

use super::columns::Exact;
use super::lazy::Lazy;
use super::swept::Swept;
use crate::restricted::{Restricted, Structure};
use crate::{Key, View};

/// Variance bounds over the domain.
#[derive(Debug, Clone)]
pub(super) enum Bounds {
    Swept(Swept),
    Lazy(Lazy),
}

impl Bounds {
    /// The prior's variances.
    pub fn new(restricted: &Restricted) -> Self {
        match restricted.structure() {
            Structure::PerAxis(_) | Structure::Stationary(_) => Self::Swept(Swept::new(restricted)),
            Structure::Dense => Self::Lazy(Lazy::new(restricted)),
        }
    }

    /// Brings the bounds to the rows of `view`.
    pub fn sync(&mut self, restricted: &Restricted, view: View<'_>) {
        match self {
            Self::Swept(swept) => swept.sync(restricted, view),
            Self::Lazy(lazy) => lazy.sync(restricted, view),
        }
    }

    /// Whether the bounds are the variances themselves, up to slack.
    pub fn are_tight(&self) -> bool {
        matches!(self, Self::Swept(_))
    }

    /// Intervals that hold the variances of all candidates, none of which exceeds `cap`.
    pub fn intervals(&self, cap: f64) -> Intervals<'_> {
        let (uppers, slack) = self.uppers();
        Intervals { uppers, slack, are_tight: self.are_tight(), cap }
    }

    /// The upper ends from which [`Bounds::intervals`] are made, and the slack to add to them.
    pub fn uppers(&self) -> (&[f64], f64) {
        match self {
            Self::Swept(swept) => swept.variances(),
            Self::Lazy(lazy) => lazy.uppers(),
        }
    }

    /// Lowers the bounds of candidates that were evaluated exactly.
    pub fn refresh(&mut self, exact: &[Exact]) {
        if let Self::Lazy(lazy) = self {
            lazy.refresh(exact);
        }
    }
}

/// Intervals of variances, read once per candidate in a sweep.
#[derive(Clone, Copy)]
pub(super) struct Intervals<'a> {
    uppers: &'a [f64],
    slack: f64,
    are_tight: bool,
    cap: f64,
}

impl Intervals<'_> {
    /// The least and the largest variance that candidate `index` can have.
    #[inline(always)]
    pub fn at(&self, index: usize) -> (f64, f64) {
        let value = self.uppers[index];
        // Without branches: next to rows the variance is about the slack, and as often above as below it.
        let least = if self.are_tight { (value - self.slack).max(0.0) } else { 0.0 };
        (least, (value + self.slack).min(self.cap))
    }
}

/// How far the variances computed with the same rows in two orders can differ.
///
/// Each is exact for a matrix perturbed by some E and so moves by |w|^2 |E|, w = (K + lambda I)^{-1} k(X, x), with
/// |w|^2 <= k/(4 lambda). Rounding errors of both signs make |E| about n eps (k + lambda) (Higham and Mary 2019); eight
/// times that for the two of them.
pub(super) fn reordering(restricted: &Restricted, view: View<'_>) -> f64 {
    let (n, k) = (view.keys().len() as f64 + 1.0, restricted.largest_variance());
    4.0 * n * f64::EPSILON * k * (1.0 + k / view.prior().noise())
}

/// Whether every one of `wanted` is among `rows`.
pub(super) fn contains_all(rows: &[Key], wanted: &[Key]) -> bool {
    let rows: HashSet<&Key> = rows.iter().collect();
    wanted.iter().all(|key| rows.contains(key))
}
