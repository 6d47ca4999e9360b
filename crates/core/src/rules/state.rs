//! What a rule may read and do: the log, the posterior, the theory's quantities, and the searches over the domain.

use std::collections::HashSet;

use manyhands_gp::{Acquisition, Among, ConfidenceBound, LevelSet, Marginal, Posterior, View, Warp};
use rand_chacha::ChaCha8Rng;

use crate::chooser::{Chooser, Context, LargestSd, PointScore, SampledArgmax, generator};
use crate::compatibility::NO_CLOSED_FORM;
use crate::ledger::Ledger;
use crate::strategy::{Hallucination, Information, Strategy};
use crate::theory::{Assumptions, a_priori_hallucination, closed_form, logarithm, worst_case_hallucination};
use crate::trial::TrialState;
use crate::{Aim, Choice, Error, Result, Spec, Tuning};

/// What the log of a study amounts to.
#[derive(Clone, Copy)]
pub(crate) struct StudyState<'a> {
    pub spec: &'a Spec,
    pub ledger: &'a Ledger,
    pub posterior: &'a Posterior,
    /// How values are warped, where the model is learned.
    pub warp: Option<&'a Warp>,
}

/// Which pick comes next.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pick {
    /// The number of the trial to be chosen.
    pub trial: usize,
    /// How many picks of the current ask the rule has made.
    pub by_rule: usize,
}

/// A study at the moment of a pick.
pub(crate) struct RuleState<'a> {
    spec: &'a Spec,
    pub(super) ledger: &'a Ledger,
    posterior: &'a Posterior,
    warp: Option<&'a Warp>,
    chooser: &'a mut dyn Chooser,
    pub(super) pick: Pick,
}

impl<'a> RuleState<'a> {
    pub fn new(known: StudyState<'a>, chooser: &'a mut dyn Chooser, pick: Pick) -> Self {
        let StudyState { spec, ledger, posterior, warp } = known;
        Self { spec, ledger, posterior, warp, chooser, pick }
    }

