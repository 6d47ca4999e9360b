//! The posterior given its first rows: what surfaces, samples and gradients are made from.

use std::collections::HashSet;

use faer::{Accum, Mat};
use rand::Rng;
use rayon::prelude::*;

use crate::posterior::remaining;
use crate::sample::times_normals;
use crate::{Key, Marginal, Points, Posterior, Prior, Result, dense, vector};

/// Points that are predicted together: their columns stay in the cache while the factor is read once.
const TOGETHER: usize = 64;

/// The posterior given its first rows: mean from the first `observed`, variance from the first `rows`.
///
/// ```
/// use manyhands_gp::{Kernel, Key, Points, Posterior, Prior};
/// # fn main() -> manyhands_gp::Result<()> {
/// let mut posterior = Posterior::new(Prior::new(Kernel::squared_exponential(&[0.2])?, 0.0, 0.01)?, 1)?;
/// posterior.observe(Key { id: 0, site: 0 }, &[0.3], 1.0)?;
/// posterior.hallucinate(Key { id: 1, site: 1 }, &[0.8])?;
/// let pair = Points::from_flat(1, vec![0.75, 0.85])?;
/// let given_all = posterior.view().covariance(&pair)?;
/// let given_observed = posterior.view().observed_only().covariance(&pair)?;
/// assert!(given_all[1] < given_observed[1]);
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    posterior: &'a Posterior,
    rows: usize,
    observed: usize,
}

impl<'a> View<'a> {
    pub(crate) fn new(posterior: &'a Posterior, rows: usize, observed: usize) -> Self {
        Self { posterior, rows, observed }
    }

