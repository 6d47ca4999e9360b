//! When a study has enough trials: nothing much is left to gain, or nothing has been gained for long.

use super::Study;
use super::best::BestBy;
use super::certificate::BoundKind;
use crate::trial::Trial;
use crate::tuning::FEWEST_VALUES_TO_STOP;
use crate::{Phase, Result};

/// When a study has enough trials; never, unless set. No rule applies before the first design is over and ten values have come.
///
/// ```
/// use manyhands_core::{Domain, Parameter, Space, Spec, Strategy, Study};
/// use manyhands_core::study::{StopReason, StopRule};
/// # fn main() -> manyhands_core::Result<()> {
/// let space = Space::new(vec![Parameter::float("x", 0.0, 1.0)?], vec![])?;
/// let mut study = Study::new(Spec::learned(Domain::Space(space), Strategy::auto())?)?;
/// let rule = StopRule { trials_without_gain: Some(8), ..StopRule::default() };
/// while study.stop_reason(&rule)?.is_none() {
///     for s in study.ask(2)? {
///         study.tell(s.trial, -(s.point[0] - 0.3).powi(2))?;
///     }
/// }
/// assert_eq!(study.stop_reason(&rule)?, Some(StopReason::TrialsWithoutGain { trials: 8 }));
/// # Ok(()) }
/// ```
#[doc(alias = "early stopping")]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct StopRule {
    /// Enough where no more than this may still be gained, in the value's units: by the outlook of a learned model, or by the
    /// bound on the regret of the best point where that is a theorem.
    pub gain: Option<f64>,
    /// Enough where so many values in a row have brought no better point: under noise, none whose estimate is better by more than
    /// its sd than that of every setting measured before.
    pub trials_without_gain: Option<usize>,
}

/// Why a study has enough trials.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StopReason {
    /// No more than the rule's gain may still be gained.
    Gain {
        /// What may still be gained.
        gain: f64,
        /// The rule's gain.
        limit: f64,
        /// Whether that is a theorem, or a model's opinion.
        kind: BoundKind,
    },
    /// So many values in a row have brought no better point.
    TrialsWithoutGain {
        /// How many.
        trials: usize,
    },
}

impl Study {
    /// Why the study has enough trials by this rule; none where it has not.
    pub fn stop_reason(&mut self, rule: &StopRule) -> Result<Option<StopReason>> {
        if *rule == StopRule::default() || !self.may_stop() {
            return Ok(None);
        }
        if self.is_unfitted() {
            return self.with_fit()?.stop_reason(rule);
        }
        if let Some(trials) = rule.trials_without_gain
            && self.is_without_gain(trials)?
        {
            return Ok(Some(StopReason::TrialsWithoutGain { trials }));
        }
        let Some(limit) = rule.gain else { return Ok(None) };
        let kind = self.kind();
        let gain = match kind {
            BoundKind::Theorem => self.best()?.regret_bound,
            BoundKind::Model if self.is_clearly_above(limit)? => None,
            BoundKind::Model => self.outlook()?.gain,
        };
        Ok(gain.filter(|gain| *gain <= limit).map(|gain| StopReason::Gain { gain, limit, kind }))
    }

    /// Whether the last `count` values have brought no better point.
    fn is_without_gain(&self, count: usize) -> Result<bool> {
        let rows = &self.posterior.keys()[..self.posterior.observed()];
        let arrived: Vec<usize> = rows.iter().map(|row| row.id as usize).collect();
        let Some(before) = arrived.len().checked_sub(count).filter(|before| *before > 0) else { return Ok(false) };
        let best = self.incumbent()?;
        if arrived[..before].contains(&best.trial) {
            return Ok(true);
        }
        if best.by == BestBy::Value {
            let is_as_good = |trial: &usize| self.ledger.trials()[*trial].value() == Some(best.value);
            return Ok(arrived[..before].iter().any(is_as_good));
        }
        let points: Vec<&[f64]> = arrived[..before].iter().map(|&trial| self.point(trial)).collect::<Result<_>>()?;
        let earlier =
            self.posterior.predict_all(points)?.iter().map(|there| there.mean).fold(f64::NEG_INFINITY, f64::max);
        let there = self.posterior.predict(self.point(best.trial)?)?;
        Ok(there.mean - earlier <= there.sd_observed)
    }

    /// Whether the first design is over and there are values enough.
    fn may_stop(&self) -> bool {
        let is_of_design = |trial: &Trial| trial.phase().is_none_or(|phase| phase == Phase::Design);
        let is_design_over = !self.ledger.trials().iter().all(is_of_design);
        is_design_over && self.posterior.observed() >= FEWEST_VALUES_TO_STOP
    }
}
