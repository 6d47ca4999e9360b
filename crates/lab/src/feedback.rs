//! When rewards arrive, in simulations: the paper's feedback mapping S(t), and a run under it.
//!
//! S(t) is the number of rewards known when x_t is chosen; t - S(t) <= M. In real use there is no mapping: a study knows
//! what it has been told.

use std::fmt;
use std::sync::Arc;

use manyhands_core::{Study, Suggestion};

use crate::{Error, Result};

/// A feedback mapping.
pub enum Feedback {
    /// S(t) = t - 1: every reward is known before the next choice.
    Sequential,
    /// S(t) = M floor((t-1)/M): rewards come in batches of M.
    Batch(usize),
    /// S(t) = max(t - M, 0): every reward comes M rounds late.
    Delay(usize),
    /// S(1), S(2), ... as they are listed, with t - S(t) <= M.
    Listed {
        /// M.
        workers: usize,
        /// S.
        observed: Arc<[usize]>,
    },
    /// Any mapping with t - S(t) <= M.
    Custom {
        /// M.
        workers: usize,
        /// S.
        mapping: Box<dyn Fn(usize) -> usize + Send + Sync>,
    },
}

impl fmt::Debug for Feedback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sequential => write!(f, "Sequential"),
            Self::Batch(workers) => write!(f, "Batch({workers})"),
            Self::Delay(workers) => write!(f, "Delay({workers})"),
            Self::Listed { workers, observed } => write!(f, "Listed({workers}, {} rounds)", observed.len()),
            Self::Custom { workers, .. } => write!(f, "Custom({workers})"),
        }
    }
}

impl Feedback {
    /// S(t) for t = 1, 2, ...; refused where it is not a feedback mapping with t - S(t) <= M.
    ///
    /// ```
    /// # use manyhands_lab::experiment::Feedback;
    /// let batch = Feedback::Batch(5);
    /// assert_eq!((1..=7).map(|t| batch.observed_before(t)).collect::<Result<Vec<_>, _>>()?, [0, 0, 0, 0, 0, 5, 5]);
    /// # Ok::<(), manyhands_lab::Error>(())
    /// ```
    pub fn observed_before(&self, t: usize) -> Result<usize> {
        let workers = self.workers();
        let refuse = |observed, reason: String| Err(Error::Feedback { t, observed, reason });
        let observed = match self {
            _ if workers == 0 => return refuse(0, "M must be at least 1".to_string()),
            _ if t == 0 => return refuse(0, "rounds are counted from 1".to_string()),
            Self::Sequential => t - 1,
            Self::Batch(workers) => workers * ((t - 1) / workers),
            Self::Delay(workers) => t.saturating_sub(*workers),
            Self::Listed { observed, .. } => {
                *observed.get(t - 1).ok_or(Error::FeedbackEnds { rounds: observed.len(), t })?
            }
            Self::Custom { mapping, .. } => mapping(t),
        };
        if observed >= t {
            return refuse(observed, "a choice knows only rewards of earlier rounds, S(t) < t".to_string());
        }
        if t - observed > workers {
            return refuse(observed, format!("t - S(t) must be at most M = {workers}"));
        }
        Ok(observed)
    }

    /// S(1), ..., S(T), refused where it is not a feedback mapping: where it decreases, too.
    pub fn mapping(&self, rounds: usize) -> Result<Vec<usize>> {
        let mut known = Vec::with_capacity(rounds);
        for t in 1..=rounds {
            let (observed, before) = (self.observed_before(t)?, known.last().copied().unwrap_or(0));
            if observed < before {
                return Err(Error::Feedback {
                    t,
                    observed,
                    reason: format!("S must not fall, S({}) is {before}", t - 1),
                });
            }
            known.push(observed);
        }
        Ok(known)
    }

    /// M.
    pub fn workers(&self) -> usize {
        match self {
            Self::Sequential => 1,
            Self::Batch(workers)
            | Self::Delay(workers)
            | Self::Listed { workers, .. }
            | Self::Custom { workers, .. } => *workers,
        }
    }
}

