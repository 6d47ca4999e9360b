//! Gaussian processes with observed and pending points, on finite domains and grids.
//!
//! Numbers only: no trials, no names, no input or output, no clock.

mod acquisition;
mod certified;
mod circulant;
mod convolution;
mod dense;
mod error;
mod even;
mod factor;
mod fft;
mod fit;
mod greedy_gain;
mod grid;

mod kernel;
mod kron;
mod lazily;
mod lowrank;
mod optimize;
mod path;
mod points;
mod posterior;
mod prior;
mod restricted;
mod sample;
mod screen;
mod shortlist;
mod slopes;
mod surface;
mod vector;
mod view;
mod warp;

#[cfg(test)]
#[path = "../tests/common/elimination.rs"]
mod elimination;
#[cfg(test)]
#[path = "../tests/common/seeded.rs"]
mod seeded;

pub use acquisition::{Acquisition, ConfidenceBound, LevelSet, Provable, StandardDeviation, Variance};
pub use certified::{Budget, Certified, Region, maximize};
pub use error::{Error, Result};
pub use factor::Factor;
pub use fit::{Fit, Given, Hyperparameters, Priors};
pub use greedy_gain::GreedyInformation;
pub use grid::Grid;
pub use kernel::{Clipped, Covariance, Family, Kernel};
pub use optimize::{Peak, climb};
pub use path::SamplePath;
pub use points::Points;
pub use posterior::{Key, Marginal, Posterior};
pub use prior::Prior;
pub use restricted::{Domain, Restricted};
pub use sample::{Sampler, draw_on_grid};
pub use screen::Screen;
pub use shortlist::Shortlist;
pub use slopes::Slopes;
pub use surface::{Among, Maximizer, Surface, TIE};
pub use view::View;
pub use warp::Warp;
