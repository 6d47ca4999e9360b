//! The covariances of one point with many, made from their differences one coordinate at a time, with the factors of their
//! gradients.
//!
//! | symbol | name in code | meaning |
//! |---|---|---|
//! | r | | distance in lengthscales |
//! | k(r) | covariance | |
//! | k'(r)/r | ratio | dk/dx_j = ratio (x_j - y_j)/l_j^2, and dk/d ln l_j = -ratio ((x_j - y_j)/l_j)^2 |
//!
//! A kernel that is partly a sum over parameters has such a ratio for each of them: a k'(r)/r + (1 - a)/G kappa^2 k'(r_g)/r_g,
//! the second at distance kappa r_g.

use super::additive::Additive;
use super::profile::Profile;
use super::{Form, Kernel, bessel, matern::Matern};
use crate::tuning::JOINT_SHARE;
use crate::{Error, Result, vector};

/// A correlation of the distance alone.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Correlation {
    Closed(Profile),
    General(Matern),
}

/// One point's differences from many others. Nothing is allocated after [`Kernel::differences`].
#[derive(Debug, Clone)]
pub(crate) struct Differences {
    correlation: Correlation,
    variance: f64,
    additive: Option<Additive>,
    rows: usize,
    /// Squared distances in lengthscales, which become ratios: one list, or one for each parameter.
    blocks: Vec<Vec<f64>>,
    /// Squared distances over all coordinates, which become ratios; unused without a sum over parameters.
    joint: Vec<f64>,
    values: Vec<f64>,
}

impl Kernel {
    /// Room for the differences of a point from up to `most` others; refused if the kernel does not depend on distances.
    pub(crate) fn differences(&self, most: usize) -> Result<Differences> {
        let correlation = match &self.form {
            Form::SquaredExponential => Correlation::Closed(Profile::SquaredExponential),
            Form::Matern(Matern::Half) => Correlation::Closed(Profile::Half),
            Form::Matern(Matern::ThreeHalves) => Correlation::Closed(Profile::ThreeHalves),
            Form::Matern(Matern::FiveHalves) => Correlation::Closed(Profile::FiveHalves),
            Form::Matern(general) => Correlation::General(*general),
            Form::Linear => return Err(Error::NotRadial { family: "linear" }),
            Form::Empirical(_) => return Err(Error::NotRadial { family: "empirical" }),
        };
        let additive = self.additive.clone();
        let room = |used: bool| vec![0.0; if used { most } else { 0 }];
        let blocks = vec![room(true); additive.as_ref().map_or(1, Additive::count)];
        let (joint, values) = (room(additive.is_some()), room(additive.is_some()));
        Ok(Differences { correlation, variance: self.variance, additive, rows: most, blocks, joint, values })
    }
}

impl Differences {
    /// The same with variance 1.
    pub fn of_correlation(self) -> Self {
        Self { variance: 1.0, ..self }
    }

    /// How many lists of ratios there are.
    pub fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// Which list of ratios belongs to a coordinate.
    pub fn block(&self, coordinate: usize) -> usize {
        self.additive.as_ref().map_or(0, |additive| additive.parameters()[coordinate])
    }

    /// Starts with another point and so many others.
    pub fn restart(&mut self, rows: usize) {
        self.rows = rows;
        self.blocks.iter_mut().for_each(|squares| squares[..rows].fill(0.0));
    }

    /// Adds the differences along one coordinate, of which `scale` is the reciprocal lengthscale.
    pub fn add(&mut self, coordinate: usize, x: f64, scale: f64, ys: &[f64]) {
        let block = self.block(coordinate);
        vector::add_squared_differences(x, scale, ys, &mut self.blocks[block][..self.rows]);
    }

    /// Sets the covariances, when the differences along all coordinates are there, and makes the ratios.
    pub fn evaluate(&mut self, covariances: &mut [f64]) {
        let Self { correlation, variance, rows, .. } = *self;
        let Some(additive) = &self.additive else {
            return correlation.apply(variance, &mut self.blocks[0][..rows], covariances);
        };
        let (joint, values) = (&mut self.joint[..rows], &mut self.values[..rows]);
        joint.fill(0.0);
        for squares in &self.blocks {
            joint.iter_mut().zip(squares).for_each(|(total, square)| *total += square);
        }
        correlation.apply(JOINT_SHARE * variance, joint, covariances);
        let (share, stretch) = (additive.share() * variance, additive.stretch() * additive.stretch());
        for ratios in self.blocks.iter_mut().map(|block| &mut block[..rows]) {
            ratios.iter_mut().for_each(|square| *square *= stretch);
            correlation.apply(share, ratios, values);
            covariances.iter_mut().zip(&*values).for_each(|(covariance, value)| *covariance += value);
            ratios.iter_mut().zip(&*joint).for_each(|(ratio, joint)| *ratio = joint + stretch * *ratio);
        }
    }

    /// The ratios of a list, after [`Differences::evaluate`].
    pub fn ratios(&self, block: usize) -> &[f64] {
        &self.blocks[block][..self.rows]
    }
}

impl Correlation {
    /// From squared distances, which `ratios` holds: the covariances, and k'(r)/r in their place. Where a rough kernel has no
    /// derivative, at r = 0, the ratio is 0.
    fn apply(self, variance: f64, ratios: &mut [f64], covariances: &mut [f64]) {
        let general = match self {
            Self::Closed(profile) => return profile.apply_with_ratios(variance, ratios, covariances),
            Self::General(general) => general,
        };
        let (smoothness, limit) = (general.smoothness(), general.ratio_at_zero().unwrap_or(0.0));
        let rate = (2.0 * smoothness).sqrt();
        for (ratio, covariance) in ratios.iter_mut().zip(covariances) {
            let r = ratio.sqrt();
            *covariance = variance * bessel::correlation(smoothness, rate * r);
            *ratio = variance * if r > 0.0 { general.slopes(r).ratio } else { limit };
        }
    }
}
