//! Batch Bayesian optimization: which trials to run next, given the results so far and the trials that are still running.
//!
//! A [`Study`] keeps a Gaussian process over an expensive black box, suggests batches of trials, and certifies how far from
//! the optimum the best point can still be. It implements "On Batch Bayesian Optimization" (Chowdhury and Gopalan): IGP-BUCB,
//! GP-BTS and the baseline GP-BUCB, the latter also in its Bayesian case. Further rules are GP-UCB, expected improvement (GP-EI),
//! probability of improvement (GP-PI), EST, predictive entropy search (PES), parallel Thompson sampling (`asy-ts`), GP-UCB-PE,
//! DPP batches, local penalization, and the default for learned models, `auto`. [`Rule`] lists them.
//!
//! This crate only decides: a suggestion is a pure function of (spec, events, seed). It opens no file, starts no process and
//! reads no clock.
//!
//! # A learned model
//!
//! Where only the parameters are known, the kernel's hyperparameters are learned from the values.
//!
//! ```
//! use manyhands_core::{Direction, Domain, Parameter, Space, Spec, Strategy, Study};
//! # fn main() -> manyhands_core::Result<()> {
//! let loss = |x: f64, layers: f64| (x - 0.3).powi(2) + 0.1 * (layers - 4.0).powi(2);
//!
//! let space = Space::new(vec![Parameter::float("x", 0.0, 1.0)?, Parameter::int("layers", 1, 8)?], vec![])?;
//! let spec = Spec::learned(Domain::Space(space), Strategy::auto())?.with_direction(Direction::Minimize).with_seed(7);
//! let mut study = Study::new(spec)?;
//! for _ in 0..5 {
//!     for suggestion in study.ask(4)? { // four trials; each takes the pending ones into account
//!         let numbers: Vec<f64> = suggestion.params().iter().filter_map(|value| value.number()).collect();
//!         study.tell(suggestion.trial, loss(numbers[0], numbers[1]))?;
//!     }
//! }
//! let best = study.best()?; // what to deploy, with its mean and interval
//! assert!(best.value < 0.05);
//! # Ok(()) }
//! ```
//!
//! Results may be told in any order and between asks; a trial that gave none is reported by [`Study::fail`] or
//! [`Study::cancel`]. [`Study::include`] adds evaluations made elsewhere, [`Study::ask_adaptive`] chooses the size of the
//! batch, and [`Study::predict`] is the posterior at any point.
//!
//! # A given model
//!
//! Where kernel, noise and a bound on the function's RKHS norm are known, the paper's rules apply and bounds are theorems.
//!
//! ```
//! use manyhands_core::gp::{Grid, Kernel, Prior};
//! use manyhands_core::{BoundKind, Domain, Rule, Spec, Strategy, Study};
//! # fn main() -> manyhands_core::Result<()> {
//! let domain = Domain::Grid(Grid::even(&[(0.0, 1.0, 100)])?);
//! let prior = Prior::new(Kernel::squared_exponential(&[0.2])?, 0.0, 1e-4)?; // mean 0, noise variance 1e-4
//! let mut study = Study::new(Spec::new(domain, prior, Strategy::new(Rule::IgpBucb, 2.0))?)?; // norm at most 2
//! for _ in 0..6 {
//!     for suggestion in study.ask(5)? {
//!         let x = suggestion.point[0];
//!         study.tell(suggestion.trial, (3.0 * x).sin() - x)?;
//!     }
//! }
//! let certificate = study.certificate()?; // with probability 1 - delta, the regret is at most this
//! assert!(certificate.kind == BoundKind::Theorem && certificate.regret_bound < 0.2);
//! # Ok(()) }
//! ```
//!
//! # Durable studies
//!
//! A study is the fold over its [`Event`]s: keep [`Study::events`], and [`Study::replay`] restores it bit for bit.
//! [`Study::verify`] recomputes the choices of a log. The crate `manyhands-store` keeps events in SQLite or PostgreSQL, with
//! leases for many workers; `manyhands-run` evaluates trials by commands. Study files are read by [`file::Draft`].
//!
//! # Where to look
//!
//! | to | see |
//! |---|---|
//! | describe what may be chosen | [`Domain`], [`Space`], [`Parameter`], [`Constraint`], [`Pool`] |
//! | set the acquisition function and its constants | [`Strategy`], [`Rule`], [`Hallucination`], [`Information`], [`Initial`], [`DppKind`], [`BaseRule`] |
//! | give kernel, noise and priors of hyperparameters | [`Spec`], [`gp`], [`Tuning`] |
//! | read what was chosen and why | [`Suggestion`], [`Choice`], [`Trial`], [`Ledger`] |
//! | say what to deploy, and what may still be gained | [`Best`], [`Certificate`], [`Outlook`], [`theory`] |
//! | handle refusals | [`Error`], whose [`code`](Error::code) is stable, and [`error`] |

mod caution;
mod choice;
mod chooser;
mod compatibility;
mod domain;
pub mod error;
pub mod event;
pub mod file;
pub mod json;
mod ledger;
mod maximize;
mod model;
pub mod normal;
mod outside;
mod pool;
mod rules;
mod sensitivity;
mod space;
mod spec;
mod strategy;
pub mod study;
mod table;
pub mod text;
pub mod theory;
mod trial;
mod tuning;
mod written;

#[cfg(test)]
#[path = "../../gp/tests/common/elimination.rs"]
mod elimination;

pub use caution::Caution;
pub use choice::{Aim, Choice, Phase};
pub use domain::Domain;
pub use error::{Error, Result};
pub use event::Event;
pub use ledger::Ledger;
pub use pool::{Coordinates, Pool};
pub use rules::Rule;
pub use space::{Constraint, MEASURED_TOLERANCE, Parameter, ParameterKind, Relation, Scale, Space, Value};
pub use spec::{Direction, Spec};
pub use strategy::{BaseRule, DppKind, Hallucination, Information, Initial, Strategy};
pub use study::{Batch, Best, BoundKind, Certificate, Importance, Outlook, Prediction, Study, Suggestion};
pub use trial::{Trial, TrialState};
pub use tuning::Tuning;

/// The types of the Gaussian process that a [`Spec`] is made of and a [`Study`] returns. The numerics behind them are the
/// crate `manyhands-gp`.
pub mod gp {
    pub use manyhands_gp::{
        Covariance, Domain, Error, Family, Given, Grid, Hyperparameters, Kernel, KernelStructure, Points, Posterior,
        Prior, Priors, Result, Warp,
    };
}

/// The README's example, run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
