//! The posterior over a finite domain, and the exact argmax over it with few exact evaluations.
//!
//! | symbol | name | meaning |
//! |---|---|---|
//! | mu_S over D | means | one structured product after new observations, true within `mean_error` |
//! | sigma_{t-1}^2 over D | bounds | intervals that hold every candidate's variance |
//! | a(x) | acquisition | what is maximized, a function of mean and variance |
//!
//! Means and bounds only decide which candidates need exact evaluation. Every candidate whose value could reach the best
//! one is computed exactly, from its solved column; the choice is made among those. So the choice is that of brute force,
//! whatever the domain's structure, the state of the bounds and the number of threads.

mod bounds;
mod columns;
mod highest;
mod lazy;
mod leader;
mod search;
mod swept;

use std::sync::Arc;

use self::bounds::{Bounds, Intervals};
use self::columns::{Columns, Exact};
pub use self::leader::TIE;
use self::search::Query;
use crate::acquisition::{Acquisition, ConfidenceBound, LevelSet, Provable, Variance, WithoutNan};
use crate::restricted::Restricted;
use crate::{Error, Key, Marginal, Result, View, vector};

/// Candidates that are computed exactly at a time, at most.
const BLOCK: usize = 256;

/// The candidate of highest value, with its exact moments.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Maximizer {
    /// The candidate's index in the domain.
    pub index: usize,
    /// Its mean, from observed points.
    pub mean: f64,
    /// Its standard deviation given the rows of the view.
    pub sd: f64,
    /// The acquisition's value.
    pub score: f64,
}

/// Which candidates a question is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Among {
    /// All of the domain.
    All,
    /// Those that are not [excluded](Surface::set_excluded).
    Eligible,
}

/// Which rows bounds on variances are given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Conditioning {
    AllRows,
    ObservedRows,
}

/// The posterior over a finite domain.
///
/// ```
/// use std::sync::Arc;
/// use manyhands_gp::{ConfidenceBound, Domain, Grid, Kernel, Key, Posterior, Prior, Restricted, Surface};
/// # fn main() -> manyhands_gp::Result<()> {
/// let kernel = Kernel::squared_exponential(&[0.2])?;
/// let grid = Grid::even(&[(0.0, 1.0, 101)])?;
/// let mut surface = Surface::new(Arc::new(Restricted::new(kernel.clone(), Domain::Grid(grid), 1 << 20)?));
/// let mut posterior = Posterior::new(Prior::new(kernel, 0.0, 0.01)?, 1)?;
/// posterior.observe(Key { id: 0, site: 30 }, &[0.3], 1.0)?;
/// let first = surface.argmax(posterior.view(), &ConfidenceBound(2.0)).ok_or(manyhands_gp::Error::Empty { what: "the domain" })?;
/// // Once it is pending, the next choice is elsewhere.
/// let point = surface.restricted().domain().point(first.index);
/// posterior.hallucinate(Key { id: 1, site: first.index }, &point)?;
/// assert!(surface.argmax(posterior.view(), &ConfidenceBound(2.0)).is_some_and(|next| next.index != first.index));
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct Surface {
    restricted: Arc<Restricted>,
    means: Vec<f64>,
    mean_error: f64,
    /// What the means were made from.
    mean_source: Option<(Vec<Key>, Vec<f64>)>,
    /// Given all rows of a view.
    bounds: Bounds,
    /// Given a view's observed rows alone, once a search has needed both.
    observed_bounds: Option<Box<Bounds>>,
    columns: Columns,
    /// The order of rows that the columns were solved in.
    order: Vec<Key>,
    excluded: Vec<bool>,
}

impl Surface {
    /// The prior over the domain.
    pub fn new(restricted: Arc<Restricted>) -> Self {
        let (bounds, columns) = (Bounds::new(&restricted), Columns::new(restricted.budget()));
        let len = restricted.domain().len();
        Self {
            restricted,
            means: vec![0.0; len],
            mean_error: 0.0,
            mean_source: None,
            bounds,
            observed_bounds: None,
            columns,
            order: Vec::new(),
            excluded: Vec::new(),
        }
    }

