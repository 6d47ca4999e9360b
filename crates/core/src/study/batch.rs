//! Batches of adaptive size: suggestions while the hallucination factor stays below a limit, with the cost and the expected
//! gain of each.

use super::{Asking, Study, Suggestion, is_by_rule};
use crate::event::{Asked, Event};
use crate::normal::{cumulative, density};
use crate::{Error, Phase, Result};

/// The cost and the expected gain of one more suggestion.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PickWorth {
    /// The cost: the realised hallucination factor xi with it pending. Multipliers of later choices grow by sqrt(xi).
    pub hallucination: f64,
    /// The information gain of its value, (1/2) ln(1 + sd^2/lambda), given observed and pending trials.
    pub information: f64,
    /// Its expected improvement over the best posterior mean so far, in the user's units (under the pending-aware sd; to
    /// first order where values are warped); before the first value its sd.
    pub improvement: f64,
}

/// A batch of suggestions with what each of them is worth, and one more.
///
/// ```
/// use manyhands_core::{Domain, Parameter, Space, Spec, Strategy, Study};
/// # fn main() -> manyhands_core::Result<()> {
/// let space = Space::new(vec![Parameter::float("x", 0.0, 1.0)?], vec![])?;
/// let mut study = Study::new(Spec::learned(Domain::Space(space), Strategy::auto())?)?;
/// let batch = study.ask_adaptive(3, 50.0)?;
/// assert_eq!(batch.suggestions.len(), batch.worths.len());
/// assert!(batch.next.is_some_and(|next| next.hallucination >= 1.0));
/// # Ok(()) }
/// ```
#[doc(alias = "batch size")]
#[derive(Debug, Clone, PartialEq)]
pub struct Batch {
    /// The suggestions.
    pub suggestions: Vec<Suggestion>,
    /// What each suggestion is worth, in order.
    pub worths: Vec<PickWorth>,
    /// What the next suggestion, which was not made, would be worth; none if no more may be asked for.
    pub next: Option<PickWorth>,
}

impl Study {
    /// A batch of adaptive size: at least one suggestion, at most `most`, and no more once the realised hallucination factor
    /// xi would exceed `limit` (from 1). The quasi-random first design of a learned model is exempt from the limit.
    /// Refused with `dpp = "sample"`, which draws the picks of an ask jointly.
    ///
    /// xi compares the variance at pending points with the noise: values of a few tens are usual where noise is a tenth of
    /// the function's spread; without noise xi is in the thousands, and a small limit means one suggestion at a time.
    ///
    /// ```
    /// use manyhands_core::{Domain, Parameter, Space, Spec, Strategy, Study};
    /// # fn main() -> manyhands_core::Result<()> {
    /// let space = Space::new(vec![Parameter::float("x", 0.0, 1.0)?], vec![])?;
    /// let mut study = Study::new(Spec::learned(Domain::Space(space), Strategy::auto())?)?;
    /// for s in study.ask(8)? {
    ///     study.tell(s.trial, (5.0 * s.point[0]).sin())?;
    /// }
    /// let batch = study.ask_adaptive(20, 50.0)?;
    /// assert!(!batch.suggestions.is_empty() && batch.suggestions.len() <= 20);
    /// # Ok(()) }
    /// ```
    pub fn ask_adaptive(&mut self, most: usize, limit: f64) -> Result<Batch> {
        if limit.is_nan() || limit < 1.0 {
            return Err(Error::Setting { setting: "the limit of xi".into(), allowed: "a number from 1", value: limit });
        }
        let strategy = self.spec.strategy();
        if strategy.rule.draws_jointly(strategy) {
            return Err(Error::Incompatible {
                setting: "a batch of adaptive size".into(),
                with: "dpp = \"sample\"",
                reason: "it draws the picks of an ask jointly, so their number must be given; use dpp = \"max\"",
            });
        }
        self.discard_tentative();
        self.check_ask(most.min(1))?;
        let mut events = self.begin_ask()?;
        let (mut worths, mut next) = (Vec::new(), None);
        // The last pick is not suggested: it only shows what one more would be worth.
        while next.is_none() && self.check_ask(worths.len() + 1).is_ok() {
            let asked = self.propose_one(&events)?;
            let worth = self.worth(&asked)?;
            let is_given = matches!(asked.choice.phase, Phase::Design | Phase::Queued);
            let is_beyond = !is_given && worth.hallucination > limit;
            if worths.len() == most || (is_beyond && !worths.is_empty()) {
                next = Some(worth);
                self.tentative -= 1;
                self.discard_picks(1);
            } else {
                worths.push(worth);
                events.push(Event::Asked(asked));
            }
        }
        let first = self.ledger.trials().len();
        events.into_iter().try_for_each(|event| self.apply(event))?;
        Ok(Batch { suggestions: self.suggestions_from(first), worths, next })
    }

    /// One more pick of the ask that has proposed these events.
    fn propose_one(&mut self, events: &[Event]) -> Result<Asked> {
        let by_rule = events.iter().filter(|event| is_by_rule(event)).count();
        self.propose_next(Asking { most: 1, by_rule })?.pop().ok_or(Error::Internal { what: "a rule made no pick" })
    }

    /// What the pick that was proposed last is worth.
    fn worth(&self, asked: &Asked) -> Result<PickWorth> {
        let rows = self.posterior.keys().len();
        let noise = self.posterior.prior().noise();
        // The last row is that pick. Its pivot squared is noise + variance given the rows before it.
        let variance = (self.posterior.factor().pivot(rows - 1).powi(2) - noise).max(0.0);
        let best = self.posterior.view().row_means().into_iter().reduce(f64::max);
        let mean = self.posterior.predict(self.posterior.points().get(rows - 1))?.mean;
        let unit = self.learning.warp().map_or(1.0, |warp| 1.0 / warp.slope_at_best());
        Ok(PickWorth {
            hallucination: self.posterior.hallucination_factor()?,
            information: 0.5 * (variance / noise).ln_1p(),
            improvement: best.map_or(asked.choice.sd, |best| unit * expected_improvement(mean - best, variance.sqrt())),
        })
    }
}

/// E max(0, d + s Z), Z standard normal.
fn expected_improvement(difference: f64, sd: f64) -> f64 {
    if sd <= 0.0 {
        return difference.max(0.0);
    }
    let z = difference / sd;
    (difference * cumulative(z) + sd * density(z)).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expected_improvement_is_the_integral() {
        for (difference, sd) in [(0.3, 0.5), (-1.0, 0.7), (0.0, 2.0), (-3.0, 0.4), (2.0, 0.1)] {
            let steps = 200_000;
            let width = 20.0 / f64::from(steps);
            let term = |i: i32| {
                let z: f64 = -10.0 + (f64::from(i) + 0.5) * width;
                (difference + sd * z).max(0.0) * (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt()
            };
            let integral: f64 = (0..steps).map(term).sum::<f64>() * width;
            assert!((expected_improvement(difference, sd) - integral).abs() < 1e-8, "{difference}, {sd}");
        }
        assert_eq!(expected_improvement(0.5, 0.0), 0.5);
    }
}