/// Runs a new study for `rounds` rounds: rounds that know the same rewards are asked for together, rewards are told in order as
/// the mapping says, and the remaining ones at the end. `reward` is called once per suggestion, in order.
///
/// ```
/// use manyhands_gp::{Grid, Kernel, Prior};
/// use manyhands_core::{Domain, Rule, Spec, Strategy, Study};
/// use manyhands_lab::experiment::{Feedback, simulate};
/// # fn main() -> manyhands_lab::Result<()> {
/// let domain = Domain::Grid(Grid::even(&[(0.0, 1.0, 50)])?);
/// let prior = Prior::new(Kernel::squared_exponential(&[0.2])?, 0.0, 0.01)?;
/// let mut study = Study::new(Spec::new(domain, prior, Strategy::new(Rule::IgpBucb, 1.0))?)?;
/// let run = simulate(&mut study, &Feedback::Batch(5), 20, |s| -(s.point[0] - 0.3).powi(2))?;
/// assert_eq!(run.len(), 20);
/// # Ok(()) }
/// ```
pub fn simulate(
    study: &mut Study,
    feedback: &Feedback,
    rounds: usize,
    mut reward: impl FnMut(&Suggestion) -> f64,
) -> Result<Vec<Suggestion>> {
    let mut suggestions: Vec<Suggestion> = Vec::with_capacity(rounds);
    let mut rewards = Vec::with_capacity(rounds);
    let mut told = 0;
    let known = feedback.mapping(rounds)?;
    for together in known.chunk_by(|s, next| s == next) {
        let observed = together[0];
        for (suggestion, &value) in suggestions[told..observed].iter().zip(&rewards[told..observed]) {
            study.tell(suggestion.trial, value)?;
        }
        told = observed;
        let asked = study.ask(together.len())?;
        rewards.extend(asked.iter().map(&mut reward));
        suggestions.extend(asked);
    }
    for (suggestion, &value) in suggestions[told..].iter().zip(&rewards[told..]) {
        study.tell(suggestion.trial, value)?;
    }
    Ok(suggestions)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use manyhands_core::{Domain, Rule, Spec, Strategy};
    use manyhands_gp::{Grid, Kernel, Prior};

    use super::*;

    fn run(feedback: &Feedback) -> Result<usize> {
        let domain = Domain::Grid(Grid::even(&[(0.0, 1.0, 12)])?);
        let prior = Prior::new(Kernel::squared_exponential(&[0.2])?, 0.0, 0.01)?;
        let mut study = Study::new(Spec::new(domain, prior, Strategy::new(Rule::IgpBucb, 1.0))?)?;
        simulate(&mut study, feedback, 10, |s| s.point[0].sin()).map(|run| run.len())
    }

    #[test]
    fn mappings_that_are_no_feedback_are_refused() {
        let custom = |workers, mapping: fn(usize) -> usize| Feedback::Custom { workers, mapping: Box::new(mapping) };
        let refused = |feedback: &Feedback, t: usize, observed: usize| {
            let error = run(feedback).unwrap_err();
            assert!(matches!(error, Error::Feedback { t: at, observed: s, .. } if (at, s) == (t, observed)), "{error}");
            assert!(error.to_string().contains(&format!("S({t}) = {observed}")), "{error}");
        };
        refused(&custom(3, |t| t), 1, 1);
        refused(&custom(3, |t| t + 4), 1, 5);
        refused(&custom(3, |_| 0), 4, 0);
        // t - S(t) is within M, but S falls from 3 to 2.
        refused(&custom(5, |t| if t == 4 { 3 } else { t.saturating_sub(3) }), 5, 2);
        refused(&Feedback::Batch(0), 1, 0);
        refused(&Feedback::Delay(0), 1, 0);
        assert!(matches!(Feedback::Sequential.observed_before(0), Err(Error::Feedback { t: 0, .. })));
        assert_eq!(run(&custom(3, |t| t.saturating_sub(2))), Ok(10));
        let listed = |known: &[usize]| Feedback::Listed { workers: 3, observed: known.into() };
        assert_eq!(run(&listed(&[0, 0, 1, 1, 2, 3, 6, 6, 6, 9, 9])), Ok(10));
        assert_eq!(run(&listed(&[0, 0, 1, 1])), Err(Error::FeedbackEnds { rounds: 4, t: 5 }));
    }
}