    /// The posterior that this is a view of.
    #[inline]
    pub fn posterior(&self) -> &'a Posterior {
        self.posterior
    }

    /// The prior.
    #[inline]
    pub fn prior(&self) -> &'a Prior {
        self.posterior.prior()
    }

    /// The keys of the rows of the view.
    #[inline]
    pub fn keys(&self) -> &'a [Key] {
        &self.posterior.keys()[..self.rows]
    }

    /// The points of the rows that give the mean, in the order of these, each once.
    pub fn distinct_observed(&self) -> Result<Points> {
        let (rows, mut known) = (self.posterior.points(), HashSet::new());
        let mut points = rows.clone();
        points.truncate(0);
        // The sum makes -0 and 0 the same.
        let bits = |row: &[f64]| row.iter().map(|x| (x + 0.0).to_bits()).collect::<Vec<_>>();
        let mut news = rows.iter().take(self.observed).filter(|row| known.insert(bits(row)));
        news.try_for_each(|row| points.push(row))?;
        Ok(points)
    }

    /// How many rows give the mean.
    #[inline]
    pub fn observed(&self) -> usize {
        self.observed
    }

    /// The same mean, and the variance given the rows that give it: as if nothing were pending.
    #[inline]
    pub fn observed_only(self) -> Self {
        Self { rows: self.observed, ..self }
    }

    /// Mean and standard deviations of one point, `sd` being that given the rows of the view.
    pub fn predict(&self, point: &[f64]) -> Result<Marginal> {
        self.posterior.check(point)?;
        Ok(self.marginal(point, &self.posterior.solved_column(point)))
    }

    /// [`View::predict`] of many points, bit for bit, in passes over the factor that several points share.
    pub fn predict_all<'p>(&self, points: impl IntoIterator<Item = &'p [f64]>) -> Result<Vec<Marginal>> {
        let points: Vec<&[f64]> = points.into_iter().collect();
        points.iter().try_for_each(|point| self.posterior.check(point))?;
        // Made by this thread: the others would wait for it, and it for them.
        self.posterior.factor();
        let marginals = |together: &[&[f64]]| {
            let columns = self.posterior.solved_columns(together);
            let one = |(point, column): (&&[f64], &Vec<f64>)| self.marginal(point, column);
            together.iter().zip(&columns).map(one).collect::<Vec<_>>()
        };
        Ok(points.par_chunks(TOGETHER).flat_map_iter(marginals).collect())
    }

    /// The means of many points, without their standard deviations: as many products for each point as rows give the mean.
    ///
    /// ```
    /// use manyhands_gp::{Kernel, Key, Points, Posterior, Prior};
    /// # fn main() -> manyhands_gp::Result<()> {
    /// let mut posterior = Posterior::new(Prior::new(Kernel::squared_exponential(&[0.2])?, 0.0, 0.01)?, 1)?;
    /// posterior.observe(Key { id: 0, site: 0 }, &[0.3], 1.0)?;
    /// let means = posterior.view().means(&Points::from_flat(1, vec![0.4, 0.9])?)?;
    /// assert!((means[0] - posterior.predict(&[0.4])?.mean).abs() < 1e-12);
    /// # Ok(()) }
    /// ```
    pub fn means(&self, points: &Points) -> Result<Vec<f64>> {
        let (kernel, weights) = (self.prior().kernel(), self.weights());
        let mut column = vec![0.0; self.observed];
        let mean = |point| {
            self.posterior.check(point)?;
            kernel.fill(point, self.posterior.points(), 0..self.observed, &mut column);
            Ok(self.prior().mean() + vector::dot(&column, &weights))
        };
        points.iter().map(mean).collect()
    }

    /// The moments of a point from its column, solved for all rows of the posterior.
    fn marginal(&self, point: &[f64], column: &[f64]) -> Marginal {
        let (prior, observed) = (self.prior().kernel().variance_at(point), &column[..self.observed]);
        Marginal {
            mean: self.prior().mean() + vector::dot(observed, self.whitened()),
            sd: remaining(prior, vector::squares(&column[..self.rows])).sqrt(),
            sd_observed: remaining(prior, vector::squares(observed)).sqrt(),
        }
    }

    /// The joint covariance of several points given the rows of the view, row-major and exactly symmetric. Takes as many
    /// numbers per point as there are rows.
    #[doc(alias = "joint posterior")]
    pub fn covariance(&self, points: &Points) -> Result<Vec<f64>> {
        points.iter().try_for_each(|point| self.posterior.check(point))?;
        let (kernel, count) = (self.prior().kernel(), points.len());
        // The columns v(x) = L^{-1} k(X, x), of which k(x, y) - v(x)' v(y) is made; on one thread, for the bits.
        let mut solved = Mat::<f64>::zeros(self.rows, count);
        for (j, point) in points.iter().enumerate() {
            kernel.fill(point, self.posterior.points(), 0..self.rows, solved.col_as_slice_mut(j));
        }
        if self.rows > 0 {
            dense::solve_lower(self.posterior.factor().leading(self.rows), solved.as_mut());
        }
        let mut explained = Mat::<f64>::zeros(count, count);
        dense::multiply(explained.as_mut(), Accum::Replace, solved.transpose(), solved.as_ref(), 1.0);
        let mut covariance = vec![0.0; count * count];
        for i in 0..count {
            for j in 0..i {
                let between = kernel.covariance(points.get(i), points.get(j)) - explained[(i, j)];
                (covariance[i * count + j], covariance[j * count + i]) = (between, between);
            }
            covariance[i * count + i] = remaining(kernel.variance_at(points.get(i)), explained[(i, i)]);
        }
        Ok(covariance)
    }

    /// Samples of GP(mean, scale^2 x covariance given the rows of the view) at some points, drawn jointly.
    ///
    /// ```
    /// use manyhands_gp::{Kernel, Key, Points, Posterior, Prior};
    /// use rand::SeedableRng;
    /// # fn main() -> manyhands_gp::Result<()> {
    /// let mut posterior = Posterior::new(Prior::new(Kernel::squared_exponential(&[0.2])?, 0.0, 1e-8)?, 1)?;
    /// posterior.observe(Key { id: 0, site: 0 }, &[0.3], 1.0)?;
    /// let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(1);
    /// let near_and_far = Points::from_flat(1, vec![0.3, 0.9])?;
    /// for sample in posterior.view().draw_jointly(&near_and_far, 1.0, 10, &mut rng)? {
    ///     assert!((sample[0] - 1.0).abs() < 1e-3);
    /// }
    /// # Ok(()) }
    /// ```
    pub fn draw_jointly(&self, points: &Points, scale: f64, count: usize, rng: &mut impl Rng) -> Result<Vec<Vec<f64>>> {
        let (covariance, len) = (self.covariance(points)?, points.len());
        let factor = dense::pivoted_factor(Mat::from_fn(len, len, |i, j| covariance[i * len + j]))?;
        let means: Vec<f64> = self.predict_all(points.iter())?.iter().map(|there| there.mean).collect();
        let draw = |_| {
            let deviations = times_normals(factor.as_ref(), rng);
            means.iter().zip(deviations).map(|(mean, deviation)| mean + scale * deviation).collect()
        };
        Ok((0..count).map(draw).collect())
    }

    /// z = L_O^{-1} (y - prior mean).
    pub fn whitened(&self) -> &'a [f64] {
        &self.posterior.whitened()[..self.observed]
    }

    /// w = (K_O + lambda I)^{-1} (y - prior mean): the mean is prior mean + k(x, O)' w.
    pub fn weights(&self) -> Vec<f64> {
        if self.observed == self.posterior.observed() {
            return self.posterior.weights().to_vec();
        }
        let mut weights = self.whitened().to_vec();
        self.posterior.factor().solve_upper(&mut weights);
        weights
    }

    /// The norm of mean - prior mean in the kernel's own space, sqrt(w' K w), with K w = (y - prior mean) - lambda w.
    pub fn mean_norm(&self) -> f64 {
        // w' (y - prior mean) = z' z. Rounding can push the difference below zero.
        let square = vector::squares(self.whitened()) - self.prior().noise() * vector::squares(&self.weights());
        square.max(0.0).sqrt()
    }

    /// The mean at the rows that give it, the highest of which is the value to improve on: y - lambda w, as
    /// K w = y - prior mean - lambda w, and y - prior mean = L z.
    #[doc(alias = "incumbent")]
    pub fn row_means(&self) -> Vec<f64> {
        let (prior, z, factor) = (self.prior(), self.whitened(), self.posterior.factor());
        let mean =
            |(i, weight): (usize, f64)| prior.mean() + vector::dot(factor.row(i), &z[..=i]) - prior.noise() * weight;
        self.weights().into_iter().enumerate().map(mean).collect()
    }

    /// The information gained by the rows that give the mean.
    pub fn information(&self) -> f64 {
        self.posterior.information_of(self.observed)
    }

    /// A bound on the rounding error of k(x, X)' u for u = L^{-T} b with |u| = `norm`, at any x: substitution with n
    /// rows perturbs L by at most n eps |L| (Higham 2002, Theorem 8.5) and |L| <= sqrt(n k + lambda).
    pub(crate) fn rounding(&self, norm: f64, largest_variance: f64) -> f64 {
        let n = self.rows as f64 + 1.0;
        let size = (n * largest_variance + self.prior().noise()).sqrt();
        4.0 * n * f64::EPSILON * (size + largest_variance.sqrt() * n.sqrt()) * norm * largest_variance.sqrt()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use crate::{Kernel, Key, Posterior, Prior};

    #[test]
    fn distinct_observed_points_are_those_with_values_each_once() {
        let prior = Prior::new(Kernel::matern(1.5, &[0.5]).unwrap(), 0.0, 0.1).unwrap();
        let mut posterior = Posterior::new(prior, 2).unwrap();
        let key = |id: u64| Key { id, site: 0 };
        assert!(posterior.view().distinct_observed().unwrap().is_empty());
        let points = [[0.5, 0.0], [0.2, 1.0], [0.5, -0.0], [0.5, 0.25], [0.2, 1.0]];
        for (id, point) in (0..).zip(points) {
            posterior.observe(key(id), &point, 1.0).unwrap();
        }
        posterior.hallucinate(key(9), &[0.7, 0.7]).unwrap();
        let distinct = posterior.view().distinct_observed().unwrap();
        assert_eq!(distinct.iter().collect::<Vec<_>>(), [[0.5, 0.0], [0.2, 1.0], [0.5, 0.25]]);
    }
}
