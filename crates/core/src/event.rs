//! What happened to a study. A study is a fold over its events, and nothing else.

use manyhands_gp::{Hyperparameters, Warp};

use crate::Value;

/// The number of the engine that fits and chooses here.
///
/// It is raised by any change that alters a fit or a choice, be it by one bit, so that a log says which of its events
/// this engine can make again. Events from before there was a number are those of engine 1; 2 has fits of many values
/// and of values of any magnitude that 1 did not have; 3 factors the rows of large studies on spaces in another order.
pub const ENGINE: u32 = 3;

/// One entry of a study's log. Sequence numbers start at 1.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A trial was suggested.
    Asked(Asked),
    /// A model was learned from the values at hand; it holds until the next one.
    Fitted(Fitted),
    /// A trial that was not suggested here: an evaluation made elsewhere, or one under way elsewhere.
    Included(Included),
    /// A trial's value arrived, in the user's units.
    Told {
        /// The trial's number.
        trial: usize,
        /// Its value.
        value: f64,
    },
    /// A trial failed and will give no value.
    Failed {
        /// The trial's number.
        trial: usize,
        /// Why, in the user's words.
        reason: String,
    },
    /// A trial was called off, as if it had never been asked for.
    Cancelled {
        /// The trial's number.
        trial: usize,
    },
    /// A result came after someone else was given the trial, or after it had ended. Kept as evidence; the model never
    /// sees it.
    LateResult {
        /// The trial's number.
        trial: usize,
        /// What was reported: a value in the user's units, or why there is none.
        outcome: Result<f64, String>,
    },
}

impl Event {
    /// The trial that it is about; none where it is about all of them.
    pub fn trial(&self) -> Option<usize> {
        match self {
            Self::Asked(Asked { trial, .. })
            | Self::Included(Included { trial, .. })
            | Self::Told { trial, .. }
            | Self::Failed { trial, .. }
            | Self::Cancelled { trial }
            | Self::LateResult { trial, .. } => Some(*trial),
            Self::Fitted(_) => None,
        }
    }
}

/// What picks a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Phase {
    /// The quasi-random first design of a learned model.
    Design,
    /// The paper's initialization scheme: picks of largest variance.
    Initial,
    /// The rule.
    Rule,
}

/// A learned model. Its numbers are those of the warped values of the maximized function.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// Lengthscales, noise, variance and mean.
    pub hyperparameters: Hyperparameters,
    /// How values are standardized and warped.
    pub warp: Warp,
    /// The sequence number of the last event that the fit knew.
    pub seen: usize,
    /// The number of the engine that made it; see [`ENGINE`].
    pub engine: u32,
}

/// A trial that was not suggested here.
#[derive(Debug, Clone, PartialEq)]
pub struct Included {
    /// The trial's number.
    pub trial: usize,
    /// The candidate's index in the domain; on a box, the trial's number.
    pub candidate: usize,
    /// The values of the parameters, where the domain is a space of them; of a pool the candidate says all.
    pub params: Vec<Value>,
    /// Its value in the user's units; none if it is still under way.
    pub value: Option<f64>,
}

/// A choice as it was made. Numbers are those of the maximized function (the negated one when minimizing).
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// The trial's number: trials are numbered from 0 in the order they were asked for.
    pub trial: usize,
    /// The candidate's index in the domain; in a discretized cube, its row-major index in D_t with t = trial + 1. On a box
    /// every trial is a candidate of its own and has its number.
    pub candidate: usize,
    /// The values of the parameters, where the domain is a space of them; of a pool the candidate says all.
    pub params: Vec<Value>,
    /// Its mean when chosen, mu_S(x_t).
    pub mean: f64,
    /// Its standard deviation given observed and pending points when chosen, sigma_{t-1}(x_t).
    pub sd: f64,
    /// The multiplier beta_t or v_t; 0 for a pick by the sd alone (initialization scheme, or a search that has converged).
    pub multiplier: f64,
    /// What was maximized: mean + multiplier x sd, the value of the sample, or sd where the multiplier is 0. In the
    /// model's own units, which are those of warped values where it is learned.
    pub score: f64,
    /// No point of the domain has a score higher than this one's by more than this; none where that is not proven.
    pub gap: Option<f64>,
    /// What picked it.
    pub phase: Phase,
    /// The sequence number of the last event the choice knew. Choices logged one after the other with the same `seen`
    /// were made together, and each knew those before it.
    pub seen: usize,
    /// The number of the engine that made it; see [`ENGINE`].
    pub engine: u32,
}
