//! The posterior as one moment saw it: what surfaces and samples are made from.

use crate::{Key, Posterior, Prior, vector};

/// The posterior given its first rows: mean from the first `observed`, variance from the first `rows`.
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

    /// The posterior looked at.
    pub fn posterior(&self) -> &'a Posterior {
        self.posterior
    }

    /// The prior.
    pub fn prior(&self) -> &'a Prior {
        self.posterior.prior()
    }

    /// The keys of the rows that count.
    pub fn keys(&self) -> &'a [Key] {
        &self.posterior.keys()[..self.rows]
    }

    /// How many rows give the mean.
    pub fn observed(&self) -> usize {
        self.observed
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

    /// The mean at the rows that give it: y - lambda w, as K w = y - prior mean - lambda w, and y - prior mean = L z.
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
