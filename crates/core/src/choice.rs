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
    /// The user: the point was enqueued.
    Queued,
}

impl Phase {
    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Design => "design",
            Self::Initial => "initial",
            Self::Rule => "rule",
            Self::Queued => "queued",
        }
    }
}

/// What a trial is for.
///
/// ```
/// use manyhands_core::Aim;
/// assert_eq!(Aim::Exploring.name(), "exploring");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Aim {
    /// To cover the domain before there is a model.
    Design,
    /// To improve on the best point: the mean decides, next to it or where the model expects a better one.
    Greedy,
    /// Where the value may be best: mean and uncertainty decide together.
    Wide,
    /// To learn: the uncertainty alone decides, mostly far from the best point.
    Exploring,
    /// The user wants it tried.
    Requested,
}

impl Aim {
    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Design => "design",
            Self::Greedy => "greedy",
            Self::Wide => "wide",
            Self::Exploring => "exploring",
            Self::Requested => "requested",
        }
    }

    /// What it means, in a few words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Design => "first design: covers the domain",
            Self::Greedy => "greedy: where the mean is best",
            Self::Wide => "wide: where the value may be best",
            Self::Exploring => "exploring: where least is known, on purpose",
            Self::Requested => "requested: a point that was enqueued",
        }
    }
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
/// values, and mean and interval are those of the maximized function (the negated one when minimizing); in a
/// [`Suggestion`](crate::Suggestion) they are in the user's units.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// The candidate's index in the domain; in a discretized cube, its row-major index in D_t with t = trial + 1. On a
    /// space that is not finite every trial is a candidate of its own and has its number.
    pub candidate: usize,
    /// The values of the parameters. In the log they are empty for pools: `candidate` identifies the row.
    pub params: Vec<Value>,
    /// Its mean when chosen, mu_S(x_t); before a learned model has seen any value, 0.
    pub mean: f64,
    /// Its standard deviation given observed and pending points when chosen, sigma_{t-1}(x_t), or observed ones alone where the
    /// rule ignores pending points (`asy-ts`, or `hallucination = "off"`); before a learned model has
    /// seen any value, relative to the unknown spread of the values.
    pub sd: f64,
    /// The multiplier beta_t or v_t; 0 for a rule without a multiplier, and for a pick by the sd alone (initialization
    /// scheme, or a search that has converged).
    pub multiplier: f64,
    /// The value of the acquisition function. Larger is better, whatever the direction; in the model's own units, which are those
    /// of warped values where the model is learned.
    ///
    /// | pick | score |
    /// |---|---|
    /// | by an upper bound: `auto`, `igp-bucb`, `gp-bucb`, `gp-bucb-bayesian`, `gp-ucb`, the first of a batch by `gp-ucb-pe` and `dpp` | mean + multiplier x sd |
    /// | by exploration: the others by `gp-ucb-pe` and `dpp`, designs, the initialization scheme, a search that has converged | sd |
    /// | `gp-bts`, `asy-ts` | the value of the sample |
    /// | `gp-ei` | ln EI |
    /// | `gp-pi` | z = (mean - target)/sd |
    /// | `est` | -(m - mean)/sd, m the estimate of the maximum |
    /// | `pes` | the expected gain of information on where the maximum is, in nats |
    /// | `local-penalization` | the logarithm of the penalized base rule |
    /// | an enqueued point | mean |
    pub score: f64,
    /// No point of the domain that may be chosen has a score higher by more than this. On a finite domain it is 0, and none is
    /// claimed for picks that are not the highest of an exact score: the first design, enqueued points, what `dpp = "sample"`
    /// draws, and samples that are not exact draws. On a space that is searched it is proven for picks by a band's upper end
    /// under a given model, and none is claimed for others. Nor is it where the noise is so small for the number of values that
    /// allowances for rounding are at least half of the gap known without a search: a noise of 1e-10 of the variance at 300
    /// values, for example.
    pub gap: Option<f64>,
    /// What picked it.
    pub phase: Phase,
    /// What the trial is for; none in events of engines before 4.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aim: Option<Aim>,
    /// As `sd`, given observed points alone, sigma_S(x_t); none before a learned model has seen any value, and in events of
    /// engines before 4.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sd_observed: Option<f64>,
    /// The value to be told is expected between these, with probability 0.9 by the model given observed points alone, noise
    /// included; none where `sd_observed` is, or where a float cannot represent one of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
}

impl Choice {
    /// A choice of the rule that weighs mean and sd, to be completed: candidate 0, no parameters, all numbers 0.
    pub(crate) fn wide() -> Self {
        Self {
            candidate: 0,
            params: vec![],
            mean: 0.0,
            sd: 0.0,
            multiplier: 0.0,
            score: 0.0,
            gap: None,
            phase: Phase::Rule,
            aim: Some(Aim::Wide),
            sd_observed: None,
            interval: None,
        }
    }

    /// The same point as a pick of the first design.
    pub(crate) fn of_design(self) -> Self {
        Self { phase: Phase::Design, aim: Some(Aim::Design), ..self }
    }

    /// The first number that is not finite, if there is one.
    pub(crate) fn not_finite(&self) -> Option<f64> {
        let expected = self.sd_observed.into_iter().chain(self.interval.into_iter().flatten());
        let numbers = [self.mean, self.sd, self.multiplier, self.score].into_iter().chain(expected);
        numbers.into_iter().find(|number| !number.is_finite())
    }

    /// With mean and interval in the user's units and these values of the parameters.
    pub(crate) fn in_user_units(&self, direction: Direction, params: Vec<Value>) -> Self {
        let interval = self.interval.map(|[lower, upper]| match direction {
            Direction::Maximize => [lower, upper],
            Direction::Minimize => [-upper, -lower],
        });
        Self { params, mean: direction.sign() * self.mean, interval, ..self.clone() }
    }
}
