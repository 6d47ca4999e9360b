//! The baselines: uniform random search on spaces, and random order on pools.

use manyhands_core::{Constraint, Parameter, ParameterKind, Relation, Scale, Space, Value};
use rand::RngExt;
use rand::seq::index;
use rand_chacha::ChaCha8Rng;

use super::ActiveOptimizer;
use super::membership::{coordinates, weight};
use crate::{Error, Result};

/// Rejected draws after which a space is refused.
const DRAWS: usize = 1_000_000;

/// Points uniform on the parameters' scales, among those that satisfy the constraints.
#[derive(Debug, Clone)]
pub struct RandomSearch {
    space: Space,
    /// The parameter that is solved for in the equality, if there is one, with its weight.
    solved: Option<(usize, f64, Constraint)>,
    rng: ChaCha8Rng,
    asked: usize,
}

impl RandomSearch {
    /// Search with this generator; at most one equality is supported.
    pub fn new(space: Space, rng: ChaCha8Rng) -> Result<Self> {
        let equalities: Vec<&Constraint> =
            space.constraints().iter().filter(|constraint| constraint.relation == Relation::Equals).collect();
        let refuse = |reason: &str| Error::Problem { name: "random search".to_string(), reason: reason.to_string() };
        let solved = match equalities[..] {
            [] => None,
            [equality] => {
                Some(solved_parameter(&space, equality).ok_or_else(|| refuse("no float can keep its equality"))?)
            }
            _ => return Err(refuse("it draws under one equality at most")),
        };
        Ok(Self { space, solved, rng, asked: 0 })
    }

    /// One point.
    pub fn draw(&mut self) -> Result<Vec<Value>> {
        for _ in 0..DRAWS {
            let mut point: Vec<Value> =
                self.space.parameters().iter().map(|parameter| value(parameter.kind(), &mut self.rng)).collect();
            self.solve_equality(&mut point);
            if coordinates(&self.space, &point).is_ok() {
                return Ok(point);
            }
        }
        let reason = format!("none of {DRAWS} random points keeps its constraints");
        Err(Error::Problem { name: "random search".to_string(), reason })
    }

    /// Solves the equality for one parameter. It is linear, so points uniform in the others are uniform on its plane.
    fn solve_equality(&self, point: &mut [Value]) {
        let Some((place, own, equality)) = &self.solved else { return };
        point[*place] = Value::Float(0.0);
        let term = |(parameter, value): (&Parameter, &Value)| {
            weight(equality, parameter.name()) * value.number().unwrap_or(0.0)
        };
        let others: f64 = self.space.parameters().iter().zip(&*point).map(term).sum();
        point[*place] = Value::Float((equality.bound - others) / own);
    }
}

impl ActiveOptimizer for RandomSearch {
    fn ask(&mut self, count: usize) -> Result<Vec<(usize, Vec<Value>)>> {
        let first = self.asked;
        self.asked += count;
        (first..self.asked).map(|trial| Ok((trial, self.draw()?))).collect()
    }

    fn tell(&mut self, _trial: usize, _value: f64) -> Result<()> {
        Ok(())
    }
}

/// The last float on a linear scale in the equality.
fn solved_parameter(space: &Space, equality: &Constraint) -> Option<(usize, f64, Constraint)> {
    let linear = |kind: &ParameterKind| matches!(kind, ParameterKind::Float { scale: Scale::Linear, .. });
    let weights = space.parameters().iter().map(|parameter| (parameter.kind(), weight(equality, parameter.name())));
    let (place, (_, own)) = weights.enumerate().rfind(|(_, (kind, own))| linear(kind) && *own != 0.0)?;
    Some((place, own, equality.clone()))
}

/// The candidates of a pool in random order, each once.
#[derive(Debug, Clone)]
pub struct RandomOrder {
    order: Vec<usize>,
    asked: usize,
}

impl RandomOrder {
    /// A random order of so many candidates.
    pub fn new(candidates: usize, mut rng: ChaCha8Rng) -> Self {
        Self { order: index::sample(&mut rng, candidates, candidates).into_vec(), asked: 0 }
    }
}

impl ActiveOptimizer<usize> for RandomOrder {
    fn ask(&mut self, count: usize) -> Result<Vec<(usize, usize)>> {
        let asked: Vec<(usize, usize)> = self.order.iter().copied().enumerate().skip(self.asked).take(count).collect();
        self.asked += asked.len();
        Ok(asked)
    }

    fn tell(&mut self, _trial: usize, _value: f64) -> Result<()> {
        Ok(())
    }
}

fn value(kind: &ParameterKind, rng: &mut ChaCha8Rng) -> Value {
    match kind {
        ParameterKind::Float { low, high, scale } => Value::Float(between(*low, *high, *scale, rng.random())),
        ParameterKind::Even { low, high, scale, points } => {
            let step = rng.random_range(0..*points) as f64 / (points.max(&2) - 1) as f64;
            Value::Float(between(*low, *high, *scale, step))
        }
        ParameterKind::Int { low, high, scale: Scale::Linear } => Value::Int(rng.random_range(*low..=*high)),
        // Each integer gets the part of the logarithmic scale that rounds to it.
        ParameterKind::Int { low, high, scale: Scale::Log } => {
            let real = between(*low as f64 - 0.5, *high as f64 + 0.5, Scale::Log, rng.random());
            Value::Int((real.round() as i64).clamp(*low, *high))
        }
        ParameterKind::Levels(levels) => Value::Float(levels[rng.random_range(0..levels.len())]),
        ParameterKind::IntLevels(levels) => Value::Int(levels[rng.random_range(0..levels.len())]),
        ParameterKind::Choice(categories) => categories[rng.random_range(0..categories.len())].clone(),
        ParameterKind::Constant(constant) => constant.clone(),
    }
}

/// The number at this fraction of the way from `low` to `high`.
fn between(low: f64, high: f64, scale: Scale, part: f64) -> f64 {
    let number = match scale {
        Scale::Linear => low + part * (high - low),
        Scale::Log => (low.ln() + part * (high.ln() - low.ln())).exp(),
    };
    number.clamp(low, high)
}
