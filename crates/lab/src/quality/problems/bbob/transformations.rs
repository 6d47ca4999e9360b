//! What makes simple functions hard: oscillation, asymmetry and ill-conditioning of the space (RR-6829, section 0.2).
//!
//! | symbol | name | meaning |
//! |---|---|---|
//! | T_osz | [`oscillated`] | a smooth, monotone wave around the identity |
//! | T_asy^beta | [`asymmetric`] | stretches positive coordinates, the later ones more |
//! | Lambda^alpha | [`scales`] | a diagonal matrix, from 1 to sqrt(alpha) |
//! | (i - 1)/(D - 1) | [`position`] | how late a coordinate is, from 0 to 1 |

/// (i - 1)/(D - 1), counting from 0.
pub fn position(i: usize, dimension: usize) -> f64 {
    i as f64 / (dimension - 1) as f64
}

/// T_osz(x) = sign(x) exp(x' + 0.049 (sin(c1 x') + sin(c2 x'))), x' = ln|x|; c1 and c2 are 10 and 7.9 for positive x,
/// and else 5.5 and 3.1.
pub fn oscillated(x: f64) -> f64 {
    if x == 0.0 {
        return 0.0;
    }
    let (log, (c1, c2)) = (x.abs().ln(), if x > 0.0 { (10.0, 7.9) } else { (5.5, 3.1) });
    (log + 0.049 * ((c1 * log).sin() + (c2 * log).sin())).exp().copysign(x)
}

/// T_osz in every coordinate.
pub fn all_oscillated(z: &[f64]) -> Vec<f64> {
    z.iter().map(|z| oscillated(*z)).collect()
}

/// T_asy^beta: x_i^(1 + beta (i - 1)/(D - 1) sqrt(x_i)) where x_i is positive.
pub fn asymmetric(beta: f64, z: &[f64]) -> Vec<f64> {
    let exponent = |i: usize| 1.0 + beta * position(i, z.len()) * z[i].sqrt();
    (0..z.len()).map(|i| if z[i] > 0.0 { z[i].powf(exponent(i)) } else { z[i] }).collect()
}

/// The diagonal of Lambda^alpha: alpha^((i - 1)/(2 (D - 1))).
pub fn scales(alpha: f64, dimension: usize) -> Vec<f64> {
    (0..dimension).map(|i| alpha.powf(0.5 * position(i, dimension))).collect()
}

/// A diagonal matrix times a vector.
pub fn scaled(diagonal: &[f64], z: &[f64]) -> Vec<f64> {
    diagonal.iter().zip(z).map(|(scale, z)| scale * z).collect()
}

/// x - x_opt.
pub fn shifted(x: &[f64], best: &[f64]) -> Vec<f64> {
    x.iter().zip(best).map(|(x, best)| x - best).collect()
}
