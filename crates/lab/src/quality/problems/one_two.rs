//! Functions of one and two parameters.

use std::f64::consts::PI;

use manyhands_core::Space;

use super::{axes, cube, maximized, minimized};
use crate::Result;
use crate::problems::cosines_term;
use crate::quality::SpaceProblem;

/// Branin on [-5, 10] x [0, 15], three optima: the square and 1 + cos vanish, 10/(8 pi) is left.
pub fn branin() -> Result<SpaceProblem> {
    let space = Space::new(axes(&[(-5.0, 10.0), (0.0, 15.0)])?, vec![])?;
    minimized("branin", space, branin_value, (10.0 / (8.0 * PI), &[PI, 2.275]))
}

/// (y - 5.1/(4 pi^2) x^2 + 5/pi x - 6)^2 + 10 (1 - 1/(8 pi)) cos x + 10.
pub fn branin_value(x: &[f64]) -> f64 {
    let bend = x[1] - 5.1 / (4.0 * PI * PI) * x[0] * x[0] + 5.0 / PI * x[0] - 6.0;
    bend * bend + 10.0 * (1.0 - 1.0 / (8.0 * PI)) * x[0].cos() + 10.0
}

/// Cosines (Azimi, Jalali and Fern 2012) on the unit square: 1 - sum of g^2 - 0.3 cos(3 pi g), g = 1.6 x - 0.5.
pub fn cosines() -> Result<SpaceProblem> {
    let value = |x: &[f64]| 1.0 - x.iter().map(|x| cosines_term(*x)).sum::<f64>();
    Ok(maximized("cosines", cube(2, 0.0, 1.0)?, value, (1.6, &[0.3125, 0.3125]))?
        .with_second_best(0.412_926_830_275_82))
}

/// Forrester, Sobester and Keane (2008) on [0, 1]: (6 x - 2)^2 sin(12 x - 4).
pub fn forrester() -> Result<SpaceProblem> {
    let value = |x: &[f64]| (6.0 * x[0] - 2.0).powi(2) * (12.0 * x[0] - 4.0).sin();
    Ok(minimized("forrester", cube(1, 0.0, 1.0)?, value, (-6.020_740_055_767_083, &[0.757_248_757_841_855_9]))?
        .with_second_best(5.034_414_649_446))
}

/// Gramacy and Lee (2012) on [0.5, 2.5], many local optima: sin(10 pi x)/(2 x) + (x - 1)^4.
pub fn gramacy_lee() -> Result<SpaceProblem> {
    let value = |x: &[f64]| (10.0 * PI * x[0]).sin() / (2.0 * x[0]) + (x[0] - 1.0).powi(4);
    Ok(minimized("gramacy-lee", cube(1, 0.5, 2.5)?, value, (-0.869_011_134_989_499_8, &[0.548_563_444_527_605_2]))?
        .with_second_best(0.205_731_286_299_057))
}

pub const CAMEL: (f64, &[f64]) = (-1.031_628_453_489_877_4, &[0.089_842_013_100_318_06, -0.712_656_403_020_739_6]);

/// The regret of the camel's second-best pair of optima.
const CAMEL_SECOND_BEST: f64 = 0.816_164_629_106_157;

/// The six-hump camel on [-3, 3] x [-2, 2]: six local optima, two of them global.
pub fn camel() -> Result<SpaceProblem> {
    Ok(minimized("camel", camel_space()?, camel_value, CAMEL)?.with_second_best(CAMEL_SECOND_BEST))
}

/// Heavy tails: exp(camel/10), from 0.9 to ten million.
pub fn exponential_camel() -> Result<SpaceProblem> {
    let value = |x: &[f64]| (0.1 * camel_value(x)).exp();
    let best = 0.901_980_078_260_615;
    Ok(minimized("exp-camel", camel_space()?, value, (best, CAMEL.1))?
        .with_second_best(best * ((0.1 * CAMEL_SECOND_BEST).exp() - 1.0)))
}

fn camel_space() -> Result<Space> {
    Ok(Space::new(axes(&[(-3.0, 3.0), (-2.0, 2.0)])?, vec![])?)
}

/// (4 - 2.1 x^2 + x^4/3) x^2 + x y + (4 y^2 - 4) y^2.
pub fn camel_value(x: &[f64]) -> f64 {
    let (a, b) = (x[0] * x[0], x[1] * x[1]);
    (4.0 - 2.1 * a + a * a / 3.0) * a + x[0] * x[1] + (4.0 * b - 4.0) * b
}

/// Goldstein-Price on [-2, 2]^2: from 3 to a million.
pub fn goldstein_price() -> Result<SpaceProblem> {
    let value = |p: &[f64]| {
        let (x, y) = (p[0], p[1]);
        let first = 19.0 - 14.0 * x + 3.0 * x * x - 14.0 * y + 6.0 * x * y + 3.0 * y * y;
        let second = 18.0 - 32.0 * x + 12.0 * x * x + 48.0 * y - 36.0 * x * y + 27.0 * y * y;
        (1.0 + (x + y + 1.0).powi(2) * first) * (30.0 + (2.0 * x - 3.0 * y).powi(2) * second)
    };
    Ok(minimized("goldstein-price", cube(2, -2.0, 2.0)?, value, (3.0, &[0.0, -1.0]))?.with_second_best(27.0))
}
