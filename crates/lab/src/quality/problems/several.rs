//! Functions of two to ten parameters: multimodal, ill-conditioned, with plateaus, with the optimum in a corner.

use std::f64::consts::{E, PI, TAU};

use manyhands_core::{Parameter, Space};

use super::{cube, maximized, minimized};
use crate::Result;
use crate::quality::SpaceProblem;

/// Rastrigin on [-4.5, 5]^d, a local optimum near every integer: 10 d + sum of x^2 - 10 cos(2 pi x).
pub fn rastrigin(dimension: usize) -> Result<SpaceProblem> {
    let value = |x: &[f64]| x.iter().map(|x| x * x + 10.0 * (1.0 - (TAU * x).cos())).sum();
    Ok(minimized(&format!("rastrigin{dimension}"), cube(dimension, -4.5, 5.0)?, value, (0.0, &vec![0.0; dimension]))?
        .with_second_best(0.994_959_057_093_29))
}

/// De Jong's step function on [-5, 10]^3, flat but for jumps: sum of floor(x + 1/2)^2.
pub fn step() -> Result<SpaceProblem> {
    let value = |x: &[f64]| x.iter().map(|x| (x + 0.5).floor().powi(2)).sum();
    minimized("step", cube(3, -5.0, 10.0)?, value, (0.0, &[0.0; 3]))
}

/// Griewank on [-50, 70]^3, a bowl with ripples: sum of x^2/4000 - product of cos(x_i/sqrt(i)) + 1.
pub fn griewank() -> Result<SpaceProblem> {
    let value = |x: &[f64]| {
        let bowl: f64 = x.iter().map(|x| x * x / 4000.0).sum();
        let ripples: f64 = x.iter().zip(1..).map(|(x, i)| (x / f64::from(i).sqrt()).cos()).product();
        bowl - ripples + 1.0
    };
    Ok(minimized("griewank", cube(3, -50.0, 70.0)?, value, (0.0, &[0.0; 3]))?.with_second_best(0.009_857_284_607_82))
}

/// Rosenbrock on [-5, 10]^4, a curved valley that is all but flat, with a second optimum near x1 = -1: sum of 100 (x_{i+1} - x_i^2)^2 + (x_i - 1)^2.
pub fn rosenbrock() -> Result<SpaceProblem> {
    Ok(minimized("rosenbrock4", cube(4, -5.0, 10.0)?, rosenbrock_value, (0.0, &[1.0; 4]))?
        .with_second_best(3.701_428_610_430_3))
}

/// Sum of 100 (x_{i+1} - x_i^2)^2 + (x_i - 1)^2.
pub fn rosenbrock_value(x: &[f64]) -> f64 {
    x.windows(2).map(|x| 100.0 * (x[1] - x[0] * x[0]).powi(2) + (x[0] - 1.0).powi(2)).sum()
}

const SHEKEL_BETA: [f64; 10] = [0.1, 0.2, 0.2, 0.4, 0.4, 0.6, 0.3, 0.7, 0.5, 0.5];
/// The first and third coordinate of the centres, and the second and fourth.
const SHEKEL_CENTRES: [[f64; 10]; 2] =
    [[4.0, 1.0, 8.0, 6.0, 3.0, 2.0, 5.0, 8.0, 6.0, 7.0], [4.0, 1.0, 8.0, 6.0, 7.0, 9.0, 3.0, 1.0, 2.0, 3.6]];

/// Shekel with ten holes on [0, 10]^4: -sum_i 1/(beta_i + |x - c_i|^2).
pub fn shekel() -> Result<SpaceProblem> {
    let value = |x: &[f64]| {
        let distance = |i: usize| (0..4).map(|j| (x[j] - SHEKEL_CENTRES[j % 2][i]).powi(2)).sum::<f64>();
        -(0..10).map(|i| 1.0 / (SHEKEL_BETA[i] + distance(i))).sum::<f64>()
    };
    let (odd, even) = (4.000_746_868_270_634, 3.999_509_480_085_773_7);
    Ok(minimized("shekel", cube(4, 0.0, 10.0)?, value, (-10.536_443_153_483_528, &[odd, even, odd, even]))?
        .with_second_best(5.360_796_390_465_33))
}

/// Ackley on [-5, 10]^5 (the box of Eriksson et al. 2019), a funnel under ripples, with a cusp at the optimum:
/// 20 - 20 exp(-0.2 sqrt(mean of x^2)) + e - exp(mean of cos(2 pi x)).
pub fn ackley() -> Result<SpaceProblem> {
    Ok(minimized("ackley5", cube(5, -5.0, 10.0)?, ackley_value, (0.0, &[0.0; 5]))?
        .with_second_best(1.646_223_633_103_1))
}

