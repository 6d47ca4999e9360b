//! Further problems to tune on, which run where they are named: categories, and twenty parameters.

use std::f64::consts::PI;

use manyhands_core::{Direction, Parameter, Space, Value};

use super::one_two::{CAMEL, camel_value};
use super::several::{ackley_value, levy_value, rosenbrock_value};
use super::{cube, minimized};
use crate::Result;
use crate::quality::{Optimum, SpaceProblem};

/// All of them.
pub fn further() -> Result<Vec<SpaceProblem>> {
    Ok(vec![two_choices()?, coupling()?, network()?, switches()?, levy4()?, levy20()?, ackley20()?, rosenbrock20()?])
}

/// A choice among so many categories c0, c1, ...
fn choice(name: &str, count: usize) -> Result<Parameter> {
    let names: Vec<String> = (0..count).map(|i| format!("c{i}")).collect();
    Ok(Parameter::choice(name, &names.iter().map(String::as_str).collect::<Vec<_>>())?)
}

fn category(index: usize) -> Value {
    Value::from(format!("c{index}").as_str())
}

fn mixed(
    name: &str,
    parameters: Vec<Parameter>,
    function: fn(&[f64]) -> f64,
    optimum: Optimum,
) -> Result<SpaceProblem> {
    SpaceProblem::new(name, Space::new(parameters, vec![])?, Direction::Minimize, function, optimum)
}

/// Two choices name the functions of x and y whose sum it is, in the manner of Ru et al. (2020); the camel twice is best.
fn two_choices() -> Result<SpaceProblem> {
    let value = |p: &[f64]| part(p[0] as usize, &p[2..]) + part(p[1] as usize, &p[2..]);
    let float = |name| Parameter::float(name, -2.0, 2.0);
    let parameters = vec![choice("h1", 3)?, choice("h2", 5)?, float("x")?, float("y")?];
    let (best, at) = CAMEL;
    let point = vec![category(1), category(1), at[0].into(), at[1].into()];
    mixed("two-choices", parameters, value, Optimum { value: 0.2 * best, point })
}

/// Rosenbrock/300, camel/10, Beale/50, a bowl, a saddle.
fn part(which: usize, p: &[f64]) -> f64 {
    let (x, y) = (p[0], p[1]);
    match which {
        0 => rosenbrock_value(p) / 300.0,
        1 => camel_value(p) / 10.0,
        2 => (1..=3).map(|i| ([1.5, 2.25, 2.625][i - 1] - x + x * y.powi(i as i32)).powi(2)).sum::<f64>() / 50.0,
        3 => 0.1 * (x * x + y * y) + 0.05,
        _ => 0.3 - 0.1 * x * y,
    }
}

/// The loss of yield of an imagined coupling: 1.5 (1 - exp(-q)), q what a ligand and a base cost, and squares around the
/// temperature and concentration that suit both. Best: ligand c3, base c1; next, with base c3.
fn coupling() -> Result<SpaceProblem> {
    let value = |p: &[f64]| {
        let (ligand, base, t, c) = (p[0] as usize, p[1] as usize, (p[2] - 30.0) / 80.0, p[3].log10());
        let cost = [0.5, 0.2, 0.35, 0.0, 0.12, 0.6][ligand] + [0.15, 0.0, 0.25, 0.08][base];
        let warmest = [0.3, 0.5, 0.2, 0.6875, 0.4, 0.8][ligand] + [0.1, 0.0, -0.1, 0.05][base];
        let densest = [-1.0, -2.0, -1.5, -1.2, -0.5, -2.5][ligand] + [0.0, 0.0, 0.3, -0.3][base];
        1.5 - 1.5 * (-(cost + 4.0 * (t - warmest).powi(2) + 0.5 * (c - densest).powi(2))).exp()
    };
    let floats = [Parameter::float("temperature", 30.0, 110.0)?, Parameter::log_float("concentration", 1e-3, 1.0)?];
    let parameters = [vec![choice("ligand", 6)?, choice("base", 4)?], floats.to_vec()].concat();
    let point = vec![category(3), category(1), 85.0.into(), 10f64.powf(-1.2).into()];
    let problem = mixed("coupling", parameters, value, Optimum { value: 0.0, point })?;
    Ok(problem.with_second_best(1.5 - 1.5 * (-0.08f64).exp()))
}

