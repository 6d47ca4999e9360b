//! Tests of what the search uses of a space, which is not public.

mod constraints;
mod coordinates;

use proptest::test_runner::{Config, RngSeed};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// `cases` cases, the same ones on every run.
fn config(cases: u32) -> Config {
    Config { cases, failure_persistence: None, rng_seed: RngSeed::Fixed(0x6d61_6e79), ..Config::default() }
}

fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

fn uniform(rng: &mut impl Rng, low: f64, high: f64) -> f64 {
    rng.random_range(low..high)
}
