//! Batches of the right size: as many suggestions as pay, and what one more would cost and bring.

use super::{Asking, Study, Suggestion, is_by_rule};
use crate::event::{Asked, Event};
use crate::normal::{cumulative, density};
use crate::{Error, Phase, Result};

/// What one more suggestion would cost and bring.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outlook {
    /// The realised hallucination factor xi with it pending: the multiplier of the choices after it grows by sqrt(xi).
    pub hallucination: f64,
    /// The information it is expected to bring, (1/2) ln(1 + sd^2/lambda), given what is pending.
    pub information: f64,
    /// By how much it is expected to exceed the best mean at hand, in the user's units (expected improvement under the
    /// pending-aware sd, to first order where values are warped).
    pub improvement: f64,
}

/// A batch of suggestions, with what each of them cost and brought, and what one more would.
#[derive(Debug, Clone, PartialEq)]
pub struct Batch {
    /// The suggestions.
    pub suggestions: Vec<Suggestion>,
    /// For each suggestion, in order.
    pub outlooks: Vec<Outlook>,
    /// For the one that was not made; none if there is nothing more to be asked for.
    pub next: Option<Outlook>,
}

impl Study {
    /// As many suggestions as pay: at least one, at most `most`, and no more once the realised hallucination factor xi
    /// would pass `limit` (from 1). The quasi-random first design of a learned model is not held to it.
    ///
    /// xi compares what is not known yet with the noise: values of a few tens are usual where noise is a tenth of the
    /// function's spread; without noise xi is in the thousands, and a small limit means one suggestion at a time. What
    /// each suggestion is expected to bring is in the outlooks.
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
        self.discard_tentative();
        self.check_ask(most.min(1))?;
        let mut events = self.begin_ask()?;
        let (mut outlooks, mut next) = (Vec::new(), None);
        while outlooks.len() < most {
            if !outlooks.is_empty() && self.check_ask(outlooks.len() + 1).is_err() {
                break;
            }
            let asked = self.propose_one(&events)?;
            let outlook = self.outlook(&asked)?;
            if !outlooks.is_empty() && asked.choice.phase != Phase::Design && outlook.hallucination > limit {
                next = Some(outlook);
                self.tentative -= 1;
                self.discard_picks(1);
                break;
            }
            outlooks.push(outlook);
            events.push(Event::Asked(asked));
        }
        if next.is_none() && self.check_ask(outlooks.len() + 1).is_ok() {
            let asked = self.propose_one(&events)?;
            next = Some(self.outlook(&asked)?);
            self.tentative -= 1;
            self.discard_picks(1);
        }
        let first = self.ledger.trials().len();
        events.into_iter().try_for_each(|event| self.apply(event))?;
        Ok(Batch { suggestions: self.suggestions_from(first), outlooks, next })
    }

    /// One more pick of the ask that has proposed these events.
    fn propose_one(&mut self, events: &[Event]) -> Result<Asked> {
        let by_rule = events.iter().filter(|event| is_by_rule(event)).count();
        self.propose_next(Asking { most: 1, by_rule })?.pop().ok_or(Error::Internal { what: "a rule chose nothing" })
    }

    /// Of the pick that was proposed last.
    fn outlook(&self, asked: &Asked) -> Result<Outlook> {
        let rows = self.posterior.keys().len();
        let noise = self.posterior.prior().noise();
        // The pivot's square is noise + variance given the rows before it.
        let variance = (self.posterior.factor().pivot(rows - 1).powi(2) - noise).max(0.0);
        let best = self.posterior.view().row_means().into_iter().reduce(f64::max);
        let mean = self.posterior.predict(self.posterior.points().get(rows - 1))?.mean;
        let unit = self.learning.warp().map_or(1.0, |warp| 1.0 / warp.slope_at_best());
        Ok(Outlook {
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
