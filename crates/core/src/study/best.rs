//! The best point: the setting that a user should deploy.
//!
//! Where the noise is negligible it is the best value observed. Otherwise a best value is mostly good luck, and the best point
//! is the setting, among those tried, whose posterior mean is best. The cautious choice is the one whose lower bound is highest.
//!
//! Up to [`OUTLOOK_VALUES`] values, and wherever bounds are theorems, every observed trial is predicted from all values.
//! Above, a learned model considers a short list, the settings of the best readings, and predicts each of them from the values
//! nearby: distant values change little, and the factor of all of them costs seconds in a process that has just started.

use std::collections::HashMap;

use super::Study;
use super::certificate::BoundKind;
use super::predict::{Bounded, Prediction};
use crate::chooser::Extremes;
use crate::trial::Trial;
use crate::tuning::{NEARBY_VALUES, NEGLIGIBLE_NOISE, OUTLOOK_VALUES, PREDICTED_TOGETHER, SHORT_LIST, UNKNOWN_NOISE};
use crate::{Error, Phase, Result, Value};

/// Means this close, relative to their size, are equal up to rounding.
const SLACK: f64 = 1e-6;

/// What the best point was chosen by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum BestBy {
    /// Its value: the noise is negligible.
    Value,
    /// Its posterior mean.
    Mean,
    /// The lower end of its band (the upper one when minimizing).
    Bound,
}

impl BestBy {
    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Value => "value",
            Self::Mean => "mean",
            Self::Bound => "bound",
        }
    }
}

/// The value of one trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reading {
    /// The trial's number.
    pub trial: usize,
    /// The value that was told.
    pub value: f64,
}

/// The best point, in the user's units.
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
#[doc(alias = "recommendation")]
#[derive(Debug, Clone, PartialEq)]
pub struct Best {
    /// The trial's number; where a setting was measured more than once and is not chosen by a single value, its first trial.
    pub trial: usize,
    /// Its candidate; on a space that is not finite, the trial's number.
    pub candidate: usize,
    /// Its coordinates, as the model sees them.
    pub point: Vec<f64>,
    /// The values of its parameters or columns, where the domain has names.
    pub params: Vec<Value>,
    /// What it was chosen by.
    pub by: BestBy,
    /// Whether the noise is more than negligible.
    pub is_noisy: bool,
    /// The value that this trial was told.
    pub value: f64,
    /// The posterior mean there: the estimate of what the setting gives.
    pub mean: f64,
    /// Its standard deviation, given observed trials.
    pub sd: f64,
    /// The lower end of the band or interval there.
    pub lower: f64,
    /// The upper end of the band or interval there.
    pub upper: f64,
    /// How many observed trials have this setting.
    pub measured: usize,
    /// The best single reading of all trials.
    pub reading: Reading,
    /// Its value is at most this far from the optimum, with the certificate's probability. None unless bounds are theorems,
    /// on a discretized cube, and where the data contradict the assumptions.
    pub regret_bound: Option<f64>,
}

/// The best point without its bounds, in the user's units: what is shown while a study runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BestSoFar {
    /// The trial's number, as in [`Best`].
    pub trial: usize,
    /// What it was chosen by.
    pub by: BestBy,
    /// Its value, or its estimate where it was chosen by that.
    pub value: f64,
}

/// A trial with its prediction and the lower end of its band.
type BoundedTrial<'a> = (&'a Trial, Bounded);

impl Study {
    /// The best point: what to deploy. Above [`OUTLOOK_VALUES`] values under noise, a learned model considers the settings of
    /// the 64 best readings, each by the 1,000 values that are most correlated with it: no factor of all values is made.
    #[doc(alias = "incumbent")]
    pub fn best(&mut self) -> Result<Best> {
        if self.is_unfitted() {
            return self.with_fit()?.best();
        }
        let (by, trial) = self.best_trial()?;
        self.described(by, trial)
    }

    /// The trial of [`Study::best`], at the price of one prediction at most: a bound on its regret may take long.
    pub fn incumbent(&self) -> Result<BestSoFar> {
        if self.is_unfitted() {
            return self.with_fit()?.incumbent();
        }
        let (by, trial) = self.best_trial()?;
        let value = match (by, self.ledger.trial(trial)?.value()) {
            (BestBy::Value, Some(value)) => value,
            _ => self.predicted_at(trial)?.prediction.mean,
        };
        Ok(BestSoFar { trial, by, value })
    }