    /// The domain and its kernel.
    #[inline]
    pub fn restricted(&self) -> &Arc<Restricted> {
        &self.restricted
    }

    /// Leaves a candidate out of every choice, or lets it in again.
    pub fn set_excluded(&mut self, index: usize, excluded: bool) {
        if self.excluded.is_empty() && excluded {
            self.excluded = vec![false; self.restricted.domain().len()];
        }
        if let Some(slot) = self.excluded.get_mut(index) {
            *slot = excluded;
        }
    }

    /// Whether a candidate is left out.
    #[inline]
    pub fn is_excluded(&self, index: usize) -> bool {
        self.excluded.get(index).copied().unwrap_or(false)
    }

    /// The means over the domain, right up to rounding; a choice's own mean is exact.
    pub fn means(&mut self, view: View<'_>) -> &[f64] {
        self.sync_means(view);
        &self.means
    }

    /// The exact moments of one candidate: mean, and standard deviation given the view's rows.
    pub fn moments(&mut self, view: View<'_>, index: usize) -> (f64, f64) {
        self.sync_columns(view);
        let exact = self.columns.exact(&self.restricted, view, &[index]);
        (exact[0].mean, exact[0].variance.sqrt())
    }

    /// The exact moments of all candidates that can matter, by index: those for which `can_matter` holds of upper bounds
    /// of their mean and of their variance given the view's rows. So `can_matter` must not turn false as either grows.
    pub fn moments_where(
        &mut self,
        view: View<'_>,
        among: Among,
        can_matter: impl Fn(f64, f64) -> bool,
    ) -> Vec<(usize, Marginal)> {
        self.sync_means(view);
        let given = self.sync_bounds(view);
        let variances = self.variance_intervals(given);
        let can_matter = |index: usize| can_matter(self.means[index] + self.mean_error, variances.at(index).1);
        let candidates: Vec<usize> =
            (0..self.means.len()).filter(|&index| self.is_among(index, among) && can_matter(index)).collect();
        let mut moments = Vec::with_capacity(candidates.len());
        for block in candidates.chunks(BLOCK) {
            let exact = self.evaluate(view, given, block);
            moments.extend(exact.into_iter().map(|e| (e.index, e.marginal())));
        }
        moments.sort_unstable_by_key(|(index, _)| *index);
        moments
    }

    /// The joint covariance of several candidates given the view's rows, row-major; see [`View::covariance`].
    pub fn covariance(&self, view: View<'_>, candidates: &[usize]) -> Result<Vec<f64>> {
        let domain = self.restricted.domain();
        if let Some(&index) = candidates.iter().find(|&&index| index >= domain.len()) {
            return Err(Error::NoSuchIndex { value: index as f64, len: domain.len() });
        }
        view.covariance(&domain.points_at(candidates))
    }

    /// The candidate of highest value, the lowest index among ties; none if all are excluded.
    ///
    /// Values within [`TIE`] of the highest are tied with it. Where all values are minus infinity, all are tied.
    #[doc(alias = "acquisition function")]
    pub fn argmax(&mut self, view: View<'_>, acquisition: &dyn Acquisition) -> Option<Maximizer> {
        if acquisition.as_provable() != Some(Provable::Variance) {
            self.sync_means(view);
        }
        let given = self.sync_bounds(view);
        // The built-in ones are called once per candidate, so not through a table of functions.
        match acquisition.as_provable() {
            Some(Provable::ConfidenceBound(multiplier)) => {
                self.search(view, &Query { acquisition: &ConfidenceBound(multiplier), given, within: None })
            }
            Some(Provable::Variance) => self.search(view, &Query { acquisition: &Variance, given, within: None }),
            None => self.search(view, &Query { acquisition: &WithoutNan(acquisition), given, within: None }),
        }
    }

    /// As [`Surface::argmax`], among the candidates of a region; none if all of them are excluded, or there are none.
    ///
    /// The region is a matter of the view's observed rows; the acquisition is given all of its rows.
    #[doc(alias = "pure exploration")]
    pub fn argmax_within(
        &mut self,
        view: View<'_>,
        acquisition: &dyn Acquisition,
        region: &LevelSet<'_>,
    ) -> Option<Maximizer> {
        self.sync_means(view);
        self.sync_columns(view);
        self.bounds.sync(&self.restricted, view);
        self.observed_bounds
            .get_or_insert_with(|| Box::new(Bounds::new(&self.restricted)))
            .sync(&self.restricted, view.observed_only());
        let given = Conditioning::AllRows;
        self.search(view, &Query { acquisition: &WithoutNan(acquisition), given, within: Some(region) })
    }

