//! Trials from elsewhere: evaluations made before or beside the study, and points under way somewhere else.

use super::chooser::{Chooser, Place};
use super::{Study, Trial, bad_log};
use crate::event::{Event, Included};
use crate::{Error, Result, Value};

impl Study {
    /// Adds an evaluation made elsewhere (a warm start), or, without a value, a point under way elsewhere: it counts as
    /// pending until it is told, failed or cancelled by its number, which is returned.
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
        let space = self.spec.domain().space().ok_or(Error::NoParameters)?;
        let point = space.embed(params)?;
        // As the study itself would write them: 3 for 3.0, for example.
        let params = space.params(&point);
        let candidate = match &self.chooser {
            Chooser::Finite(_) => self.candidate_at(&point)?,
            _ => self.trials.len(),
        };
        self.include_at(candidate, params, value)
    }

    /// As [`Study::include`], for a candidate of a finite domain.
    pub fn include_candidate(&mut self, candidate: usize, value: Option<f64>) -> Result<usize> {
        let Chooser::Finite(finite) = &self.chooser else { return Err(Error::NoCandidates) };
        let domain = finite.surface.restricted().domain();
        if candidate >= domain.len() {
            return Err(Error::UnknownCandidate { candidate, candidates: domain.len() });
        }
        let point = domain.point(candidate);
        let params = self.spec.domain().space().map(|space| space.params(&point)).unwrap_or_default();
        self.include_at(candidate, params, value)
    }

    /// The candidate of a finite domain at this point; refused where there is none, naming the nearest.
    pub fn candidate_at(&self, point: &[f64]) -> Result<usize> {
        let Chooser::Finite(finite) = &self.chooser else { return Err(Error::NoCandidates) };
        let domain = finite.surface.restricted().domain();
        let distance = |i: usize| -> f64 { domain.point(i).iter().zip(point).map(|(a, b)| (a - b).powi(2)).sum() };
        let mut nearest = (f64::INFINITY, 0);
        for i in 0..domain.len() {
            let distance = distance(i);
            if distance < nearest.0 {
                nearest = (distance, i);
            }
        }
        match nearest {
            (0.0, candidate) if domain.point(candidate).len() == point.len() => Ok(candidate),
            (_, candidate) => {
                Err(Error::NotACandidate { point: point.to_vec(), candidate, nearest: domain.point(candidate) })
            }
        }
    }

    fn include_at(&mut self, candidate: usize, params: Vec<Value>, value: Option<f64>) -> Result<usize> {
        let trial = self.trials.len();
        self.apply(Event::Included(Included { trial, candidate, params, value }))?;
        Ok(trial)
    }

    pub(super) fn apply_included(&mut self, included: &Included) -> Result<()> {
        let (sequence, trial) = (self.events.len(), included.trial);
        if trial != self.trials.len() {
            return Err(bad_log(sequence, &format!("trial {trial} is included, {} is next", self.trials.len())));
        }
        included.value.map_or(Ok(()), |value| self.spec.check_value(trial, value))?;
        self.discard_tentative();
        if !self.chooser.is_free(&self.spec, trial, included.candidate) {
            return Err(Error::CandidateTaken { candidate: included.candidate });
        }
        let place = Place { trial, candidate: included.candidate, params: included.params.clone() };
        let point = self.chooser.point(&self.spec, &place)?;
        let modelled = included.value.map(|value| self.modelled(value));
        self.hallucinate(&place)?;
        let mut added = Trial::new(place, point, None);
        if let (Some(value), Some(modelled)) = (included.value, modelled) {
            if let Err(error) = self.posterior.settle(trial as u64, modelled) {
                self.discard_picks(1);
                return Err(error.into());
            }
            added.observe(value);
        }
        self.trials.push(added);
        Ok(())
    }
}
