//! Experiments with the optimizer: the paper's figures reproduced, the quality of suggestions, and their speed.
//!
//! | question | start with |
//! |---|---|
//! | Do the paper's observations hold? | [`ReproductionPlan`]: panels, regret, paired tests, verdicts, files |
//! | How close to the optimum do suggestions get? | [`quality`]: problems with known optima, pools of candidates, other programs |
//! | How fast are they on this machine? | [`mod@bench`]: measurements beside rooflines and limits |
//! | How does a study fare when rewards arrive late? | [`experiment::simulate`] with a [`experiment::Feedback`] mapping S(t), and the theorems' [`bounds`] |
//!
//! A reproduction goes from a request to a checked plan to its results. The same request gives the same files, byte for
//! byte, on any number of threads.
//!
//! ```
//! use manyhands_lab::{Panel, ReproductionPlan, ReproductionRequest, Settings};
//! # fn main() -> manyhands_lab::Result<()> {
//! let settings = Settings { functions: 6, horizon: 40, ..Settings::default() };
//! let request = ReproductionRequest { settings, panels: vec![Panel::A], ..ReproductionRequest::default() };
//! let reproduction = ReproductionPlan::new(&request)?.run(&|| ())?;
//! assert_eq!(reproduction.observations[0].verdict().name(), "holds"); // IGP-BUCB outperforms GP-BUCB
//! println!("{}", reproduction.report()); // Markdown; `write` makes the figures and tables too
//! # Ok(()) }
//! ```
//!
//! One function of the paper, run by hand: draw it, choose in batches of five, and count the regret.
//!
//! ```
//! use manyhands_gp::Kernel;
//! use manyhands_core::{Rule, Spec, Strategy, Study};
//! use manyhands_lab::experiment::{Feedback, Regret, simulate};
//! use manyhands_lab::problems;
//! use rand::SeedableRng;
//! # fn main() -> manyhands_lab::Result<()> {
//! let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(1);
//! let problem = problems::rkhs_function(Kernel::squared_exponential(&[0.2])?, 0.025, &mut rng)?;
//! let strategy = Strategy::new(Rule::IgpBucb, problem.norm().unwrap_or(1.0));
//! let spec = Spec::new(problem.domain().clone(), problem.prior().clone(), strategy)?;
//! let run = simulate(&mut Study::new(spec)?, &Feedback::Batch(5), 50, |s| problem.values()[s.choice.candidate])?;
//! let regret = Regret::new(problem.optimum(), run.iter().map(|s| problem.values()[s.choice.candidate]));
//! assert!(regret.simple()[49] < 0.1);
//! # Ok(()) }
//! ```

mod arm;
mod arrival;
pub mod bench;
pub mod bounds;
mod chart;
mod compared_rule;
mod diagnostics;
mod error;
pub mod experiment;
mod extra;
mod feedback;
mod finite_problem;
mod machine;
mod numeric_table;
mod observation;
mod output;
mod overview;
mod panel;
pub mod problems;
mod process;
pub mod quality;
mod ranking;
mod regret;
mod reproduction;
mod settings;
mod sheet;
mod statistics;
mod stream;
mod terminal;
pub mod trust;
mod wilcoxon;

pub use arm::Algorithm;
use arm::{ArmRun, PlayedArm};
pub use compared_rule::ComparedRule;
pub use error::{Error, Result};
use experiment::{Arrival, Experiment, Instance};
pub use extra::Extra;
use feedback::Feedback;
use finite_problem::FiniteProblem;
use numeric_table::NumericTable;
pub use observation::Observation;
use observation::{Comparison, Finding};
pub use output::{leftovers, prepare};
pub use panel::Panel;
pub use process::Binary;
use regret::Regret;
pub use reproduction::{Missing, PanelResult, Reproduction, ReproductionPlan, ReproductionRequest};
pub use settings::Settings;
use wilcoxon::SignedRank;
