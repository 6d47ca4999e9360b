//! Functions 15 to 19, multimodal with a global structure (RR-6829, section 4).

use std::f64::consts::TAU;

use super::instance::{InstanceDraws, Landscape};
use super::moderate::{halfway, rosenbrock_terms};
use super::separable::rastrigin_sum;
use super::transformations::{all_oscillated, asymmetric, scaled, scales, shifted};

/// f15: Rastrigin of z = R Lambda^10 Q T_asy^0.2(T_osz(R (x - x_opt))).
pub fn rastrigin(draws: InstanceDraws) -> Landscape {
    let (best, scales, q, r) = (draws.best_point(), scales(10.0, draws.dimension), draws.q(), draws.r());
    Landscape::new(best.clone(), move |x| {
        let bent = asymmetric(0.2, &all_oscillated(&r.times(&shifted(x, &best))));
        rastrigin_sum(&r.times(&scaled(&scales, &q.times(&bent))))
    })
}

/// The waves of Weierstrass' function.
const WAVES: i32 = 12;

/// f16: 10 (mean of w(z_i + 1/2) - w(1/2))^3, w(z) = sum over k of cos(2 pi 3^k z)/2^k,
/// z = R Lambda^0.01 Q T_osz(R (x - x_opt)).
pub fn weierstrass(draws: InstanceDraws) -> Landscape {
    let (best, scales, q, r) = (draws.best_point(), scales(0.01, draws.dimension), draws.q(), draws.r());
    let waves = |z: f64| (0..WAVES).map(|k| (TAU * 3f64.powi(k) * z).cos() * 0.5f64.powi(k)).sum::<f64>();
    Landscape::new(best.clone(), move |x| {
        let z = r.times(&scaled(&scales, &q.times(&all_oscillated(&r.times(&shifted(x, &best))))));
        let mean = z.iter().map(|z| waves(z + 0.5)).sum::<f64>() / z.len() as f64;
        10.0 * (mean - waves(0.5)).powi(3)
    })
}

/// f17 and f18: the square of the mean of sqrt(s_i) (1 + sin(50 s_i^0.2)^2), s_i = sqrt(z_i^2 + z_{i+1}^2),
/// z = Lambda^condition Q T_asy^0.5(R (x - x_opt)).
pub fn schaffers_f7(draws: InstanceDraws, condition: f64) -> Landscape {
    let (best, scales, q, r) = (draws.best_point(), scales(condition, draws.dimension), draws.q(), draws.r());
    Landscape::new(best.clone(), move |x| {
        let z = scaled(&scales, &q.times(&asymmetric(0.5, &r.times(&shifted(x, &best)))));
        let ring = |z: &[f64]| {
            let s = (z[0] * z[0] + z[1] * z[1]).sqrt();
            s.sqrt() * (1.0 + (50.0 * s.powf(0.2)).sin().powi(2))
        };
        (z.windows(2).map(ring).sum::<f64>() / (z.len() - 1) as f64).powi(2)
    })
}

/// f19: the mean of s_i/400 - 10 cos(s_i), plus 10; s_i are the terms of Rosenbrock of z = max(1, sqrt(D)/8) Q x + 1/2.
pub fn griewank_rosenbrock(draws: InstanceDraws) -> Landscape {
    let (best, z) = halfway(draws);
    Landscape::new(best, move |x| {
        let z = z(x);
        10.0 * rosenbrock_terms(&z).map(|s| s / 4000.0 - s.cos()).sum::<f64>() / (z.len() - 1) as f64 + 10.0
    })
}
