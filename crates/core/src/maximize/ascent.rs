//! Climbing inside linear constraints: along the projected gradient, with steps that adapt.

use super::Maximum;
use crate::Space;
use crate::tuning::{FIRST_STEP, STEP_FACTORS};

/// Steps shorter than this end the climb.
const SHORTEST: f64 = 1e-9;

/// Climbs from a feasible point; every point it visits is feasible.
pub(super) fn climb(
    space: &Space,
    maximum: &mut Maximum,
    evaluations: usize,
    objective: &mut impl FnMut(&[f64], &mut [f64]) -> f64,
) {
    let mut gradient = vec![0.0; maximum.point.len()];
    maximum.score = objective(&maximum.point, &mut gradient);
    let (mut length, mut left) = (FIRST_STEP, evaluations);
    let mut direction = uphill(space, &maximum.point, &gradient);
    while left > 0 && length > SHORTEST {
        let Some(along) = &direction else { return };
        let reach = space.segment(&maximum.point, along).min(length);
        if reach.is_nan() || reach <= 0.0 {
            return;
        }
        let next = space.step(&maximum.point, along, reach);
        let mut slope = vec![0.0; next.len()];
        let score = objective(&next, &mut slope);
        left -= 1;
        if score > maximum.score {
            *maximum = Maximum { point: next, score };
            direction = uphill(space, &maximum.point, &slope);
            length = STEP_FACTORS.0 * reach;
        } else {
            length = STEP_FACTORS.1 * reach;
        }
    }
}

/// The feasible direction of steepest ascent, of length 1; none at a peak.
fn uphill(space: &Space, point: &[f64], gradient: &[f64]) -> Option<Vec<f64>> {
    let direction = space.uphill(point, gradient);
    let norm = direction.iter().map(|d| d * d).sum::<f64>().sqrt();
    (norm > 1e-12 && norm.is_finite()).then(|| direction.iter().map(|d| d / norm).collect())
}
