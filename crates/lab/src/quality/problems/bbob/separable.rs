//! Functions 1 to 5, separable (RR-6829, section 1); z is the point after the transformations.

use std::f64::consts::TAU;

use super::instance::{InstanceDraws, Landscape};
use super::transformations::{all_oscillated, asymmetric, position, scaled, scales, shifted};

/// f1: |x - x_opt|^2.
pub fn sphere(draws: InstanceDraws) -> Landscape {
    let best = draws.best_point();
    Landscape::new(best.clone(), move |x| shifted(x, &best).iter().map(|z| z * z).sum())
}

/// f2: sum of 10^(6 (i - 1)/(D - 1)) z_i^2, z = T_osz(x - x_opt).
pub fn ellipsoid(draws: InstanceDraws) -> Landscape {
    let best = draws.best_point();
    Landscape::new(best.clone(), move |x| ellipsoid_sum(1e6, &all_oscillated(&shifted(x, &best))))
}

/// Sum of condition^((i - 1)/(D - 1)) z_i^2.
pub fn ellipsoid_sum(condition: f64, z: &[f64]) -> f64 {
    z.iter().enumerate().map(|(i, z_i)| condition.powf(position(i, z.len())) * z_i * z_i).sum()
}

/// f3: Rastrigin of z = Lambda^10 T_asy^0.2(T_osz(x - x_opt)).
pub fn rastrigin(draws: InstanceDraws) -> Landscape {
    let (best, scales) = (draws.best_point(), scales(10.0, draws.dimension));
    Landscape::new(best.clone(), move |x| {
        rastrigin_sum(&scaled(&scales, &asymmetric(0.2, &all_oscillated(&shifted(x, &best)))))
    })
}

/// 10 (D - sum of cos(2 pi z_i)) + |z|^2.
pub fn rastrigin_sum(z: &[f64]) -> f64 {
    10.0 * (z.len() as f64 - z.iter().map(|z| (TAU * z).cos()).sum::<f64>()) + z.iter().map(|z| z * z).sum::<f64>()
}

/// f4: Rastrigin of z_i = s_i T_osz(x_i - x_opt_i), s_i = 10^((i - 1)/(2 (D - 1))), ten times that for odd i where the
/// coordinate is positive. The best point has its odd coordinates positive.
pub fn bueche_rastrigin(draws: InstanceDraws) -> Landscape {
    let (mut best, scales) = (draws.best_point(), scales(10.0, draws.dimension));
    best.iter_mut().step_by(2).for_each(|x| *x = x.abs());
    Landscape::new(best.clone(), move |x| {
        let mut z = scaled(&scales, &all_oscillated(&shifted(x, &best)));
        z.iter_mut().step_by(2).filter(|z| **z > 0.0).for_each(|z| *z *= 10.0);
        rastrigin_sum(&z)
    })
}

/// f5: sum of 5 |s_i| - s_i x_i, s_i = sign(x_opt_i) 10^((i - 1)/(D - 1)). The best point is a corner.
pub fn linear_slope(draws: InstanceDraws) -> Landscape {
    let corner: Vec<f64> = draws.best_point().iter().map(|x| 5.0f64.copysign(*x)).collect();
    let (best, slopes) = (corner.clone(), scales(100.0, draws.dimension));
    Landscape::new(corner, move |x| {
        // 5 |s| - s x in one factor, which is exactly 0 at the corner.
        x.iter().zip(&best).zip(&slopes).map(|((x, best), slope)| slope * (best - x).abs()).sum()
    })
}
