//! A problem on a space of parameters whose optimum is known: the space, the function, the noise of its values.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::Arc;

use manyhands_core::{Direction, Space, Value};
use rand_distr::{Distribution, StandardNormal};

use super::membership::coordinates;
use super::performance::{BestObserved, SpacePerformance};
use super::problems::BbobInstance;
use super::protocol::{Protocol, SeededRun};
use super::{ActiveOptimizer, Optimizer, PlayedRun, TestProblem};
use crate::stream::Purpose;
use crate::{Error, Result};

/// Smaller regrets count as this, since logarithms are reported.
pub const FLOOR: f64 = 1e-12;
/// The same for functions of the BBOB set: the last target of its own benchmark.
const BBOB_FLOOR: f64 = 1e-8;

/// The evaluations of a run on most problems; on functions of the BBOB set with more than five parameters; with more than ten.
const BUDGET: usize = 60;
const MIDDLE_BUDGET: usize = 120;
const LONG_BUDGET: usize = 200;

/// The best value, and a point where it is attained.
#[derive(Debug, Clone, PartialEq)]
pub struct Optimum {
    /// The value.
    pub value: f64,
    /// The point; there may be others.
    pub point: Vec<Value>,
}

/// What is optimized.
#[derive(Debug, Clone)]
enum Objective {
    /// The same function in every run.
    Fixed(fn(&[f64]) -> f64),
    /// A function of the BBOB set, whose instance is that of the run's seed.
    Drawn(Arc<BbobInstance>),
}

/// Gaussian noise: a percentage of the function's own standard deviation under uniform inputs.
#[derive(Debug, Clone, Copy)]
struct Noise {
    percent: u32,
    spread: f64,
}

impl Noise {
    const NONE: Self = Self { percent: 0, spread: 0.0 };
}

