//! Where the maximum is searched: a box, some of whose coordinates come in blocks with a list of options.
//!
//! A cell is a box together with the options that are left in each block. Its coordinates in a block range over the
//! bounding box of these options, so that whatever holds over the box holds for every option. Splitting halves an interval
//! or parts the options, and ends with cells of one option in each block.

use std::ops::Range;

use super::FeasibleSet;
use crate::{Error, Result};

/// A block of coordinates that are chosen together from a list.
#[derive(Debug, Clone, PartialEq)]
struct OptionBlock {
    coordinates: Range<usize>,
    options: Vec<Vec<f64>>,
}

/// A box in coordinates, in which blocks of coordinates may be restricted to a list of options.
///
/// ```
/// use manyhands_gp::Region;
/// // A number in [0, 1] and one of three kinds, coded one-hot.
/// let kinds = vec![vec![1.0, 0.0, 0.0], vec![0.0, 1.0, 0.0], vec![0.0, 0.0, 1.0]];
/// let region = Region::new(&[0.0; 4], &[1.0; 4])?.with_options(1..4, kinds)?;
/// assert_eq!(region.nearest(&[1.7, 0.1, 0.8, 0.3])?, [1.0, 0.0, 1.0, 0.0]);
/// # Ok::<(), manyhands_gp::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Region {
    low: Vec<f64>,
    high: Vec<f64>,
    blocks: Vec<OptionBlock>,
}

impl Region {
    /// The box of all points between `low` and `high`; an interval may be a single number.
    pub fn new(low: &[f64], high: &[f64]) -> Result<Self> {
        if low.is_empty() {
            return Err(Error::Empty { what: "a region's list of coordinates" });
        }
        if high.len() != low.len() {
            return Err(Error::WrongLength { what: "a region's upper ends", expected: low.len(), found: high.len() });
        }
        for (coordinate, (&low, &high)) in low.iter().zip(high).enumerate() {
            check_finite("an end of an interval", &[low, high])?;
            if low > high {
                return Err(Error::EmptyInterval { coordinate, low, high });
            }
        }
        Ok(Self { low: low.to_vec(), high: high.to_vec(), blocks: vec![] })
    }

    /// The same region with these coordinates restricted to a list of options, whatever their intervals were.
    pub fn with_options(mut self, coordinates: Range<usize>, options: Vec<Vec<f64>>) -> Result<Self> {
        let (start, end) = (coordinates.start, coordinates.end);
        if start >= end || options.is_empty() {
            return Err(Error::Empty { what: "a block of options" });
        }
        let taken = |block: &OptionBlock| start < block.coordinates.end && block.coordinates.start < end;
        if end > self.low.len() || self.blocks.iter().any(taken) {
            return Err(Error::BlockMisplaced { start, end, dimension: self.low.len() });
        }
        for option in &options {
            if option.len() != end - start {
                return Err(Error::WrongLength { what: "an option", expected: end - start, found: option.len() });
            }
            check_finite("an option's coordinate", option)?;
        }
        self.blocks.push(OptionBlock { coordinates, options });
        Ok(self)
    }

    /// How many coordinates a point has.
    pub(crate) fn dimension(&self) -> usize {
        self.low.len()
    }

    /// The point of the region nearest to this one: intervals by clamping, blocks by the nearest option (the first of
    /// those equally near).
    pub fn nearest(&self, point: &[f64]) -> Result<Vec<f64>> {
        if point.len() != self.dimension() {
            return Err(Error::WrongLength { what: "a point", expected: self.dimension(), found: point.len() });
        }
        check_finite("a coordinate", point)?;
        Ok(self.whole().nearest(self, point))
    }

    /// The cell of all points.
    pub(super) fn whole(&self) -> Cell {
        let options = self.blocks.iter().map(|block| (0..block.options.len()).collect()).collect();
        let mut cell = Cell { low: self.low.clone(), high: self.high.clone(), options };
        (0..self.blocks.len()).for_each(|block| cell.fit(self, block));
        cell
    }

    /// The largest size that each coordinate reaches.
    pub(super) fn corner(&self) -> Vec<f64> {
        let whole = self.whole();
        whole.low.iter().zip(&whole.high).map(|(low, high)| low.abs().max(high.abs())).collect()
    }

