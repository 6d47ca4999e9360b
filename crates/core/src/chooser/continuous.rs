//! Choosing on a space that is not finite: candidates, climbs, and for a given model a proven gap.

use std::collections::HashSet;

use manyhands_gp::{
    Acquisition, Among, ConfidenceBound, LevelSet, Marginal, Points, Posterior, Prior, Provable, SamplePath,
    SamplePaths, Slopes, Variance, View,
};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::candidates::{AskCandidates, Wanted};
use super::listed::{NO_TRIAL, NOT_LISTED, listed_points};
use super::point_score::ClimbedScore;
use super::proof::{Proven, prove};
use super::sampled_argmax::argmaxes_of_paths;
use super::{
    Chooser, Contest, Context, Extremes, LargestSd, Place, PointScore, SampledArgmax, SampledPeak, generator,
    without_nan,
};
use crate::maximize::{Maximum, Quasirandom, Search, descending, largest_variance, lengthscales};
use crate::tuning::{
    BEST_ROWS, CHECKPOINT_FACTOR, CONTENDERS, FEATURES, GAIN_CLIMBS, GAIN_EVALUATIONS, GAIN_FEATURES, SAME_POINT,
    SearchEffort, search_effort,
};
use crate::{Aim, Choice, Error, Result, Space};

/// A space that is searched. The moments of the candidates are kept between the picks of one ask.
#[derive(Debug, Clone)]
pub(super) struct Continuous {
    pub(super) space: Space,
    pub(super) candidates: AskCandidates,
}

