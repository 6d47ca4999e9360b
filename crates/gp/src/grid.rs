//! A grid: every combination of the coordinates of its axes, the last axis fastest.

use crate::prior::check_size;
use crate::{Error, Kernel, Result};

/// A full grid in row-major order.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    axes: Vec<Vec<f64>>,
}

impl Grid {
    /// A grid from the coordinates along each axis, each list strictly increasing.
    pub fn new(axes: Vec<Vec<f64>>) -> Result<Self> {
        if axes.is_empty() {
            return Err(Error::Empty { what: "the list of a grid's axes" });
        }
        for axis in &axes {
            if axis.is_empty() {
                return Err(Error::Empty { what: "a grid's axis" });
            }
            if let Some(&value) = axis.iter().find(|c| !c.is_finite()) {
                return Err(Error::NotFinite { what: "a coordinate of a grid's axis".into(), value });
            }
            if let Some(pair) = axis.windows(2).find(|pair| pair[0] >= pair[1]) {
                return Err(Error::NotIncreasing { before: pair[0], after: pair[1] });
            }
        }
        check_len(&axes.iter().map(Vec::len).collect::<Vec<_>>())?;
        Ok(Self { axes })
    }

    /// `points` evenly spaced points on [lower, upper] along each axis.
    ///
    /// ```
    /// let grid = manyhands_gp::Grid::even(&[(0.0, 1.0, 31), (0.0, 1.0, 31)])?;
    /// assert_eq!(grid.len(), 961);
    /// assert_eq!(grid.point(31), vec![1.0 / 30.0, 0.0]);
    /// # Ok::<(), manyhands_gp::Error>(())
    /// ```
    pub fn even(axes: &[(f64, f64, usize)]) -> Result<Self> {
        let shape: Vec<usize> = axes.iter().map(|axis| axis.2).collect();
        check_len(&shape)?;
        for &(lower, upper, _) in axes {
            check_size("an end of a grid's axis", lower)?;
            check_size("an end of a grid's axis", upper)?;
        }
        let axis = |&(lower, upper, points): &(f64, f64, usize)| -> Vec<f64> {
            let last = points.saturating_sub(1).max(1) as f64;
            (0..points).map(|i| lower + (upper - lower) * (i as f64 / last)).collect()
        };
        Self::new(axes.iter().map(axis).collect())
    }

    /// The coordinates along each axis.
    pub fn axes(&self) -> &[Vec<f64>] {
        &self.axes
    }

    /// How many points each axis has.
    pub(crate) fn shape(&self) -> Vec<usize> {
        self.axes.iter().map(Vec::len).collect()
    }

    /// How many points the grid has.
    pub fn len(&self) -> usize {
        self.axes.iter().map(Vec::len).product()
    }

    /// Never true: a grid has at least one point.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The position of point `index` along each axis; an index past the last point wraps around.
    pub(crate) fn position(&self, mut index: usize) -> Vec<usize> {
        let mut position = vec![0; self.axes.len()];
        for (slot, axis) in position.iter_mut().zip(&self.axes).rev() {
            *slot = index % axis.len();
            index /= axis.len();
        }
        position
    }

    /// The coordinates of point `index`.
    pub fn point(&self, index: usize) -> Vec<f64> {
        self.position(index).iter().zip(&self.axes).map(|(&i, axis)| axis[i]).collect()
    }

    /// The index of the point with these coordinates, if there is one.
    ///
    /// ```
    /// let grid = manyhands_gp::Grid::even(&[(0.0, 1.0, 3), (0.0, 1.0, 5)])?;
    /// assert_eq!(grid.index_of(&[0.5, 0.25]), Some(6));
    /// assert_eq!(grid.index_of(&[0.5, 0.3]), None);
    /// # Ok::<(), manyhands_gp::Error>(())
    /// ```
    pub fn index_of(&self, point: &[f64]) -> Option<usize> {
        if point.len() != self.axes.len() {
            return None;
        }
        self.axes.iter().zip(point).try_fold(0, |index, (axis, coordinate)| {
            let position = axis.partition_point(|c| c < coordinate);
            (axis.get(position) == Some(coordinate)).then_some(index * axis.len() + position)
        })
    }

    /// The covariance of two points as a function of their distance in steps along each axis, which is all it depends on
    /// on an evenly spaced grid with a stationary kernel.
    pub(crate) fn lag_covariance(&self, kernel: &Kernel) -> impl Fn(&[usize]) -> f64 {
        let step = |axis: &Vec<f64>| (axis[axis.len() - 1] - axis[0]) / axis.len().saturating_sub(1).max(1) as f64;
        let steps: Vec<f64> = self.axes.iter().map(step).collect();
        let origin = vec![0.0; steps.len()];
        move |lag| {
            let point: Vec<f64> = lag.iter().zip(&steps).map(|(&l, step)| l as f64 * step).collect();
            kernel.covariance(&point, &origin)
        }
    }

    /// The distance between neighbours along each axis, if every axis is evenly spaced (within rounding).
    pub(crate) fn spacing(&self) -> Option<Vec<f64>> {
        self.axes.iter().map(|axis| even_spacing(axis)).collect()
    }
}

fn check_len(shape: &[usize]) -> Result<()> {
    let limit = u32::MAX as usize;
    match shape.iter().try_fold(1usize, |product, &m| product.checked_mul(m)) {
        Some(len) if len <= limit => Ok(()),
        _ => Err(Error::TooLarge { what: "a grid", shape: shape.to_vec(), limit }),
    }
}

fn even_spacing(axis: &[f64]) -> Option<f64> {
    let (first, last) = (axis[0], axis[axis.len() - 1]);
    let step = (last - first) / axis.len().saturating_sub(1).max(1) as f64;
    let tolerance = 8.0 * f64::EPSILON * first.abs().max(last.abs());
    axis.iter().enumerate().all(|(i, c)| (c - (first + i as f64 * step)).abs() <= tolerance).then_some(step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_axis_is_the_fastest() {
        let grid = Grid::new(vec![vec![0.0, 1.0], vec![5.0, 6.0, 8.0]]).unwrap();
        let points: Vec<Vec<f64>> = (0..6).map(|i| grid.point(i)).collect();
        assert_eq!(points[1], vec![0.0, 6.0]);
        assert_eq!(points[3], vec![1.0, 5.0]);
        assert_eq!(grid.spacing(), None);
    }

    #[test]
    fn even_axes_know_their_spacing() {
        let grid = Grid::even(&[(0.0, 1.0, 100), (-3.0, 3.0, 7), (2.0, 2.0, 1)]).unwrap();
        assert_eq!(grid.spacing(), Some(vec![1.0 / 99.0, 1.0, 0.0]));
    }

    #[test]
    fn bad_axes_are_refused() {
        assert_eq!(Grid::new(vec![]), Err(Error::Empty { what: "the list of a grid's axes" }));
        assert_eq!(Grid::new(vec![vec![]]), Err(Error::Empty { what: "a grid's axis" }));
        assert!(matches!(Grid::new(vec![vec![0.0, f64::NAN]]), Err(Error::NotFinite { .. })));
        assert!(matches!(Grid::new(vec![vec![0.0, 0.0]]), Err(Error::NotIncreasing { .. })));
        assert!(matches!(Grid::even(&[(0.0, 1.0, 70_000), (0.0, 1.0, 70_000)]), Err(Error::TooLarge { .. })));
    }
}
