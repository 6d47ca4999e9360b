//! Trials from elsewhere: evaluations made outside the study, finished or still running.

use manyhands_gp as gp;

use super::Study;
use crate::chooser::Place;
use crate::event::{Event, Included};
use crate::{Domain, Error, Result, Value};

/// A point that a user names, as an event records it.
struct NamedPoint {
    /// The candidate's index in the domain; none where the domain is not finite.
    candidate: Option<usize>,
    /// The values as the study writes them; empty for pools: `candidate` identifies the row.
    params: Vec<Value>,
}

/// The point with these named values; refused where it is not a candidate or not in the space.
fn find_point(domain: &Domain, finite: Option<&gp::Domain>, named: &[(String, Value)]) -> Result<NamedPoint> {
    match domain {
        Domain::Pool(pool) => Ok(NamedPoint { candidate: Some(pool.find(named)?), params: vec![] }),
        Domain::Space(space) => {
            let given = space.from_named(named)?;
            let point = space.embed(&given)?;
            let candidate = finite.map(|finite| candidate_at(finite, &point)).transpose()?;
            // Normalized as the study itself writes values (3 for 3.0), except that a continuous value keeps its exact bits.
            let written = |(own, given): (Value, &Value)| match (own, given.number()) {
                (Value::Float(_), Some(number)) if candidate.is_none() => Value::Float(number),
                (own, _) => own,
            };
            Ok(NamedPoint { candidate, params: space.params(&point).into_iter().zip(&given).map(written).collect() })
        }
        Domain::Points(_) | Domain::Grid(_) | Domain::Discretized { .. } => Err(Error::NoParameters),
    }
}

/// The candidate at this point; refused where there is none, naming the nearest.
fn candidate_at(domain: &gp::Domain, point: &[f64]) -> Result<usize> {
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
        let included = self.propose_included(named, value)?;
        let trial = included.trial;
        self.apply(Event::Included(included))?;
        Ok(trial)
    }

    /// The event that [`Study::include_named`] would log, checked: it can be applied as long as no other trial is.
    pub fn propose_included(&self, named: &[(String, Value)], value: Option<f64>) -> Result<Included> {
        let NamedPoint { candidate, params } = find_point(self.spec.domain(), self.chooser.candidates(), named)?;
        self.included_at(candidate, params, value)
    }

    /// The event that includes this point, checked.
    fn included_at(&self, candidate: Option<usize>, params: Vec<Value>, value: Option<f64>) -> Result<Included> {
        let trial = self.ledger.trials().len();
        let candidate = candidate.unwrap_or(trial);
        value.map_or(Ok(()), |value| self.spec.check_value(trial, value))?;
        if !self.chooser.is_available(trial, candidate) {
            return Err(Error::CandidateTaken { candidate });
        }
        Ok(Included { trial, candidate, params, value })
    }

    /// As [`Study::include`], for a candidate of a finite domain.
    pub fn include_candidate(&mut self, candidate: usize, value: Option<f64>) -> Result<usize> {
        let domain = self.chooser.candidates().ok_or(Error::NoCandidates)?;
        if candidate >= domain.len() {
            return Err(Error::UnknownCandidate { candidate, candidates: domain.len() });
        }
        let point = domain.point(candidate);
        let params = match self.spec.domain() {
            Domain::Space(space) => space.params(&point),
            _ => vec![],
        };
        self.discard_tentative();
        let included = self.included_at(Some(candidate), params, value)?;
        let trial = included.trial;
        self.apply(Event::Included(included))?;
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
        let point = self.chooser.point(&place)?;
        let value_in_model_units = included.value.map(|value| self.warp_value(value));
        self.hallucinate(&place)?;
        if let Some(value_in_model_units) = value_in_model_units {
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
