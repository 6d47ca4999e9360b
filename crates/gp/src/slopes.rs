//! Mean and variance of the posterior at any point together with their gradients, for climbing.
//!
//! | symbol | name | meaning |
//! |---|---|---|
//! | w | weights | (K_O + lambda I)^{-1} (y - prior mean), and 0 for pending rows |
//! | u(x) | | (K + lambda I)^{-1} k(X, x) |
//! | k'(r)/r | ratio | dk(x, y)/dx_j = ratio (x_j - y_j)/l_j^2, one for each parameter where the kernel is partly a sum over them |
//!
//! With these d mean/dx_j = sum_i w_i dk(x, x_i)/dx_j and d variance/dx_j = dk(x, x)/dx_j - 2 sum_i u_i dk(x, x_i)/dx_j.
//! The linear kernel has dk(x, y)/dx_j = variance y_j/l_j^2: the form above with ratio -variance, and differences from the
//! origin.

use crate::kernel::Differences;
use crate::posterior::remaining;
use crate::{Acquisition, Error, Family, Provable, Result, View, vector};

/// Mean and variance with their gradients, for climbing. Evaluating a point allocates nothing.
///
/// ```
/// use manyhands_gp::{ConfidenceBound, Kernel, Key, Posterior, Prior, Slopes};
/// # fn main() -> manyhands_gp::Result<()> {
/// let prior = Prior::new(Kernel::matern(2.5, &[0.2])?, 0.0, 0.01)?;
/// let mut posterior = Posterior::new(prior, 1)?;
/// posterior.observe(Key { id: 0, site: 0 }, &[0.3], 1.0)?;
/// let mut gradient = [0.0];
/// Slopes::new(posterior.view())?.value(&[0.4], &ConfidenceBound(0.0), &mut gradient);
/// assert!(gradient[0] < 0.0);
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct Slopes<'a> {
    view: View<'a>,
    differentiation: Differentiation,
    weights: Vec<f64>,
    /// Coordinate by coordinate.
    coordinates: Vec<Vec<f64>>,
    scales: Vec<f64>,
    work: Scratch,
}

#[derive(Debug, Clone)]
enum Differentiation {
    Radial(Differences),
    /// The ratios, one for each row, are minus the variance.
    Linear {
        variance: f64,
        ratios: Vec<f64>,
    },
}

impl Differentiation {
    /// The coordinate from which the differences to the rows are taken.
    fn origin(&self, x: f64) -> f64 {
        match self {
            Self::Radial(_) => x,
            Self::Linear { .. } => 0.0,
        }
    }

    /// d k(x, x)/d x_j, times l_j^2.
    fn own_slope(&self, x: f64) -> f64 {
        match self {
            Self::Radial(_) => 0.0,
            Self::Linear { variance, .. } => 2.0 * variance * x,
        }
    }

    /// How many lists of ratios there are.
    fn blocks(&self) -> usize {
        match self {
            Self::Radial(differences) => differences.blocks(),
            Self::Linear { .. } => 1,
        }
    }

    /// Which list of ratios belongs to a coordinate.
    fn block(&self, coordinate: usize) -> usize {
        match self {
            Self::Radial(differences) => differences.block(coordinate),
            Self::Linear { .. } => 0,
        }
    }

    fn ratios(&self, block: usize) -> &[f64] {
        match self {
            Self::Radial(differences) => differences.ratios(block),
            Self::Linear { ratios, .. } => ratios,
        }
    }
}

/// One entry per row, and a gradient.
#[derive(Debug, Clone)]
struct Scratch {
    /// k(X, x), then u(x).
    solved: Vec<f64>,
    /// Ratios times weights, and times -2 u(x).
    pulls: Vec<f64>,
    shrinks: Vec<f64>,
    /// Of the mean or the variance, whichever the caller has no room for.
    other_gradient: Vec<f64>,
}

impl<'a> Slopes<'a> {
    /// For a view; refused for an empirical kernel, which has no derivatives.
    pub fn new(view: View<'a>) -> Result<Self> {
        let (points, rows, kernel) = (view.posterior().points(), view.keys().len(), view.prior().kernel());
        let differentiation = match kernel.family() {
            Family::Linear => {
                Differentiation::Linear { variance: kernel.variance(), ratios: vec![-kernel.variance(); rows] }
            }
            Family::Empirical => return Err(Error::NoDerivative { family: "empirical" }),
            _ => Differentiation::Radial(kernel.differences(rows)?),
        };
        let mut weights = view.weights();
        weights.resize(rows, 0.0);
        let dimension = points.dimension();
        let zeros = || vec![0.0; rows];
        let other_gradient = vec![0.0; dimension];
        Ok(Self {
            view,
            differentiation,
            weights,
            coordinates: (0..dimension).map(|j| points.coordinate(j, rows)).collect(),
            scales: (0..dimension).map(|j| kernel.scale(j)).collect(),
            work: Scratch { solved: zeros(), pulls: zeros(), shrinks: zeros(), other_gradient },
        })
    }

