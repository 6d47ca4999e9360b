//! Who plays: suggestions out, values in; and the one place where players are made.

use manyhands_core::{Direction, Space, Value};
use rand::Rng;

use super::protocol::{Game, Protocol};
use super::{Pool, Problem, RandomOrder, RandomSearch};
use crate::stream::Purpose;
use crate::{Error, Result};

/// What the bench plays: a choice is a value for every parameter of a space, or the number of a pool's candidate.
pub trait Player<Choice = Vec<Value>> {
    /// So many suggestions, each with the number of its trial.
    fn ask(&mut self, count: usize) -> Result<Vec<(usize, Choice)>>;

    /// The value that was observed in a trial.
    fn tell(&mut self, trial: usize, value: f64) -> Result<()>;
}

/// Who can be asked to play.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contender {
    /// The optimizer.
    Manyhands,
    /// Uniform random search; on a pool, random order.
    Random,
}

impl Contender {
    /// Those who play on spaces, in the order of tables. `Manyhands` joins them, in front, with `player` below.
    pub const ON_SPACES: &[Self] = &[Self::Random];
    /// Those who play on pools; what random order needs is known without playing. `Manyhands` joins with `pool_player`.
    pub const ON_POOLS: &[Self] = &[];

    /// In a word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Manyhands => "manyhands",
            Self::Random => "random",
        }
    }

    /// Takes a seat at a problem.
    pub fn player(self, problem: &Problem, protocol: &Protocol, game: &Game) -> Result<Box<dyn Player>> {
        match self {
            Self::Manyhands => {
                let seed = game.generator(Purpose::Study).next_u64();
                player(problem.space(), problem.direction(), seed, protocol.batch)
            }
            Self::Random => Ok(Box::new(RandomSearch::new(problem.space().clone(), game.generator(Purpose::Search))?)),
        }
    }

    /// Takes a seat at a pool.
    pub fn pool_player(self, pool: &Pool, protocol: &Protocol, game: &Game) -> Result<Box<dyn Player<usize>>> {
        match self {
            Self::Manyhands => pool_player(pool, game.generator(Purpose::Study).next_u64(), protocol.batch),
            Self::Random => Ok(Box::new(RandomOrder::new(pool.points().len(), game.generator(Purpose::Search)))),
        }
    }
}

/// THE PLACE where the optimizer is made for a space: a study with a learned model. Then it joins
/// [`Contender::ON_SPACES`].
fn player(_space: &Space, _direction: Direction, _seed: u64, _workers: usize) -> Result<Box<dyn Player>> {
    Err(Error::CannotPlay { player: Contender::Manyhands.name(), what: "spaces of parameters" })
}

/// THE PLACE where the optimizer is made for a pool ([`Pool::points`], [`Pool::direction`]), without repeats. Then it
/// joins [`Contender::ON_POOLS`].
fn pool_player(_pool: &Pool, _seed: u64, _workers: usize) -> Result<Box<dyn Player<usize>>> {
    Err(Error::CannotPlay { player: Contender::Manyhands.name(), what: "pools" })
}
