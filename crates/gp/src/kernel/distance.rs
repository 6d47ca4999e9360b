//! Distances and inner products in lengthscales, the part of a kernel that reads coordinates.

/// 2^500: lifts squares of tiny distances out of the underflow range.
const LIFT: f64 = 3.273_390_607_896_142e150;

/// Squared distances below this have lost digits to underflow.
const UNDERFLOW: f64 = 1e-280;

/// sum_j ((x_j - y_j) scale_j)^2, with one scale (a reciprocal lengthscale) for all coordinates or one each.
///
/// Symmetric in `x` and `y` bit for bit.
#[inline]
pub(super) fn squared(x: &[f64], y: &[f64], scales: &[f64]) -> f64 {
    match scales {
        [scale] => x.iter().zip(y).map(|(a, b)| square((a - b) * scale)).sum(),
        _ => x.iter().zip(y).zip(scales).map(|((a, b), scale)| square((a - b) * scale)).sum(),
    }
}

/// sum_j x_j y_j scale_j^2, symmetric in `x` and `y` bit for bit.
#[inline]
pub(super) fn product(x: &[f64], y: &[f64], scales: &[f64]) -> f64 {
    match scales {
        [scale] => x.iter().zip(y).map(|(a, b)| a * b * square(*scale)).sum(),
        _ => x.iter().zip(y).zip(scales).map(|((a, b), scale)| a * b * square(*scale)).sum(),
    }
}

/// The distance itself, right down to 1e-300: rough Matern kernels still vary there.
#[inline]
pub(super) fn plain(x: &[f64], y: &[f64], scales: &[f64]) -> f64 {
    let square = squared(x, y, scales);
    if square < UNDERFLOW { lifted(x, y, scales) } else { square.sqrt() }
}

#[cold]
fn lifted(x: &[f64], y: &[f64], scales: &[f64]) -> f64 {
    // A shared scale is repeated; one each is as long as the points.
    let total: f64 =
        x.iter().zip(y).zip(scales.iter().cycle()).map(|((a, b), scale)| square((a - b) * scale * LIFT)).sum();
    total.sqrt() / LIFT
}

#[inline]
fn square(a: f64) -> f64 {
    a * a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiny_distances_survive() {
        assert_eq!(plain(&[0.0], &[0.0], &[5.0]), 0.0);
        for (side, expected) in [(1e-300, 5e-300), (1e-200, 5e-200), (1e-100, 5e-100), (1.0, 5.0)] {
            let found = plain(&[3.0 * side, 0.0], &[0.0, 4.0 * side], &[1.0]);
            assert!((found / expected - 1.0).abs() < 4.0 * f64::EPSILON, "{found} against {expected}");
        }
    }

    #[test]
    fn the_lift_is_a_power_of_two() {
        assert_eq!(LIFT, 2f64.powi(500));
    }
}
