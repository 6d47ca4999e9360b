//! Functions of a kernel's RKHS, drawn as in the paper (after Chowdhury and Gopalan 2017, section 6).

use manyhands_core::Domain;
use manyhands_gp::{Grid, Kernel, Prior};
use rand::{Rng, RngExt};

use crate::{FiniteProblem, Result};

/// How many kernels a function is a sum of.
const CENTRES: usize = 100;
/// D is [0, 1] at this many evenly spaced points.
const CANDIDATES: usize = 100;
/// Points among which a maximum is looked for first: many per lengthscale.
const SEARCHED: usize = 2_001;
/// Golden sections: 40 make an interval 2e8 times shorter.
const SECTIONS: usize = 40;

/// A function of an RKHS on [0, 1], known everywhere: f = sum_i a_i k(c_i, .).
#[derive(Debug, Clone, PartialEq)]
pub struct RkhsFunction {
    kernel: Kernel,
    centres: Vec<f64>,
    weights: Vec<f64>,
}

impl RkhsFunction {
    /// Of a kernel in one dimension, with a weight for every centre.
    pub fn new(kernel: Kernel, terms: impl IntoIterator<Item = (f64, f64)>) -> Result<Self> {
        kernel.check_dimension(1)?;
        let (centres, weights) = terms.into_iter().unzip();
        Ok(Self { kernel, centres, weights })
    }

    /// f(x).
    pub fn value(&self, x: f64) -> f64 {
        let terms = self.centres.iter().zip(&self.weights);
        terms.map(|(c, a)| a * self.kernel.covariance(&[*c], &[x])).sum()
    }

    /// sqrt(a'Ka).
    pub fn norm(&self) -> f64 {
        // a'Ka is not negative; for a smooth kernel it can round below 0 where the function all but vanishes.
        self.centres.iter().zip(&self.weights).map(|(c, a)| a * self.value(*c)).sum::<f64>().max(0.0).sqrt()
    }

    /// max f over [0, 1]: the best of the maxima next to 2,001 evenly spaced points, each found by golden sections.
    pub fn maximum(&self) -> f64 {
        let step = 1.0 / (SEARCHED - 1) as f64;
        let values: Vec<f64> = (0..SEARCHED).map(|i| self.value(i as f64 * step)).collect();
        let is_peak = |&i: &usize| values[i.saturating_sub(1)..(i + 2).min(SEARCHED)].iter().all(|v| *v <= values[i]);
        let around =
            |i: usize| self.peak_between(i.saturating_sub(1) as f64 * step, (i + 1).min(SEARCHED - 1) as f64 * step);
        (0..SEARCHED).filter(is_peak).map(around).chain(values.iter().copied()).fold(f64::NEG_INFINITY, f64::max)
    }

    /// The largest value that golden sections meet between two points.
    fn peak_between(&self, mut low: f64, mut high: f64) -> f64 {
        let ratio = 0.5 * (5.0f64.sqrt() - 1.0);
        let mut largest = f64::NEG_INFINITY;
        for _ in 0..SECTIONS {
            let (left, right) = (high - ratio * (high - low), low + ratio * (high - low));
            let (at_left, at_right) = (self.value(left), self.value(right));
            largest = largest.max(at_left).max(at_right);
            if at_left < at_right { low = left } else { high = right }
        }
        largest
    }

    /// f/m.
    fn divided_by(&self, m: f64) -> Self {
        Self { weights: self.weights.iter().map(|a| a / m).collect(), ..self.clone() }
    }
}

/// f = sum_i a_i k(c_i, .)/m with 100 centres c_i uniform on [0, 1], weights a_i uniform on [-1, 1], and m such that
/// max |f| = 1 over 100 evenly spaced points. Its norm is sqrt(a'Ka)/m.
pub fn rkhs_function(kernel: Kernel, noise: f64, rng: &mut impl Rng) -> Result<FiniteProblem> {
    let grid = Grid::even(&[(0.0, 1.0, CANDIDATES)])?;
    let centres: Vec<f64> = (0..CENTRES).map(|_| rng.random_range(0.0..=1.0)).collect();
    let weights: Vec<f64> = (0..CENTRES).map(|_| rng.random_range(-1.0..=1.0)).collect();
    let function = RkhsFunction { kernel: kernel.clone(), centres, weights };
    let raw: Vec<f64> = grid.axes()[0].iter().map(|&x| function.value(x)).collect();
    let largest = raw.iter().fold(0.0, |largest: f64, value| value.abs().max(largest));
    let values = raw.iter().map(|value| value / largest).collect();
    let problem = FiniteProblem::new("RKHS function", Domain::Grid(grid), Prior::new(kernel, 0.0, noise)?, values)?;
    Ok(problem.with_norm(function.norm() / largest).with_function(function.divided_by(largest)))
}
