//! A problem on a space of parameters whose optimum is known: the space, the function, the noise of its values.

use std::ops::ControlFlow;

use manyhands_core::{Direction, Space, Value};
use rand_distr::{Distribution, StandardNormal};

use super::membership::coordinates;
use super::protocol::{Protocol, SeededRun};
use super::{ActiveOptimizer, Optimizer, TestProblem};
use crate::stream::Purpose;
use crate::{Error, Result};

/// Smaller regrets count as this, since logarithms are reported.
pub const FLOOR: f64 = 1e-12;

/// The best value, and a point where it is attained.
#[derive(Debug, Clone, PartialEq)]
pub struct Optimum {
    /// The value.
    pub value: f64,
    /// The point; there may be others.
    pub point: Vec<Value>,
}

/// A function on a space of parameters, with its optimum and the standard deviation of the noise on its values.
#[derive(Debug, Clone)]
pub struct SpaceProblem {
    name: String,
    space: Space,
    direction: Direction,
    function: fn(&[f64]) -> f64,
    optimum: Optimum,
    noise: f64,
}

impl SpaceProblem {
    /// A noiseless problem. The function is given numbers as they are and a category as its position in the parameter's
    /// list; the optimum's point must lie in the space.
    pub fn new(
        name: &str,
        space: Space,
        direction: Direction,
        function: fn(&[f64]) -> f64,
        optimum: Optimum,
    ) -> Result<Self> {
        let problem = Self { name: name.to_string(), space, direction, function, optimum, noise: 0.0 };
        problem.value(&problem.optimum.point)?;
        Ok(problem)
    }

    /// The same function under Gaussian noise of `percent` % of `spread`, the function's own standard deviation under
    /// uniform inputs; the percentage becomes part of the name.
    pub fn with_noise(&self, percent: u32, spread: f64) -> Self {
        let noise = 0.01 * f64::from(percent) * spread;
        Self { name: format!("{}-noise-{percent}", self.name), noise, ..self.clone() }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its space of parameters.
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// How many parameters it has.
    pub fn dimension(&self) -> usize {
        self.space.parameters().len()
    }

    /// Whether it is to be maximized or minimized.
    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// The best value and where it is.
    pub fn optimum(&self) -> &Optimum {
        &self.optimum
    }

    /// The standard deviation of the noise, in the values' units.
    pub fn noise(&self) -> f64 {
        self.noise
    }

    /// The true value at a point of the space, without noise.
    pub fn value(&self, point: &[Value]) -> Result<f64> {
        let outside = |reason| Error::Suggestion { problem: self.name.clone(), reason };
        Ok((self.function)(&coordinates(&self.space, point).map_err(outside)?))
    }

    /// How far a value is from the optimum.
    pub fn regret(&self, value: f64) -> f64 {
        (value - self.optimum.value).abs()
    }

    /// One run of this optimizer: the simple regret by true values after each evaluation, in the order in which results
    /// arrive. The n-th suggestion of every optimizer has the same noise.
    pub fn regrets(&self, active: &mut dyn ActiveOptimizer, protocol: &Protocol, run: &SeededRun) -> Result<Vec<f64>> {
        let mut rng = run.generator(Purpose::Noise);
        let noise: Vec<f64> = (0..protocol.evaluations)
            .map(|_| self.noise * Distribution::<f64>::sample(&StandardNormal, &mut rng))
            .collect();
        let (mut regrets, mut least) = (Vec::with_capacity(protocol.evaluations), f64::INFINITY);
        run.drive(active, protocol, protocol.evaluations, |order, point: &Vec<Value>| {
            let value = self.value(point)?;
            least = self.regret(value).max(FLOOR).min(least);
            regrets.push(least);
            Ok(ControlFlow::Continue(value + noise[order]))
        })?;
        Ok(regrets)
    }
}

impl TestProblem for SpaceProblem {
    /// The simple regret after each evaluation.
    type Performance = Vec<f64>;

    fn name(&self) -> &str {
        &self.name
    }

    fn run(&self, optimizer: &Optimizer, protocol: &Protocol, run: &SeededRun) -> Result<Vec<f64>> {
        self.regrets(optimizer.start(self, protocol, run)?.as_mut(), protocol, run)
    }
}
