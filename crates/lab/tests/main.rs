//! All tests of what this crate promises, as one program: every further one would be linked by itself.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;
mod problems;
mod programs;
mod quality;
mod quality_problems;
mod reproduction;
mod runs;
/// What the tests of core share; here a part of it.
#[allow(dead_code, unused_imports)]
#[path = "../../core/tests/common/mod.rs"]
mod studies;
mod theory;
mod wilcoxon;
