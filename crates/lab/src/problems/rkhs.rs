//! Functions of a kernel's RKHS, drawn as in the paper (after Chowdhury and Gopalan 2017, section 6).

use manyhands_core::Domain;
use manyhands_gp::{Grid, Kernel, Prior};
use rand::{Rng, RngExt};

use crate::{FiniteProblem, Result};

/// How many kernels a function is a sum of.
const CENTRES: usize = 100;
/// D is [0, 1] at this many evenly spaced points.
const CANDIDATES: usize = 100;

/// f = sum_i a_i k(c_i, .)/m with 100 centres c_i uniform on [0, 1], weights a_i uniform on [-1, 1], and m such that
/// max |f| = 1 over 100 evenly spaced points. Its norm is sqrt(a'Ka)/m.
pub fn rkhs_function(kernel: Kernel, noise: f64, rng: &mut impl Rng) -> Result<FiniteProblem> {
    let grid = Grid::even(&[(0.0, 1.0, CANDIDATES)])?;
    let centres: Vec<f64> = (0..CENTRES).map(|_| rng.random_range(0.0..=1.0)).collect();
    let weights: Vec<f64> = (0..CENTRES).map(|_| rng.random_range(-1.0..=1.0)).collect();
    let at = |x: f64| -> f64 { centres.iter().zip(&weights).map(|(c, a)| a * kernel.covariance(&[*c], &[x])).sum() };
    let raw: Vec<f64> = grid.axes()[0].iter().map(|&x| at(x)).collect();
    let largest = raw.iter().fold(0.0, |largest: f64, value| value.abs().max(largest));
    // a'Ka is not negative; for a smooth kernel it can round below 0 where the function all but vanishes.
    let norm = centres.iter().zip(&weights).map(|(c, a)| a * at(*c)).sum::<f64>().max(0.0).sqrt();
    let values = raw.iter().map(|value| value / largest).collect();
    let prior = Prior::new(kernel, 0.0, noise)?;
    Ok(FiniteProblem::new("RKHS function", Domain::Grid(grid), prior, values)?.with_norm(norm / largest))
}
