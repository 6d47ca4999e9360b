//! The posterior of a Gaussian process given observed and pending points, on one growing Cholesky factor.
//!
//! | symbol | name | meaning |
//! |---|---|---|
//! | O, P | observed, pending | rows with and without a reward; the factor's rows are ordered `[O | P]` |
//! | lambda | noise | variance of the noise, > 0 |
//! | L | factor | Cholesky factor of K + lambda I over all rows; its leading block is the factor over O |
//! | v(x) | solved column | L^{-1} k(X, x); its first entries belong to O alone |
//! | z | whitened | L_O^{-1} (y - prior mean) |
//! | mu_S(x) | mean | prior mean + v_O(x)' z: from O alone |
//! | sigma_{t-1}(x)^2 | variance | k(x,x) - v(x)' v(x): pending points are hallucinated |
//! | sigma_S(x)^2 | observed variance | k(x,x) - v_O(x)' v_O(x) |
//! | G | information | (1/2) ln det(I + K_O/lambda), equation (3) of the paper |
//!
//! Hallucinating a point (setting its reward to the mean, equations (1) and (2) of the paper) leaves the mean as it is
//! and shrinks the variance; here it simply adds a row that the mean does not read.
//!
//! Every change is to the list of rows; the factor catches up, from the first row that is not as it was, when it is read.

use faer::{Accum, Mat};

use crate::prior::check_size;
use crate::solution::{LazySolution, Solution};
use crate::{Error, Factor, Points, Prior, Result, View};
use crate::{dense, vector};

/// What identifies a row of the posterior: the caller's name for it and its place in the caller's domain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    /// The caller's name for the row, unique among the rows present.
    pub id: u64,
    /// The index of the row's point in a finite domain; repeats share it.
    pub site: usize,
}

/// Mean and standard deviations of one point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Marginal {
    /// The mean, from observed points.
    pub mean: f64,
    /// The standard deviation given observed and pending points.
    pub sd: f64,
    /// The standard deviation given observed points alone.
    pub sd_observed: f64,
}

/// A Gaussian process conditioned on observed and pending points.
///
/// ```
/// use manyhands_gp::{Kernel, Key, Posterior, Prior};
/// # fn main() -> manyhands_gp::Result<()> {
/// let prior = Prior::new(Kernel::squared_exponential(&[0.2])?, 0.0, 0.025)?;
/// let mut posterior = Posterior::new(prior, 1)?;
/// posterior.hallucinate(Key { id: 0, site: 0 }, &[0.3])?;
/// posterior.hallucinate(Key { id: 1, site: 0 }, &[0.8])?;
/// posterior.settle(1, 1.5)?; // the second result came first
/// let there = posterior.predict(&[0.8])?;
/// assert!(there.mean > 1.4 && there.sd < 0.2);
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct Posterior {
    prior: Prior,
    points: Points,
    keys: Vec<Key>,
    /// y - prior mean of the observed rows.
    residuals: Vec<f64>,
    solved: LazySolution,
}

impl Posterior {
    /// The prior itself, over points of this dimension.
    pub fn new(prior: Prior, dimension: usize) -> Result<Self> {
        prior.kernel().check_dimension(dimension)?;
        let points = Points::new(dimension)?;
        Ok(Self { prior, points, keys: vec![], residuals: vec![], solved: LazySolution::default() })
    }

    /// The prior.
    #[inline]
    pub fn prior(&self) -> &Prior {
        &self.prior
    }

    /// The rows' keys, observed ones first, each kind in the order it came.
    #[inline]
    pub fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// The key of the row of this name.
    pub fn key(&self, id: u64) -> Result<Key> {
        self.position(id).map(|position| self.keys[position])
    }

    /// The rows' points, in the order of [`Posterior::keys`].
    #[inline]
    pub fn points(&self) -> &Points {
        &self.points
    }

