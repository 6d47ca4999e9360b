//! Choosing from finitely many candidates, exactly: equal to evaluating every one of them.

use std::collections::HashSet;
use std::sync::Arc;

use manyhands_gp::{
    self as gp, Acquisition, Among, ConfidenceBound, GreedyInformation, Key, LevelSet, Marginal, Maximizer, Points,
    Posterior, Prior, Restricted, Sampler, Surface, Variance, View,
};
use rand::Rng;
use rand_chacha::ChaCha8Rng;

use super::{
    Chooser, Context, Extremes, LargestSd, Place, PointScore, SampledArgmax, Widest, generator, peak, without_nan,
};
use crate::maximize::descending;
use crate::tuning::{CHECKPOINT_PART, DESIGN_CANDIDATES, EVERY_CHECKPOINT, JOINT_CONTENDERS, predicted_candidates};
use crate::{Aim, Choice, Error, Result, Spec};

/// How many candidates are given to a score at once.
const SCORED_TOGETHER: usize = 1 << 10;

/// A large prime: its multiples are spread evenly over any remainders.
const UNEVEN: usize = 7919;

/// The error that no candidate is left.
const EXHAUSTED: Error = Error::PoolExhausted { asked: 1, left: 0 };

/// A finite domain with the candidates that may still be chosen.
#[derive(Debug, Clone)]
pub(super) struct Finite {
    surface: Surface,
    /// For rules that sample. Made when the first sample is drawn, where that cannot be refused or the rule needs few of the domain's
    /// points.
    sampler: Option<Sampler>,
    greedy: Option<GreedyInformation>,
    /// The surface over all candidates, taken ones included. Certificates read it at past views, which would reset the
    /// bounds of a surface that choices are made with.
    all_candidates: Option<Box<Surface>>,
    repeats: bool,
    left: usize,
}

impl Finite {
    pub fn new(spec: &Spec, domain: gp::Domain, prior: &Prior) -> Result<Self> {
        let restricted = Arc::new(Restricted::new(prior.kernel().clone(), domain, spec.memory())?);
        // Otherwise the memory may not suffice, which is said at once.
        let is_eager = spec.strategy().rule.samples() && !restricted.has_room_to_sample();
        let sampler = is_eager.then(|| Sampler::new(restricted.clone())).transpose()?;
        let (left, repeats) = (restricted.domain().len(), spec.repeats());
        Ok(Self { surface: Surface::new(restricted), sampler, greedy: None, all_candidates: None, repeats, left })
    }

    fn domain(&self) -> &gp::Domain {
        self.surface.restricted().domain()
    }

    /// The sampler of the candidates.
    fn sampler(&mut self) -> Result<&Sampler> {
        let sampler = match self.sampler.take() {
            Some(sampler) => sampler,
            None => Sampler::new(self.surface.restricted().clone())?,
        };
        Ok(self.sampler.insert(sampler))
    }

    /// The surface over all candidates, taken ones included.
    fn all_candidates(&mut self) -> &mut Surface {
        let restricted = self.surface.restricted().clone();
        self.all_candidates.get_or_insert_with(|| Box::new(Surface::new(restricted)))
    }

    /// The maximum over the whole domain, taken candidates included.
    fn maximum(&mut self, view: View<'_>, multiplier: f64) -> Result<Maximizer> {
        self.all_candidates()
            .argmax(view, &ConfidenceBound(multiplier))
            .ok_or(Error::Internal { what: "a finite domain is empty" })
    }

    /// A choice from its exact moments.
    fn choice(&self, spec: &Spec, found: Maximizer) -> Choice {
        let Maximizer { index: candidate, mean, sd, score } = found;
        let params = spec.domain().written_params(&self.domain().point(candidate));
        Choice { candidate, params, mean, sd, score, gap: Some(0.0), ..Choice::wide() }
    }
}

impl Chooser for Finite {
    /// Among some random candidates, the one of largest sd: the most distant from those chosen before.
    fn design(&mut self, context: Context<'_>) -> Result<Option<Choice>> {
        let Context { spec, view, trial } = context;
        let (mut rng, len) = (generator(spec, trial), self.domain().len());
        let free = |rng: &mut ChaCha8Rng| {
            let first = (rng.next_u64() % len as u64) as usize;
            (0..len).map(|step| (first + step) % len).find(|&i| !self.surface.is_excluded(i))
        };
        let candidates: Vec<usize> = (0..DESIGN_CANDIDATES).filter_map(|_| free(&mut rng)).collect();
        let mut best: Option<Maximizer> = None;
        for index in candidates {
            let (mean, sd) = self.surface.moments(view, index);
            if best.is_none_or(|best| sd > best.sd) {
                best = Some(Maximizer { index, mean, sd, score: sd });
            }
        }
        let found = best.ok_or(EXHAUSTED)?;
        Ok(Some(Choice { gap: None, ..self.choice(spec, found).of_design() }))
    }

