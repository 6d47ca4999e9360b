//! Mean and variance of the posterior at any point together with their gradients, for climbing.

use crate::{Points, Result, View, vector};

/// The posterior as a landscape to climb.
#[derive(Debug, Clone)]
pub struct Slopes<'a> {
    view: View<'a>,
    weights: Vec<f64>,
    points: Points,
    covariances: Vec<f64>,
    ratios: Vec<f64>,
}

/// What is known at a point, and how it changes there.
#[derive(Debug, Clone, PartialEq)]
pub struct Slope {
    /// The mean, from the view's observed rows.
    pub mean: f64,
    /// The variance given all of the view's rows.
    pub variance: f64,
    /// The mean's gradient.
    pub mean_gradient: Vec<f64>,
    /// The variance's gradient.
    pub variance_gradient: Vec<f64>,
}

impl<'a> Slopes<'a> {
    /// The landscape of a view.
    pub fn new(view: View<'a>) -> Self {
        let rows = view.keys().len();
        let mut points = view.posterior().points().clone();
        points.truncate(rows);
        Self { view, weights: view.weights(), points, covariances: vec![0.0; rows], ratios: vec![0.0; rows] }
    }

    /// Mean and variance at `x` with their gradients. Refused for kernels that are not radial.
    pub fn at(&mut self, x: &[f64]) -> Result<Slope> {
        let prior = self.view.prior();
        let kernel = prior.kernel();
        kernel.fill_with_ratios(x, &self.points, &mut self.covariances, &mut self.ratios)?;
        let observed = self.weights.len();
        let mean = prior.mean() + vector::dot(&self.covariances[..observed], &self.weights);
        let factor = self.view.posterior().factor();
        let solved = &mut self.covariances;
        factor.solve_lower(0, solved);
        let variance = crate::posterior::remaining(kernel.variance_at(x), vector::squares(solved));
        factor.solve_upper(solved);
        let (mut mean_gradient, mut variance_gradient) = (vec![0.0; x.len()], vec![0.0; x.len()]);
        for (i, y) in self.points.iter().enumerate() {
            let pull = if i < observed { self.ratios[i] * self.weights[i] } else { 0.0 };
            let shrink = -2.0 * self.ratios[i] * solved[i];
            for (j, (a, b)) in x.iter().zip(y).enumerate() {
                mean_gradient[j] += pull * (a - b);
                variance_gradient[j] += shrink * (a - b);
            }
        }
        for j in 0..x.len() {
            let scale = kernel.scale(j) * kernel.scale(j);
            mean_gradient[j] *= scale;
            variance_gradient[j] *= scale;
        }
        Ok(Slope { mean, variance, mean_gradient, variance_gradient })
    }
}

impl Slopes<'_> {
    /// temporary
    pub fn upper(&mut self, x: &[f64], multiplier: f64, gradient: &mut [f64]) -> Result<f64> {
        let s = self.at(x)?;
        let sd = s.variance.sqrt();
        for j in 0..x.len() { gradient[j] = s.mean_gradient[j] + if sd > 0.0 { multiplier * s.variance_gradient[j] / (2.0 * sd) } else { 0.0 }; }
        Ok(s.mean + multiplier * sd)
    }
    /// temporary
    pub fn variance(&mut self, x: &[f64], gradient: &mut [f64]) -> Result<f64> {
        let s = self.at(x)?;
        gradient.copy_from_slice(&s.variance_gradient);
        Ok(s.variance)
    }
}
