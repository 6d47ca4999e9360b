//! Functions 20, 23 and 24, multimodal with a weak global structure (RR-6829, section 5).

use std::f64::consts::TAU;

use super::instance::{InstanceDraws, Landscape};
use super::random::{gaussian, uniform};
use super::transformations::{scaled, scales, shifted};

/// Twice the size of every coordinate of the best point of f20.
const SCHWEFEL: f64 = 4.209_687_463_7;

/// f20: 4.189828872724339 - mean of z_i sin(sqrt|z_i|)/100 + 100 pen(z/100), pen the sum of max(0, |z_i| - 5)^2,
/// z = 100 (Lambda^10 (y - b) + b), y_i = t_i + (t_{i-1} - b)/4, t_i = 2 sign(x_opt_i) x_i, b = 2 |x_opt_i|.
pub fn schwefel(draws: InstanceDraws) -> Landscape {
    let sign = |u: f64| if u < 0.5 { -1.0 } else { 1.0 };
    let signs: Vec<f64> = uniform(draws.dimension, draws.seed).into_iter().map(sign).collect();
    let (best, scales) = (signs.iter().map(|sign| 0.5 * SCHWEFEL * sign).collect(), scales(10.0, draws.dimension));
    Landscape::new(best, move |x| {
        // t - b.
        let away: Vec<f64> = x.iter().zip(&signs).map(|(x, sign)| 2.0 * sign * x - SCHWEFEL).collect();
        let coupled = |i: usize| away[i] + if i == 0 { 0.0 } else { 0.25 * away[i - 1] };
        let (mut sum, mut penalty) = (0.0, 0.0);
        for (i, scale) in scales.iter().enumerate() {
            let z = 100.0 * (scale * coupled(i) + SCHWEFEL);
            sum += z * z.abs().sqrt().sin();
            penalty += (0.01 * z.abs() - 5.0).max(0.0).powi(2);
        }
        4.189_828_872_724_339 - 0.01 * sum / x.len() as f64 + 100.0 * penalty
    })
}

/// The digits of Katsuura's function.
const DIGITS: i32 = 32;

/// f23: 10/D^2 (product over i of 1 + i k(z_i))^(10/D^1.2) - 10/D^2, k(z) = sum over j of |2^j z - round(2^j z)|/2^j,
/// z = R Lambda^100 Q (x - x_opt).
pub fn katsuura(draws: InstanceDraws) -> Landscape {
    let (best, scales, q, r) = (draws.best_point(), scales(100.0, draws.dimension), draws.q(), draws.r());
    Landscape::new(best.clone(), move |x| {
        let z = r.times(&scaled(&scales, &q.times(&shifted(x, &best))));
        let dimension = z.len() as f64;
        let rough = |z: f64| {
            let digit = |j| {
                let power = 2f64.powi(j);
                (power * z - (power * z).round()).abs() / power
            };
            (1..=DIGITS).map(digit).sum::<f64>()
        };
        let product: f64 = z.iter().enumerate().map(|(i, z)| 1.0 + (i + 1) as f64 * rough(*z)).product();
        10.0 / (dimension * dimension) * (product.powf(10.0 / dimension.powf(1.2)) - 1.0)
    })
}

/// Twice the size of every coordinate of the best point of f24: the bottom of its better bowl.
const LUNACEK: f64 = 2.5;

/// f24: min(|y - m_0|^2, D + s |y - m_1|^2) + 10 (D - sum of cos(2 pi z_i)), y_i = 2 sign(x_opt_i) x_i, m_0 = 2.5,
/// s = 1 - 1/(2 sqrt(D + 20) - 8.2), m_1 = -sqrt((m_0^2 - 1)/s), z = R Lambda^100 Q (y - m_0).
pub fn lunacek_bi_rastrigin(draws: InstanceDraws) -> Landscape {
    let signs: Vec<f64> = gaussian(draws.dimension, draws.seed).iter().map(|g| 1f64.copysign(*g)).collect();
    let best = signs.iter().map(|sign| 0.5 * LUNACEK * sign).collect();
    let (scales, q, r) = (scales(100.0, draws.dimension), draws.q(), draws.r());
    Landscape::new(best, move |x| {
        let dimension = x.len() as f64;
        let s = 1.0 - 0.5 / ((dimension + 20.0).sqrt() - 4.1);
        let other = -((LUNACEK * LUNACEK - 1.0) / s).sqrt();
        let y: Vec<f64> = x.iter().zip(&signs).map(|(x, sign)| 2.0 * sign * x).collect();
        let bowl = |bottom: f64| y.iter().map(|y| (y - bottom).powi(2)).sum::<f64>();
        let away: Vec<f64> = y.iter().map(|y| y - LUNACEK).collect();
        let z = r.times(&scaled(&scales, &q.times(&away)));
        let waves: f64 = z.iter().map(|z| (TAU * z).cos()).sum();
        bowl(LUNACEK).min(dimension + s * bowl(other)) + 10.0 * (dimension - waves)
    })
}