    fn largest_sd(&mut self, context: Context<'_>) -> Result<LargestSd> {
        let found = self.surface.argmax(context.view, &Variance).ok_or(EXHAUSTED)?;
        let choice = self.choice(context.spec, Maximizer { score: found.sd, ..found });
        let choice = Choice { aim: Some(Aim::Exploring), ..choice };
        Ok(LargestSd { choice, variance: found.score })
    }

    fn argmax(&mut self, context: Context<'_>, acquisition: &dyn Acquisition) -> Result<Option<Choice>> {
        let found = self.surface.argmax(context.view, acquisition).ok_or(EXHAUSTED)?;
        Ok(found.score.is_finite().then(|| self.choice(context.spec, found)))
    }

    fn argmax_within(
        &mut self,
        context: Context<'_>,
        acquisition: &dyn Acquisition,
        region: &LevelSet<'_>,
    ) -> Result<Option<Choice>> {
        let found = self.surface.argmax_within(context.view, acquisition, region);
        Ok(found.filter(|found| found.score.is_finite()).map(|found| self.choice(context.spec, found)))
    }

    fn argmax_by_point(&mut self, context: Context<'_>, score: &mut dyn PointScore) -> Result<Option<Choice>> {
        if self.left().is_some_and(|left| left == 0) {
            return Err(EXHAUSTED);
        }
        let free: Vec<usize> = (0..self.domain().len()).filter(|&index| !self.surface.is_excluded(index)).collect();
        let mut scores = vec![f64::NEG_INFINITY; self.domain().len()];
        for together in free.chunks(SCORED_TOGETHER) {
            let points = self.domain().points_at(together);
            let values = score.values(&points.iter().collect::<Vec<_>>())?;
            together.iter().zip(values).for_each(|(&index, value)| scores[index] = without_nan(value));
        }
        let best = peak(&scores, |index| !self.surface.is_excluded(index)).filter(|(_, score)| score.is_finite());
        let choice = |(index, score)| {
            let (mean, sd) = self.surface.moments(context.view, index);
            self.choice(context.spec, Maximizer { index, mean, sd, score })
        };
        Ok(best.map(choice))
    }

    fn highest_by_point(&mut self, _: Context<'_>, score: &mut dyn PointScore) -> Result<f64> {
        let domain = self.domain();
        let values = (0..domain.len()).map(|index| score.value(&domain.point(index)).map(without_nan));
        values.reduce(|highest, value| Ok(highest?.max(value?))).unwrap_or(Err(EXHAUSTED))
    }

    fn argmax_of_sample(&mut self, context: Context<'_>, multiplier: f64) -> Result<Choice> {
        let Context { spec, view, trial } = context;
        let sampler = self.sampler()?;
        let sample = sampler.draw(view, multiplier, &mut generator(spec, trial));
        let is_exact = sampler.excess() == 0.0;
        let (index, score) = peak(&sample, |i| !self.surface.is_excluded(i)).ok_or(EXHAUSTED)?;
        let (mean, sd) = self.surface.moments(view, index);
        let choice = self.choice(spec, Maximizer { index, mean, sd, score });
        Ok(Choice { multiplier, gap: choice.gap.filter(|_| is_exact), ..choice })
    }

    fn argmaxes_of_samples(&mut self, context: Context<'_>, count: usize) -> Result<Vec<SampledArgmax>> {
        let restricted = self.surface.restricted().clone();
        let (sampler, mut rng) = (self.sampler()?, generator(context.spec, context.trial));
        let argmax = |_| {
            let sample = sampler.draw(context.view, 1.0, &mut rng);
            let (index, _) = peak(&sample, |_| true).ok_or(Error::Internal { what: "a finite domain is empty" })?;
            Ok(SampledArgmax { point: restricted.domain().point(index), around: vec![] })
        };
        (0..count).map(argmax).collect()
    }

    fn best_new(&mut self, context: Context<'_>, acquisition: &dyn Acquisition) -> Result<Option<Choice>> {
        let Context { spec, view, .. } = context;
        let mut known: Vec<usize> = view.posterior().keys().iter().map(|key| key.site).collect();
        known.sort_unstable();
        known.dedup();
        known.retain(|&site| !self.surface.is_excluded(site));
        known.iter().for_each(|&site| self.surface.set_excluded(site, true));
        let found = self.surface.argmax(view, acquisition);
        known.iter().for_each(|&site| self.surface.set_excluded(site, false));
        Ok(found.map(|found| self.choice(spec, found)))
    }

    fn highest(&mut self, context: Context<'_>, multiplier: f64) -> Result<f64> {
        self.maximum(context.view, multiplier).map(|found| found.score)
    }

