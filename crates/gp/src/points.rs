//! A growing list of points of one dimension, stored flat.

use crate::{Error, Result};

/// Points of R^d, one after the other in memory.
///
/// A candidate of an empirical covariance is the one-dimensional point that holds its index.
///
/// ```
/// use manyhands_gp::Points;
/// let points = Points::from_rows(&[vec![0.0, 1.0], vec![0.5, 0.5]])?;
/// assert_eq!((points.len(), points.get(1)), (2, [0.5, 0.5].as_slice()));
/// # Ok::<(), manyhands_gp::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Points {
    coordinates: Vec<f64>,
    dimension: usize,
}

impl Points {
    /// No points yet, of dimension `dimension` (at least 1).
    pub fn new(dimension: usize) -> Result<Self> {
        Self::from_flat(dimension, Vec::new())
    }

    /// Points from their coordinates, one point after the other.
    pub fn from_flat(dimension: usize, coordinates: Vec<f64>) -> Result<Self> {
        if dimension == 0 {
            return Err(Error::Empty { what: "a point" });
        }
        if !coordinates.len().is_multiple_of(dimension) {
            return Err(Error::WrongLength {
                what: "the last point",
                expected: dimension,
                found: coordinates.len() % dimension,
            });
        }
        if let Some(&value) = coordinates.iter().find(|c| !c.is_finite()) {
            return Err(Error::NotFinite { what: "a coordinate".into(), value });
        }
        Ok(Self { coordinates, dimension })
    }

    /// Points from one list of coordinates each.
    pub fn from_rows(rows: &[Vec<f64>]) -> Result<Self> {
        let dimension = rows.first().ok_or(Error::Empty { what: "a list of points" })?.len();
        let mut points = Self::new(dimension)?;
        for (index, row) in rows.iter().enumerate() {
            points.push(row).map_err(|problem| Error::AtPoint { index, problem: Box::new(problem) })?;
        }
        Ok(points)
    }

    /// The candidates of a covariance matrix of `len` rows: their indices.
    pub fn indices(len: usize) -> Self {
        Self { coordinates: (0..len).map(|i| i as f64).collect(), dimension: 1 }
    }

    /// Points whose coordinates have been checked before.
    pub(crate) fn trusted(dimension: usize, coordinates: Vec<f64>) -> Self {
        Self { coordinates, dimension }
    }

    /// Appends a point.
    pub fn push(&mut self, point: &[f64]) -> Result<()> {
        self.check(point)?;
        self.coordinates.extend_from_slice(point);
        Ok(())
    }

    /// Refuses a point of another dimension or with a coordinate that is not finite.
    pub(crate) fn check(&self, point: &[f64]) -> Result<()> {
        if point.len() != self.dimension {
            return Err(Error::WrongLength { what: "a point", expected: self.dimension, found: point.len() });
        }
        match point.iter().find(|c| !c.is_finite()) {
            Some(&value) => Err(Error::NotFinite { what: "a coordinate".into(), value }),
            None => Ok(()),
        }
    }

    /// Keeps the first `len` points.
    pub fn truncate(&mut self, len: usize) {
        self.coordinates.truncate(len * self.dimension);
    }

    /// These of the points, in this order. Panics, as a slice does, if there is no such point.
    pub fn selected(&self, rows: &[usize]) -> Self {
        let coordinates = rows.iter().flat_map(|&row| self.get(row).iter().copied()).collect();
        Self { dimension: self.dimension, coordinates }
    }

    /// Moves a point forward to an earlier place; those in between follow it.
    pub(crate) fn bring_forward(&mut self, from: usize, to: usize) {
        let moved = &mut self.coordinates[to * self.dimension..(from + 1) * self.dimension];
        moved.rotate_right(self.dimension);
    }

    /// Removes a point; later ones move up.
    pub(crate) fn remove(&mut self, index: usize) {
        self.coordinates.drain(index * self.dimension..(index + 1) * self.dimension);
    }

    /// How many points there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.coordinates.len() / self.dimension
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.coordinates.is_empty()
    }

    /// How many coordinates a point has.
    #[inline]
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// One point; panics, as a slice does, past the last.
    #[inline]
    pub fn get(&self, index: usize) -> &[f64] {
        &self.coordinates[index * self.dimension..(index + 1) * self.dimension]
    }

    /// All coordinates, one point after the other.
    pub fn flat(&self) -> &[f64] {
        &self.coordinates
    }

    /// One coordinate of the first `len` points.
    pub(crate) fn coordinate(&self, index: usize, len: usize) -> Vec<f64> {
        self.iter().take(len).map(|point| point[index]).collect()
    }

    /// The points in order.
    #[inline]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        self.coordinates.chunks_exact(self.dimension)
    }
}