    /// The trial of the best point, and what it is chosen by.
    fn best_trial(&self) -> Result<(BestBy, usize)> {
        let by = if self.is_noise_negligible() { BestBy::Value } else { BestBy::Mean };
        let trial = match by {
            BestBy::Value => self.reading()?.trial,
            _ if self.is_predicted_nearby() => self.best_of_short_list(0.0)?,
            _ => self.best_mean()?,
        };
        Ok((by, trial))
    }

    /// The cautious choice: the observed trial with the highest lower bound (the lowest upper bound when minimizing).
    ///
    /// ```
    /// use manyhands_core::study::BestBy;
    /// # use manyhands_core::{Domain, Parameter, Space, Spec, Strategy, Study};
    /// # fn main() -> manyhands_core::Result<()> {
    /// # let space = Space::new(vec![Parameter::float("x", 0.0, 1.0)?], vec![])?;
    /// # let mut study = Study::new(Spec::learned(Domain::Space(space), Strategy::auto())?)?;
    /// for s in study.ask(6)? {
    ///     study.tell(s.trial, -(s.point[0] - 0.3).powi(2))?;
    /// }
    /// let (best, cautious) = (study.best()?, study.best_cautious()?);
    /// assert_eq!((best.by, cautious.by), (BestBy::Value, BestBy::Bound));
    /// assert_eq!(best.reading.value, best.value);
    /// assert!(cautious.lower >= best.lower);
    /// # Ok(()) }
    /// ```
    pub fn best_cautious(&mut self) -> Result<Best> {
        if self.is_unfitted() {
            return self.with_fit()?.best_cautious();
        }
        let multiplier = self.interval_multiplier();
        let trial = if self.is_predicted_nearby() { self.best_of_short_list(multiplier)? } else { self.best_bound()? };
        self.described(BestBy::Bound, trial)
    }

    /// Whether the noise is so small that a value is as good as an estimate: by the fit, or because settings that were suggested
    /// more than once had the same value every time. A rough function is often taken for a smooth one with noise.
    pub(super) fn is_noise_negligible(&self) -> bool {
        let (prior, (few, unknown)) = (self.posterior.prior(), UNKNOWN_NOISE);
        let is_learned = self.spec.given().is_some_and(|given| given.noise.is_none());
        let is_unknown = is_learned && self.posterior.observed() <= few;
        let share = if is_unknown { unknown } else { NEGLIGIBLE_NOISE };
        prior.noise() <= share * self.chooser.variance_scale(prior) || (is_learned && self.repeats_agree())
    }

    /// Whether a setting was suggested more than once, and all that were had the same value every time.
    fn repeats_agree(&self) -> bool {
        let suggested =
            self.ledger.trials().iter().filter(|trial| trial.phase().is_some_and(|phase| phase != Phase::Queued));
        let (mut values, mut any) = (HashMap::new(), false);
        for (trial, value) in suggested.filter_map(|trial| Some((trial, trial.value()?))) {
            let setting: Vec<u64> = self.points[trial.number()].iter().map(|x| x.to_bits()).collect();
            let first = *values.entry(setting).or_insert((trial.number(), value));
            if first.0 != trial.number() {
                any = true;
                if first.1 != value {
                    return false;
                }
            }
        }
        any
    }

    /// Whether settings are predicted from the values nearby.
    fn is_predicted_nearby(&self) -> bool {
        self.posterior.observed() > OUTLOOK_VALUES && self.kind() == BoundKind::Model
    }

    /// The best single reading, the first of equals.
    fn reading(&self) -> Result<Reading> {
        let extreme = self.ledger.extreme(self.spec.direction());
        extreme.map(|(trial, value)| Reading { trial, value }).ok_or(Error::NothingObserved)
    }

    /// The observed trials that have the same setting as this one, in order.
    fn same_setting(&self, trial: &Trial) -> impl Iterator<Item = &Trial> {
        let (is_finite, candidate, point) = (self.spec.is_finite(), trial.candidate(), &self.points[trial.number()]);
        let is_same = move |other: &&Trial| {
            if is_finite { other.candidate() == candidate } else { &self.points[other.number()] == point }
        };
        self.ledger.trials().iter().filter(|trial| trial.value().is_some()).filter(is_same)
    }