    /// sup over the domain of sigma_S(x)^2/sigma_{t-1}(x)^2, the exact hallucination factor, by evaluating every candidate.
    pub fn hallucination_factor(&mut self, view: View<'_>) -> f64 {
        self.sync_columns(view);
        let indices: Vec<usize> = (0..self.restricted.domain().len()).collect();
        let mut largest: f64 = 1.0;
        for block in indices.chunks(BLOCK) {
            for exact in self.columns.exact(&self.restricted, view, block) {
                if exact.variance > 0.0 {
                    largest = largest.max(exact.variance_observed / exact.variance);
                }
            }
        }
        largest
    }

    fn is_among(&self, index: usize, among: Among) -> bool {
        among == Among::All || !self.is_excluded(index)
    }

    fn sync_means(&mut self, view: View<'_>) {
        let keys = &view.keys()[..view.observed()];
        let current = |(rows, values): &(Vec<Key>, Vec<f64>)| rows == keys && values == view.whitened();
        if self.mean_source.as_ref().is_some_and(current) {
            return;
        }
        let weights = view.weights();
        let sites: Vec<usize> = keys.iter().map(|k| k.site).collect();
        self.means.fill(view.prior().mean());
        self.restricted.add_product(&sites, &weights, &mut self.means);
        let largest = self.restricted.largest_variance();
        self.mean_error = if sites.is_empty() {
            0.0
        } else {
            // Of the weights, of the product, and of the exact means that are compared with this.
            let size = view.prior().mean().abs() + largest.sqrt() * vector::norm(view.whitened());
            view.rounding(vector::norm(&weights), largest)
                + self.restricted.product_error(&weights)
                + 4.0 * f64::EPSILON * (sites.len() as f64) * size
        };
        self.mean_source = Some((keys.to_vec(), view.whitened().to_vec()));
    }

    fn sync_columns(&mut self, view: View<'_>) {
        let keys = view.posterior().keys();
        let common = self.order.iter().zip(keys).take_while(|(a, b)| a == b).count();
        if common < self.order.len() {
            self.columns.truncate(common);
        }
        self.order.truncate(common);
        self.order.extend_from_slice(&keys[common..view.keys().len().max(common)]);
    }

    /// Brings columns and bounds to the rows of `view`. Where bounds given observed rows are kept apart, a view without
    /// pending rows takes those, so that the others need not forget the pending rows and add them again.
    fn sync_bounds(&mut self, view: View<'_>) -> Conditioning {
        self.sync_columns(view);
        match &mut self.observed_bounds {
            Some(bounds) if view.observed() == view.keys().len() => {
                bounds.sync(&self.restricted, view);
                Conditioning::ObservedRows
            }
            _ => {
                self.bounds.sync(&self.restricted, view);
                Conditioning::AllRows
            }
        }
    }

    fn bounds(&self, given: Conditioning) -> &Bounds {
        match (given, &self.observed_bounds) {
            (Conditioning::ObservedRows, Some(bounds)) => bounds,
            _ => &self.bounds,
        }
    }

    /// Intervals that hold the variances of all candidates.
    fn variance_intervals(&self, given: Conditioning) -> Intervals<'_> {
        // Far from all rows the variance is the prior's, which slack must not exceed: there everything is tied.
        self.bounds(given).intervals(self.restricted.largest_variance())
    }

    /// Computes exact moments, in any order, and tightens the bounds.
    fn evaluate(&mut self, view: View<'_>, given: Conditioning, indices: &[usize]) -> Vec<Exact> {
        let exact = self.columns.exact(&self.restricted, view, indices);
        match (given, &mut self.observed_bounds) {
            (Conditioning::ObservedRows, Some(bounds)) => bounds.refresh(&exact),
            _ => self.bounds.refresh(&exact),
        }
        exact
    }
}
