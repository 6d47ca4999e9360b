//! Points that come from the user and not from the strategy: what an event records of them, checked without a model.

use crate::domain::NamedPoint;
use crate::event::{ActualSetting, Enqueued, Included};
use crate::ledger::Ledger;
use crate::trial::{Trial, TrialState};
use crate::{Error, Result, Spec, Value};

impl Spec {
    /// The event that includes an evaluation made elsewhere, finished or running, as the next trial of a ledger; parameters with
    /// one value, and columns that are not coordinates, may be omitted. Sums may miss the bounds of constraints by
    /// [`MEASURED_TOLERANCE`](crate::MEASURED_TOLERANCE).
    pub fn included(&self, ledger: &Ledger, named: &[(String, Value)], value: Option<f64>) -> Result<Included> {
        let NamedPoint { candidate, params } = self.domain().find_measured(self.finite(), named)?;
        let trial = ledger.trials().len();
        value.map_or(Ok(()), |value| self.check_value(trial, value))?;
        candidate.map_or(Ok(()), |candidate| self.check_free(ledger, candidate))?;
        Ok(Included { trial, candidate: candidate.unwrap_or(trial), params, value })
    }

    /// The event that enqueues a point; parameters with one value, and columns that are not coordinates, may be omitted.
    pub fn enqueued(&self, ledger: &Ledger, named: &[(String, Value)]) -> Result<Enqueued> {
        let NamedPoint { candidate, params } = self.domain().find(self.finite(), named)?;
        candidate.map_or(Ok(()), |candidate| self.check_free(ledger, candidate))?;
        Ok(Enqueued { candidate, params })
    }

    /// The setting that a trial was really made with, as an event records it; values that are not named are as they were. Sums
    /// may miss the bounds of constraints by [`MEASURED_TOLERANCE`](crate::MEASURED_TOLERANCE). Refused for candidates of a
    /// list, and where each is tried once.
    pub fn actual_setting(&self, trial: &Trial, named: &[(String, Value)]) -> Result<ActualSetting> {
        if self.domain().space().is_none() || !self.repeats() {
            let given = named.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ");
            return Err(Error::FixedParameters { trial: trial.number(), given });
        }
        let names = self.domain().names();
        let known = names.iter().zip(trial.logged_params()).map(|(name, value)| (name.to_string(), value.clone()));
        let kept = known.filter(|(name, _)| named.iter().all(|(given, _)| given != name));
        let all: Vec<(String, Value)> = named.iter().cloned().chain(kept).collect();
        let NamedPoint { candidate, params } = self.domain().find_measured(self.finite(), &all)?;
        Ok(ActualSetting { candidate, params })
    }

    /// Refuses a candidate that may be tried only once and was tried, or is to be.
    pub(crate) fn check_free(&self, ledger: &Ledger, candidate: usize) -> Result<()> {
        let is_tried = |trial: &Trial| trial.candidate() == candidate && trial.state() != TrialState::Cancelled;
        if self.repeats() {
            return Ok(());
        }
        if let Some(trial) = ledger.trials().iter().find(|trial| is_tried(trial)) {
            return Err(Error::CandidateTaken { candidate, trial: trial.number() });
        }
        let is_queued = ledger.queue().any(|next| next.candidate == Some(candidate));
        if is_queued { Err(Error::CandidateQueued { candidate }) } else { Ok(()) }
    }
}
