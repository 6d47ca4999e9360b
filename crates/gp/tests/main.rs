//! All tests of what this crate promises, as one program, because each program is linked separately.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod acquisition;
mod certified;
mod common;
mod covariance;
mod fit;
mod greedy_gain;
mod kernel;
mod path;
mod posterior;
mod reference;
mod sample;
mod screen;
mod slopes;
mod surface;
mod warp;
