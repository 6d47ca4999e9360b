//! Gaussian processes with observed and pending points, on finite domains and grids.
//!
//! Numbers only: no trials, no names, no input or output, no clock.

mod circulant;
mod convolution;
mod error;
mod even;
mod fft;
mod kernel;
mod points;

pub use circulant::Circulant;
pub use convolution::Convolution;
pub use error::{Error, Result};
pub use kernel::{Covariance, Family, Kernel};
pub use points::Points;
