//! Batch Bayesian optimization: what to try next, given what is still running.
//!
//! A [`Study`] keeps a Gaussian process over an expensive black box, suggests trials that are worth running given what is
//! observed and pending, and certifies how far from the optimum the best point can still be. It implements "On Batch
//! Bayesian Optimization" (Chowdhury and Gopalan): IGP-BUCB, GP-BTS, and the baseline GP-BUCB.
//!
//! Decisions only: a suggestion is a pure function of (spec, events, seed). No file, no process, no clock.

mod confidence;
mod domain;
mod error;
mod event;
mod feedback;
pub mod file;
mod hint;
pub mod information;
mod maximize;
mod model;
mod names;
mod number;
mod pool;
pub mod regret;
mod space;
mod spec;
mod strategy;
mod study;
mod table;
mod text;
mod tuning;

pub use confidence::{Assumptions, a_priori_hallucination, initialization_variance, worst_case_hallucination};
pub use domain::Domain;
pub use error::{Error, Result};
pub use event::{Asked, ENGINE, Event, Fitted, Included, Phase};
pub use feedback::{Feedback, simulate};
pub use manyhands_gp as gp;
pub use manyhands_gp::Given;
pub use number::{short, significant};
pub use pool::{Coordinates, Pool};
pub use space::{Block, Constraint, Parameter, ParameterKind, Relation, Scale, Space, Value};
pub use spec::{Direction, Spec};
pub use strategy::{Hallucination, Information, Initial, Rule, Strategy};
pub use study::{
    Batch, Best, CERTIFIED, Certificate, Kind, Located, Outlook, Prediction, Quantities, Study, Suggestion, Tally,
    Trial, TrialState, Verification, representable,
};
pub use text::{counted, printable, quoted};
pub use tuning::Tuning;

/// The README's example, run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
