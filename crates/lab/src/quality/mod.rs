//! How good the optimizer is: known problems and real pools, a fixed protocol, and the performance of each optimizer.
//!
//! ```
//! use manyhands_lab::quality::{Optimizer, Protocol, OptimizerComparison, problems};
//! # fn main() -> manyhands_lab::Result<()> {
//! let protocol = Protocol { seeds: 3, ..Protocol::default() };
//! let comparison = OptimizerComparison { optimizers: vec![Optimizer::Random], protocol, threads: 1 };
//! let runs = comparison.run(&problems::named(&["branin".to_string()])?, &|| ())?;
//! assert!(runs[0][0].log10_regret(60).median < 1.0);
//! # Ok(()) }
//! ```

mod bench;
mod clock;
mod compared;
mod comparison;
mod membership;
mod optimizer;
mod overall;
mod performance;
mod pool_files;
mod pool_halves;
mod pool_problem;
pub mod problems;
mod program;
mod protocol;
mod questions;
mod random;
mod reference;
mod report;
mod results;
mod rules;
mod rules_report;
mod run_line;
mod selection;
mod settled;
mod settled_table;
mod settling;
mod space_problem;
mod table;
mod threads;

pub use bench::{QualityBench, QualityRequest};
use clock::CostClock;
pub use comparison::{FinishedRun, OptimizerComparison, OptimizerRuns, PlayedRun, TestProblem};
pub use optimizer::{ActiveOptimizer, Optimizer};
pub use performance::SpacePerformance;
pub use pool_files::{POOLS, PoolFile};
pub use pool_halves::PoolHalf;
pub use pool_problem::{PoolGoal, PoolPerformance, PoolProblem};
pub use program::OptimizerProgram;
pub use protocol::{Protocol, Schedule, SeededRun};
pub use questions::Variant;
use questions::{FIELD, StrategyAnswer, StrategyQuestion};
pub use random::{RandomOrder, RandomSearch};
use reference::{PEERS, Reference};
pub use report::QualityReport;
pub use results::{NotKept, ResultsFiles, RunKeeper};
pub use rules::RulesBench;
pub use rules_report::RulesReport;
pub use run_line::RunKey;
pub use selection::{ProblemSet, Selection};
pub use settled::StrategyReport;
pub use settling::StrategyBench;
pub use space_problem::{FLOOR, Optimum, SpaceProblem};
pub(crate) use threads::on_threads;
