//! Property tests that run the same cases every time and leave no files behind.

use proptest::test_runner::{Config, RngSeed};

/// `cases` cases, the same ones on every run.
pub fn config(cases: u32) -> Config {
    Config { cases, failure_persistence: None, rng_seed: RngSeed::Fixed(0x6d61_6e79), ..Config::default() }
}