/// 20 - 20 exp(-0.2 sqrt(mean of x^2)) + e - exp(mean of cos(2 pi x)).
pub fn ackley_value(x: &[f64]) -> f64 {
    let mean = |term: fn(&f64) -> f64| x.iter().map(term).sum::<f64>() / x.len() as f64;
    20.0 - 20.0 * (-0.2 * mean(|x| x * x).sqrt()).exp() + E - mean(|x| (TAU * x).cos()).exp()
}

/// Styblinski-Tang on [-5, 5]^5, 32 local optima, the second-best with one coordinate in the wrong well: half the sum of x^4 - 16 x^2 + 5 x.
pub fn styblinski_tang() -> Result<SpaceProblem> {
    let value = |x: &[f64]| 0.5 * x.iter().map(|x| x.powi(4) - 16.0 * x * x + 5.0 * x).sum::<f64>();
    let point = [-2.903_534_027_771_177; 5];
    Ok(minimized("styblinski-tang5", cube(5, -5.0, 5.0)?, value, (-195.830_828_518_857_1, &point))?
        .with_second_best(14.136_719_048_487_5))
}

/// Michalewicz on [0, pi]^5, ravines in a plain: -sum of sin(x_i) sin(i x_i^2/pi)^20.
pub fn michalewicz() -> Result<SpaceProblem> {
    let value =
        |x: &[f64]| -x.iter().zip(1..).map(|(x, i)| x.sin() * (f64::from(i) * x * x / PI).sin().powi(20)).sum::<f64>();
    let point =
        [2.202_905_520_172_609_3, PI / 2.0, 1.284_991_570_552_924_4, 1.923_058_469_866_362_8, 1.720_469_772_565_841_3];
    Ok(minimized("michalewicz5", cube(5, 0.0, PI)?, value, (-4.687_658_179_088_146, &point))?
        .with_second_best(0.041_762_811_340_936))
}

/// The flow through a borehole (Harper and Gupta 1983; Morris, Mitchell and Ylvisaker 1993), largest in a corner:
/// 2 pi T_u (H_u - H_l)/(ln(r/r_w) (1 + 2 L T_u/(ln(r/r_w) r_w^2 K_w) + T_u/T_l)).
pub fn borehole() -> Result<SpaceProblem> {
    let parameters = [
        Parameter::float("r_w", 0.05, 0.15)?,
        Parameter::log_float("r", 100.0, 50_000.0)?,
        Parameter::float("t_u", 63_070.0, 115_600.0)?,
        Parameter::float("h_u", 990.0, 1110.0)?,
        Parameter::float("t_l", 63.1, 116.0)?,
        Parameter::float("h_l", 700.0, 820.0)?,
        Parameter::float("l", 1120.0, 1680.0)?,
        Parameter::float("k_w", 9855.0, 12_045.0)?,
    ];
    let value = |x: &[f64]| {
        let (transmissivity, head, spread) = (x[2], x[3] - x[5], (x[1] / x[0]).ln());
        let length = 2.0 * x[6] * transmissivity / (spread * x[0] * x[0] * x[7]);
        TAU * transmissivity * head / (spread * (1.0 + length + transmissivity / x[4]))
    };
    let corner = [0.15, 100.0, 115_600.0, 1110.0, 116.0, 700.0, 1120.0, 12_045.0];
    maximized("borehole", Space::new(parameters.to_vec(), vec![])?, value, (BOREHOLE_BEST, &corner))
}

const BOREHOLE_BEST: f64 = 309.575_587_660_408;

/// Levy on [-10, 10]^10 with w = 1 + (x - 1)/4: sin(pi w_1)^2 + sum of (w_i - 1)^2 (1 + 10 sin(pi w_i + 1)^2) over all
/// but the last + (w_d - 1)^2 (1 + sin(2 pi w_d)^2).
pub fn levy() -> Result<SpaceProblem> {
    let problem = minimized("levy10", cube(10, -10.0, 10.0)?, levy_value, (0.0, &[1.0; 10]))?;
    Ok(problem.with_second_best(0.089_528_250_416_44))
}

/// Levy in any number of dimensions, as in [`levy`].
pub fn levy_value(x: &[f64]) -> f64 {
    let w: Vec<f64> = x.iter().map(|x| 1.0 + (x - 1.0) / 4.0).collect();
    let last = w[w.len() - 1];
    let middle: f64 =
        w[..w.len() - 1].iter().map(|w| (w - 1.0).powi(2) * (1.0 + 10.0 * (PI * w + 1.0).sin().powi(2))).sum();
    (PI * w[0]).sin().powi(2) + middle + (last - 1.0).powi(2) * (1.0 + (TAU * last).sin().powi(2))
}
