//! Players, which suggest points and are told their values, and the contenders that create them.

use manyhands_core::{Direction, Domain, Spec, Strategy, Study, Value};
use manyhands_gp::Points;
use rand::Rng;

use super::protocol::{Game, Protocol};
use super::{PlayerProgram, PoolProblem, RandomOrder, RandomSearch, SpaceProblem, Variant};
use crate::stream::Purpose;
use crate::{Error, Result};

/// A player of one game. A proposal is one value per parameter of a space, or the number of a pool's candidate.
pub trait Player<Proposal = Vec<Value>> {
    /// `count` suggestions, each with the number of its trial.
    fn ask(&mut self, count: usize) -> Result<Vec<(usize, Proposal)>>;

    /// The value that was observed in a trial.
    fn tell(&mut self, trial: usize, value: f64) -> Result<()>;
}

/// An optimizer that can take part in a tournament.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "a bench has a handful of contenders")]
pub enum Contender {
    /// manyhands with its defaults.
    Manyhands,
    /// manyhands with other settings; on spaces only.
    Variant(Variant),
    /// Uniform random search; on a pool, random order.
    Random,
    /// Another program; on spaces only.
    Program(PlayerProgram),
}

impl Contender {
    /// The contenders on spaces, in the order of tables.
    pub const ON_SPACES: &[Self] = &[Self::Manyhands, Self::Random];
    /// The contenders on pools; the performance of random order has a closed form.
    pub const ON_POOLS: &[Self] = &[Self::Manyhands];

    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Self::Manyhands => "manyhands",
            Self::Variant(variant) => &variant.name,
            Self::Random => "random",
            Self::Program(program) => &program.name,
        }
    }

    /// A player for one game on a problem.
    pub fn player(&self, problem: &SpaceProblem, protocol: &Protocol, game: &Game) -> Result<Box<dyn Player>> {
        let seed = game.generator(Purpose::Study).next_u64();
        match self {
            Self::Manyhands => {
                let spec = spec(Domain::Space(problem.space().clone()), problem.direction(), seed)?;
                Ok(Box::new(Suggester(Study::new(spec)?)))
            }
            Self::Variant(Variant { kernel, strategy, tuning, .. }) => {
                let domain = Domain::Space(problem.space().clone());
                let spec = Spec::learned_from(kernel, domain, strategy.clone())?.with_tuning(tuning.clone())?;
                Ok(Box::new(Suggester(Study::new(spec.with_direction(problem.direction()).with_seed(seed))?)))
            }
            Self::Program(program) => Ok(Box::new(program.start(problem, seed, protocol.batch)?)),
            Self::Random => Ok(Box::new(RandomSearch::new(problem.space().clone(), game.generator(Purpose::Search))?)),
        }
    }

    /// A player for one game on a pool.
    pub fn pool_player(&self, pool: &PoolProblem, game: &Game) -> Result<Box<dyn Player<usize>>> {
        match self {
            Self::Manyhands => {
                let seed = game.generator(Purpose::Study).next_u64();
                let points = Points::from_rows(&on_scales(pool.points()))?;
                let spec = spec(Domain::Points(points), pool.direction(), seed)?.without_repeats()?;
                Ok(Box::new(Suggester(Study::new(spec)?)))
            }
            Self::Variant(_) | Self::Program(_) => {
                let (allowed, value) = ("manyhands or random".to_string(), self.name().to_string());
                Err(Error::Setting { setting: "player of pools", allowed, value })
            }
            Self::Random => Ok(Box::new(RandomOrder::new(pool.points().len(), game.generator(Purpose::Search)))),
        }
    }
}

/// A study that plays.
struct Suggester(Study);

/// Only the domain is given: the model is learned, the strategy is the default.
fn spec(domain: Domain, direction: Direction, seed: u64) -> Result<Spec> {
    Ok(Spec::learned(domain, Strategy::auto())?.with_direction(direction).with_seed(seed))
}

impl Player for Suggester {
    fn ask(&mut self, count: usize) -> Result<Vec<(usize, Vec<Value>)>> {
        Ok(self.0.ask(count)?.into_iter().map(|s| (s.trial, s.choice.params)).collect())
    }

    fn tell(&mut self, trial: usize, value: f64) -> Result<()> {
        Ok(self.0.tell(trial, value)?)
    }
}

impl Player<usize> for Suggester {
    fn ask(&mut self, count: usize) -> Result<Vec<(usize, usize)>> {
        Ok(self.0.ask(count)?.into_iter().map(|s| (s.trial, s.choice.candidate)).collect())
    }

    fn tell(&mut self, trial: usize, value: f64) -> Result<()> {
        Ok(self.0.tell(trial, value)?)
    }
}

/// Positive columns whose largest value is more than this multiple of the smallest are put on a log scale.
const LOG_SCALE: f64 = 30.0;

fn on_scales(points: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let mut scaled = points.to_vec();
    for column in 0..points.first().map_or(0, Vec::len) {
        let low = points.iter().map(|point| point[column]).fold(f64::INFINITY, f64::min);
        let high = points.iter().map(|point| point[column]).fold(f64::NEG_INFINITY, f64::max);
        if low > 0.0 && high > LOG_SCALE * low {
            scaled.iter_mut().for_each(|point| point[column] = point[column].ln());
        }
    }
    scaled
}
