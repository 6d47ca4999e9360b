//! Searching a space inside a region that the observed points define.

use manyhands_gp::{Acquisition, LevelSet, Slopes, View};

use super::Context;
use super::candidates::Wanted;
use super::continuous::{Continuous, Ranking};
use crate::maximize::{Maximum, descending};
use crate::tuning::REGION_STARTS;
use crate::{Choice, Result};

impl Continuous {
    /// The argmax of an acquisition function inside a region; none if no point of it is found.
    pub(super) fn highest_within(
        &mut self,
        context: Context<'_>,
        acquisition: &dyn Acquisition,
        region: &LevelSet<'_>,
    ) -> Result<Option<Choice>> {
        let scores = self.scores(context, Ranking::By(acquisition), Wanted::All)?;
        let scores = self.scores_within(context.view, &scores, region)?;
        if scores.iter().all(|score| *score == f64::NEG_INFINITY) {
            return self.most_inside(context, acquisition, region);
        }
        let mut slopes = Slopes::new(context.view)?;
        let mut observed = Slopes::new(context.view.observed_only())?;
        let (mut mean_gradient, mut variance_gradient) =
            (vec![0.0; self.space.dimension()], vec![0.0; self.space.dimension()]);
        // Minus infinity outside the region keeps climbs inside it.
        let objective = |x: &[f64], gradient: &mut [f64]| {
            let (mean, variance) = observed.at(x, &mut mean_gradient, &mut variance_gradient);
            let value = slopes.value(x, acquisition, gradient);
            if region.contains(mean, variance) { value } else { f64::NEG_INFINITY }
        };
        self.climb(context, &scores, objective).map(|found| self.choice(context, &found)).transpose()
    }

    /// The point that is most inside of a region, for regions that no candidate is in; none if it is outside too.
    fn most_inside(
        &mut self,
        context: Context<'_>,
        acquisition: &dyn Acquisition,
        region: &LevelSet<'_>,
    ) -> Result<Option<Choice>> {
        let found = self.maximum(Context { view: context.view.observed_only(), ..context }, region.acquisition)?;
        let Some(Maximum { point, .. }) = found.filter(|found| found.score >= region.threshold) else {
            return Ok(None);
        };
        let score = Slopes::new(context.view)?.value(&point, acquisition, &mut vec![0.0; point.len()]);
        self.choice(context, &Maximum { point, score }).map(Some)
    }

    /// The scores of the best candidates inside a region, and minus infinity for all others. Each test costs a solve, so
    /// candidates are tested in the order of their scores, until a fixed number of them is inside.
    fn scores_within(&self, view: View<'_>, scores: &[f64], region: &LevelSet<'_>) -> Result<Vec<f64>> {
        let mut inside = vec![f64::NEG_INFINITY; scores.len()];
        let mut found = 0;
        for i in descending(scores) {
            let there = view.posterior().predict(self.candidates.get(i))?;
            if region.contains(there.mean, there.sd_observed * there.sd_observed) {
                inside[i] = scores[i];
                found += 1;
            }
            if found == REGION_STARTS {
                break;
            }
        }
        Ok(inside)
    }
}
