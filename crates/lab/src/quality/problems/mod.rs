//! The problems of the quality bench: from one parameter to ten, smooth and rough, mixed, constrained and noisy.
//!
//! Formulas are those of S. Surjanovic and D. Bingham, "Virtual Library of Simulation Experiments" (sfu.ca/~ssurjano),
//! unless a source is named; optima known to few digits there were polished with 30-digit arithmetic. Where a classic
//! has its optimum in the centre of the box, another box is used, since many methods try the centre first.

mod bbob;
mod further;
mod hartmann;
mod mixed;
mod one_two;
mod several;

pub(super) use bbob::{BbobInstance, DIMENSIONS as BBOB_DIMENSIONS};
pub use bbob::{bbob, bbob_set, bbob_with_noise};
pub use further::further;
pub(crate) use hartmann::hartmann6;
use manyhands_core::{Direction, Parameter, Space, Value};
pub(crate) use mixed::{mixture, training};

use super::{Optimum, SpaceProblem};
use crate::{Error, Result};

/// The standard deviation of Branin under uniform inputs, by quadrature in 20 digits.
pub const BRANIN_SPREAD: f64 = 51.251_217_667_641_26;
/// The standard deviation of Hartmann6 under uniform inputs, in closed form (products of error functions).
pub const HARTMANN6_SPREAD: f64 = 0.384_827_213_017_885;

/// Every problem but for the BBOB set; the five that have aims come first.
pub fn all() -> Result<Vec<SpaceProblem>> {
    let (branin, hartmann6) = (one_two::branin()?, hartmann6()?);
    let noisy_branin = |percent| branin.with_noise(percent, BRANIN_SPREAD);
    let noisy_hartmann6 = |percent| hartmann6.with_noise(percent, HARTMANN6_SPREAD);
    Ok(vec![
        branin.clone(),
        noisy_branin(5),
        one_two::cosines()?,
        hartmann6.clone(),
        noisy_hartmann6(5),
        one_two::forrester()?,
        one_two::gramacy_lee()?,
        one_two::camel()?,
        one_two::exponential_camel()?,
        one_two::goldstein_price()?,
        several::rastrigin(2)?,
        hartmann::hartmann3()?,
        several::step()?,
        several::griewank()?,
        several::rosenbrock()?,
        several::rastrigin(4)?,
        several::shekel()?,
        several::ackley()?,
        several::styblinski_tang()?,
        several::michalewicz()?,
        several::borehole()?,
        several::levy()?,
        training()?,
        training()?.with_noise(20, mixed::TRAINING_SPREAD),
        mixture()?,
        mixed::constrained_branin()?,
        noisy_branin(1),
        noisy_branin(20),
        noisy_branin(100),
        noisy_hartmann6(1),
        noisy_hartmann6(20),
        noisy_hartmann6(100),
    ])
}

/// The problems of these names: those of [`all`] in its order and the further ones, then functions of the BBOB set in the order
/// of the names. Without a name those of [`all`].
pub fn named(names: &[String]) -> Result<Vec<SpaceProblem>> {
    named_beside(names, &[])
}

/// The same, where the error for an unknown name lists other names that would do.
pub(super) fn named_beside(names: &[String], others: &[&str]) -> Result<Vec<SpaceProblem>> {
    let mut all = all()?;
    if !names.is_empty() {
        all.extend(further()?);
    }
    let mut drawn: Vec<SpaceProblem> = Vec::new();
    for name in names {
        if all.iter().chain(&drawn).any(|problem| problem.name() == name) {
            continue;
        }
        let unknown = || {
            let known: Vec<&str> = all.iter().map(SpaceProblem::name).chain(others.iter().copied()).collect();
            let allowed = format!("one of {}, or {}", known.join(", "), bbob::pattern());
            Error::Setting { setting: "a problem's name", allowed, value: format!("\"{name}\"") }
        };
        drawn.push(bbob::named(name).ok_or_else(unknown)??);
    }
    let wanted = |problem: &SpaceProblem| names.is_empty() || names.iter().any(|name| name == problem.name());
    Ok(all.into_iter().filter(wanted).chain(drawn).collect())
}

/// [low, high]^dimension, with parameters x1, x2, ...
pub(crate) fn cube(dimension: usize, low: f64, high: f64) -> Result<Space> {
    Ok(Space::new(axes(&vec![(low, high); dimension])?, vec![])?)
}

/// Parameters x1, x2, ... over these ranges.
fn axes(ranges: &[(f64, f64)]) -> Result<Vec<Parameter>> {
    let parameter = |(i, (low, high)): (usize, &(f64, f64))| Parameter::float(&format!("x{}", i + 1), *low, *high);
    Ok(ranges.iter().enumerate().map(parameter).collect::<manyhands_core::Result<_>>()?)
}

fn numbers(point: &[f64]) -> Vec<Value> {
    point.iter().map(|x| Value::Float(*x)).collect()
}

fn minimized(
    name: &str,
    space: Space,
    function: fn(&[f64]) -> f64,
    (value, point): (f64, &[f64]),
) -> Result<SpaceProblem> {
    SpaceProblem::new(name, space, Direction::Minimize, function, Optimum { value, point: numbers(point) })
}

fn maximized(
    name: &str,
    space: Space,
    function: fn(&[f64]) -> f64,
    (value, point): (f64, &[f64]),
) -> Result<SpaceProblem> {
    SpaceProblem::new(name, space, Direction::Maximize, function, Optimum { value, point: numbers(point) })
}
