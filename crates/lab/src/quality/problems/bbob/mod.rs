//! The 24 noise-free functions of the BBOB set on [-5, 5]^d, equal to COCO's instances: their names and problems.
//!
//! Definitions: N. Hansen, S. Finck, R. Ros and A. Auger, "Real-parameter black-box optimization benchmarking 2009:
//! noiseless functions definitions", INRIA RR-6829. The instance of a run has the number of its seed.

mod gallagher;
mod ill_conditioned;
mod instance;
mod moderate;
mod multimodal;
mod random;
mod separable;
mod spread;
mod transformations;
mod weak;

pub use instance::BbobInstance;

use super::cube;
use crate::Result;
use crate::quality::SpaceProblem;

/// How many functions there are.
const FUNCTIONS: usize = 24;
/// The dimensions in which functions are found by name.
pub(crate) const DIMENSIONS: [usize; 6] = [2, 3, 5, 10, 20, 40];
/// The percentages of noise with which they are.
const PERCENTAGES: [u32; 4] = [1, 5, 20, 100];

/// The function of this number, from 1 to 24, in two or more dimensions: `bbob-f01-d2`.
///
/// ```
/// use manyhands_lab::quality::problems::bbob;
/// # fn main() -> manyhands_lab::Result<()> {
/// let sphere = bbob(1, 2)?;
/// assert_eq!((sphere.name(), sphere.optimum().value), ("bbob-f01-d2", 79.48));
/// assert_eq!(sphere.instance(2)?.optimum().value, 394.48);
/// # Ok(()) }
/// ```
pub fn bbob(function: usize, dimension: usize) -> Result<SpaceProblem> {
    problem(BbobInstance::new(function, dimension, 1)?)
}

/// The same under Gaussian noise of `percent` % of the instance's own standard deviation under uniform inputs, which is
/// estimated from 1,024 points: `bbob-f01-d2-noise-5`.
pub fn bbob_with_noise(function: usize, dimension: usize, percent: u32) -> Result<SpaceProblem> {
    let instance = BbobInstance::new(function, dimension, 1)?;
    let spread = instance.spread();
    Ok(problem(instance)?.with_noise(percent, spread))
}

/// All functions in these dimensions, dimension by dimension.
pub fn bbob_set(dimensions: &[usize]) -> Result<Vec<SpaceProblem>> {
    let pairs = dimensions.iter().flat_map(|dimension| (1..=FUNCTIONS).map(move |function| (function, *dimension)));
    pairs.map(|(function, dimension)| bbob(function, dimension)).collect()
}

fn problem(instance: BbobInstance) -> Result<SpaceProblem> {
    let (function, dimension) = (instance.function(), instance.dimension());
    SpaceProblem::drawn(&name(function, dimension), cube(dimension, -5.0, 5.0)?, instance)
}

fn name(function: usize, dimension: usize) -> String {
    format!("bbob-f{function:02}-d{dimension}")
}

/// The problem of this name, if it is one of [`pattern`].
pub fn named(wanted: &str) -> Option<Result<SpaceProblem>> {
    let (plain, percent) = match wanted.split_once("-noise-") {
        Some((plain, percent)) => (plain, Some(PERCENTAGES.into_iter().find(|known| known.to_string() == percent)?)),
        None => (wanted, None),
    };
    let of_function = |function| DIMENSIONS.map(|dimension| (function, dimension));
    let mut pairs = (1..=FUNCTIONS).flat_map(of_function);
    let (function, dimension) = pairs.find(|(function, dimension)| name(*function, *dimension) == plain)?;
    Some(match percent {
        None => bbob(function, dimension),
        Some(percent) => bbob_with_noise(function, dimension, percent),
    })
}

/// The names that are known, in words.
pub fn pattern() -> String {
    let list = |numbers: &[String]| numbers.join(", ");
    format!(
        "bbob-fNN-dD with NN from 01 to {FUNCTIONS} and D one of {}, and -noise-P behind it for noise of P %, P one of {}",
        list(&DIMENSIONS.map(|dimension| dimension.to_string())),
        list(&PERCENTAGES.map(|percent| percent.to_string())),
    )
}