    /// The block that a coordinate belongs to.
    fn block_of(&self, coordinate: usize) -> Option<usize> {
        self.blocks.iter().position(|block| block.coordinates.contains(&coordinate))
    }
}

/// A part of a region.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Cell {
    low: Vec<f64>,
    high: Vec<f64>,
    /// The options left in each block.
    options: Vec<Vec<usize>>,
}

impl Cell {
    /// The middle of the cell's box; it need not be a point of the region where options are left.
    pub fn centre(&self) -> Vec<f64> {
        self.low.iter().zip(&self.high).map(|(&low, &high)| middle(low, high)).collect()
    }

    /// The largest distance from the centre along a coordinate.
    pub fn half_width(&self, coordinate: usize) -> f64 {
        let (low, high) = (self.low[coordinate], self.high[coordinate]);
        let middle = middle(low, high);
        (high - middle).max(middle - low)
    }

    /// The cell's point nearest to this one.
    pub fn nearest(&self, region: &Region, point: &[f64]) -> Vec<f64> {
        let mut out: Vec<f64> =
            point.iter().zip(&self.low).zip(&self.high).map(|((x, low), high)| x.clamp(*low, *high)).collect();
        for (block, left) in region.blocks.iter().zip(&self.options) {
            let wanted = &point[block.coordinates.clone()];
            let distance = |&i: &usize| block.options[i].iter().zip(wanted).map(|(a, b)| (a - b) * (a - b)).sum();
            let nearest = left.iter().min_by(|a, b| f64::total_cmp(&distance(a), &distance(b)));
            if let Some(&nearest) = nearest {
                out[block.coordinates.clone()].copy_from_slice(&block.options[nearest]);
            }
        }
        out
    }

    /// Whether it is known to hold no feasible point.
    pub fn is_excluded(&self, feasible: &dyn FeasibleSet) -> bool {
        feasible.excludes(&self.low, &self.high)
    }

    /// The part within `radius` of one of the region's points along every coordinate, its blocks as they are there.
    pub fn around(region: &Region, point: &[f64], radius: impl Fn(usize) -> f64) -> Self {
        let mut cell = region.whole();
        for (j, &x) in point.iter().enumerate() {
            // The same on both sides, so that the point is the centre; results are moved into the region.
            let radius = if region.block_of(j).is_some() { 0.0 } else { radius(j).min(cell.high[j] - cell.low[j]) };
            (cell.low[j], cell.high[j]) = (x - radius, x + radius);
        }
        cell
    }

    /// The two halves across a coordinate, or none if no number lies between its ends.
    pub fn split(&self, region: &Region, coordinate: usize) -> Option<[Self; 2]> {
        let (low, high) = (self.low[coordinate], self.high[coordinate]);
        if low >= high {
            return None;
        }
        let middle = middle(low, high);
        let (mut left, mut right) = (self.clone(), self.clone());
        if let Some(block) = region.block_of(coordinate) {
            let OptionBlock { coordinates, options } = &region.blocks[block];
            let value = |i: usize| options[i][coordinate - coordinates.start];
            // Next to its neighbour the middle may be rounded to the upper end.
            let below = |i: &usize| value(*i) <= middle && value(*i) < high;
            left.options[block].retain(below);
            right.options[block].retain(|i| !below(i));
            left.fit(region, block);
            right.fit(region, block);
        } else if low < middle && middle < high {
            left.high[coordinate] = middle;
            right.low[coordinate] = middle;
        } else {
            return None;
        }
        Some([left, right])
    }

    /// Makes the box no larger than the options left in a block.
    fn fit(&mut self, region: &Region, block: usize) {
        let OptionBlock { coordinates, options } = &region.blocks[block];
        for coordinate in coordinates.clone() {
            let values = self.options[block].iter().map(|&i| options[i][coordinate - coordinates.start]);
            (self.low[coordinate], self.high[coordinate]) =
                values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
        }
    }
}

/// A number halfway between two, without overflow.
fn middle(low: f64, high: f64) -> f64 {
    (0.5 * low + 0.5 * high).clamp(low, high)
}

fn check_finite(what: &'static str, values: &[f64]) -> Result<()> {
    match values.iter().find(|value| !value.is_finite()) {
        Some(&value) => Err(Error::NotFinite { what: what.into(), value }),
        None => Ok(()),
    }
}
