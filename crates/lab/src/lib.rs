//! The experiments of "On Batch Bayesian Optimization": test problems, paired runs, regret, tests and figures.
//!
//! A [`Plan`] holds everything that was asked for, checked and ready; [`Plan::run`] plays it and gives a [`Reproduction`],
//! which knows its figures, tables and verdicts and writes them into a folder.
//!
//! ```
//! use manyhands_lab::{Panel, Plan, Request, Settings};
//! # fn main() -> manyhands_lab::Result<()> {
//! let settings = Settings { functions: 6, horizon: 40, ..Settings::default() };
//! let plan = Plan::new(&Request { settings, panels: vec![Panel::A], ..Request::default() })?;
//! let reproduction = plan.run(&|| ())?;
//! assert_eq!(reproduction.observations[0].verdict().name(), "holds"); // IGP-BUCB outperforms GP-BUCB
//! println!("{}", reproduction.report());
//! # Ok(()) }
//! ```

mod arm;
mod chart;
mod error;
mod experiment;
mod extra;
mod observation;
mod output;
mod panel;
mod problem;
pub mod problems;
pub mod quality;
mod regret;
mod reproduction;
mod settings;
mod sheet;
pub mod statistics;
mod stream;
mod table;
mod watch;
mod wilcoxon;

pub use arm::{Algorithm, Arm, Bound, Measured, Played, Watch, play};
pub use error::{Error, Result};
pub use experiment::{Arrival, Experiment, Instance};
pub use extra::Extra;
pub use observation::{Comparison, Finding, Observation, Verdict};
pub use output::{leftovers, prepare};
pub use panel::Panel;
pub use problem::Problem;
pub use regret::Regret;
pub use reproduction::{Missing, Outcome, Plan, Reproduction, Request};
pub use settings::Settings;
pub use table::Table;
pub use watch::{Certified, Coverage, Promise};
pub use wilcoxon::SignedRank;
