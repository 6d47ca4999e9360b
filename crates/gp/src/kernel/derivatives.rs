//! Derivatives of kernels in a point and in both points.
//!
//! | symbol | name in code | meaning |
//! |---|---|---|
//! | r | r | distance in lengthscales |
//! | k', k'' | slopes | derivatives of the correlation along r |
//! | e_j | unit | (x_j - y_j) / (l_j r), a unit vector |
//! | L | lipschitz | of the paper's Lemma 7: \|f(x) - f(y)\| <= \|\|f\|\|_k L \|\|x - y\|\| |
//!
//! For radial kernels
//! - dk/dx_j = k' e_j / l_j,
//! - d^2k/dx_i dy_j = -((k'/r) \[i = j\] + (k'' - k'/r) e_i e_j) / (l_i l_j).

use super::{Form, Kernel, along_distance::DistanceDerivatives, distance};
use crate::{Error, Result};

/// Beyond this distance every radial kernel and its derivatives are 0, and r^2 might be infinite.
const FAR: f64 = 1e100;

impl Kernel {
    /// Sets `out[j]` to d k(x, y) / d x_j.
    ///
    /// Refused for an empirical kernel, and for Matern kernels with nu <= 1/2 where x = y.
    pub fn gradient(&self, x: &[f64], y: &[f64], out: &mut [f64]) -> Result<()> {
        self.check_pair(x, y)?;
        check_length("the gradient", x.len(), out)?;
        if let Form::Linear = self.form {
            for (j, slot) in out.iter_mut().enumerate() {
                *slot = self.variance * y[j] * self.scale(j) * self.scale(j);
            }
            return Ok(());
        }
        let r = distance::plain(x, y, &self.scales);
        let first = match self.slopes(r) {
            Some(slopes) => slopes.first,
            None if r == 0.0 && self.smoothness() <= 0.5 => return Err(self.not_differentiable("gradient", 0.5, r)),
            None => 0.0,
        };
        for (j, slot) in out.iter_mut().enumerate() {
            *slot = if first == 0.0 { 0.0 } else { self.variance * first * self.unit(x, y, j, r) * self.scale(j) };
        }
        self.check_finite(out, "gradient", 0.5, r)
    }

    /// Sets `out[i * d + j]` to d^2 k(x, y) / d x_i d y_j.
    ///
    /// Refused for an empirical kernel, and for Matern kernels with nu <= 1 where x = y.
    pub fn mixed_derivative(&self, x: &[f64], y: &[f64], out: &mut [f64]) -> Result<()> {
        self.check_pair(x, y)?;
        let dimension = x.len();
        check_length("the mixed derivative", dimension * dimension, out)?;
        let r = distance::plain(x, y, &self.scales);
        // On the diagonal e_j is undefined and its factor is 0; the linear kernel has no such term either.
        let (ratio, excess) = match self.slopes(r) {
            _ if matches!(self.form, Form::Linear) => (-1.0, 0.0),
            Some(slopes) => (slopes.ratio, slopes.excess),
            None if r == 0.0 => {
                (self.ratio_at_zero().ok_or_else(|| self.not_differentiable("mixed derivative", 1.0, r))?, 0.0)
            }
            None => (0.0, 0.0),
        };
        for (i, row) in out.chunks_exact_mut(dimension).enumerate() {
            for (j, slot) in row.iter_mut().enumerate() {
                let straight = if i == j { ratio } else { 0.0 };
                // The product of the two units is formed first, for symmetry bit for bit.
                let along = if excess == 0.0 { 0.0 } else { excess * (self.unit(x, y, i, r) * self.unit(x, y, j, r)) };
                *slot = -self.variance * (straight + along) * (self.scale(i) * self.scale(j));
            }
        }
        self.check_finite(out, "mixed derivative", 1.0, r)
    }

    /// L of the paper's Lemma 7, the square root of the largest mixed derivative on the diagonal.
    ///
    /// A function of norm B changes by at most B L ||x - y||.
    /// Refused for an empirical kernel, and for Matern kernels with nu <= 1.
    pub fn lipschitz(&self) -> Result<f64> {
        self.check_continuous()?;
        let ratio = self.ratio_at_zero().ok_or_else(|| self.not_differentiable("lipschitz constant", 1.0, 0.0))?;
        let steepest = self.scales.iter().copied().fold(0.0, f64::max);
        Ok((-ratio * self.variance).sqrt() * steepest)
    }

    /// k'(r) / r at distance 0, where it exists; the linear kernel's mixed derivative is that of -r^2 / 2.
    fn ratio_at_zero(&self) -> Option<f64> {
        match self.form {
            Form::SquaredExponential | Form::Linear => Some(-1.0),
            Form::Matern(matern) => matern.ratio_at_zero(),
            Form::Empirical(_) => None,
        }
    }

    /// The slopes of a radial kernel; none at distance 0, where each caller knows the limit, and none where all are 0.
    fn slopes(&self, r: f64) -> Option<DistanceDerivatives> {
        let between = r > 0.0 && r < FAR;
        match self.form {
            Form::SquaredExponential if between => Some(DistanceDerivatives::squared_exponential(r)),
            Form::Matern(matern) if between => Some(matern.slopes(r)),
            _ => None,
        }
    }

    fn check_continuous(&self) -> Result<()> {
        match self.form {
            Form::Empirical(_) => Err(Error::NoDerivative { family: "empirical" }),
            _ => Ok(()),
        }
    }

    /// Refuses an empirical kernel, and points of the wrong dimension.
    fn check_pair(&self, x: &[f64], y: &[f64]) -> Result<()> {
        self.check_continuous()?;
        self.check_dimension(x.len())?;
        check_length("the second point", x.len(), y)
    }

    /// Next to the diagonal the derivatives of a rough Matern kernel can pass the largest float.
    fn check_finite(&self, out: &[f64], what: &'static str, above: f64, distance: f64) -> Result<()> {
        if out.iter().all(|value| value.is_finite()) {
            return Ok(());
        }
        Err(self.not_differentiable(what, above, distance))
    }

    fn not_differentiable(&self, what: &'static str, above: f64, distance: f64) -> Error {
        Error::NotDifferentiable { what, above, smoothness: self.smoothness(), distance }
    }

    /// nu; the squared exponential is the limit nu -> infinity.
    fn smoothness(&self) -> f64 {
        match self.form {
            Form::Matern(matern) => matern.smoothness(),
            _ => f64::INFINITY,
        }
    }

    /// Which lengthscale belongs to a coordinate.
    fn entry(&self, coordinate: usize) -> usize {
        if self.scales.len() == 1 { 0 } else { coordinate }
    }

    pub(crate) fn scale(&self, coordinate: usize) -> f64 {
        self.scales[self.entry(coordinate)]
    }

    fn unit(&self, x: &[f64], y: &[f64], coordinate: usize, r: f64) -> f64 {
        (x[coordinate] - y[coordinate]) * self.scale(coordinate) / r
    }
}

fn check_length(what: &'static str, expected: usize, list: &[f64]) -> Result<()> {
    if list.len() == expected {
        return Ok(());
    }
    Err(Error::WrongLength { what, expected, found: list.len() })
}
