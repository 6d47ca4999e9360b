//! The experiments of "On Batch Bayesian Optimization": test problems, paired runs, regret, tests and figures.
//!
//! A [`Plan`] holds everything that was asked for, checked and ready; [`Plan::run`] plays it and gives a [`Reproduction`],
//! which knows its figures, tables and verdicts and writes them into a folder.

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
mod regret;
mod reproduction;
mod settings;
mod sheet;
pub mod statistics;
mod stream;
mod table;
mod watch;
mod wilcoxon;

pub use arm::{Algorithm, Arm, Bound, Measured, Watch, play};
pub use error::{Error, Result};
pub use experiment::{Arrival, Experiment, Instance};
pub use extra::Extra;
pub use observation::{Comparison, Finding, Observation, Verdict};
pub use panel::Panel;
pub use problem::Problem;
pub use regret::Regret;
pub use reproduction::{Missing, Outcome, Plan, Reproduction, Request};
pub use settings::Settings;
pub use table::Table;
pub use watch::{Certified, Coverage};
pub use wilcoxon::SignedRank;
