//! Batch Bayesian optimization: what to try next, given what is still running.
//!
//! A [`Study`] keeps a Gaussian process over an expensive black box, suggests trials that are worth running given what is
//! observed and pending, and certifies how far from the optimum the best point can still be. It implements "On Batch
//! Bayesian Optimization" (Chowdhury and Gopalan): IGP-BUCB, GP-BTS, and the baseline GP-BUCB.
//!
//! Decisions only: a suggestion is a pure function of (spec, events, seed). No file, no process, no clock.

mod choice;
mod chooser;
mod domain;
pub mod error;
pub mod event;
pub mod file;
mod json;
mod ledger;
mod maximize;
mod model;
mod normal;
mod pool;
mod rules;
mod space;
mod spec;
mod strategy;
pub mod study;
mod table;
pub mod text;
pub mod theory;
mod tuning;

pub use choice::{Choice, Phase};
pub use domain::Domain;
pub use error::{Error, Result};
pub use event::Event;
pub use ledger::{Ledger, Trial, TrialState};
pub use pool::{Coordinates, Pool};
pub use rules::Rule;
pub use space::{Constraint, Parameter, ParameterKind, Relation, Scale, Space, Value};
pub use spec::{Direction, Spec};
pub use strategy::{Hallucination, Information, Initial, Strategy};
pub use study::{Batch, Best, BoundKind, Certificate, Prediction, Study, Suggestion};
pub use tuning::Tuning;

/// The types of the Gaussian process that a [`Spec`] is made of and a [`Study`] returns. The numerics behind them are the
/// crate `manyhands-gp`.
pub mod gp {
    pub use manyhands_gp::{
        Covariance, Domain, Error, Family, Given, Grid, Hyperparameters, Kernel, Points, Posterior, Prior, Priors,
        Result, Warp,
    };
}

/// The README's example, run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
