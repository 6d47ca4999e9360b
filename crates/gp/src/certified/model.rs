//! What all cells share: the posterior's weights and norm, the kernel's shape, and allowances for rounding.
//!
//! | symbol | name in code | meaning |
//! |---|---|---|
//! | v | largest | the largest k(x, x) over the region |
//! | w | weights | (K_O + lambda I)^{-1} (y - prior mean) |
//! | \|\|mu\|\|_k | norm | of mean less prior mean: sqrt(w' K_O w) = sqrt(z'z - lambda w'w) |
//! | n | rows | of the view, observed and pending |
//!
//! **Rounding.** Cholesky factor and substitutions are exact for a matrix perturbed by c n eps tr(K + lambda I) (Higham 2002,
//! Theorems 8.5 and 10.3), so that a bilinear form a' (K + lambda I)^{-1} b is off by that times |(K + lambda I)^{-1} a|
//! |(K + lambda I)^{-1} b|. If a are the values at X of a function g, the first of these is at most
//! ||g||_k/(2 sqrt(lambda)): it is A^{1/2} (A + lambda)^{-1} applied to something of norm at most ||g||_k, and
//! sqrt(a)/(a + lambda) <= 1/(2 sqrt(lambda)). Constants of the dozen roundings in between are covered by c = 16.

use super::remainder::Remainder;
use crate::kernel::Radial;
use crate::posterior::remaining;
use crate::{Error, Family, Result, View, vector};

/// Relative allowance for a few dozen roundings.
pub(super) const ROUNDING: f64 = 1e-13;

/// A box around a point.
#[derive(Debug, Clone, Copy)]
pub(super) struct Around<'a> {
    pub centre: &'a [f64],
    /// Half-widths in lengthscales, one for each coordinate.
    pub half: &'a [f64],
}

/// The kernel as a function of scaled coordinates.
#[derive(Debug, Clone)]
pub(super) enum Shape {
    /// v rho(|s - t|).
    Radial(Radial, Box<Remainder>),
    /// v s't.
    Linear,
}

/// A view of a posterior, ready to be bounded over cells.
#[derive(Debug)]
pub(super) struct Model<'a> {
    pub view: View<'a>,
    pub shape: Shape,
    /// Reciprocal lengthscales, one for each coordinate.
    pub scales: Vec<f64>,
    pub weights: Vec<f64>,
    pub norm: f64,
    pub largest: f64,
    /// What rounding can do to a mean, for a section of norm sqrt(v).
    pub mean_slack: f64,
    /// What rounding can do to a variance, for a section of norm sqrt(v).
    pub variance_slack: f64,
}

impl<'a> Model<'a> {
    /// Refuses an empirical kernel. `corner` holds the largest |x_j| of the region.
    pub fn new(view: View<'a>, corner: &[f64]) -> Result<Self> {
        let kernel = view.prior().kernel();
        let shape = match (kernel.radial(), kernel.family()) {
            (Some(radial), _) => Shape::Radial(radial, Box::new(Remainder::new(radial))),
            (None, Family::Linear) => Shape::Linear,
            (None, Family::Empirical) => return Err(Error::NoDerivative { family: "empirical" }),
            (None, _) => return Err(Error::NotRadial { family: "partly additive" }),
        };
        let scales = (0..corner.len()).map(|j| kernel.scale(j)).collect();
        let (weights, largest, noise) = (view.weights(), kernel.variance_at(corner), view.prior().noise());
        let rows = view.keys().len() as f64;
        let points = view.posterior().points().iter().take(view.keys().len());
        let trace: f64 = points.map(|x| kernel.variance_at(x) + noise).sum();
        let bessel = matches!(&shape, Shape::Radial(radial, _) if !radial.has_closed_form());
        let unit = 16.0 * (rows + 1.0) * f64::EPSILON + if bessel { 2e-12 } else { 0.0 };
        let (size, squares) = (vector::norm(&weights), vector::squares(view.whitened()));
        let norm_square = remaining(squares, noise * size * size) + unit * (trace * size * size + squares);
        let dual = 0.5 * (largest / noise).sqrt();
        let sum: f64 = weights.iter().map(|w| w.abs()).sum();
        let mean_slack = unit * (trace * dual * size + largest * sum + view.prior().mean().abs());
        let variance_slack = unit * (trace * dual * dual + largest);
        Ok(Self { view, shape, scales, weights, norm: norm_square.sqrt(), largest, mean_slack, variance_slack })
    }

