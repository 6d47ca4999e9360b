//! Gaussian processes with observed and pending points, on finite domains, grids and boxes.
//!
//! Numbers only: no trials, no names, no input or output, no clock.
//!
//! # Guide
//!
//! 1. A [`Kernel`] with a mean and the noise's variance is a [`Prior`]. [`Fit`] learns its hyperparameters from data.
//! 2. A [`Posterior`] grows by rows. Pending points are *hallucinated*: they shrink the variance and leave the mean as it
//!    is. A [`View`] of it is the posterior given its first rows.
//! 3. What is maximized is an [`Acquisition`]: [`ConfidenceBound`], [`Variance`], [`StandardDeviation`], or your own.
//! 4. Where it is maximized decides how:
//!
//! | over | by | result |
//! |---|---|---|
//! | a finite [`Domain`] | [`Surface::argmax`], or [`Surface::argmax_within`] a region | the argmax of brute force |
//! | a box | [`Screen`] or [`Shortlist`] for candidates, then [`climb`] with [`Slopes`] | a local maximum |
//! | a box, for band ends and the variance | [`maximize`] | a point, and a bound that no point exceeds |
//! | samples | [`Sampler`] on finite domains, [`SamplePath`] on boxes | a draw of the posterior |
//!
//! Choosing three points of a grid at once, by the upper end of a confidence band:
//! ```
//! use std::sync::Arc;
//! use manyhands_gp::{ConfidenceBound, Domain, Error, Grid, Kernel, Key, Posterior, Prior, Restricted, Surface};
//!
//! # fn main() -> manyhands_gp::Result<()> {
//! let kernel = Kernel::matern(2.5, &[0.2])?;
//! let mut posterior = Posterior::new(Prior::new(kernel.clone(), 0.0, 0.01)?, 2)?;
//! posterior.observe(Key { id: 0, site: 0 }, &[0.0, 0.0], 0.3)?;
//!
//! let domain = Domain::Grid(Grid::even(&[(0.0, 1.0, 50), (0.0, 1.0, 50)])?);
//! let mut surface = Surface::new(Arc::new(Restricted::new(kernel, domain, 1 << 24)?));
//! for id in 1..=3 {
//!     let best = surface.argmax(posterior.view(), &ConfidenceBound(2.0)).ok_or(Error::Empty { what: "the domain" })?;
//!     let point = surface.restricted().domain().point(best.index);
//!     posterior.hallucinate(Key { id, site: best.index }, &point)?;
//! }
//!
//! // Results may arrive in any order.
//! posterior.settle(2, 0.8)?;
//! assert_eq!((posterior.observed(), posterior.pending()), (2, 2));
//! # Ok(()) }
//! ```

mod acquisition;
mod certified;
mod circulant;
mod convolution;
mod dense;
mod determinantal;
mod error;
mod even;
mod factor;
mod fft;
mod fit;
mod greedy_gain;
mod grid;
mod joint;
mod kernel;
mod kron;
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
mod solution;
mod surface;
mod tuning;
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
pub use certified::{Budget, Certified, FeasibleSet, Region, maximize};
pub use determinantal::draw_k_dpp;
pub use error::{Error, Quantity, Result};
pub use factor::Factor;
pub use fit::{Fit, Given, Hyperparameters, KernelStructure, Priors};
pub use greedy_gain::GreedyInformation;
pub use grid::Grid;
pub use joint::{Joint, PointSection, Sections};
pub use kernel::{Clipped, Covariance, Family, Kernel};
pub use optimize::{Peak, climb};
pub use path::{SamplePath, SamplePaths};
pub use points::Points;
pub use posterior::{Key, Marginal, Posterior};
pub use prior::Prior;
pub use restricted::{Domain, Restricted, has_structure};
pub use sample::{Sampler, draw_on_grid, most_sampled_without_structure};
pub use screen::Screen;
pub use shortlist::Shortlist;
pub use slopes::Slopes;
pub use surface::{Among, Maximizer, Surface, TIE};
pub use view::View;
pub use warp::Warp;
