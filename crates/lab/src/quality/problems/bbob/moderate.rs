//! Functions 6 to 9, of low or moderate conditioning (RR-6829, section 2).

use super::instance::{InstanceDraws, Landscape};
use super::separable::ellipsoid_sum;
use super::transformations::{oscillated, scaled, scales, shifted};

/// f6: T_osz(sum of (s_i z_i)^2)^0.9, z = R Lambda^10 Q (x - x_opt); s_i is 100 where z_i has the sign of x_opt_i, and
/// else 1.
pub fn attractive_sector(draws: InstanceDraws) -> Landscape {
    let (best, scales, q, r) = (draws.best_point(), scales(10.0, draws.dimension), draws.q(), draws.r());
    Landscape::new(best.clone(), move |x| {
        let z = r.times(&scaled(&scales, &q.times(&shifted(x, &best))));
        let steep = |(z, best): (&f64, &f64)| (if z * best > 0.0 { 100.0 * z } else { *z }).powi(2);
        oscillated(z.iter().zip(&best).map(steep).sum()).powf(0.9)
    })
}

/// f7: 0.1 max(|y_1|/10^4, sum of 10^(2 (i - 1)/(D - 1)) z_i^2), y = Lambda^10 Q (x - x_opt), z = R times y in steps: of
/// 1 where |y_i| > 0.5, of 0.1 elsewhere.
pub fn step_ellipsoid(draws: InstanceDraws) -> Landscape {
    let (best, scales, q, r) = (draws.best_point(), scales(10.0, draws.dimension), draws.q(), draws.r());
    let step = |y: &f64| if y.abs() > 0.5 { (y + 0.5).floor() } else { (10.0 * y + 0.5).floor() / 10.0 };
    Landscape::new(best.clone(), move |x| {
        let y = scaled(&scales, &q.times(&shifted(x, &best)));
        let z = r.times(&y.iter().map(step).collect::<Vec<_>>());
        0.1 * ellipsoid_sum(100.0, &z).max(y[0].abs() * 1e-4)
    })
}

/// The factor max(1, sqrt(D)/8) of functions 8, 9 and 19.
pub fn rosenbrock_scale(dimension: usize) -> f64 {
    ((dimension as f64).sqrt() / 8.0).max(1.0)
}

/// f8: Rosenbrock of z = max(1, sqrt(D)/8) (x - x_opt) + 1; the best point is 3/4 of the usual one.
pub fn rosenbrock(draws: InstanceDraws) -> Landscape {
    let best: Vec<f64> = draws.best_point().iter().map(|x| 0.75 * x).collect();
    let scale = rosenbrock_scale(draws.dimension);
    Landscape::new(best.clone(), move |x| {
        rosenbrock_sum(&shifted(x, &best).iter().map(|z| scale * z + 1.0).collect::<Vec<_>>())
    })
}

/// f9: Rosenbrock of z = max(1, sqrt(D)/8) Q x + 1/2.
pub fn rotated_rosenbrock(draws: InstanceDraws) -> Landscape {
    let (best, z) = halfway(draws);
    Landscape::new(best, move |x| rosenbrock_sum(&z(x)))
}

/// x becomes z = max(1, sqrt(D)/8) Q x + 1/2; the point where z is 1 in every coordinate comes first.
pub fn halfway(draws: InstanceDraws) -> (Vec<f64>, impl Fn(&[f64]) -> Vec<f64> + Send + Sync) {
    let (scale, q) = (rosenbrock_scale(draws.dimension), draws.q());
    let best = q.transposed_times(&vec![0.5 / scale; draws.dimension]);
    (best, move |x: &[f64]| q.times(x).iter().map(|y| scale * y + 0.5).collect())
}

/// Sum of 100 (z_i^2 - z_{i+1})^2 + (z_i - 1)^2.
fn rosenbrock_sum(z: &[f64]) -> f64 {
    rosenbrock_terms(z).sum()
}

/// The terms of Rosenbrock's function.
pub fn rosenbrock_terms(z: &[f64]) -> impl Iterator<Item = f64> {
    z.windows(2).map(|z| 100.0 * (z[0] * z[0] - z[1]).powi(2) + (z[0] - 1.0).powi(2))
}
