//! Where to look when a search has converged: by a model of the values that are not near the summits found so far.
//!
//! Most values of a converged search lie around its best point, and what they say of lengthscales holds there. A model of the
//! other values alone is that of a search that begins anew, with all that is known elsewhere for its first design.

use manyhands_gp::{ConfidenceBound, Posterior, Prior, Warp};

use super::RuleState;
use crate::maximize::lengthscales;
use crate::model::Learner;
use crate::tuning::{FAR_AWAY, LONGEST_REACH, SUMMIT_SHARE, SUMMITS};
use crate::{Aim, Choice, Result};

/// With fewer values than this there is no model of them.
const FEWEST_VALUES: usize = 4;

/// A point where a search has converged.
struct Summit {
    point: Vec<f64>,
    /// The lengthscales there, as far as they are not much longer than expected.
    lengthscales: Vec<f64>,
}

/// The summits found so far, and how far they reach.
struct Summits {
    found: Vec<Summit>,
    /// In lengthscales.
    distance: f64,
    /// The longest lengthscale that a distance is measured in.
    longest: f64,
}

/// The posterior of what is not near a summit, and the best point of it.
struct Remote {
    posterior: Posterior,
    best: Vec<f64>,
}

/// The best point of mean + width x sd under a model of the values that are at least `distance` lengthscales from every summit:
/// the best point, and the best ones elsewhere where the search has converged too. None where too few values are left, or no
/// point is that far away.
pub(super) fn by_remote_values(state: &mut RuleState<'_>, distance: f64) -> Result<Option<Choice>> {
    let median = state.tuning().priors.stretched(state.parameters()).lengthscale.0;
    let Some(mut summits) = Summits::of_best(state, distance, LONGEST_REACH * median) else { return Ok(None) };
    let width = state.tuning().width(state.trial() / 2, false);
    for _ in 0..SUMMITS {
        let Some(Remote { posterior, best }) = remote(state, &summits)? else { return Ok(None) };
        let Some((choice, sd)) = summits.highest_beyond(state, &posterior, width)? else { return Ok(None) };
        if sd >= SUMMIT_SHARE * posterior.prior().kernel().variance().sqrt() {
            return Ok(Some(choice));
        }
        summits.push(best, posterior.prior());
    }
    Ok(None)
}

/// The best point of mean + width x sd, by all values, that is far from the best point; none where no point is.
pub(super) fn by_all_values(state: &mut RuleState<'_>) -> Result<Option<Choice>> {
    let Some(summits) = Summits::of_best(state, FAR_AWAY, f64::INFINITY) else { return Ok(None) };
    let (all, width) = (state.posterior(), state.tuning().largest_width());
    Ok(summits.highest_beyond(state, all, width)?.map(|(choice, _)| choice))
}

impl Summits {
    /// The best point alone; none before the first value.
    fn of_best(state: &RuleState<'_>, distance: f64, longest: f64) -> Option<Self> {
        let mut summits = Self { found: vec![], distance, longest };
        let point = state.posterior().points().get(state.best_row()?).to_vec();
        summits.push(point, state.posterior().prior());
        Some(summits)
    }

    fn push(&mut self, point: Vec<f64>, prior: &Prior) {
        let lengthscales = lengthscales(prior, point.len()).iter().map(|l| l.min(self.longest)).collect();
        self.found.push(Summit { point, lengthscales });
    }

    fn are_near(&self, point: &[f64]) -> bool {
        let least = self.distance * self.distance;
        self.found.iter().any(|summit| {
            let scaled = |((a, b), lengthscale): ((&f64, &f64), &f64)| ((a - b) / lengthscale).powi(2);
            point.iter().zip(&summit.point).zip(&summit.lengthscales).map(scaled).sum::<f64>() < least
        })
    }

    /// The best point of mean + width x sd that is not near a summit, with its sd.
    fn highest_beyond(
        &self,
        state: &mut RuleState<'_>,
        posterior: &Posterior,
        width: f64,
    ) -> Result<Option<(Choice, f64)>> {
        let found = state.argmax_under(posterior, &ConfidenceBound(width), &|point| !self.are_near(point))?;
        let exploring = |(choice, sd)| (Choice { multiplier: width, aim: Some(Aim::Exploring), ..choice }, sd);
        Ok(found.map(exploring))
    }
}

/// The model of the rows that are not near a summit; none of too few values.
fn remote(state: &RuleState<'_>, summits: &Summits) -> Result<Option<Remote>> {
    let (all, told) = (state.posterior(), state.told_values());
    let (points, keys) = (all.points(), all.keys());
    let rows: Vec<usize> = (0..keys.len()).filter(|&row| !summits.are_near(points.get(row))).collect();
    let (observed, pending) = rows.split_at(rows.partition_point(|&row| row < told.len()));
    if observed.len() < FEWEST_VALUES {
        return Ok(None);
    }
    let chosen = points.selected(observed);
    let values: Vec<f64> = observed.iter().map(|&row| told[row]).collect();
    let (warp, prior) = match Learner::new(state.spec())? {
        Some(learner) => learner.without_bends().learn_prior(&chosen, &values)?,
        None => (Warp::identity(), all.prior().clone()),
    };
    let mut posterior = Posterior::new(prior, points.dimension())?;
    for (&row, value) in observed.iter().zip(&values) {
        posterior.observe(keys[row], points.get(row), warp.forward(*value))?;
    }
    pending.iter().try_for_each(|&row| posterior.hallucinate(keys[row], points.get(row)))?;
    let highest = (0..values.len()).reduce(|best, next| if values[next] > values[best] { next } else { best });
    Ok(highest.map(|row| Remote { posterior, best: chosen.get(row).to_vec() }))
}