    /// Mean and variance at `x`; sets their gradients. Where a Matern kernel with nu <= 1/2 has no derivative, at its
    /// own points, it is taken as 0.
    ///
    /// Panics, as a slice does, if a list is shorter than a point.
    pub fn at(&mut self, x: &[f64], mean_gradient: &mut [f64], variance_gradient: &mut [f64]) -> (f64, f64) {
        let (prior, factor) = (self.view.prior(), self.view.posterior().factor());
        self.fill(x);
        let (solved, rows) = (&mut self.work.solved, self.weights.len());
        let mean = prior.mean() + vector::dot(solved, &self.weights);
        factor.solve_lower(0, solved);
        let variance = remaining(prior.kernel().variance_at(x), vector::dot(solved, solved));
        factor.solve_upper(solved);
        let Scratch { solved, pulls, shrinks, .. } = &mut self.work;
        for block in 0..self.differentiation.blocks() {
            let ratios = self.differentiation.ratios(block);
            for i in 0..rows {
                pulls[i] = ratios[i] * self.weights[i];
                shrinks[i] = ratios[i] * (-2.0 * solved[i]);
            }
            for (j, ys) in self.coordinates.iter().enumerate().filter(|(j, _)| self.differentiation.block(*j) == block)
            {
                let origin = self.differentiation.origin(x[j]);
                let [pull, shrink] = vector::weighted_differences(origin, ys, [pulls, shrinks]);
                let square = self.scales[j] * self.scales[j];
                mean_gradient[j] = pull * square;
                variance_gradient[j] = (shrink + self.differentiation.own_slope(x[j])) * square;
            }
        }
        (mean, variance)
    }

    /// Sets the gradient of the mean at `x`, which needs no solve.
    ///
    /// Panics, as a slice does, if a list is shorter than a point.
    pub fn mean_gradient(&mut self, x: &[f64], gradient: &mut [f64]) {
        self.fill(x);
        let pulls = &mut self.work.pulls;
        for block in 0..self.differentiation.blocks() {
            let ratios = self.differentiation.ratios(block);
            (0..self.weights.len()).for_each(|i| pulls[i] = ratios[i] * self.weights[i]);
            for (j, ys) in self.coordinates.iter().enumerate().filter(|(j, _)| self.differentiation.block(*j) == block)
            {
                let origin = self.differentiation.origin(x[j]);
                let [pull, _] = vector::weighted_differences(origin, ys, [pulls, ratios]);
                gradient[j] = pull * self.scales[j] * self.scales[j];
            }
        }
    }

    /// An acquisition's value at `x`; sets its gradient, by the chain rule. Where nothing is left of the variance, that of
    /// the sd is taken as 0.
    ///
    /// Panics, as a slice does, if a list is shorter than a point.
    pub fn value(&mut self, x: &[f64], acquisition: &dyn Acquisition, gradient: &mut [f64]) -> f64 {
        let mut other = std::mem::take(&mut self.work.other_gradient);
        let value = if acquisition.as_provable() == Some(Provable::Variance) {
            // As it is: by way of the sd it would be rounded twice more.
            self.at(x, &mut other, gradient).1
        } else {
            let (mean, variance) = self.at(x, gradient, &mut other);
            let (by_mean, by_sd) = acquisition.slopes(mean, variance);
            gradient.iter_mut().for_each(|g| *g *= by_mean);
            let sd = variance.sqrt();
            if sd > 0.0 {
                gradient.iter_mut().zip(&other).for_each(|(g, w)| *g += by_sd * w / (2.0 * sd));
            }
            acquisition.value(mean, variance)
        };
        self.work.other_gradient = other;
        value
    }

    /// The covariances of `x` and the rows, and the ratios of their gradients.
    fn fill(&mut self, x: &[f64]) {
        let (prior, solved) = (self.view.prior(), &mut self.work.solved);
        match &mut self.differentiation {
            Differentiation::Radial(differences) => {
                differences.restart(solved.len());
                for (j, ys) in self.coordinates.iter().enumerate() {
                    differences.add(j, x[j], self.scales[j], ys);
                }
                differences.evaluate(solved);
            }
            Differentiation::Linear { .. } => {
                prior.kernel().fill(x, self.view.posterior().points(), 0..solved.len(), solved);
            }
        }
    }
}