/// The loss of an imagined network: optimizer and normalization have costs and move the best learning rate, around which there are
/// ripples. Best: optimizer c2, normalization c0; next, optimizer c1.
fn network() -> Result<SpaceProblem> {
    let value = |p: &[f64]| {
        let (rate, decay, depth, optimizer, norm) = (p[0].log10(), p[1].log10(), p[2], p[3] as usize, p[4] as usize);
        let cost = [0.25, 0.1, 0.0, 0.4][optimizer] + [0.0, 0.15, 0.3][norm];
        let best = [-1.0, -3.2, -2.6, -0.5][optimizer] + [0.0, -0.4, -0.8][norm] - 0.05 * (depth - 7.0);
        let square = 0.3 * (rate - best).powi(2);
        let ripples = 0.05 * (1.0 - (PI * (rate - best)).cos());
        cost + square / (1.0 + square) + 0.02 * (decay + 4.0).powi(2) + 0.01 * (depth - 7.0).powi(2) + ripples
    };
    let numbers = [Parameter::log_float("rate", 1e-5, 1.0)?, Parameter::log_float("decay", 1e-6, 1e-1)?];
    let others = vec![Parameter::int("depth", 1, 12)?, choice("optimizer", 4)?, choice("norm", 3)?];
    let point = vec![10f64.powf(-2.6).into(), 1e-4.into(), Value::Int(7), category(2), category(0)];
    let problem = mixed("network", [numbers.to_vec(), others].concat(), value, Optimum { value: 0.0, point })?;
    Ok(problem.with_second_best(0.1))
}

/// Ackley of eight switches, each of which is best on, and three numbers.
fn switches() -> Result<SpaceProblem> {
    let value = |p: &[f64]| {
        let x: Vec<f64> = p.iter().enumerate().map(|(i, x)| if i < 8 { 1.0 - x } else { *x }).collect();
        ackley_value(&x)
    };
    let switches = (0..8).map(|i| choice(&format!("switch{i}"), 2));
    let numbers = (0..3).map(|i| Ok(Parameter::float(&format!("x{i}"), -0.7, 1.0)?));
    let point = [vec![category(1); 8], vec![Value::Float(0.0); 3]].concat();
    let problem =
        mixed("switches", switches.chain(numbers).collect::<Result<_>>()?, value, Optimum { value: 0.0, point })?;
    // One of them off.
    Ok(problem.with_second_best(20.0 - 20.0 * (-0.2 * (1.0f64 / 11.0).sqrt()).exp()))
}

/// Levy on [-10, 12]^4, off the centre.
fn levy4() -> Result<SpaceProblem> {
    minimized("levy4", cube(4, -10.0, 12.0)?, levy_value, (0.0, &[1.0; 4]))
}

/// Levy on [-10, 12]^20.
fn levy20() -> Result<SpaceProblem> {
    minimized("levy20", cube(20, -10.0, 12.0)?, levy_value, (0.0, &[1.0; 20]))
}

/// Ackley on [-5, 10]^20.
fn ackley20() -> Result<SpaceProblem> {
    minimized("ackley20", cube(20, -5.0, 10.0)?, ackley_value, (0.0, &[0.0; 20]))
}

/// Rosenbrock on [-5, 10]^20.
fn rosenbrock20() -> Result<SpaceProblem> {
    minimized("rosenbrock20", cube(20, -5.0, 10.0)?, rosenbrock_value, (0.0, &[1.0; 20]))
}
