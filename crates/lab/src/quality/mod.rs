//! How good the optimizer is: known problems and real pools, a fixed protocol, and what each player makes of them.

mod membership;
mod player;
mod problem;
pub mod problems;
mod random;

pub use player::Player;
pub use problem::{Optimum, Problem};
pub use random::RandomSearch;
