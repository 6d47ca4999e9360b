//! Scores that are a matter of the point itself, and not of mean and variance there alone.

use crate::{Error, Result, Space};

/// The step of a difference quotient, in lengthscales: the cube root of the rounding of a double, where the errors of
/// rounding and of the third derivative are alike.
const DIFFERENCE_STEP: f64 = 6e-6;

/// A score that depends on the point itself, as where distances to other points count. Points are given by their
/// coordinates; on a finite domain, by those of its candidates.
pub(crate) trait PointScore {
    /// The score at a point; larger is better, and a point with minus infinity is never chosen.
    fn value(&mut self, point: &[f64]) -> Result<f64>;

    /// [`PointScore::value`] of many points, bit for bit, in less time where points can share work.
    fn values(&mut self, points: &[&[f64]]) -> Result<Vec<f64>> {
        points.iter().map(|point| self.value(point)).collect()
    }

    /// The score at a point; sets its slope in each of the coordinates `along`, which a search moves, and leaves the other
    /// slopes as they are. Finite domains never ask for it.
    fn value_and_slopes(&mut self, point: &[f64], along: &[usize], slopes: &mut [f64]) -> Result<f64>;
}

/// [`PointScore::value_and_slopes`] by central differences, for scores whose derivatives are not written out; `lengthscale`
/// is that of a coordinate.
pub(crate) fn by_differences(
    score: &mut dyn PointScore,
    (point, along): (&[f64], &[usize]),
    lengthscale: impl Fn(usize) -> f64,
    slopes: &mut [f64],
) -> Result<f64> {
    let mut moved = point.to_vec();
    for &j in along {
        let step = DIFFERENCE_STEP * lengthscale(j);
        let (above, below) = (point[j] + step, point[j] - step);
        moved[j] = above;
        let higher = score.value(&moved)?;
        moved[j] = below;
        let lower = score.value(&moved)?;
        moved[j] = point[j];
        // The distance as it was rounded.
        slopes[j] = (higher - lower) / (above - below);
    }
    score.value(point)
}

/// A score as climbs over a space read it: where it fails they end, and the error is kept.
pub(super) struct ClimbedScore<'a> {
    score: &'a mut dyn PointScore,
    along: Vec<usize>,
    failed: Option<Error>,
}

impl<'a> ClimbedScore<'a> {
    pub fn new(score: &'a mut dyn PointScore, space: &Space) -> Self {
        let blocks = space.blocks().iter().filter(|block| block.is_continuous());
        Self { score, along: blocks.map(|block| block.coordinates().start).collect(), failed: None }
    }

    /// The score at a point, and its gradient, which is 0 along what is discrete.
    pub fn at(&mut self, point: &[f64], gradient: &mut [f64]) -> f64 {
        gradient.fill(0.0);
        self.score.value_and_slopes(point, &self.along, gradient).unwrap_or_else(|error| {
            self.failed = Some(error);
            f64::NEG_INFINITY
        })
    }

    /// The last error, if there was one.
    pub fn checked(self) -> Result<()> {
        self.failed.map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Wave;

    impl PointScore for Wave {
        fn value(&mut self, point: &[f64]) -> Result<f64> {
            Ok((3.0 * point[0]).sin() * (2.0 * point[2]).exp() + point[1])
        }

        fn value_and_slopes(&mut self, point: &[f64], along: &[usize], slopes: &mut [f64]) -> Result<f64> {
            by_differences(self, (point, along), |_| 0.5, slopes)
        }
    }

    #[test]
    fn differences_are_derivatives_along_the_coordinates_that_move() {
        let (point, mut slopes) = ([0.3, 0.6, 0.9], [7.0; 3]);
        let value = Wave.value_and_slopes(&point, &[0, 2], &mut slopes).unwrap();
        assert_eq!(value, Wave.value(&point).unwrap());
        let (sine, cosine, growth) = ((0.9f64).sin(), (0.9f64).cos(), (1.8f64).exp());
        // Values of about 6 are rounded to 1e-15 of them, over a distance of 6e-6.
        assert!((slopes[0] - 3.0 * cosine * growth).abs() < 1e-8 && (slopes[2] - 2.0 * sine * growth).abs() < 1e-8);
        assert_eq!(slopes[1], 7.0);
    }
}
