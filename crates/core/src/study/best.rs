//! The best of the observed trials: the one whose lower confidence bound is highest.
//!
//! Up to [`CERTIFIED_VALUES`] values, and wherever bounds are theorems, every observed trial is predicted from all values.
//! Above, a learned model considers a short list, the trials of the best values, and predicts each of them from the values
//! nearby: distant values change little, and the factor of all of them costs seconds in a process that has just started.

use manyhands_gp::Marginal;

use super::Study;
use super::certificate::BoundKind;
use super::predict::{Bounded, Prediction, representable};
use crate::chooser::Extremes;
use crate::ledger::{Trial, TrialState};
use crate::tuning::{CERTIFIED_VALUES, NEARBY_VALUES, PREDICTED_TOGETHER, SHORT_LIST};
use crate::{Error, Result, Value};

/// Means this close, relative to their size, are equal up to rounding.
const SLACK: f64 = 1e-6;

/// The observed trial with the best bound, in the user's units.
///
/// ```
/// use manyhands_core::{Domain, Parameter, Space, Spec, Strategy, Study};
/// # fn main() -> manyhands_core::Result<()> {
/// let space = Space::new(vec![Parameter::float("x", 0.0, 1.0)?], vec![])?;
/// let mut study = Study::new(Spec::learned(Domain::Space(space), Strategy::auto())?)?;
/// for s in study.ask(6)? {
///     study.tell(s.trial, -(s.point[0] - 0.3).powi(2))?;
/// }
/// let best = study.best()?;
/// assert_eq!(best.value, -(best.point[0] - 0.3).powi(2));
/// assert!(best.lower <= best.mean && best.mean <= best.upper);
/// # Ok(()) }
/// ```
#[doc(alias = "incumbent")]
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
    /// Its value is at most this far from the optimum, with the certificate's probability. None on a discretized cube,
    /// where the data contradict the assumptions, and above [`CERTIFIED_VALUES`] values, where the search is left to
    /// [`Study::certificate`].
    pub regret_bound: Option<f64>,
}

/// A trial with its prediction and the lower end of its band.
type BoundedTrial<'a> = (&'a Trial, Bounded);

impl Study {
    /// The observed trial with the highest lower bound (the lowest upper bound when minimizing). Above
    /// [`CERTIFIED_VALUES`] values a learned model considers the trials of the 64 best values, and its mean and bounds come
    /// from the 1,000 values that are most correlated with the trial's point: no factor of all values is made.
    #[doc(alias = "incumbent")]
    pub fn best(&mut self) -> Result<Best> {
        if self.is_unfitted() {
            return self.with_fit()?.best();
        }
        let many = self.posterior.observed() > CERTIFIED_VALUES;
        let by_list = many && self.kind() == BoundKind::Model && self.union_multiplier().is_finite();
        let (trial, found) = if by_list { self.best_of_short_list()? } else { self.best_of_all()? };
        let Bounded { prediction: Prediction { mean, lower, upper, .. }, lower_end } = found;
        let mut best = Best {
            trial: trial.number(),
            candidate: trial.candidate(),
            point: self.points[trial.number()].clone(),
            params: self.user_params(trial),
            value: trial.value().unwrap_or(mean),
            mean,
            lower,
            upper,
            regret_bound: None,
        };
        if !many && self.has_scale() && self.chooser.has_band() {
            let Extremes { upper, lower, .. } = self.extremes()?;
            let ends = [upper, lower_end].map(|end| self.bound_in_units(end));
            let is_sound = upper >= lower && ends.iter().all(|end| representable(*end).is_some());
            best.regret_bound = is_sound.then(|| (ends[0] - ends[1]).max(self.resolution()));
        }
        Ok(best)
    }

    /// The trial of highest lower end, the first of equals. A lower end is at most its mean, so trials are predicted in the
    /// order of falling means, until no mean reaches the best lower end.
    fn best_of_all(&self) -> Result<BoundedTrial<'_>> {
        let means = self.posterior.view().row_means();
        let mut order: Vec<(usize, f64)> = self.posterior.keys().iter().map(|key| key.id as usize).zip(means).collect();
        order.sort_by(|(a, x), (b, y)| y.total_cmp(x).then(a.cmp(b)));
        let multiplier = self.band_multiplier(self.posterior.information())?;
        let mut best = None;
        for together in order.chunks(PREDICTED_TOGETHER) {
            let no_mean_reaches = |(_, best): &BoundedTrial<'_>| {
                together.first().is_none_or(|(_, mean)| mean + SLACK * mean.abs().max(1.0) < best.lower_end)
            };
            if best.as_ref().is_some_and(no_mean_reaches) {
                break;
            }
            let trials: Vec<&Trial> = together.iter().filter_map(|(id, _)| self.ledger.trials().get(*id)).collect();
            let there =
                self.posterior.predict_all(trials.iter().map(|trial| self.points[trial.number()].as_slice()))?;
            for (trial, there) in trials.into_iter().zip(there) {
                best = self.better(best, trial, there, multiplier);
            }
        }
        best.ok_or(Error::NothingObserved)
    }

    /// As [`Study::best_of_all`], among the trials of the best values, each predicted from the values nearby.
    fn best_of_short_list(&self) -> Result<BoundedTrial<'_>> {
        let sign = self.spec.direction().sign();
        let observed = self.ledger.trials().iter().filter(|trial| trial.state() == TrialState::Observed);
        let mut list: Vec<(&Trial, f64)> = observed.filter_map(|trial| Some((trial, sign * trial.value()?))).collect();
        list.sort_by(|(a, x), (b, y)| y.total_cmp(x).then(a.number().cmp(&b.number())));
        list.truncate(SHORT_LIST);
        let multiplier = self.union_multiplier();
        let mut best = None;
        for (trial, _) in list {
            let there = self.posterior.predict_nearby(&self.points[trial.number()], NEARBY_VALUES.0)?;
            best = self.better(best, trial, there, multiplier);
        }
        let (trial, _) = best.ok_or(Error::NothingObserved)?;
        let there = self.posterior.predict_nearby(&self.points[trial.number()], NEARBY_VALUES.1)?;
        Ok((trial, self.bounded(&there, multiplier)))
    }

    /// The one of two trials with the higher lower end, the first of equals.
    fn better<'a>(
        &self,
        best: Option<BoundedTrial<'a>>,
        trial: &'a Trial,
        there: Marginal,
        multiplier: f64,
    ) -> Option<BoundedTrial<'a>> {
        let next = self.bounded(&there, multiplier);
        match &best {
            Some((first, found))
                if found.lower_end > next.lower_end
                    || (found.lower_end == next.lower_end && first.number() < trial.number()) =>
            {
                best
            }
            _ => Some((trial, next)),
        }
    }
}
