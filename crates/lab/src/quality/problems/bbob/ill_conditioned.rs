//! Functions 10 to 14, unimodal and ill-conditioned (RR-6829, section 3).

use super::instance::{InstanceDraws, Landscape};
use super::separable::ellipsoid_sum;
use super::transformations::{all_oscillated, asymmetric, position, scaled, scales, shifted};

/// f10: the ellipsoid of f2 of z = T_osz(R (x - x_opt)).
pub fn ellipsoid(draws: InstanceDraws) -> Landscape {
    let (best, r) = (draws.best_point(), draws.r());
    Landscape::new(best.clone(), move |x| ellipsoid_sum(1e6, &all_oscillated(&r.times(&shifted(x, &best)))))
}

/// f11: 10^6 z_1^2 + sum of the other z_i^2, z = T_osz(R (x - x_opt)).
pub fn discus(draws: InstanceDraws) -> Landscape {
    let (best, r) = (draws.best_point(), draws.r());
    Landscape::new(best.clone(), move |x| {
        let z = all_oscillated(&r.times(&shifted(x, &best)));
        1e6 * z[0] * z[0] + square(&z[1..])
    })
}

/// f12: z_1^2 + 10^6 times the sum of the other z_i^2, z = R T_asy^0.5(R (x - x_opt)).
pub fn bent_cigar(draws: InstanceDraws) -> Landscape {
    let (best, r) = (draws.further_best_point(), draws.r());
    Landscape::new(best.clone(), move |x| {
        let z = r.times(&asymmetric(0.5, &r.times(&shifted(x, &best))));
        z[0] * z[0] + 1e6 * square(&z[1..])
    })
}

/// f13: z_1^2 + 100 times the length of the rest of z = R Lambda^10 Q (x - x_opt).
pub fn sharp_ridge(draws: InstanceDraws) -> Landscape {
    let (best, scales, q, r) = (draws.best_point(), scales(10.0, draws.dimension), draws.q(), draws.r());
    Landscape::new(best.clone(), move |x| {
        let z = r.times(&scaled(&scales, &q.times(&shifted(x, &best))));
        z[0] * z[0] + 100.0 * square(&z[1..]).sqrt()
    })
}

/// f14: the root of the sum of |z_i|^(2 + 4 (i - 1)/(D - 1)), z = R (x - x_opt).
pub fn different_powers(draws: InstanceDraws) -> Landscape {
    let (best, r) = (draws.best_point(), draws.r());
    Landscape::new(best.clone(), move |x| {
        let z = r.times(&shifted(x, &best));
        let power = |(i, z_i): (usize, &f64)| z_i.abs().powf(2.0 + 4.0 * position(i, z.len()));
        z.iter().enumerate().map(power).sum::<f64>().sqrt()
    })
}

fn square(z: &[f64]) -> f64 {
    z.iter().map(|z| z * z).sum()
}
