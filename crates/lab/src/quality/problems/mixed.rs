//! Problems of our own with parameters of several kinds, or under constraints; their optima are known by construction.

use std::f64::consts::TAU;

use manyhands_core::{Constraint, Direction, Parameter, Relation, Space, Value};

use super::one_two::branin_value;
use super::{axes, minimized};
use crate::Result;
use crate::quality::{Optimum, SpaceProblem};

/// The standard deviation of [`training`] under inputs uniform on their scales, in closed form (error functions).
pub const TRAINING_SPREAD: f64 = 0.485_550_524_971_049_6;

/// The best logarithm of the learning rate goes down by this for every layer.
const RATE_PER_LAYER: f64 = 0.12;

/// The loss of an imagined training run: a learning rate (logarithmic), momentum, layers (integer), width (levels) and
/// activation (choice). It is 0.05 + p + 2.25 (1 - exp(-q)): q is a sum of squares around the best settings, where the
/// best learning rate depends on layers and activation, p what an activation costs; far away the loss is constant. With relu no single change is an improvement at a loss of 0.08. Best: gelu, 5 layers, width 128, momentum 0.85, learning rate 10^-3.1.
pub fn training() -> Result<SpaceProblem> {
    let parameters = vec![
        Parameter::log_float("learning_rate", 1e-5, 1e-1)?,
        Parameter::float("momentum", 0.0, 0.99)?,
        Parameter::int("layers", 1, 8)?,
        Parameter::levels("width", &[16.0, 32.0, 64.0, 128.0, 256.0, 512.0])?,
        Parameter::choice("activation", &["relu", "gelu", "tanh"])?,
    ];
    let point = vec![Value::Float(10f64.powf(-3.1)), 0.85.into(), Value::Int(5), 128.0.into(), "gelu".into()];
    let space = Space::new(parameters, vec![])?;
    Ok(SpaceProblem::new("training", space, Direction::Minimize, training_value, Optimum { value: 0.05, point })?
        .with_second_best(0.03))
}

fn training_value(x: &[f64]) -> f64 {
    let (momentum, layers, width) = (x[1], x[2], x[3]);
    // relu, gelu, tanh: what each costs, and how it moves the best learning rate.
    let (cost, shift) = [(0.03, 0.0), (0.0, 0.3), (0.08, 0.5)][x[4] as usize];
    let rate = x[0].log10() + 2.2 + RATE_PER_LAYER * layers + shift;
    let distance = 0.4 * rate.powi(2)
        + 3.0 * (momentum - 0.85).powi(2)
        + 0.03 * (layers - 5.0).powi(2)
        + 0.06 * (width.log2() - 7.0).powi(2);
    0.05 + cost + 2.25 * (1.0 - (-distance).exp())
}

/// The best shares of a mixture.
const SHARES: [f64; 3] = [0.2, 0.5, 0.3];

/// Shares a + b + c = 1 of a mixture: bowls around the best shares with ripples on them.
pub fn mixture() -> Result<SpaceProblem> {
    let names = ["a", "b", "c"];
    let parameters =
        names.map(|name| Parameter::float(name, 0.0, 1.0)).into_iter().collect::<manyhands_core::Result<_>>()?;
    let terms = names.map(|name| (name.to_string(), 1.0)).to_vec();
    let space = Space::new(parameters, vec![Constraint { terms, relation: Relation::Equals, bound: 1.0 }])?;
    let value = |x: &[f64]| {
        let ripple = |d: f64| 10.0 * d * d + 0.3 * (1.0 - (2.0 * TAU * d).cos());
        x.iter().zip(SHARES).map(|(x, best)| ripple(x - best)).sum()
    };
    minimized("mixture", space, value, (0.0, &SHARES))
}

/// Branin with x1 + x2 at most 5, which cuts off all three of its optima; the best point lies on the edge.
pub fn constrained_branin() -> Result<SpaceProblem> {
    let terms = vec![("x1".to_string(), 1.0), ("x2".to_string(), 1.0)];
    let constraint = Constraint { terms, relation: Relation::AtMost, bound: 5.0 };
    let space = Space::new(axes(&[(-5.0, 10.0), (0.0, 15.0)])?, vec![constraint])?;
    let point = [3.123_085_434_683_998, 1.876_914_565_316_002_4];
    minimized("branin-constrained", space, branin_value, (0.569_739_742_891_345_7, &point))
}