    /// Up to which order sections are expanded.
    pub fn order(&self) -> usize {
        match &self.shape {
            Shape::Radial(_, remainder) => remainder.highest(),
            Shape::Linear => 1,
        }
    }

    /// The norm of what the expansion of this order leaves out of a section, at steps up to `r` lengthscales long.
    pub fn remainder(&self, order: usize, r: f64) -> f64 {
        match &self.shape {
            Shape::Radial(_, remainder) => self.largest.sqrt() * remainder.norm(order, r),
            Shape::Linear if order == 0 => self.variance().sqrt() * r,
            Shape::Linear => 0.0,
        }
    }

    /// Bounds, one for each row, of what the expansion of this order leaves out of the section there, |k(c+t, x_i) -
    /// T_p(t)(x_i)| <= v r^(p+1)/(p+1)! times the steepest derivative of order p + 1 (Taylor's theorem along the step).
    /// Next to the norms of `remainder` they are of one half order to one order higher, but for each row by itself.
    pub fn row_remainders(&self, order: usize, r: f64, reach: &[(f64, f64)]) -> Vec<f64> {
        let Shape::Radial(radial, _) = &self.shape else {
            // Order 1 is the kernel itself; order 0 is left to the norms.
            return vec![if order == 0 { f64::INFINITY } else { 0.0 }; reach.len()];
        };
        let power = self.variance() * [r, r * r / 2.0, r * r * r / 6.0][order];
        reach.iter().map(|&(near, far)| power * radial.steepest(order + 1, near, far)).collect()
    }

    /// The distances, in lengthscales, of each row to the nearest and the farthest point of a cell.
    pub fn reach(&self, cell: Around<'_>) -> Vec<(f64, f64)> {
        let distances = |point: &[f64]| {
            let (mut near, mut far) = (0.0, 0.0);
            for (j, x) in point.iter().enumerate() {
                let distance = ((cell.centre[j] - x) * self.scales[j]).abs();
                let (least, most) = ((distance - cell.half[j]).max(0.0), distance + cell.half[j]);
                near += least * least;
                far += most * most;
            }
            (near.sqrt() * (1.0 - ROUNDING), far.sqrt() * (1.0 + ROUNDING))
        };
        self.points().map(distances).collect()
    }

    /// The factor in front of the kernel.
    pub fn variance(&self) -> f64 {
        self.view.prior().kernel().variance()
    }

    /// How many rows the variance is given.
    pub fn rows(&self) -> usize {
        self.view.keys().len()
    }

    /// The points of the rows.
    pub fn points(&self) -> impl Iterator<Item = &'a [f64]> {
        self.view.posterior().points().iter().take(self.rows())
    }

    /// Mean and variance at a point, by the same steps as a prediction.
    pub fn moments(&self, point: &[f64]) -> (f64, f64) {
        let (posterior, kernel) = (self.view.posterior(), self.view.prior().kernel());
        let mut column = vec![0.0; self.rows()];
        kernel.fill(point, posterior.points(), 0..column.len(), &mut column);
        posterior.factor().solve_lower(0, &mut column);
        let mean = self.view.prior().mean() + vector::dot(&column[..self.view.observed()], self.view.whitened());
        (mean, remaining(kernel.variance_at(point), vector::squares(&column)))
    }
}
