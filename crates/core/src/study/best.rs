//! The best of the observed trials: the one whose value is surest to be good.
//!
//! Up to [`CERTIFIED_VALUES`] values, and wherever bounds are theorems, every observed trial is looked at by the whole model. Above,
//! a learned model is asked about a short list, the trials of the best values, and about each of them it knows the values
//! nearby alone: what values far away add is little, and the factor of all of them costs seconds to a process that has
//! just started.

use manyhands_gp::Marginal;

use super::Study;
use super::certificate::BoundKind;
use super::predict::{Prediction, representable};
use crate::chooser::Extremes;
use crate::ledger::{Trial, TrialState};
use crate::{Error, Result, Value};

/// Up to so many values, what needs a search of the whole domain is found beside the best trial; above, it takes long and
/// is for those who ask for it.
pub const CERTIFIED_VALUES: usize = 1_000;

/// Above [`CERTIFIED_VALUES`] values, this many trials are looked at.
const SHORT_LIST: usize = 64;

/// Values nearby that a trial of the short list is judged by, and that the best of them is described by.
const NEARBY: (usize, usize) = (256, 1_000);

/// Trials that are looked at together.
const TOGETHER: usize = 64;

/// Means this close, relative to their size, are not told apart.
const SLACK: f64 = 1e-6;

/// The observed trial with the best bound, in the user's units.
#[derive(Debug, Clone, PartialEq)]
pub struct Best {
    /// The trial's number.
    pub trial: usize,
    /// Its candidate; on a space that is not finite, the trial's number.
    pub candidate: usize,
    /// Its coordinates, as the model sees them.
    pub point: Vec<f64>,
    /// The values of its parameters or columns, where the domain has names.
    pub params: Vec<Value>,
    /// The value that was told.
    pub value: f64,
    /// The mean there.
    pub mean: f64,
    /// The band's lower end there.
    pub lower: f64,
    /// The band's upper end there.
    pub upper: f64,
    /// Its value is at most this far from the optimum, with the certificate's probability; none on a discretized cube,
    /// where the data contradict the assumptions, and above [`CERTIFIED_VALUES`] values, where only a certificate is worth the
    /// search.
    pub regret_bound: Option<f64>,
}

impl Study {
    /// The observed trial whose value is certain to be high: the one with the best bound. Above [`CERTIFIED_VALUES`] values a
    /// learned model looks at the trials of the 64 best values, and its mean and bounds come from the 1,000 values that are
    /// correlated most with the trial's point: no factor of all values is made.
    pub fn best(&mut self) -> Result<Best> {
        if self.is_unfitted() {
            return self.with_fit()?.best();
        }
        let many = self.posterior.observed() > CERTIFIED_VALUES;
        let by_list = many && self.kind() == BoundKind::Model && self.union_multiplier().is_finite();
        let (trial, there, secure) = if by_list { self.best_of_short_list()? } else { self.best_of_all()? };
        let mut best = Best {
            trial: trial.number(),
            candidate: trial.candidate(),
            point: self.points[trial.number()].clone(),
            params: self.shown_params(trial),
            value: trial.value().unwrap_or(there.mean),
            mean: there.mean,
            lower: there.lower,
            upper: there.upper,
            regret_bound: None,
        };
        if !many && self.has_scale() && self.chooser.next_band_checkpoint(0).is_some() {
            let Extremes { upper, lower, .. } = self.extremes()?;
            let ends = [upper, secure].map(|end| self.bound_in_units(end));
            let is_sound = upper >= lower && ends.iter().all(|end| representable(*end).is_some());
            best.regret_bound = is_sound.then(|| (ends[0] - ends[1]).max(self.resolution()));
        }
        Ok(best)
    }

    /// The trial of highest lower end, the first of equals. Trials are looked at from the highest mean down, until no
    /// mean reaches the best lower end.
    fn best_of_all(&self) -> Result<(&Trial, Prediction, f64)> {
        let means = self.posterior.view().row_means();
        let mut order: Vec<(usize, f64)> = self.posterior.keys().iter().map(|key| key.id as usize).zip(means).collect();
        order.sort_by(|(a, x), (b, y)| y.total_cmp(x).then(a.cmp(b)));
        let multiplier = self.band_multiplier(self.posterior.information())?;
        let mut best = None;
        for together in order.chunks(TOGETHER) {
            let hopeless = |(_, _, secure): &(&Trial, Prediction, f64)| {
                together.first().is_none_or(|(_, mean)| mean + SLACK * mean.abs().max(1.0) < *secure)
            };
            if best.as_ref().is_some_and(hopeless) {
                break;
            }
            let trials: Vec<&Trial> = together.iter().filter_map(|(id, _)| self.ledger.trials().get(*id)).collect();
            let there =
                self.posterior.predict_all(trials.iter().map(|trial| self.points[trial.number()].as_slice()))?;
            for (trial, there) in trials.into_iter().zip(there) {
                best = self.surer(best, trial, there, multiplier);
            }
        }
        best.ok_or(Error::NothingObserved)
    }

    /// As [`Study::best_of_all`], among the trials of the best values and from what is nearby.
    fn best_of_short_list(&self) -> Result<(&Trial, Prediction, f64)> {
        let sign = self.spec.direction().sign();
        let observed = self.ledger.trials().iter().filter(|trial| trial.state() == TrialState::Observed);
        let mut list: Vec<(&Trial, f64)> = observed.filter_map(|trial| Some((trial, sign * trial.value()?))).collect();
        list.sort_by(|(a, x), (b, y)| y.total_cmp(x).then(a.number().cmp(&b.number())));
        list.truncate(SHORT_LIST);
        let multiplier = self.union_multiplier();
        let mut best = None;
        for (trial, _) in list {
            let there = self.posterior.predict_nearby(&self.points[trial.number()], NEARBY.0)?;
            best = self.surer(best, trial, there, multiplier);
        }
        let (trial, _, _) = best.ok_or(Error::NothingObserved)?;
        let there = self.posterior.predict_nearby(&self.points[trial.number()], NEARBY.1)?;
        let (prediction, secure) = self.stated(&there, multiplier);
        Ok((trial, prediction, secure))
    }

    /// The better of the best so far and another trial.
    fn surer<'a>(
        &self,
        best: Option<(&'a Trial, Prediction, f64)>,
        trial: &'a Trial,
        there: Marginal,
        multiplier: f64,
    ) -> Option<(&'a Trial, Prediction, f64)> {
        let (prediction, secure) = self.stated(&there, multiplier);
        match best {
            Some((first, _, highest)) if highest > secure || (highest == secure && first.number() < trial.number()) => {
                best
            }
            _ => Some((trial, prediction, secure)),
        }
    }
}
