//! Batch Bayesian optimization: what to try next, given what is still running.
//!
//! A [`Study`] keeps a Gaussian process over an expensive black box, suggests trials that are worth running given what is
//! observed and pending, and certifies how far from the optimum the best point can still be. It implements "On Batch
//! Bayesian Optimization" (Chowdhury and Gopalan): IGP-BUCB, GP-BTS, and the baseline GP-BUCB.
//!
//! Decisions only: a suggestion is a pure function of (spec, events, seed). No file, no process, no clock.

mod choice;
mod chooser;
pub mod closed_form;
mod confidence;
mod domain;
mod error;
mod event;
pub mod file;
mod json;
mod ledger;
mod maximize;
mod model;
mod names;
mod normal;
mod number;
mod pool;
mod rules;
mod space;
mod spec;
mod strategy;
mod study;
mod table;
mod text;
mod tuning;

pub use choice::{Choice, Phase};
pub use confidence::{Assumptions, a_priori_hallucination, initialization_variance, worst_case_hallucination};
pub use domain::Domain;
pub use error::{Error, Key, ParameterPart, Result, Subject, TablePlace};
pub use event::{Asked, ENGINE, Event, EventKind, Fitted, Included};
pub use ledger::{Ledger, Trial, TrialState};
pub use manyhands_gp as gp;
pub use manyhands_gp::Given;
pub use names::likely as likely_name;
pub use number::{short, significant};
pub use pool::{Coordinates, Pool};
pub use rules::Rule;
pub use space::{Block, Constraint, Parameter, ParameterKind, Relation, Scale, Space, Value};
pub use spec::{Direction, Spec};
pub use strategy::{Hallucination, Information, Initial, Strategy};
pub use study::{
    Batch, Best, CERTIFIED, Certificate, Kind, Located, Outlook, Prediction, Quantities, Study, Suggestion, Tally,
    Verification, representable,
};
pub use text::{counted, one_line, printable, quoted};
pub use tuning::Tuning;

/// The README's example, run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
