//! When a study has enough trials: nothing much is left to gain, or nothing has been gained for long.

use super::Study;
use crate::ledger::Trial;
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
/// assert!(matches!(study.stop_reason(&rule)?, Some(StopReason::TrialsWithoutGain { trials, .. }) if trials >= 8));
/// # Ok(()) }
/// ```
#[doc(alias = "early stopping")]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct StopRule {
    /// Enough where no more than this may still be gained, in the value's units: by the outlook of a learned model, or by the
    /// bound on the regret of the best point where that is a theorem.
    pub gain: Option<f64>,
    /// Enough where so many values have come since that of the best point.
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
    },
    /// So many values have come since that of the best point.
    TrialsWithoutGain {
        /// How many.
        trials: usize,
        /// How many the rule waits for.
        limit: usize,
    },
}

impl Study {
    /// Why the study has enough trials by this rule; none where it has not.
    pub fn stop_reason(&mut self, rule: &StopRule) -> Result<Option<StopReason>> {
        if *rule == StopRule::default() || !self.may_stop() {
            return Ok(None);
        }
        if let Some(limit) = rule.trials_without_gain {
            let best = self.incumbent()?.trial;
            let trials = self.ledger.values_after(best);
            if trials >= limit {
                return Ok(Some(StopReason::TrialsWithoutGain { trials, limit }));
            }
        }
        let Some(limit) = rule.gain else { return Ok(None) };
        let gain = if self.spec.states_theorems() { self.best()?.regret_bound } else { self.outlook()?.gain };
        Ok(gain.filter(|gain| *gain <= limit).map(|gain| StopReason::Gain { gain, limit }))
    }

    /// Whether the first design is over and there are values enough.
    fn may_stop(&self) -> bool {
        let is_of_design = |trial: &Trial| trial.phase().is_none_or(|phase| phase == Phase::Design);
        let is_design_over = self.learner.is_none() || !self.ledger.trials().iter().all(is_of_design);
        is_design_over && self.posterior.observed() >= FEWEST_VALUES_TO_STOP
    }
}
