//! Random numbers: one stream for every purpose, family of problems and index, so that no draw depends on another.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// What random numbers are used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Drawing a function.
    Function = 1,
    /// The noise that every algorithm sees.
    Noise,
    /// The seed of an algorithm's own randomness.
    Study,
    /// Uniform random search.
    Search,
    /// How long evaluations take.
    Duration,
}

/// The kind of problem they are used on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProblemFamily {
    /// Functions of the squared exponential kernel's RKHS.
    SquaredExponential = 1,
    /// Functions of the Matern kernel's RKHS.
    Matern,
    /// The Cosines benchmark.
    Cosines,
    /// The Rosenbrock benchmark.
    Rosenbrock,
    /// Temperature sensors.
    Temperature,
    /// Light sensors.
    Light,
    /// The synthetic sensor field.
    Field,
    /// The problems and pools that quality is measured on.
    Quality,
    /// All problems alike.
    Every,
}

/// The generator of one purpose for the problem `index` of a family.
pub fn generator(seed: u64, purpose: Purpose, family: ProblemFamily, index: usize) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(((purpose as u64) << 56) | ((family as u64) << 48) | index as u64);
    rng
}