    /// What is known of a trial's setting.
    fn described(&mut self, by: BestBy, trial: usize) -> Result<Best> {
        let Bounded { prediction, lower_end } = self.predicted_at(trial)?;
        let trial = self.ledger.trial(trial)?;
        let Prediction { mean, sd, lower, upper, .. } = prediction;
        let mut best = Best {
            trial: trial.number(),
            candidate: trial.candidate(),
            point: self.points[trial.number()].clone(),
            params: self.user_params(trial),
            by,
            is_noisy: !self.is_noise_negligible(),
            value: trial.value().unwrap_or(mean),
            mean,
            sd,
            lower,
            upper,
            measured: self.same_setting(trial).count(),
            reading: self.reading()?,
            regret_bound: None,
        };
        if self.kind() == BoundKind::Theorem && self.chooser.has_band() {
            let Extremes { upper, lower, .. } = self.extremes()?;
            best.regret_bound = (upper >= lower).then(|| (upper - lower_end).max(self.resolution()));
        }
        Ok(best)
    }

    /// The prediction at a trial's point.
    fn predicted_at(&self, trial: usize) -> Result<Bounded> {
        let point = self.point(trial)?;
        if self.is_predicted_nearby() {
            let there = self.posterior.predict_nearby(point, NEARBY_VALUES.1)?;
            return Ok(self.bounded(&there, self.interval_multiplier()));
        }
        Ok(self.bounded(&self.posterior.predict(point)?, self.band_multiplier(self.posterior.information())?))
    }

    /// The first trial of the setting of highest mean.
    fn best_mean(&self) -> Result<usize> {
        let means = self.posterior.view().row_means();
        let rows = self.posterior.keys().iter().map(|key| key.id as usize).zip(means);
        let best = rows.reduce(|best, next| if next.1 > best.1 { next } else { best });
        let trial = self.ledger.trial(best.ok_or(Error::NothingObserved)?.0)?;
        Ok(self.same_setting(trial).next().unwrap_or(trial).number())
    }

    /// The trial of highest lower end, the first of equals. A lower end is at most its mean, so trials are predicted in the
    /// order of falling means, until no mean reaches the best lower end.
    fn best_bound(&self) -> Result<usize> {
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
                best = better(best, (trial, self.bounded(&there, multiplier)));
            }
        }
        best.map(|(trial, _)| trial.number()).ok_or(Error::NothingObserved)
    }

    /// The first trial of the setting of highest mean - multiplier x sd, among the trials of the best readings, each predicted
    /// from the values nearby.
    fn best_of_short_list(&self, multiplier: f64) -> Result<usize> {
        let sign = self.spec.direction().sign();
        let trials = self.ledger.trials().iter();
        let mut list: Vec<(&Trial, f64)> = trials.filter_map(|trial| Some((trial, sign * trial.value()?))).collect();
        list.sort_by(|(a, x), (b, y)| y.total_cmp(x).then(a.number().cmp(&b.number())));
        list.truncate(SHORT_LIST);
        let mut best: Option<(&Trial, f64)> = None;
        for (trial, _) in list {
            let there = self.posterior.predict_nearby(&self.points[trial.number()], NEARBY_VALUES.0)?;
            let score = there.mean - multiplier * there.sd_observed;
            if best.is_none_or(|(_, best)| score > best) {
                best = Some((trial, score));
            }
        }
        let (trial, _) = best.ok_or(Error::NothingObserved)?;
        Ok(self.same_setting(trial).next().unwrap_or(trial).number())
    }
}

/// The one of two trials with the higher lower end, the first of equals.
fn better<'a>(best: Option<BoundedTrial<'a>>, next: BoundedTrial<'a>) -> Option<BoundedTrial<'a>> {
    match best {
        Some((first, found))
            if found.lower_end > next.1.lower_end
                || (found.lower_end == next.1.lower_end && first.number() < next.0.number()) =>
        {
            Some((first, found))
        }
        _ => Some(next),
    }
}
