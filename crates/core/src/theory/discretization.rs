//! The discretization D_t of the paper's appendix: how many points it has at round t.
//!
//! | symbol | name | meaning |
//! |---|---|---|
//! | B | norm_bound | bound on the function's RKHS norm |
//! | L | lipschitz | L^2 = sup d_p d_q k(p, q) at p = q = x, Lemma 7 of the paper |
//! | r, d | side, dimension | the domain is the cube [0, r]^d |
//! | a | tolerance | abs(f(x) - f([x]_t)) <= a/t^2 for the point [x]_t of D_t closest to x; the paper's is 1 |

use crate::{Error, Result};

/// The largest D_t, and so the longest coordinate, that is sampled.
const LARGEST: usize = 1 << 24;

/// D_t: every coordinate of the cube [0, r]^d has B L r d t^2/a evenly spaced points, rounded up, with both ends.
///
/// The spacing of n points is r/(n - 1), so that every x is within d r/(2 (n - 1)) <= r d/n of one of them in the 1-norm, and
/// abs(f(x) - f(\[x\]_t)) <= B L r d/n <= a/t^2.
///
/// ```
/// use manyhands_core::theory::Discretization;
/// let growing = Discretization { norm_bound: 1.5, lipschitz: 5.0, side: 1.0, dimension: 2, tolerance: 1.0 };
/// assert_eq!(growing.points_per_coordinate(2), 60.0);
/// assert!((growing.log_size(2) - 3600f64.ln()).abs() < 1e-12);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Discretization {
    /// B.
    pub norm_bound: f64,
    /// L.
    pub lipschitz: f64,
    /// r.
    pub side: f64,
    /// d.
    pub dimension: usize,
    /// a, in the units of f. The paper takes 1, for a function whose kernel has k(x,x) <= 1.
    pub tolerance: f64,
}

impl Discretization {
    /// B L r d t^2/a, rounded up; at least the two ends.
    pub fn points_per_coordinate(&self, t: usize) -> f64 {
        let &Self { norm_bound, lipschitz, side, dimension, tolerance } = self;
        let exact = norm_bound * lipschitz * side * dimension as f64 * (t as f64).powi(2) / tolerance;
        exact.ceil().max(2.0)
    }

    /// ln |D_t|.
    pub fn log_size(&self, t: usize) -> f64 {
        self.dimension as f64 * self.points_per_coordinate(t).ln()
    }

    /// The points along a coordinate; refused where D_t is too large to be sampled.
    pub fn sampled_points(&self, t: usize) -> Result<usize> {
        let (per_coordinate, dimension) = (self.points_per_coordinate(t) as usize, self.dimension);
        u32::try_from(dimension)
            .ok()
            .and_then(|d| per_coordinate.checked_pow(d))
            .filter(|&size| size <= LARGEST)
            .map(|_| per_coordinate)
            .ok_or(Error::DiscretizationTooLarge { t, per_coordinate, dimension })
    }
}