    /// How to choose.
    pub fn strategy(&self) -> &'a Strategy {
        self.spec.strategy()
    }

    /// The constants of `auto`.
    pub fn tuning(&self) -> &'a Tuning {
        self.spec.tuning()
    }

    /// The number of the trial to be chosen.
    pub fn trial(&self) -> usize {
        self.pick.trial
    }

    /// How many parameters the model has lengthscales for.
    pub fn parameters(&self) -> usize {
        self.spec.domain().parameters()
    }

    /// Whether a parameter is a choice among categories.
    pub fn has_choices(&self) -> bool {
        self.spec.domain().has_choices()
    }

    /// t, the round: rounds are counted from 1.
    pub fn round(&self) -> usize {
        self.pick.trial + 1
    }

    /// The posterior with all pending points hallucinated.
    pub fn with_pending(&self) -> Context<'a> {
        self.context(self.posterior.view())
    }

    /// The posterior given observed points alone.
    pub fn observed_only(&self) -> Context<'a> {
        self.context(self.posterior.view().observed_only())
    }

    /// As [`RuleState::observed_only`], for samples.
    fn before_pending(&self) -> Context<'a> {
        self.context(self.posterior.past_view(self.posterior.observed()))
    }

    /// The posterior of the paper's rules: pending points are hallucinated unless the strategy ignores them.
    pub fn as_configured(&self) -> Context<'a> {
        self.context(match self.strategy().hallucination {
            Hallucination::Off => return self.before_pending(),
            _ => self.posterior.view(),
        })
    }

    fn context(&self, view: View<'a>) -> Context<'a> {
        Context { spec: self.spec, view, trial: self.pick.trial }
    }

    /// The argmax of mean + multiplier x sd, by the posterior as the paper's rules see it.
    pub fn argmax_upper(&mut self, multiplier: f64) -> Result<Choice> {
        let choice = self.argmax_given(self.as_configured(), &ConfidenceBound(multiplier))?;
        Ok(Choice { multiplier, ..choice })
    }

    /// As [`RuleState::argmax_upper`], among the points that no row has; none if there is no such point.
    pub fn best_new(&mut self, multiplier: f64) -> Result<Option<Choice>> {
        let choice = self.chooser.best_new(self.as_configured(), &ConfidenceBound(multiplier))?;
        Ok(choice.map(|choice| Choice { multiplier, ..choice }))
    }

    /// Whether any value has arrived.
    pub fn has_values(&self) -> bool {
        self.values() > 0
    }

    /// How many values have arrived.
    pub fn values(&self) -> usize {
        self.posterior.observed()
    }

    /// The spec.
    pub fn spec(&self) -> &'a Spec {
        self.spec
    }

    /// The posterior with all pending points hallucinated.
    pub fn posterior(&self) -> &'a Posterior {
        self.posterior
    }

    /// The values as they were told, larger is better, in the order of the observed rows.
    pub fn told_values(&self) -> Vec<f64> {
        self.ledger.values_of(&self.posterior.keys()[..self.values()], self.spec.direction())
    }

    /// The row of the highest value, the first of equals; none before the first value.
    pub fn best_row(&self) -> Option<usize> {
        let values = self.told_values().into_iter().enumerate();
        values.reduce(|best, next| if next.1 > best.1 { next } else { best }).map(|(row, _)| row)
    }

    /// The observed row of highest mean, the first of equals; none before the first value.
    pub fn best_mean_row(&self) -> Option<usize> {
        let means = self.posterior.view().row_means().into_iter().enumerate();
        means.reduce(|best, next| if next.1 > best.1 { next } else { best }).map(|(row, _)| row)
    }

    /// Whether two rows have the same point: a setting was repeated, or is being.
    pub fn has_a_setting_twice(&self) -> bool {
        let (mut seen, rows) = (HashSet::new(), self.posterior.keys().len());
        let bits = |point: &[f64]| point.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        !self.posterior.points().iter().take(rows).all(|point| seen.insert(bits(point)))
    }

    /// The point of a row again, with this multiplier; none where it may not be chosen twice.
    pub fn again(&mut self, row: usize, multiplier: f64) -> Result<Option<Choice>> {
        let choice = self.chooser.again(self.with_pending(), row)?;
        let scored = |choice: Choice| {
            let score = choice.mean + multiplier * choice.sd;
            Choice { multiplier, score, aim: Some(Aim::Greedy), ..choice }
        };
        Ok(choice.map(scored))
    }

    /// The prior mean.
    pub fn prior_mean(&self) -> f64 {
        self.posterior.prior().mean()
    }

    /// lambda: the noise variance.
    pub fn noise(&self) -> f64 {
        self.posterior.prior().noise()
    }

    /// s0: the square root of the largest k(x,x) over the domain.
    pub fn largest_prior_sd(&self) -> f64 {
        self.chooser.largest_variance(self.posterior.prior()).sqrt()
    }

    /// Random numbers of this pick.
    pub fn generator(&self) -> ChaCha8Rng {
        generator(self.spec, self.pick.trial)
    }

    /// tau: the highest mean at an observed point; the prior mean before the first value.
    pub fn highest_observed_mean(&self) -> f64 {
        let means = self.posterior.view().row_means().into_iter();
        means.reduce(f64::max).unwrap_or(self.posterior.prior().mean())
    }

    /// The argmax of an acquisition function that sees all pending points.
    pub fn argmax(&mut self, acquisition: &dyn Acquisition) -> Result<Choice> {
        self.argmax_given(self.with_pending(), acquisition)
    }

    /// The argmax of an acquisition function; where its value is finite nowhere, as where no variance is left, the point of
    /// largest sd.
    fn argmax_given(&mut self, context: Context<'_>, acquisition: &dyn Acquisition) -> Result<Choice> {
        match self.chooser.argmax(context, acquisition)? {
            Some(choice) => Ok(choice),
            None => self.largest_sd().map(|found| found.choice),
        }
    }

    /// The argmax of a score that is a matter of the point itself. Where it is finite nowhere, the point of largest sd.
    pub fn argmax_by_point(&mut self, score: &mut dyn PointScore) -> Result<Choice> {
        match self.chooser.argmax_by_point(self.with_pending(), score)? {
            Some(choice) => Ok(choice),
            None => self.largest_sd().map(|found| found.choice),
        }
    }

    /// The argmax of an acquisition function under another posterior, among the points that are allowed, with its sd there; none
    /// on domains that are not searched, and where no point is allowed.
    pub fn argmax_under(
        &mut self,
        other: &Posterior,
        acquisition: &dyn Acquisition,
        allowed: &dyn Fn(&[f64]) -> bool,
    ) -> Result<Option<(Choice, f64)>> {
        self.chooser.argmax_under(self.with_pending(), other, acquisition, allowed)
    }

    /// The highest value of a score of points over the whole domain, taken candidates included.
    pub fn highest_by_point(&mut self, score: &mut dyn PointScore) -> Result<f64> {
        self.chooser.highest_by_point(self.with_pending(), score)
    }

    /// As [`RuleState::argmax`], inside a region defined by the observed points alone; none if no point of it may be chosen.
    pub fn argmax_within(&mut self, acquisition: &dyn Acquisition, region: &LevelSet<'_>) -> Result<Option<Choice>> {
        self.chooser.argmax_within(self.with_pending(), acquisition, region)
    }

    /// The highest value of mean + multiplier x sd over the whole domain, from observed points alone.
    pub fn highest_observed(&mut self, multiplier: f64) -> Result<f64> {
        self.chooser.highest(self.observed_only(), multiplier)
    }

    /// A quasi-random pick of the first design; none where the domain has no such design.
    pub fn design(&mut self) -> Result<Option<Choice>> {
        self.chooser.design(self.with_pending())
    }

    /// Whether a chosen point is that of a row.
    pub fn is_known(&self, choice: &Choice) -> Result<bool> {
        self.chooser.is_known(self.posterior, choice)
    }

    /// The sd given observed points alone at a chosen point; none where rules do not use it.
    pub fn observed_sd(&self, choice: &Choice) -> Result<Option<f64>> {
        self.chooser.observed_sd(self.posterior, choice)
    }

    /// The prior variance that thresholds are relative to.
    pub fn variance_scale(&self) -> f64 {
        self.chooser.variance_scale(self.posterior.prior())
    }

    /// |D|. Rules that count candidates refuse other domains when a spec is made.
    pub fn candidates(&self) -> Result<usize> {
        let candidates = self.chooser.candidates();
        candidates
            .map(|all| all.len())
            .ok_or(Error::Internal { what: "the candidates of an infinite domain are counted" })
    }

    /// The point of largest sd; pending points are never ignored here.
    pub fn largest_sd(&mut self) -> Result<LargestSd> {
        self.chooser.largest_sd(self.with_pending())
    }

    /// The argmax of a sample of GP(mu_S, multiplier^2 k_{t-1}).
    pub fn argmax_of_sample(&mut self, multiplier: f64) -> Result<Choice> {
        self.chooser.argmax_of_sample(self.as_configured(), multiplier)
    }

    /// The argmax of a sample of GP(mu_S, multiplier^2 k_S): pending points are ignored.
    pub fn argmax_of_sample_of_observed(&mut self, multiplier: f64) -> Result<Choice> {
        self.chooser.argmax_of_sample(self.before_pending(), multiplier)
    }

    /// Where each of some samples of the posterior with all pending points hallucinated is highest.
    pub fn argmaxes_of_samples(&mut self, count: usize) -> Result<Vec<SampledArgmax>> {
        self.chooser.argmaxes_of_samples(self.with_pending(), count)
    }

    /// The multiplier times the strategy's `width`; refused where it is too large for a number.
    pub fn widened(&self, formula: f64) -> Result<f64> {
        let value = self.strategy().width * formula;
        if value.is_finite() { Ok(value) } else { Err(Error::MultiplierTooLarge { trial: self.pick.trial, value }) }
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

    /// xi, as configured.
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
                let largest = self.chooser.largest_variance(prior);
                Ok(a_priori_hallucination(workers, largest, prior.noise()))
            }
            Hallucination::WorstCase => {
                let kind = self.strategy().information;
                Ok(worst_case_hallucination(self.maximum_information(kind, workers - 1)?))
            }
        }
    }
}

