//! A chosen point with its posterior: the one shape that events, trials, suggestions and their JSON contain.

use serde::{Deserialize, Serialize};

use crate::{Direction, Value};

/// What picks a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// The quasi-random first design of a learned model.
    Design,
    /// The paper's initialization scheme: picks of largest variance.
    Initial,
    /// The rule.
    Rule,
}

/// A point that was chosen, with the posterior and the acquisition value at that moment.
///
/// ```
/// use manyhands_core::gp::{Grid, Kernel, Prior};
/// use manyhands_core::{Domain, Rule, Spec, Strategy, Study};
/// # fn main() -> manyhands_core::Result<()> {
/// let prior = Prior::new(Kernel::squared_exponential(&[0.2])?, 0.0, 0.01)?;
/// let spec = Spec::new(Domain::Grid(Grid::even(&[(0.0, 1.0, 9)])?), prior, Strategy::new(Rule::IgpBucb, 1.0))?;
/// let choice = Study::new(spec)?.ask(1)?.remove(0).choice;
/// assert!((choice.score - (choice.mean + choice.multiplier * choice.sd)).abs() < 1e-12);
/// assert_eq!(choice.gap, Some(0.0)); // exact on a finite domain
/// # Ok(()) }
/// ```
///
/// In choosers mean and sd are in the model's own units, as the score is everywhere. In the log they are in the units of the
/// values, and the mean is that of the maximized function (the negated one when minimizing); in a
/// [`Suggestion`](crate::Suggestion) it is in the user's units.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// The candidate's index in the domain; in a discretized cube, its row-major index in D_t with t = trial + 1. On a
    /// space that is not finite every trial is a candidate of its own and has its number.
    pub candidate: usize,
    /// The values of the parameters. In the log they are empty for pools: `candidate` identifies the row.
    pub params: Vec<Value>,
    /// Its mean when chosen, mu_S(x_t); before a learned model has seen any value, 0.
    pub mean: f64,
    /// Its standard deviation given observed and pending points when chosen, sigma_{t-1}(x_t); before a learned model has
    /// seen any value, relative to the unknown spread of the values.
    pub sd: f64,
    /// The multiplier beta_t or v_t; 0 for a rule without a multiplier, and for a pick by the sd alone (initialization
    /// scheme, or a search that has converged).
    pub multiplier: f64,
    /// The value of the acquisition function: mean + multiplier x sd, the value of the sample, ln EI, or the sd. Larger is
    /// better, whatever the direction; in the model's own units, which are those of warped values where the model is
    /// learned.
    pub score: f64,
    /// No point of the domain has a score higher by more than this. It is 0 on a finite domain, where picks of the first
    /// design claim none. On a space that is searched it is proven for picks by a band's upper end under a given model, and
    /// none is claimed for others. Nor is it where the noise is so small for the number of values that allowances for rounding
    /// are at least half of the gap known without a search: a noise of 1e-10 of the variance at 300 values, for example.
    pub gap: Option<f64>,
    /// What picked it.
    pub phase: Phase,
}

impl Choice {
    /// The first number that is not finite, if there is one.
    pub(crate) fn not_finite(&self) -> Option<f64> {
        [self.mean, self.sd, self.multiplier, self.score].into_iter().find(|number| !number.is_finite())
    }

    /// With the mean in the user's units and these values of the parameters.
    pub(crate) fn in_user_units(&self, direction: Direction, params: Vec<Value>) -> Self {
        Self { params, mean: direction.sign() * self.mean, ..self.clone() }
    }
}
