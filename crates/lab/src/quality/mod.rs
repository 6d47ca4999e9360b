//! How good the optimizer is: known problems and real pools, a fixed protocol, and the performance of each contender.
//!
//! ```
//! use manyhands_lab::quality::{Contender, Protocol, Tournament, problems};
//! # fn main() -> manyhands_lab::Result<()> {
//! let protocol = Protocol { seeds: 3, ..Protocol::default() };
//! let tournament = Tournament { contenders: vec![Contender::Random], protocol, threads: 1 };
//! let games = tournament.play(&problems::named(&["branin".to_string()])?, &|| ())?;
//! assert!(games[0][0].log10_regret(60).median < 1.0);
//! # Ok(()) }
//! ```

mod bench;
mod clock;
mod membership;
mod player;
mod pool_files;
mod pool_problem;
pub mod problems;
mod program;
mod protocol;
mod questions;
mod random;
mod reference;
mod report;
mod selection;
mod settling;
mod space_problem;
mod table;
mod threads;
mod tournament;

pub use bench::QualityBench;
use clock::CostClock;
pub use player::{Contender, Player};
pub use pool_files::{POOLS, PoolFile};
pub use pool_problem::PoolProblem;
pub use program::PlayerProgram;
pub use protocol::{Game, Protocol, Schedule};
pub use questions::Variant;
use questions::{FIELD, StrategyAnswer, StrategyQuestion};
pub use random::{RandomOrder, RandomSearch};
use reference::{PEERS, Reference};
pub use report::QualityReport;
pub use selection::Selection;
pub use settling::{StrategyBench, StrategyReport};
pub use space_problem::{FLOOR, Optimum, SpaceProblem};
pub use tournament::{Board, FinishedGame, Games, Tournament};