/// A function on a space of parameters, with its optimum and the standard deviation of the noise on its values. It may be
/// one of many instances: [`instance`](Self::instance).
#[derive(Debug, Clone)]
pub struct SpaceProblem {
    name: String,
    space: Space,
    direction: Direction,
    objective: Objective,
    optimum: Optimum,
    second_best: Option<f64>,
    noise: Noise,
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
        Self::of(name, space, direction, Objective::Fixed(function), optimum)
    }

    /// An instance of a function of the BBOB set, without noise, to be minimized.
    pub(super) fn drawn(name: &str, space: Space, instance: BbobInstance) -> Result<Self> {
        let optimum = optimum(&instance);
        Self::of(name, space, Direction::Minimize, Objective::Drawn(Arc::new(instance)), optimum)
    }

    fn of(name: &str, space: Space, direction: Direction, objective: Objective, optimum: Optimum) -> Result<Self> {
        let name = name.to_string();
        let problem = Self { name, space, direction, objective, optimum, second_best: None, noise: Noise::NONE };
        problem.value(&problem.optimum.point)?;
        Ok(problem)
    }

    /// What is optimized in the run with this seed: the problem itself, or the instance of that number.
    pub fn instance(&self, seed: u64) -> Result<Cow<'_, Self>> {
        let Objective::Drawn(one) = &self.objective else { return Ok(Cow::Borrowed(self)) };
        let other = one.numbered(seed)?;
        let spread = if self.noise.percent == 0 { 0.0 } else { other.spread() };
        let (optimum, noise) = (optimum(&other), Noise { spread, ..self.noise });
        Ok(Cow::Owned(Self { objective: Objective::Drawn(Arc::new(other)), optimum, noise, ..self.clone() }))
    }

    /// Whether every seed has an instance of its own, with its own optimum and noise; they are here those of the first.
    pub fn is_drawn(&self) -> bool {
        matches!(self.objective, Objective::Drawn(_))
    }

    /// The same function under Gaussian noise of `percent` % of `spread`, the function's own standard deviation under
    /// uniform inputs; the percentage becomes part of the name.
    pub fn with_noise(&self, percent: u32, spread: f64) -> Self {
        Self { name: format!("{}-noise-{percent}", self.name), noise: Noise { percent, spread }, ..self.clone() }
    }

    /// The same problem with the regret of its second-best local optimum.
    pub fn with_second_best(self, regret: f64) -> Self {
        Self { second_best: Some(regret), ..self }
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

    /// The regret of the second-best local optimum, where it is known.
    pub fn second_best(&self) -> Option<f64> {
        self.second_best
    }

    /// Whether a run that ends with this regret is stuck: at least half of the second-best optimum's. None where that is not
    /// known.
    pub fn is_stuck(&self, regret: f64) -> Option<bool> {
        self.second_best.map(|second_best| regret >= 0.5 * second_best)
    }

    /// The evaluations of a run where the protocol says nothing else.
    pub fn budget(&self) -> usize {
        match self.dimension() {
            11.. if self.is_drawn() => LONG_BUDGET,
            6.. if self.is_drawn() => MIDDLE_BUDGET,
            _ => BUDGET,
        }
    }

    /// The standard deviation of the noise, in the values' units.
    pub fn noise(&self) -> f64 {
        0.01 * f64::from(self.noise.percent) * self.noise.spread
    }

    /// Smaller regrets count as this: [`FLOOR`], and 1e-8 for functions of the BBOB set.
    pub fn floor(&self) -> f64 {
        if self.is_drawn() { BBOB_FLOOR } else { FLOOR }
    }

    /// The true value at a point of the space, without noise.
    pub fn value(&self, point: &[Value]) -> Result<f64> {
        let outside = |reason| Error::Suggestion { problem: self.name.clone(), reason };
        let x = coordinates(&self.space, point).map_err(outside)?;
        Ok(match &self.objective {
            Objective::Fixed(function) => function(&x),
            Objective::Drawn(instance) => instance.value(&x),
        })
    }

    /// How far a value is from the optimum.
    pub fn regret(&self, value: f64) -> f64 {
        (value - self.optimum.value).abs()
    }

    /// One run of this optimizer on this very instance. The n-th suggestion of every optimizer has the same noise.
    pub fn performance(
        &self,
        active: &mut dyn ActiveOptimizer,
        protocol: &Protocol,
        run: &SeededRun,
    ) -> Result<SpacePerformance> {
        let (sd, mut rng) = (self.noise(), run.generator(Purpose::Noise));
        let evaluations = protocol.evaluations_on(self);
        let noise: Vec<f64> =
            (0..evaluations).map(|_| sd * Distribution::<f64>::sample(&StandardNormal, &mut rng)).collect();
        let (mut simple, mut least) = (Vec::with_capacity(evaluations), f64::INFINITY);
        let mut best_observed = BestObserved::new(self.direction);
        run.drive(active, protocol, evaluations, |order, point: &Vec<Value>| {
            let value = self.value(point)?;
            least = self.regret(value).max(self.floor()).min(least);
            simple.push(least);
            let observed = value + noise[order];
            best_observed.observe(point, observed);
            Ok(ControlFlow::Continue(observed))
        })?;
        let recommended = active.recommend()?.or(best_observed.into_point());
        let value = recommended.map(|point| self.value(&point)).transpose()?;
        let inference = value.map_or(f64::INFINITY, |value| self.regret(value).max(self.floor()));
        Ok(SpacePerformance { simple, inference })
    }
}

impl TestProblem for SpaceProblem {
    type Performance = SpacePerformance;

    fn name(&self) -> &str {
        &self.name
    }

    fn run(&self, optimizer: &Optimizer, protocol: &Protocol, run: &SeededRun) -> Result<PlayedRun<SpacePerformance>> {
        let instance = self.instance(run.seed())?;
        let mut active = optimizer.start(&instance, protocol, run)?;
        let performance = instance.performance(active.as_mut(), protocol, run)?;
        Ok(PlayedRun { performance, seconds_elsewhere: active.seconds_elsewhere() })
    }
}

fn optimum(instance: &BbobInstance) -> Optimum {
    let point = instance.best_point().iter().map(|x| Value::Float(*x)).collect();
    Optimum { value: instance.best_value(), point }
}
