//! How good the optimizer is: known problems and real pools, a fixed protocol, and what each player makes of them.
//!
//! ```
//! use manyhands_lab::quality::{Bench, Contender, Protocol, problems};
//! # fn main() -> manyhands_lab::Result<()> {
//! let protocol = Protocol { seeds: 3, ..Protocol::default() };
//! let bench = Bench { contenders: vec![Contender::Random], protocol, threads: 1 };
//! let games = bench.play(&problems::named(&["branin".to_string()])?, &|| ())?;
//! assert!(games[0][0].log10_regret(60).median < 1.0);
//! # Ok(()) }
//! ```

mod bench;
mod clock;
mod membership;
mod player;
mod pool;
mod pool_files;
mod problem;
pub mod problems;
mod program;
mod protocol;
mod questions;
mod random;
mod reference;
mod selection;
mod threads;

pub use bench::{Bench, Board, Games, Played};
pub use clock::Clock;
pub use player::{Contender, Player};
pub use pool::Pool;
pub use pool_files::{POOLS, PoolFile};
pub use problem::{FLOOR, Optimum, Problem};
pub use program::{Program, to_json};
pub use protocol::{Game, Protocol, Schedule};
pub use questions::{Answer, FIELD, Question, Variant};
pub use random::{RandomOrder, RandomSearch};
pub use reference::{PEERS, REFERENCES, Reference};
pub use selection::Selection;
