//! Points that the user wants tried: they are suggested before anything that the strategy would choose.

use super::Study;
use crate::chooser::Place;
use crate::event::{Enqueued, Event};
use crate::{Aim, Choice, Phase, Result, Value};

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
        let named = self.spec.domain().name_values(params)?;
        self.apply(Event::Enqueued(self.spec.enqueued(&self.ledger, &named)?))
    }

    /// Forgets the points that were enqueued and not tried yet.
    pub fn clear_queue(&mut self) -> Result<()> {
        self.apply(Event::Cleared)
    }

    pub(super) fn model_enqueued(&mut self, enqueued: &Enqueued) -> Result<()> {
        self.discard_tentative();
        self.chooser.point(&self.place_of(enqueued, self.ledger.trials().len()))?;
        enqueued.candidate.map_or(Ok(()), |candidate| self.spec.check_free(&self.ledger, candidate))
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
}
