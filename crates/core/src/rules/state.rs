//! What a rule may read and do: the log, the posterior, the theory's quantities, and the searches over the domain.

use manyhands_gp::{Acquisition, ConfidenceBound, Posterior, View, Warp};

use crate::chooser::{Chooser, Context, Widest};
use crate::compatibility::NO_CLOSED_FORM;
use crate::ledger::{Ledger, TrialState};
use crate::strategy::{Hallucination, Information, Strategy};
use crate::theory::{Assumptions, a_priori_hallucination, closed_form, logarithm, worst_case_hallucination};
use crate::{Choice, Error, Event, Phase, Result, Spec};

/// A study at the moment of a pick.
pub(crate) struct State<'a> {
    pub spec: &'a Spec,
    pub ledger: &'a Ledger,
    pub posterior: &'a Posterior,
    pub chooser: &'a mut dyn Chooser,
    /// How values are warped, where the model is learned.
    pub warp: Option<&'a Warp>,
    /// The number of the trial to be chosen.
    pub trial: usize,
    /// How many picks of the current ask the rule has made.
    pub by_rule: usize,
}

impl<'a> State<'a> {
    /// How to choose.
    pub fn strategy(&self) -> &'a Strategy {
        self.spec.strategy()
    }

    /// t, the round: rounds are counted from 1.
    pub fn round(&self) -> usize {
        self.trial + 1
    }

    /// The posterior with all pending points hallucinated.
    pub fn with_pending(&self) -> Context<'a> {
        self.context(self.posterior.view())
    }

    /// The posterior given observed points alone.
    pub fn observed_only(&self) -> Context<'a> {
        self.context(self.posterior.view().observed_only())
    }

    /// The posterior of the paper's rules: pending points are hallucinated unless the strategy says to ignore them.
    pub fn as_configured(&self) -> Context<'a> {
        self.context(match self.strategy().hallucination {
            Hallucination::Off => self.posterior.past_view(self.posterior.observed()),
            _ => self.posterior.view(),
        })
    }

    fn context(&self, view: View<'a>) -> Context<'a> {
        Context { spec: self.spec, view, trial: self.trial }
    }

    /// The argmax of mean + multiplier x sd, by the posterior as the paper's rules see it.
    pub fn argmax_upper(&mut self, multiplier: f64) -> Result<Choice> {
        let choice = self.chooser.argmax(self.as_configured(), &ConfidenceBound(multiplier))?;
        Ok(Choice { multiplier, ..choice })
    }

    /// As [`State::argmax_upper`], among the points that no row has; none if there is no such point.
    pub fn best_new(&mut self, multiplier: f64) -> Result<Option<Choice>> {
        let choice = self.chooser.best_new(self.as_configured(), &ConfidenceBound(multiplier))?;
        Ok(choice.map(|choice| Choice { multiplier, ..choice }))
    }

    /// The number of the batch: how many different counts of values the rule's picks were based on, this one's included.
    pub fn batch(&self) -> usize {
        let mut counts: Vec<usize> = self.values_known_to_picks().into_iter().map(|(_, count)| count).collect();
        counts.push(self.posterior.observed());
        counts.sort_unstable();
        counts.dedup();
        counts.len()
    }

    /// Whether no pending pick of the rule was made with the present number of values.
    pub fn is_first_of_batch(&self) -> bool {
        let now = self.posterior.observed();
        let is_pending = |trial: usize| self.ledger.pending_trial(trial).is_ok();
        let mut picks = self.values_known_to_picks().into_iter();
        self.by_rule == 0 && !picks.any(|(trial, count)| count == now && is_pending(trial))
    }

    /// The rule's logged picks, each with how many values had arrived when it was made.
    fn values_known_to_picks(&self) -> Vec<(usize, usize)> {
        let events = self.ledger.events();
        let mut arrived = vec![0; events.len() + 1];
        for (position, event) in events.iter().enumerate() {
            arrived[position + 1] = arrived[position] + usize::from(event.brings_a_value());
        }
        let pick = |event: &Event| match event {
            Event::Asked(asked) if asked.choice.phase == Phase::Rule => Some((asked.trial, arrived[asked.seen])),
            _ => None,
        };
        events.iter().filter_map(pick).collect()
    }

    /// tau: the highest mean at an observed point; the prior mean before the first value.
    pub fn highest_observed_mean(&self) -> f64 {
        let means = self.posterior.view().row_means().into_iter();
        means.reduce(f64::max).unwrap_or(self.posterior.prior().mean())
    }

    /// The argmax of an acquisition function that sees all pending points.
    pub fn argmax(&mut self, acquisition: &dyn Acquisition) -> Result<Choice> {
        self.chooser.argmax(self.with_pending(), acquisition)
    }

    /// The point of largest sd; pending points are never ignored here.
    pub fn widest(&mut self) -> Result<Widest> {
        self.chooser.widest(self.with_pending())
    }

    /// The argmax of a sample of GP(mu_S, multiplier^2 k_{t-1}).
    pub fn argmax_of_sample(&mut self, multiplier: f64) -> Result<Choice> {
        self.chooser.argmax_of_sample(self.as_configured(), multiplier)
    }

    /// The multiplier times the strategy's `width`; refused where it is too large for a number.
    pub fn widened(&self, formula: f64) -> Result<f64> {
        let value = self.strategy().width * formula;
        if value.is_finite() { Ok(value) } else { Err(Error::MultiplierTooLarge { trial: self.trial, value }) }
    }

    /// B, R, lambda and delta at present.
    pub fn assumptions(&self) -> Result<Assumptions> {
        assumptions(self.spec, self.posterior, self.warp)
    }

    /// gamma_S of the observed points, or their realised gain in its place.
    pub fn information_observed(&mut self) -> Result<f64> {
        self.information(self.posterior.observed())
    }

    /// gamma of `points` points, or the realised gain of that many rows in its place.
    pub fn information(&mut self, points: usize) -> Result<f64> {
        let rows = self.posterior.keys().len().min(points);
        match self.strategy().information {
            Information::Realised => Ok(self.posterior.information_of(rows)),
            kind => self.maximum_information(kind, points),
        }
    }

    fn maximum_information(&mut self, kind: Information, points: usize) -> Result<f64> {
        let prior = self.posterior.prior();
        match kind {
            Information::Log => Ok(logarithm(points)),
            Information::ClosedForm => {
                closed_form(prior.kernel(), points, self.spec.domain().dimension()).ok_or(NO_CLOSED_FORM)
            }
            Information::Greedy => Ok(self.chooser.greedy_gain(prior)?.gain(points)?),
            // The realised gain does not bound the maximum; the certified upper bound does.
            Information::GreedyUpper | Information::Realised => Ok(self.chooser.greedy_gain(prior)?.upper(points)?),
        }
    }

    /// xi, as the strategy says.
    pub fn hallucination(&mut self) -> Result<f64> {
        let prior = self.posterior.prior();
        // Failed points stay hallucinated beside the M - 1 pending ones.
        let workers = self.strategy().max_pending.unwrap_or(1) + self.ledger.count(TrialState::Failed);
        match self.strategy().hallucination {
            Hallucination::Number(xi) => Ok(xi),
            Hallucination::Off => Ok(1.0),
            Hallucination::Realised => Ok(self.posterior.hallucination_factor()?),
            Hallucination::Exact => match self.chooser.exact_hallucination(self.posterior.view()) {
                Some(xi) => Ok(xi),
                None => Ok(self.posterior.hallucination_factor()?),
            },
            Hallucination::APriori => {
                let largest = self.chooser.largest_variance(self.spec, prior);
                Ok(a_priori_hallucination(workers, largest, prior.noise()))
            }
            Hallucination::WorstCase => {
                let kind = self.strategy().information;
                Ok(worst_case_hallucination(self.maximum_information(kind, workers - 1)?))
            }
        }
    }
}

/// B, R, lambda and delta at present. Where B is not given it is estimated as max(1, norm of the posterior mean).
pub(crate) fn assumptions(spec: &Spec, posterior: &Posterior, warp: Option<&Warp>) -> Result<Assumptions> {
    if spec.states_theorems() {
        return spec.assumptions();
    }
    let strategy = spec.strategy();
    let norm_bound = strategy.norm_bound.unwrap_or_else(|| posterior.view().mean_norm().max(1.0));
    let assumptions = strategy.assumptions(norm_bound, posterior.prior().noise());
    let slope = warp.map_or(1.0, Warp::slope_at_best);
    let noise_bound = strategy.noise_bound.map_or(assumptions.noise_bound, |bound| bound * slope);
    Ok(Assumptions { noise_bound, ..assumptions })
}
