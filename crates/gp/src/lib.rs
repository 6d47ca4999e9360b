//! Gaussian processes with observed and pending points, on finite domains and grids.
//!
//! Numbers only: no trials, no names, no input or output, no clock.

mod error;
mod kernel;
mod points;

pub use error::{Error, Result};
pub use kernel::{Clipped, Covariance, Family, Kernel};
pub use points::Points;
