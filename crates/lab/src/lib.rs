//! The experiments of "On Batch Bayesian Optimization": test problems, paired runs, regret, tests and figures.
//!
//! A [`ReproductionPlan`] holds everything that was asked for, checked and ready; [`ReproductionPlan::run`] plays it and gives a [`Reproduction`],
//! which knows its figures, tables and verdicts and writes them into a folder.
//!
//! ```
//! use manyhands_lab::{Panel, ReproductionPlan, ReproductionRequest, Settings};
//! # fn main() -> manyhands_lab::Result<()> {
//! let settings = Settings { functions: 6, horizon: 40, ..Settings::default() };
//! let plan = ReproductionPlan::new(&ReproductionRequest { settings, panels: vec![Panel::A], ..ReproductionRequest::default() })?;
//! let reproduction = plan.run(&|| ())?;
//! assert_eq!(reproduction.observations[0].verdict().name(), "holds"); // IGP-BUCB outperforms GP-BUCB
//! println!("{}", reproduction.report());
//! # Ok(()) }
//! ```

mod arm;
pub mod bench;
pub mod bounds;
mod chart;
mod diagnostics;
mod error;
mod experiment;
mod extra;
mod feedback;
mod finite_problem;
mod machine;
mod numeric_table;
mod observation;
mod output;
mod panel;
mod picture;
pub mod problems;
mod process;
pub mod quality;
mod regret;
mod reproduction;
mod settings;
mod sheet;
mod statistics;
mod stream;
mod terminal;
mod wilcoxon;

pub use arm::{Algorithm, Arm, ArmRun, Diagnostic, NormBound, PlayedArm, play_arms};
pub use diagnostics::{BoundedRegret, CertificateCheck, Coverage};
pub use error::{Error, Result};
pub use experiment::{Arrival, Experiment, Instance};
pub use extra::Extra;
pub use feedback::{Feedback, simulate};
pub use finite_problem::FiniteProblem;
pub use numeric_table::NumericTable;
pub use observation::{Comparison, Finding, Observation, Verdict};
pub use output::{leftovers, prepare, replace};
pub use panel::Panel;
pub use picture::Picture;
pub use process::Binary;
pub use regret::Regret;
pub use reproduction::{Missing, PanelResult, Reproduction, ReproductionPlan, ReproductionRequest};
pub use settings::Settings;
pub use statistics::{Estimate, Quartiles};
pub use wilcoxon::SignedRank;
