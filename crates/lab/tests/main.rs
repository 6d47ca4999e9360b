//! All tests of what this crate promises, as one program, because each program is linked separately.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod bbob;
mod common;
mod problems;
mod programs;
mod quality;
mod quality_problems;
mod quality_results;
mod quality_stuck;
mod reproduction;
mod rules;
mod runs;
mod sensor_files;
/// What the tests of core share, of which a part is used here.
#[allow(dead_code, unused_imports)]
#[path = "../../core/tests/common/mod.rs"]
mod studies;
mod theory;
mod trust;
mod wilcoxon;