    /// How many rows are observed.
    #[inline]
    pub fn observed(&self) -> usize {
        self.residuals.len()
    }

    /// How many rows are pending.
    #[inline]
    pub fn pending(&self) -> usize {
        self.keys.len() - self.observed()
    }

    /// The factor of K + noise I over all rows, which is made when it is first read.
    pub fn factor(&self) -> &Factor {
        &self.solved().factor
    }

    /// The same rows under another prior, with new values for the observed ones, as if they had been appended one by one; all
    /// at once, at the speed of matrix products.
    pub fn rebuilt(&self, prior: Prior, values: &[f64]) -> Result<Self> {
        if values.len() != self.observed() {
            return Err(Error::WrongLength { what: "values", expected: self.observed(), found: values.len() });
        }
        values.iter().try_for_each(|&value| check_size("a value", value))?;
        prior.kernel().check_dimension(self.points.dimension())?;
        self.points.iter().try_for_each(|point| prior.kernel().check_point(point))?;
        let residuals: Vec<f64> = values.iter().map(|value| value - prior.mean()).collect();
        let (points, keys) = (self.points.clone(), self.keys.clone());
        let solved = LazySolution::new(Solution::at_once(points.clone()));
        Ok(Self { prior, points, keys, residuals, solved })
    }

    /// Has all rows factored at once, at the speed of matrix products, when the factor is next read. Up to rounding that is
    /// what appending them gives; cached columns must be recomputed.
    pub fn factor_at_once(&mut self) {
        self.solved = LazySolution::new(Solution::at_once(self.points.clone()));
    }

    /// Adds a pending point, whose value is not known: it shrinks the variance and leaves the mean as it is.
    #[doc(alias = "pending")]
    #[doc(alias = "fantasize")]
    #[doc(alias = "batch")]
    pub fn hallucinate(&mut self, key: Key, point: &[f64]) -> Result<()> {
        self.check(point)?;
        if self.keys.iter().any(|k| k.id == key.id) {
            return Err(Error::RowExists { id: key.id });
        }
        self.points.push(point)?;
        self.keys.push(key);
        self.solved.change();
        Ok(())
    }

    /// Adds a point together with its value.
    pub fn observe(&mut self, key: Key, point: &[f64], value: f64) -> Result<()> {
        check_size("a value", value)?;
        self.hallucinate(key, point)?;
        self.settle(key.id, value)
    }

    /// Gives a pending point its value. The oldest pending point costs nothing; others are moved before it, which re-appends
    /// the pending rows in between.
    pub fn settle(&mut self, id: u64, value: f64) -> Result<()> {
        check_size("a value", value)?;
        let (position, observed) = (self.pending_position(id)?, self.observed());
        if position > observed {
            self.keys[observed..=position].rotate_right(1);
            self.points.bring_forward(position, observed);
            self.solved.change().truncate(observed);
        }
        self.residuals.push(value - self.prior.mean());
        self.solved.change();
        Ok(())
    }

    /// Replaces the value of an observed point. All rows are factored anew when the factor is next read.
    pub fn amend(&mut self, id: u64, value: f64) -> Result<()> {
        check_size("a value", value)?;
        let position = self.observed_position(id)?;
        self.residuals[position] = value - self.prior.mean();
        self.factor_at_once();
        Ok(())
    }

    /// Takes back the value of an observed point, which becomes the last of the pending ones. All rows are factored anew when
    /// the factor is next read.
    pub fn withdraw(&mut self, id: u64) -> Result<()> {
        let position = self.observed_position(id)?;
        let point = self.points.get(position).to_vec();
        self.points.remove(position);
        self.points.push(&point)?;
        self.keys[position..].rotate_left(1);
        self.residuals.remove(position);
        self.factor_at_once();
        Ok(())
    }

    /// Forgets a pending point.
    pub fn retract(&mut self, id: u64) -> Result<()> {
        let position = self.pending_position(id)?;
        self.keys.remove(position);
        self.points.remove(position);
        self.solved.change().truncate(position);
        Ok(())
    }

