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

use super::{Form, Kernel, additive::RadialPart, along_distance::DistanceDerivatives, distance};
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
        out.fill(0.0);
        for part in self.parts() {
            let r = self.distance(x, y, part);
            let first = match self.slopes(r) {
                Some(slopes) => slopes.first,
                None if r == 0.0 && self.smoothness() <= 0.5 => return Err(self.not_differentiable("gradient", 0.5, r)),
                None => continue,
            };
            for (j, slot) in out.iter_mut().enumerate().filter(|(j, _)| first != 0.0 && part.contains(*j)) {
                *slot +=
                    part.share * self.variance * first * self.unit(x, y, j, part, r) * self.scale(j) * part.stretch;
            }
        }
        let r = distance::plain(x, y, &self.scales);
        self.check_finite(out, "gradient", 0.5, r)
    }

    /// Sets `out[i * d + j]` to d^2 k(x, y) / d x_i d y_j.
    ///
    /// Refused for an empirical kernel, and for Matern kernels with nu <= 1 where x = y.
    pub fn mixed_derivative(&self, x: &[f64], y: &[f64], out: &mut [f64]) -> Result<()> {
        self.check_pair(x, y)?;
        let dimension = x.len();
        check_length("the mixed derivative", dimension * dimension, out)?;
        out.fill(0.0);
        for part in self.parts() {
            self.add_mixed_derivative(part, x, y, out)?;
        }
        let r = distance::plain(x, y, &self.scales);
        self.check_finite(out, "mixed derivative", 1.0, r)
    }

    fn add_mixed_derivative(&self, part: RadialPart<'_>, x: &[f64], y: &[f64], out: &mut [f64]) -> Result<()> {
        let (r, dimension) = (self.distance(x, y, part), x.len());
        // On the diagonal e_j is undefined and its factor is 0; the linear kernel has no such term either.
        let (ratio, excess) = match self.slopes(r) {
            _ if matches!(self.form, Form::Linear) => (-1.0, 0.0),
            Some(slopes) => (slopes.ratio, slopes.excess),
            None if r == 0.0 => {
                (self.ratio_at_zero().ok_or_else(|| self.not_differentiable("mixed derivative", 1.0, r))?, 0.0)
            }
            None => (0.0, 0.0),
        };
        let factor = part.share * self.variance * part.stretch * part.stretch;
        let coordinates = || (0..dimension).filter(|&j| part.contains(j));
        for i in coordinates() {
            for j in coordinates() {
                let straight = if i == j { ratio } else { 0.0 };
                // The product of the two units is formed first, for symmetry bit for bit.
                let units = || self.unit(x, y, i, part, r) * self.unit(x, y, j, part, r);
                let along = if excess == 0.0 { 0.0 } else { excess * units() };
                out[i * dimension + j] -= factor * (straight + along) * (self.scale(i) * self.scale(j));
            }
        }
        Ok(())
    }

    /// L of the paper's Lemma 7, the square root of the largest mixed derivative on the diagonal.
    ///
    /// A function of norm B changes by at most B L ||x - y||.
    /// Refused for an empirical kernel, and for Matern kernels with nu <= 1.
    pub fn lipschitz(&self) -> Result<f64> {
        self.check_continuous()?;
        let ratio = self.ratio_at_zero().ok_or_else(|| self.not_differentiable("lipschitz constant", 1.0, 0.0))?;
        let steepest = self.scales.iter().copied().fold(0.0, f64::max);
        // Along one coordinate: the part of all parameters, and that of one.
        let share: f64 = self.parts().take(2).map(|part| part.share * part.stretch * part.stretch).sum();
        Ok((-ratio * self.variance * share).sqrt() * steepest)
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

    fn unit(&self, x: &[f64], y: &[f64], coordinate: usize, part: RadialPart<'_>, r: f64) -> f64 {
        (x[coordinate] - y[coordinate]) * self.scale(coordinate) * part.stretch / r
    }

    /// The distance that a part depends on.
    fn distance(&self, x: &[f64], y: &[f64], part: RadialPart<'_>) -> f64 {
        if self.additive.is_none() {
            return distance::plain(x, y, &self.scales);
        }
        let coordinates = (0..x.len()).filter(|&j| part.contains(j));
        coordinates.map(|j| ((x[j] - y[j]) * self.scale(j) * part.stretch).powi(2)).sum::<f64>().sqrt()
    }
}

fn check_length(what: &'static str, expected: usize, list: &[f64]) -> Result<()> {
    if list.len() == expected {
        return Ok(());
    }
    Err(Error::WrongLength { what, expected, found: list.len() })
}
