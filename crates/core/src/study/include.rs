//! Trials from elsewhere: evaluations made outside the study, finished or still running.

use super::Study;
use crate::chooser::Place;
use crate::event::{Event, Included};
use crate::{Error, Result, Value};

impl Study {
    /// Adds an evaluation made elsewhere (a warm start) or, without a value, one that is running elsewhere: it is pending
    /// until it is told, failed or cancelled by its number, which is returned.
    ///
    /// ```
    /// use manyhands_core::{Domain, Parameter, Space, Spec, Strategy, Study};
    /// # fn main() -> manyhands_core::Result<()> {
    /// let space = Space::new(vec![Parameter::float("x", 0.0, 1.0)?], vec![])?;
    /// let mut study = Study::new(Spec::learned(Domain::Space(space), Strategy::auto())?)?;
    /// study.include(&[0.3.into()], Some(1.7))?; // known already
    /// let running = study.include(&[0.5.into()], None)?; // running elsewhere
    /// study.tell(running, 2.1)?;
    /// # Ok(()) }
    /// ```
    pub fn include(&mut self, params: &[Value], value: Option<f64>) -> Result<usize> {
        self.include_named(&self.spec.domain().name_values(params)?, value)
    }

    /// As [`Study::include`], by name; parameters with one value, and columns that are not coordinates, may be omitted.
    pub fn include_named(&mut self, named: &[(String, Value)], value: Option<f64>) -> Result<usize> {
        let included = self.spec.included(&self.ledger, named, value)?;
        let trial = included.trial;
        self.apply(Event::Included(included))?;
        Ok(trial)
    }

    /// As [`Study::include`], for a candidate of a finite domain.
    pub fn include_candidate(&mut self, candidate: usize, value: Option<f64>) -> Result<usize> {
        let candidates = self.spec.finite().ok_or(Error::NoCandidates)?;
        if candidate >= candidates.len() {
            return Err(Error::UnknownCandidate { candidate, candidates: candidates.len() });
        }
        let params = self.spec.domain().written_params(&candidates.point(candidate));
        self.spec.check_free(&self.ledger, candidate)?;
        let trial = self.ledger.trials().len();
        self.apply(Event::Included(Included { trial, candidate, params, value }))?;
        Ok(trial)
    }

    pub(super) fn model_included(&mut self, included: &Included) -> Result<()> {
        let trial = included.trial;
        included.value.map_or(Ok(()), |value| self.spec.check_value(trial, value))?;
        self.discard_tentative();
        if !self.chooser.is_available(trial, included.candidate) {
            return Err(self.ledger.bad_log(&format!("candidate {} is not available", included.candidate)));
        }
        let place = Place { trial, candidate: included.candidate, params: included.params.clone() };
        let point = self.hallucinate(&place)?;
        if let Some(value) = included.value {
            let value_in_model_units = self.warp_value(value);
            if let Err(error) = self.posterior.settle(trial as u64, value_in_model_units) {
                self.discard_picks(1);
                return Err(error.into());
            }
            self.refactor_if_due();
        }
        self.points.push(point);
        Ok(())
    }
}