    /// Forgets the rows from `rows` on, which must be pending.
    pub fn truncate(&mut self, rows: usize) {
        let rows = rows.max(self.observed());
        self.points.truncate(rows);
        self.keys.truncate(rows);
        self.solved.change().truncate(rows);
    }

    /// Mean and standard deviations of one point.
    pub fn predict(&self, point: &[f64]) -> Result<Marginal> {
        self.view().predict(point)
    }

    /// [`Posterior::predict`] of many points, bit for bit, in passes over the factor that several points share.
    pub fn predict_all<'a>(&self, points: impl IntoIterator<Item = &'a [f64]>) -> Result<Vec<Marginal>> {
        self.view().predict_all(points)
    }

    /// Mean and standard deviation of one point given the `most` observed rows that are correlated with it most, and no
    /// others: at the price of those alone. The standard deviation is never below the one given all observed rows, up to
    /// rounding.
    pub fn predict_nearby(&self, point: &[f64], most: usize) -> Result<Marginal> {
        self.check(point)?;
        let (kernel, observed) = (self.prior.kernel(), self.observed());
        let mut covariances = vec![0.0; observed];
        kernel.fill(point, &self.points, 0..observed, &mut covariances);
        self.given_rows(&most_correlated(&covariances, most)).predict(point)
    }

    /// The posterior given some of the observed rows, and nothing pending. Rows that are not observed are left out.
    ///
    /// ```
    /// use manyhands_gp::{Kernel, Key, Posterior, Prior};
    /// # fn main() -> manyhands_gp::Result<()> {
    /// let mut posterior = Posterior::new(Prior::new(Kernel::squared_exponential(&[0.2])?, 0.0, 0.01)?, 1)?;
    /// posterior.observe(Key { id: 0, site: 0 }, &[0.3], 1.0)?;
    /// posterior.observe(Key { id: 1, site: 1 }, &[0.8], -1.0)?;
    /// assert!(posterior.given_rows(&[1]).predict(&[0.3])?.sd > posterior.predict(&[0.3])?.sd);
    /// # Ok(()) }
    /// ```
    pub fn given_rows(&self, rows: &[usize]) -> Self {
        let rows: Vec<usize> = rows.iter().copied().filter(|&row| row < self.observed()).collect();
        let flat = rows.iter().flat_map(|&row| self.points.get(row).iter().copied()).collect();
        let points = Points::trusted(self.points.dimension(), flat);
        let keys: Vec<Key> = rows.iter().map(|&row| self.keys[row]).collect();
        let residuals = rows.iter().map(|&row| self.residuals[row]).collect();
        let solved = LazySolution::new(Solution::at_once(points.clone()));
        Self { prior: self.prior.clone(), points, keys, residuals, solved }
    }

    /// The information gained by the observed points, G = (1/2) ln det(I + K_O/lambda); equation (3) of the paper.
    pub fn information(&self) -> f64 {
        self.information_of(self.observed())
    }

    /// The information gained by the first `rows` rows: with all of them, that of observed and pending points.
    pub fn information_of(&self, rows: usize) -> f64 {
        0.5 * (self.factor().log_det(0..rows) - rows as f64 * self.prior.noise().ln())
    }

    /// ln p(y) of the observed values under the prior.
    pub fn log_marginal_likelihood(&self) -> f64 {
        let n = self.observed();
        -0.5 * (vector::squares(self.whitened())
            + self.factor().log_det(0..n)
            + n as f64 * (2.0 * std::f64::consts::PI).ln())
    }

    /// The realised hallucination factor 1 + lambda_max(C)/lambda, where C is the covariance of the pending points
    /// given the observed ones. It bounds sigma_S(x)^2/sigma_{t-1}(x)^2 at every x, so it is a valid xi of the paper's
    /// Definition 2. The pending block of the factor holds C + lambda I, so it costs one small eigenvalue.
    pub fn hallucination_factor(&self) -> Result<f64> {
        let (first, pending) = (self.observed(), self.pending());
        if pending == 0 {
            return Ok(1.0);
        }
        let block =
            Mat::from_fn(pending, pending, |i, j| if j <= i { self.factor().row(first + i)[first + j] } else { 0.0 });
        let mut product = Mat::zeros(pending, pending);
        dense::multiply(product.as_mut(), Accum::Replace, block.as_ref(), block.transpose(), 1.0);
        let largest = dense::eigenvalues(product.as_ref())?.last().copied().unwrap_or(0.0);
        Ok((largest / self.prior.noise()).max(1.0))
    }

    /// z = L_O^{-1} (y - prior mean).
    pub(crate) fn whitened(&self) -> &[f64] {
        &self.solved().whitened
    }

    /// w = (K_O + lambda I)^{-1} (y - prior mean).
    pub(crate) fn weights(&self) -> &[f64] {
        self.solved().weights()
    }

    /// Everything: mean from the observed rows, variance from all of them.
    pub fn view(&self) -> View<'_> {
        View::new(self, self.keys.len(), self.observed())
    }

    /// The posterior as it was when the first `observed` observations had come and nothing was pending.
    pub fn past_view(&self, observed: usize) -> View<'_> {
        let observed = observed.min(self.observed());
        View::new(self, observed, observed)
    }

    pub(crate) fn check(&self, point: &[f64]) -> Result<()> {
        self.points.check(point)?;
        self.prior.kernel().check_point(point)
    }

    /// v(x) for all rows.
    pub(crate) fn solved_column(&self, point: &[f64]) -> Vec<f64> {
        let mut column = vec![0.0; self.keys.len()];
        self.prior.kernel().fill(point, &self.points, 0..column.len(), &mut column);
        self.factor().solve_lower(0, &mut column);
        column
    }

    /// [`Posterior::solved_column`] of several points, bit for bit, in one pass over the factor.
    pub(crate) fn solved_columns(&self, points: &[&[f64]]) -> Vec<Vec<f64>> {
        let rows = self.keys.len();
        let mut columns = vec![vec![0.0; rows]; points.len()];
        for (point, column) in points.iter().zip(&mut columns) {
            self.prior.kernel().fill(point, &self.points, 0..rows, column);
        }
        self.factor().solve_lower_many(0, &mut columns.iter_mut().map(Vec::as_mut_slice).collect::<Vec<_>>());
        columns
    }

    fn pending_position(&self, id: u64) -> Result<usize> {
        let position = self.position(id)?;
        if position < self.observed() { Err(Error::RowObserved { id }) } else { Ok(position) }
    }

    fn observed_position(&self, id: u64) -> Result<usize> {
        let position = self.position(id)?;
        if position < self.observed() { Ok(position) } else { Err(Error::RowPending { id }) }
    }

    fn position(&self, id: u64) -> Result<usize> {
        self.keys.iter().position(|k| k.id == id).ok_or(Error::NoSuchRow { id })
    }

    fn solved(&self) -> &Solution {
        self.solved.read(|solved| solved.catch_up(&self.prior, &self.points, &self.residuals))
    }
}

/// What is left of a prior variance; rounding can push it below zero next to an observed point.
pub(crate) fn remaining(prior: f64, explained: f64) -> f64 {
    (prior - explained).max(0.0)
}

/// The rows with the largest covariances, in order; of equal ones the first.
pub(crate) fn most_correlated(covariances: &[f64], most: usize) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..covariances.len()).collect();
    if rows.len() > most {
        let size = |row: usize| covariances[row].abs();
        rows.select_nth_unstable_by(most, |&a, &b| size(b).total_cmp(&size(a)).then(a.cmp(&b)));
        rows.truncate(most);
        rows.sort_unstable();
    }
    rows
}