/// For rules that sum or draw over many points at once, as entropy search and determinantal point processes do.
impl RuleState<'_> {
    /// The exact moments of the points that can matter, by index; see [`Chooser::moments`].
    pub fn moments(&mut self, among: Among, can_matter: &dyn Fn(f64, f64) -> bool) -> Result<Vec<(usize, Marginal)>> {
        self.chooser.moments(self.with_pending(), among, can_matter)
    }

    /// The points of a region defined by the observed points alone, by index; listed as by [`Chooser::moments`].
    pub fn members(&mut self, among: Among, region: &LevelSet<'_>) -> Result<Vec<usize>> {
        let can_be_inside = |mean: f64, variance: f64| region.contains(mean, variance);
        let moments = self.chooser.moments(self.observed_only(), among, &can_be_inside)?;
        let is_inside = |there: &Marginal| region.contains(there.mean, there.sd * there.sd);
        Ok(moments.into_iter().filter(|(_, there)| is_inside(there)).map(|(index, _)| index).collect())
    }

    /// The joint covariance, given observed and pending points, of some points by their index; row-major.
    pub fn covariance(&self, listed: &[usize]) -> Result<Vec<f64>> {
        self.chooser.covariance(self.with_pending(), listed)
    }

    /// The choice of a point by its index, for the trial that is so many later than the next one, with the score 0.
    pub fn choice_of(&mut self, listed: usize, later: usize) -> Result<Choice> {
        // On a space every trial is a candidate of its own.
        let context = Context { trial: self.pick.trial + later, ..self.with_pending() };
        self.chooser.choice_of(context, listed, 0.0)
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
