//! The part of the unit cube that linear constraints leave: points inside, uniform samples, nearest points, ascent directions.
//! It knows no parameter: coordinates are shares of ranges, and what they stand for is the caller's.
//!
//! ```
//! use manyhands_polytope::{LinearRow, Polytope};
//! # fn main() -> Result<(), manyhands_polytope::Stalled> {
//! // Mixtures of three parts, with at most twice as much of the first as of the second.
//! let mixtures = Polytope {
//!     dimension: 3,
//!     planes: vec![LinearRow { weights: vec![1.0, 1.0, 1.0], bound: 1.0 }],
//!     halfspaces: vec![LinearRow { weights: vec![1.0, -2.0, 0.0], bound: 0.0 }],
//! };
//! let (least, most) = mixtures.range(0)?.unwrap_or_default();
//! assert!(least.abs() < 1e-12 && (most - 2.0 / 3.0).abs() < 1e-12);
//! let nearest = mixtures.nearest(&[1.0, 0.0, 0.0], 50)?.unwrap_or_default();
//! assert!((nearest[0] - 2.0 * nearest[1]).abs() < 1e-6 && (nearest.iter().sum::<f64>() - 1.0).abs() < 1e-9);
//! # Ok(()) }
//! ```

mod polytope;
mod simplex;

pub use polytope::{Local, Polytope};
pub use simplex::{LinearRow, Solved, Stalled};
