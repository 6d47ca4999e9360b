//! Points that the user wants tried: they are suggested before anything that the strategy would choose.

use super::Study;
use crate::chooser::Place;
use crate::domain::NamedPoint;
use crate::event::{Enqueued, Event};
use crate::{Aim, Choice, Error, Phase, Result, Value};

impl Study {
    /// Has a point tried before any suggestion; points that were enqueued earlier come first.
    ///
    /// ```
    /// # use manyhands_core::{Domain, Parameter, Space, Spec, Strategy, Study};
    /// # fn main() -> manyhands_core::Result<()> {
    /// # let space = Space::new(vec![Parameter::float("x", 0.0, 1.0)?], vec![])?;
    /// # let mut study = Study::new(Spec::learned(Domain::Space(space), Strategy::auto())?)?;
    /// study.enqueue(&[0.3.into()])?; // what everybody uses
    /// assert_eq!(study.ask(2)?[0].params(), [0.3.into()]);
    /// # Ok(()) }
    /// ```
    pub fn enqueue(&mut self, params: &[Value]) -> Result<()> {
        let enqueued = self.propose_enqueued(&self.spec.domain().name_values(params)?)?;
        self.apply(Event::Enqueued(enqueued))
    }

    /// The event that enqueues a point given by name, checked; parameters with one value, and columns that are not
    /// coordinates, may be omitted.
    pub fn propose_enqueued(&self, named: &[(String, Value)]) -> Result<Enqueued> {
        let NamedPoint { candidate, params } = self.spec.domain().find(self.spec.finite(), named)?;
        let enqueued = Enqueued { candidate, params };
        self.check_enqueued(&enqueued)?;
        Ok(enqueued)
    }

    /// Forgets the points that were enqueued and not tried yet.
    pub fn clear_queue(&mut self) -> Result<()> {
        self.apply(Event::Cleared)
    }

    pub(super) fn model_enqueued(&mut self, enqueued: &Enqueued) -> Result<()> {
        self.discard_tentative();
        self.chooser.point(&self.place_of(enqueued, self.ledger.trials().len()))?;
        self.check_enqueued(enqueued)
    }

    /// The choice of the next point of the queue for a trial, if the queue has one beyond those that were proposed already.
    pub(super) fn choose_queued(&self, trial: usize) -> Result<Option<Choice>> {
        // Enqueued points come first, so that all that was proposed is from the queue while that is not exhausted.
        let Some(next) = self.ledger.queue().nth(self.tentative) else { return Ok(None) };
        let Place { candidate, params, .. } = self.place_of(next, trial);
        let place = Place { trial, candidate, params: params.clone() };
        let there = self.posterior.predict(&self.chooser.point(&place)?)?;
        let (mean, sd, score, gap, aim) = (there.mean, there.sd, there.mean, None, Some(Aim::Requested));
        Ok(Some(Choice { candidate, params, mean, sd, score, gap, phase: Phase::Queued, aim, ..Choice::wide() }))
    }

    fn place_of(&self, enqueued: &Enqueued, trial: usize) -> Place {
        Place { trial, candidate: enqueued.candidate.unwrap_or(trial), params: enqueued.params.clone() }
    }

    /// Refuses a candidate of a pool without repeats that was tried, or is in the queue.
    fn check_enqueued(&self, enqueued: &Enqueued) -> Result<()> {
        let Some(candidate) = enqueued.candidate else { return Ok(()) };
        let is_free = self.chooser.is_available(self.ledger.trials().len(), candidate);
        if is_free && !self.is_reserved(candidate) { Ok(()) } else { Err(Error::CandidateTaken { candidate }) }
    }

    /// Whether a candidate that may be tried only once is in the queue.
    pub(super) fn is_reserved(&self, candidate: usize) -> bool {
        !self.spec.repeats() && self.ledger.queue().any(|next| next.candidate == Some(candidate))
    }
}
