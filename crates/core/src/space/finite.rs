//! Spaces counted: how many points, all of them in order, and the axes of a full grid.

use super::{CubeAxis, Space, Value};

impl Space {
    /// How many combinations of values there are, before constraints; None if a parameter is continuous or the number too
    /// large.
    pub fn size(&self) -> Option<usize> {
        self.axes.iter().try_fold(1usize, |product, axis| product.checked_mul(axis.len()?))
    }

    /// Every combination of values that keeps the constraints, the last parameter fastest; None if there are more than
    /// `limit` combinations before constraints, or infinitely many.
    ///
    /// ```
    /// # use manyhands_core::{Parameter, Space, Value};
    /// let space = Space::new(vec![Parameter::int("n", 1, 2)?, Parameter::choice("act", &["relu", "gelu"])?], vec![])?;
    /// let all = space.candidates(100).unwrap_or_default();
    /// assert_eq!(all.len(), 4);
    /// assert_eq!(all[1], [Value::Int(1), "gelu".into()]);
    /// # Ok::<(), manyhands_core::Error>(())
    /// ```
    pub fn candidates(&self, limit: usize) -> Option<Vec<Vec<Value>>> {
        let size = self.size().filter(|size| *size <= limit)?;
        Some((0..size).map(|index| self.combination(index)).filter(|params| self.satisfies(params)).collect())
    }

    /// The coordinates along each axis if the space is a full grid: no constraint, every parameter countable, and none of
    /// them a choice of several categories. Parameters with one value have no axis.
    pub(crate) fn axes(&self) -> Option<Vec<Vec<f64>>> {
        if !self.constraints.is_empty() {
            return None;
        }
        self.size().filter(|size| *size <= u32::MAX as usize)?;
        let varying = self.axes.iter().filter(|axis| axis.dimension() > 0);
        let coordinates = |axis: &CubeAxis| match axis {
            CubeAxis::Ladder(ladder) => Some((0..ladder.len()).map(|rung| ladder.coordinate(rung)).collect()),
            CubeAxis::Fixed(_) | CubeAxis::Line(_) | CubeAxis::Choice(_) => None,
        };
        varying.map(coordinates).collect()
    }

    fn combination(&self, mut index: usize) -> Vec<Value> {
        let mut params = Vec::with_capacity(self.axes.len());
        for axis in self.axes.iter().rev() {
            let len = axis.len().unwrap_or(1);
            params.push(axis.nth(index % len));
            index /= len;
        }
        params.reverse();
        params
    }
}