/// What candidates are ranked by before the best of them are climbed from.
#[derive(Clone, Copy)]
pub(super) enum Ranking<'a> {
    By(&'a dyn Acquisition),
    Sample(&'a SamplePath),
}

impl Continuous {
    pub fn new(space: Space) -> Self {
        Self { space, candidates: AskCandidates::default() }
    }

    /// The maximum of an acquisition function that a search finds; none if it finds no finite value.
    pub(super) fn maximum(&mut self, context: Context<'_>, acquisition: &dyn Acquisition) -> Result<Option<Maximum>> {
        let mut slopes = Slopes::new(context.view)?;
        let objective = |x: &[f64], gradient: &mut [f64]| slopes.value(x, acquisition, gradient);
        let scores = self.scores(context, Ranking::By(acquisition), Wanted::Best)?;
        Ok(self.climb(context, &scores, objective))
    }

    /// As [`Continuous::maximum`], of a score of points.
    fn maximum_by_point(&mut self, context: Context<'_>, score: &mut dyn PointScore) -> Result<Option<Maximum>> {
        self.sync_candidates(context)?;
        let scores =
            self.candidates.points().map(|point| score.value(point).map(without_nan)).collect::<Result<Vec<_>>>()?;
        let mut climbed = ClimbedScore::new(score, &self.space);
        let found = self.climb(context, &scores, |x, gradient| climbed.at(x, gradient));
        climbed.checked()?;
        Ok(found)
    }

    /// As [`Continuous::maximum`], for an end of a band: with candidates of its own, as it belongs to no trial.
    fn band_end(&mut self, context: Context<'_>, multiplier: f64) -> Result<Maximum> {
        self.candidates.begin_ask();
        let found = self.maximum(Context { trial: NO_TRIAL, ..context }, &ConfidenceBound(multiplier));
        self.candidates.begin_ask();
        found?.ok_or(Error::Internal { what: "an end of a band is finite nowhere" })
    }

    /// Whether a point is that of a row.
    fn is_row(&self, posterior: &Posterior, point: &[f64]) -> bool {
        let lengthscales = lengthscales(posterior.prior(), point.len());
        let same = |row: &[f64]| {
            let scaled = |((a, b), lengthscale): ((&f64, &f64), &f64)| ((a - b) / lengthscale).powi(2);
            row.iter().zip(point).zip(&lengthscales).map(scaled).sum::<f64>() < SAME_POINT
        };
        posterior.points().iter().any(same)
    }

    pub(super) fn choice(&self, context: Context<'_>, found: &Maximum) -> Result<Choice> {
        let Context { view, trial: candidate, .. } = context;
        let params = self.space.logged(&found.point);
        let Marginal { mean, sd, .. } = view.predict(&self.space.embed(&params)?)?;
        Ok(Choice { candidate, params, mean, sd, score: found.score, ..Choice::wide() })
    }

    /// The best point that climbs from the best candidates reach; none if no score is finite.
    pub(super) fn climb(
        &self,
        context: Context<'_>,
        scores: &[f64],
        mut objective: impl FnMut(&[f64], &mut [f64]) -> f64,
    ) -> Option<Maximum> {
        let SearchEffort { starts, evaluations, .. } = search_effort(context.view.keys().len());
        let lengthscales = lengthscales(context.view.prior(), self.space.dimension());
        let search = Search { space: &self.space, lengthscales: &lengthscales, starts, evaluations };
        search.maximize(|i| self.candidates.get(i), scores, &mut objective)
    }

    /// Draws the candidates at the first pick of an ask.
    fn sync_candidates(&mut self, context: Context<'_>) -> Result<()> {
        if self.candidates.are_outdated() {
            let drawn = self.draw_candidates(context)?;
            self.candidates.renew(context.view, drawn)?;
        }
        Ok(())
    }

    /// The candidates' scores.
    pub(super) fn scores(&mut self, context: Context<'_>, ranking: Ranking<'_>, wanted: Wanted) -> Result<Vec<f64>> {
        self.sync_candidates(context)?;
        match ranking {
            Ranking::By(acquisition) => self.candidates.scores(context.view, acquisition, wanted),
            Ranking::Sample(path) => {
                let values = self.candidates.points().map(|x| path.value(x));
                Ok(values.collect::<manyhands_gp::Result<Vec<f64>>>()?)
            }
        }
    }

    /// Quasi-random points, neighbours of the best rows, and the best rows themselves.
    fn draw_candidates(&self, context: Context<'_>) -> Result<Points> {
        let Context { spec, view, trial } = context;
        let SearchEffort { candidates, starts, evaluations } = search_effort(view.keys().len());
        let mut rng = generator(spec, trial);
        let fallback = ChaCha8Rng::from_rng(&mut rng);
        let mut points: Vec<Vec<f64>> = Quasirandom::new(&self.space, 1, &mut rng, fallback).take(candidates).collect();
        let lengthscales = lengthscales(view.prior(), self.space.dimension());
        let search = Search { space: &self.space, lengthscales: &lengthscales, starts, evaluations };
        let best = best_rows(view, BEST_ROWS.0);
        points.extend(search.neighbours(&best, candidates / 2, &mut rng));
        points.extend(best.into_iter().take(BEST_ROWS.1));
        Ok(Points::from_rows(&points)?)
    }
}

impl Chooser for Continuous {
    fn design(&mut self, context: Context<'_>) -> Result<Option<Choice>> {
        let Context { spec, trial, .. } = context;
        let (mut shifts, own) = (ChaCha8Rng::seed_from_u64(spec.seed()), generator(spec, trial));
        let point = Quasirandom::new(&self.space, trial, &mut shifts, own).next();
        let point = point.ok_or(Error::Internal { what: "the quasi-random sequence has ended" })?;
        let choice = self.choice(context, &Maximum { point, score: 0.0 })?;
        Ok(Some(Choice { score: choice.sd, ..choice.of_design() }))
    }

    fn largest_sd(&mut self, context: Context<'_>) -> Result<LargestSd> {
        let found = self.maximum(context, &Variance)?;
        let found = found.ok_or(Error::Internal { what: "the variance is finite nowhere" })?;
        let choice = self.choice(context, &found)?;
        Ok(LargestSd {
            choice: Choice { score: choice.sd, aim: Some(Aim::Exploring), ..choice },
            variance: found.score,
        })
    }

    /// Where the model is given and the acquisition function is a band's end, with a proven gap.
    fn argmax(&mut self, context: Context<'_>, acquisition: &dyn Acquisition) -> Result<Option<Choice>> {
        let Some(found) = self.maximum(context, acquisition)? else { return Ok(None) };
        let (false, Some(goal)) = (context.spec.learns(), acquisition.as_provable()) else {
            return self.choice(context, &found).map(Some);
        };
        let proven = prove(&self.space, context, goal, found)?;
        Ok(Some(Choice { gap: proven.gap(), ..self.choice(context, &proven.maximum)? }))
    }

    fn argmax_within(
        &mut self,
        context: Context<'_>,
        acquisition: &dyn Acquisition,
        region: &LevelSet<'_>,
    ) -> Result<Option<Choice>> {
        self.highest_within(context, acquisition, region)
    }

    fn argmax_by_point(&mut self, context: Context<'_>, score: &mut dyn PointScore) -> Result<Option<Choice>> {
        let found = self.maximum_by_point(context, score)?;
        found.map(|found| self.choice(context, &found)).transpose()
    }

    fn highest_by_point(&mut self, context: Context<'_>, score: &mut dyn PointScore) -> Result<f64> {
        let found = self.maximum_by_point(context, score)?;
        Ok(found.map_or(f64::NEG_INFINITY, |found| found.score))
    }

    /// The argmax of a sample path, whose prior part is approximate (random features).
    fn argmax_of_sample(&mut self, context: Context<'_>, multiplier: f64) -> Result<Choice> {
        let path = SamplePath::draw(context.view, multiplier, FEATURES, &mut generator(context.spec, context.trial))?;
        let objective =
            |x: &[f64], gradient: &mut [f64]| path.value_and_gradient(x, gradient).unwrap_or(f64::NEG_INFINITY);
        let scores = self.scores(context, Ranking::Sample(&path), Wanted::Best)?;
        let found = self.climb(context, &scores, objective);
        let found = found.ok_or(Error::Internal { what: "a sample path is finite nowhere" })?;
        Ok(Choice { multiplier, ..self.choice(context, &found)? })
    }

    /// Of sample paths, whose prior part is approximate, climbed from the best of the ask's candidates.
    fn argmaxes_of_samples(&mut self, context: Context<'_>, count: usize) -> Result<Vec<SampledArgmax>> {
        self.sync_candidates(context)?;
        let mut rng = generator(context.spec, context.trial);
        let lengthscales = lengthscales(context.view.prior(), self.space.dimension());
        let search = Search {
            space: &self.space,
            lengthscales: &lengthscales,
            starts: GAIN_CLIMBS,
            evaluations: GAIN_EVALUATIONS,
        };
        let paths = SamplePaths::draw(context.view, GAIN_FEATURES, count, &mut rng)?;
        argmaxes_of_paths(&search, self.candidates.all()?, &paths)
    }

    /// The best of the candidates that are not rows, if there is one.
    fn best_new(&mut self, context: Context<'_>, acquisition: &dyn Acquisition) -> Result<Option<Choice>> {
        let scores = self.scores(context, Ranking::By(acquisition), Wanted::All)?;
        let posterior = context.view.posterior();
        let mut points = descending(&scores).map(|i| self.candidates.get(i));
        let Some(point) = points.find(|point| !self.is_row(posterior, point)) else { return Ok(None) };
        let point = point.to_vec();
        let score = Slopes::new(context.view)?.value(&point, acquisition, &mut vec![0.0; point.len()]);
        self.choice(context, &Maximum { point, score }).map(Some)
    }

    fn highest(&mut self, context: Context<'_>, multiplier: f64) -> Result<f64> {
        self.band_end(context, multiplier).map(|found| found.score)
    }

    fn moments(
        &mut self,
        context: Context<'_>,
        _: Among,
        can_matter: &dyn Fn(f64, f64) -> bool,
    ) -> Result<Vec<(usize, Marginal)>> {
        let moments = context.view.predict_all(listed_points(&self.space, context)?.iter())?;
        let matters = |(_, there): &(usize, Marginal)| can_matter(there.mean, there.sd * there.sd);
        Ok(moments.into_iter().enumerate().filter(matters).collect())
    }

    fn covariance(&self, context: Context<'_>, listed: &[usize]) -> Result<Vec<f64>> {
        let (points, mut chosen) = (listed_points(&self.space, context)?, vec![]);
        for &index in listed {
            chosen.extend_from_slice(points.iter().nth(index).ok_or(NOT_LISTED)?);
        }
        Ok(context.view.covariance(&Points::from_flat(self.space.dimension(), chosen)?)?)
    }

    fn choice_of(&mut self, context: Context<'_>, listed: usize, score: f64) -> Result<Choice> {
        let points = listed_points(&self.space, context)?;
        let point = points.iter().nth(listed).ok_or(NOT_LISTED)?.to_vec();
        self.choice(context, &Maximum { point, score })
    }

    /// The lower end is the best that a search finds, as any point's is a valid bound; the upper end is what branch and
    /// bound proves, never the value found.
    fn band(&mut self, context: Context<'_>, multiplier: f64) -> Result<Extremes> {
        let lowest = self.band_end(context, -multiplier)?;
        let highest = self.band_end(context, multiplier)?;
        let Proven { maximum, upper, .. } =
            prove(&self.space, context, Provable::ConfidenceBound(multiplier), highest)?;
        let gap = upper - maximum.score;
        Ok(Extremes { upper, lower: lowest.score, gap, candidate: None, point: lowest.point })
    }

    fn contenders(&mut self, context: Context<'_>, multiplier: f64, _barred: &HashSet<usize>) -> Result<Points> {
        self.candidates.begin_ask();
        let context = Context { trial: NO_TRIAL, ..context };
        let scores = self.scores(context, Ranking::By(&ConfidenceBound(multiplier)), Wanted::All)?;
        let best = descending(&scores).take(CONTENDERS).flat_map(|i| self.candidates.get(i).to_vec());
        let points = Points::from_flat(self.space.dimension(), best.collect())?;
        self.candidates.begin_ask();
        Ok(points)
    }

    /// Sample paths, climbed from the best contenders and from the best point itself.
    fn sampled_peaks(
        &mut self,
        context: Context<'_>,
        contest: Contest<'_>,
        count: usize,
        rng: &mut ChaCha8Rng,
    ) -> Result<Vec<SampledPeak>> {
        let lengthscales = lengthscales(context.view.prior(), self.space.dimension());
        let search = Search {
            space: &self.space,
            lengthscales: &lengthscales,
            starts: GAIN_CLIMBS,
            evaluations: GAIN_EVALUATIONS,
        };
        let Contest { best, contenders, scale } = contest;
        let peak = |_| {
            let path = SamplePath::draw(context.view, scale, GAIN_FEATURES, rng)?;
            let mut objective =
                |x: &[f64], gradient: &mut [f64]| path.value_and_gradient(x, gradient).unwrap_or(f64::NEG_INFINITY);
            let at_best = path.value(best)?;
            let scores = contenders.iter().map(|x| path.value(x)).collect::<manyhands_gp::Result<Vec<f64>>>()?;
            let far = search.maximize(|i| contenders.get(i), &scores, &mut objective);
            let near = search.maximize(|_| best, &[at_best], &mut objective);
            let highest = [far, near].into_iter().flatten().map(|found| found.score).fold(at_best, f64::max);
            Ok(SampledPeak { at_best, highest })
        };
        (0..count).map(peak).collect()
    }

    /// With candidates of its own: those of the ask are kept for its other picks.
    fn argmax_under(
        &mut self,
        context: Context<'_>,
        other: &Posterior,
        acquisition: &dyn Acquisition,
        allowed: &dyn Fn(&[f64]) -> bool,
    ) -> Result<Option<(Choice, f64)>> {
        let there = Context { view: other.view(), ..context };
        let mut search = Self::new(self.space.clone());
        let mut scores = search.scores(there, Ranking::By(acquisition), Wanted::All)?;
        let barred = (0..scores.len()).filter(|&i| !allowed(search.candidates.get(i)));
        barred.for_each(|i| scores[i] = f64::NEG_INFINITY);
        let mut slopes = Slopes::new(there.view)?;
        let objective = |x: &[f64], gradient: &mut [f64]| {
            let value = slopes.value(x, acquisition, gradient);
            if allowed(x) { value } else { f64::NEG_INFINITY }
        };
        let Some(found) = search.climb(there, &scores, objective) else { return Ok(None) };
        let sd = other.predict(&found.point)?.sd;
        Ok(Some((self.choice(context, &found)?, sd)))
    }

    fn again(&mut self, context: Context<'_>, row: usize) -> Result<Option<Choice>> {
        let point = context.view.posterior().points().get(row).to_vec();
        self.choice(context, &Maximum { point, score: 0.0 }).map(Some)
    }

    /// Each checkpoint costs a search: at 0, 1, 2, 4, 8, ...
    fn next_band_checkpoint(&self, observed: usize) -> Option<usize> {
        Some((CHECKPOINT_FACTOR * observed).max(1))
    }

    fn is_known(&self, posterior: &Posterior, choice: &Choice) -> Result<bool> {
        Ok(self.is_row(posterior, &self.space.embed(&choice.params)?))
    }

    fn observed_sd(&self, posterior: &Posterior, choice: &Choice) -> Result<Option<f64>> {
        Ok(Some(posterior.predict(&self.space.embed(&choice.params)?)?.sd_observed))
    }

    fn begin_ask(&mut self) {
        self.candidates.begin_ask();
    }

    fn largest_variance(&self, prior: &Prior) -> f64 {
        largest_variance(&self.space, prior)
    }

    fn refactors_rows(&self) -> bool {
        true
    }

    fn is_available(&self, trial: usize, candidate: usize) -> bool {
        candidate == trial
    }

    fn point(&self, place: &Place) -> Result<Vec<f64>> {
        self.space.embed_measured(&place.params)
    }

    fn boxed_clone(&self) -> Box<dyn Chooser> {
        Box::new(self.clone())
    }
}

/// The observed rows of highest posterior mean.
fn best_rows(view: View<'_>, count: usize) -> Vec<Vec<f64>> {
    let best = descending(&view.row_means()).take(count);
    best.map(|i| view.posterior().points().get(i).to_vec()).collect()
}
