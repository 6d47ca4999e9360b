//! Which points of a region may be chosen.

use super::Region;

/// Where a maximum is searched: a region, or those of its points that satisfy further conditions.
///
/// Numbers in [0, 1] that are multiples of 1/10:
/// ```
/// use manyhands_gp::{FeasibleSet, Region};
///
/// struct Tenths(Region);
///
/// impl FeasibleSet for Tenths {
///     fn region(&self) -> &Region {
///         &self.0
///     }
///
///     fn nearest_feasible(&self, point: Vec<f64>) -> Vec<f64> {
///         point.into_iter().map(|x| (10.0 * x).round() / 10.0).collect()
///     }
/// }
/// ```
pub trait FeasibleSet {
    /// A region that holds every feasible point.
    fn region(&self) -> &Region;

    /// A feasible point near a point of the region: that point itself if it is feasible. Searches report such points only.
    ///
    /// It must have as many coordinates as the region; searches panic, as a slice does, where there are fewer.
    fn nearest_feasible(&self, point: Vec<f64>) -> Vec<f64> {
        point
    }

    /// Whether no feasible point lies in this box; false also where that is not known.
    fn excludes(&self, _low: &[f64], _high: &[f64]) -> bool {
        false
    }
}

/// All of it.
impl FeasibleSet for Region {
    fn region(&self) -> &Region {
        self
    }
}
