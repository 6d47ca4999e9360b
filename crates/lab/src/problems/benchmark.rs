//! The benchmark functions of Azimi, Jalali and Fern (2012), on the 31 x 31 grid of the paper.

use std::f64::consts::PI;

use manyhands_core::Domain;
use manyhands_gp::{Grid, Kernel, Prior};

use crate::{FiniteProblem, Result};

/// Points along each coordinate of [0, 1]^2.
const SIDE: usize = 31;
/// l^2.
const SQUARED_LENGTHSCALE: f64 = 0.1;

/// Cosines: 1 - sum over both coordinates of g^2 - 0.3 cos(3 pi g), g = 1.6 x - 0.5.
pub fn cosines(noise: f64) -> Result<FiniteProblem> {
    on_the_grid("Cosines", noise, |x, y| 1.0 - cosines_term(x) - cosines_term(y))
}

/// g^2 - 0.3 cos(3 pi g), g = 1.6 x - 0.5.
pub(crate) fn cosines_term(x: f64) -> f64 {
    let g = 1.6 * x - 0.5;
    g * g - 0.3 * (3.0 * PI * g).cos()
}

/// Rosenbrock, turned over: 10 - 100 (y - x^2)^2 - (1 - x)^2.
pub fn rosenbrock(noise: f64) -> Result<FiniteProblem> {
    on_the_grid("Rosenbrock", noise, |x, y| 10.0 - 100.0 * (y - x * x).powi(2) - (1.0 - x).powi(2))
}

fn on_the_grid(name: &str, noise: f64, f: impl Fn(f64, f64) -> f64) -> Result<FiniteProblem> {
    let grid = Grid::even(&[(0.0, 1.0, SIDE); 2])?;
    let kernel = Kernel::squared_exponential(&[SQUARED_LENGTHSCALE.sqrt()])?;
    let prior = Prior::new(kernel, 0.0, noise)?;
    let values = (0..grid.len()).map(|i| grid.point(i)).map(|x| f(x[0], x[1])).collect();
    FiniteProblem::new(name, Domain::Grid(grid), prior, values)
}
