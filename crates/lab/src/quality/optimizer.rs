//! The optimizers that are compared, and an optimizer at work in one run: it suggests points and is told their values.

use manyhands_core::event::ENGINE;
use manyhands_core::{Direction, Domain, Spec, Strategy, Study, Value};
use manyhands_gp::Points;
use rand::Rng;

use super::protocol::{Protocol, SeededRun};
use super::{OptimizerProgram, PoolProblem, RandomOrder, RandomSearch, SpaceProblem, Variant};
use crate::stream::Purpose;
use crate::{Error, Result};

/// An optimizer at work in one run. A proposal is one value per parameter of a space, or the number of a pool's candidate.
pub trait ActiveOptimizer<Proposal = Vec<Value>> {
    /// `count` suggestions, each with the number of its trial.
    fn ask(&mut self, count: usize) -> Result<Vec<(usize, Proposal)>>;

    /// The value that was observed in a trial.
    fn tell(&mut self, trial: usize, value: f64) -> Result<()>;

    /// The proposal that it recommends after what it was told; none where that is the one with the best observed value.
    fn recommend(&mut self) -> Result<Option<Proposal>> {
        Ok(None)
    }

    /// The processor seconds that it has used in other processes.
    fn seconds_elsewhere(&self) -> f64 {
        0.0
    }
}

/// An optimizer that can be compared with others.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "a bench has a handful of contenders")]
pub enum Optimizer {
    /// manyhands with its defaults.
    Manyhands,
    /// manyhands with other settings; on spaces only.
    Variant(Variant),
    /// Uniform random search; on a pool, random order.
    Random,
    /// Another program; on spaces only.
    Program(OptimizerProgram),
    /// One whose runs are read from results files, and never made.
    Recorded(String),
}

impl Optimizer {
    /// The optimizers on spaces, in the order of tables.
    pub const ON_SPACES: &[Self] = &[Self::Manyhands, Self::Random];
    /// The optimizers on pools; the performance of random order has a closed form.
    pub const ON_POOLS: &[Self] = &[Self::Manyhands];

    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Self::Manyhands => "manyhands",
            Self::Variant(variant) => &variant.name,
            Self::Random => "random",
            Self::Program(program) => &program.name,
            Self::Recorded(name) => name,
        }
    }

    /// What results files say of its version.
    pub fn version(&self) -> String {
        match self {
            Self::Manyhands | Self::Variant(_) => format!("{} engine {ENGINE}", env!("CARGO_PKG_VERSION")),
            Self::Random => env!("CARGO_PKG_VERSION").to_string(),
            Self::Program(program) => program.version.clone(),
            Self::Recorded(_) => String::new(),
        }
    }

    /// Starts it for one run on a problem.
    pub fn start(
        &self,
        problem: &SpaceProblem,
        protocol: &Protocol,
        run: &SeededRun,
    ) -> Result<Box<dyn ActiveOptimizer>> {
        let seed = run.generator(Purpose::Study).next_u64();
        match self {
            Self::Manyhands => {
                let spec = spec(Domain::Space(problem.space().clone()), problem.direction(), seed)?;
                Ok(Box::new(ActiveStudy(Study::new(spec)?)))
            }
            Self::Variant(Variant { kernel, strategy, tuning, .. }) => {
                let domain = Domain::Space(problem.space().clone());
                let spec = Spec::learned_from(kernel, domain, strategy.clone())?.with_tuning(tuning.clone())?;
                Ok(Box::new(ActiveStudy(Study::new(spec.with_direction(problem.direction()).with_seed(seed))?)))
            }
            Self::Program(program) => Ok(Box::new(program.start(problem, seed, protocol.batch)?)),
            Self::Recorded(name) => {
                let (allowed, value) = ("one that can be run".to_string(), name.clone());
                Err(Error::Setting { setting: "optimizer", allowed, value })
            }
            Self::Random => Ok(Box::new(RandomSearch::new(problem.space().clone(), run.generator(Purpose::Search))?)),
        }
    }

    /// Starts it for one run on a pool.
    pub fn start_on_pool(&self, pool: &PoolProblem, run: &SeededRun) -> Result<Box<dyn ActiveOptimizer<usize>>> {
        match self {
            Self::Manyhands => {
                let seed = run.generator(Purpose::Study).next_u64();
                let points = Points::from_rows(&on_scales(pool.points()))?;
                let spec = spec(Domain::Points(points), pool.direction(), seed)?.without_repeats()?;
                Ok(Box::new(ActiveStudy(Study::new(spec)?)))
            }
            Self::Variant(_) | Self::Program(_) | Self::Recorded(_) => {
                let (allowed, value) = ("manyhands or random".to_string(), self.name().to_string());
                Err(Error::Setting { setting: "optimizer on pools", allowed, value })
            }
            Self::Random => Ok(Box::new(RandomOrder::new(pool.points().len(), run.generator(Purpose::Search)))),
        }
    }
}

/// A study that is asked and told.
struct ActiveStudy(Study);

/// Only the domain is given: the model is learned, the strategy is the default.
fn spec(domain: Domain, direction: Direction, seed: u64) -> Result<Spec> {
    Ok(Spec::learned(domain, Strategy::auto())?.with_direction(direction).with_seed(seed))
}

impl ActiveOptimizer for ActiveStudy {
    fn ask(&mut self, count: usize) -> Result<Vec<(usize, Vec<Value>)>> {
        Ok(self.0.ask(count)?.into_iter().map(|s| (s.trial, s.choice.params)).collect())
    }

    fn tell(&mut self, trial: usize, value: f64) -> Result<()> {
        Ok(self.0.tell(trial, value)?)
    }

    fn recommend(&mut self) -> Result<Option<Vec<Value>>> {
        Ok(Some(self.0.best()?.params))
    }
}

impl ActiveOptimizer<usize> for ActiveStudy {
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