    fn moments(
        &mut self,
        context: Context<'_>,
        among: Among,
        can_matter: &dyn Fn(f64, f64) -> bool,
    ) -> Result<Vec<(usize, Marginal)>> {
        let view = context.view;
        if view.keys().len() == view.posterior().keys().len() {
            return Ok(self.surface.moments_where(view, among, can_matter));
        }
        // By the surface of past views: fewer rows than those of the last pick would reset the bounds of the other one.
        let mut moments = self.all_candidates().moments_where(view, Among::All, can_matter);
        moments.retain(|(index, _)| among == Among::All || !self.surface.is_excluded(*index));
        Ok(moments)
    }

    fn covariance(&self, context: Context<'_>, listed: &[usize]) -> Result<Vec<f64>> {
        Ok(self.surface.covariance(context.view, listed)?)
    }

    fn choice_of(&mut self, context: Context<'_>, listed: usize, score: f64) -> Result<Choice> {
        let (mean, sd) = self.surface.moments(context.view, listed);
        Ok(self.choice(context.spec, Maximizer { index: listed, mean, sd, score }))
    }

    fn band(&mut self, context: Context<'_>, multiplier: f64) -> Result<Extremes> {
        let upper = self.maximum(context.view, multiplier)?.score;
        let Maximizer { index, score: lower, .. } = self.maximum(context.view, -multiplier)?;
        let point = self.domain().point(index);
        Ok(Extremes { upper, lower, gap: 0.0, candidate: Some(index), point })
    }

    /// Of more candidates than can be predicted, one of every so many, at uneven places.
    fn contenders(&mut self, context: Context<'_>, multiplier: f64, barred: &HashSet<usize>) -> Result<Points> {
        let (domain, most) = (self.domain(), predicted_candidates(context.view.observed()));
        let step = domain.len().div_ceil(most).max(1);
        let uneven = |first: usize| (first + first / step * UNEVEN % step).min(domain.len() - 1);
        let may_be_best = |candidate: &usize| !barred.contains(candidate);
        let some: Vec<usize> = (0..domain.len()).step_by(step).map(uneven).filter(may_be_best).collect();
        let points = domain.points_at(&some);
        let upper = |there: &Marginal| there.mean + multiplier * there.sd;
        let scores: Vec<f64> = context.view.predict_all(points.iter())?.iter().map(upper).collect();
        let best: Vec<usize> = descending(&scores).take(JOINT_CONTENDERS).map(|i| some[i]).collect();
        Ok(domain.points_at(&best))
    }

    fn next_band_checkpoint(&self, observed: usize) -> Option<usize> {
        Some(if observed < EVERY_CHECKPOINT { observed + 1 } else { observed + observed / CHECKPOINT_PART })
    }

    fn is_known(&self, posterior: &Posterior, choice: &Choice) -> Result<bool> {
        Ok(posterior.keys().iter().any(|key| key.site == choice.candidate))
    }

    fn candidates(&self) -> Option<&gp::Domain> {
        Some(self.domain())
    }

    fn left(&self) -> Option<usize> {
        (!self.repeats).then_some(self.left)
    }

    fn largest_variance(&self, _: &Prior) -> f64 {
        self.surface.restricted().largest_variance()
    }

    fn variance_scale(&self, _: &Prior) -> f64 {
        self.surface.restricted().largest_variance()
    }

    /// By a surface of its own: other rows than those of the last pick would reset the bounds of the one for choices.
    fn largest_variance_given(&self, view: View<'_>, pending: &[Key]) -> Widest {
        let mut surface = Surface::new(self.surface.restricted().clone());
        let taken = (0..self.domain().len()).filter(|&i| self.surface.is_excluded(i));
        taken.for_each(|i| surface.set_excluded(i, true));
        pending.iter().for_each(|key| surface.set_excluded(key.site, false));
        let found = surface.argmax(view, &Variance);
        found.map_or(Widest { candidate: 0, variance: 0.0 }, |found| Widest {
            candidate: found.index,
            variance: found.score,
        })
    }

    fn exact_hallucination(&mut self, view: View<'_>) -> Option<f64> {
        Some(self.surface.hallucination_factor(view))
    }

    fn greedy_gain(&mut self, prior: &Prior) -> Result<&mut GreedyInformation> {
        let greedy = match self.greedy.take() {
            Some(greedy) => greedy,
            None => GreedyInformation::new(prior.clone(), self.surface.restricted().clone())?,
        };
        Ok(self.greedy.insert(greedy))
    }

    fn is_available(&self, _: usize, candidate: usize) -> bool {
        candidate < self.domain().len() && !self.surface.is_excluded(candidate)
    }

    fn set_taken(&mut self, candidate: usize, taken: bool) {
        if !self.repeats {
            self.surface.set_excluded(candidate, taken);
            self.left = if taken { self.left - 1 } else { self.left + 1 };
        }
    }

    fn point(&self, place: &Place) -> Result<Vec<f64>> {
        Ok(self.domain().point(place.candidate))
    }

    fn boxed_clone(&self) -> Box<dyn Chooser> {
        Box::new(self.clone())
    }
}
