//! What is recorded of a trial was wrong: its value, its end, or the setting it was made with. And a failed trial once more.
//!
//! The model is then that of the present record, as if it had been told so: certificates and fits are made anew. Choices from
//! before are as they were, made with what was known then.

use manyhands_gp::Key;

use super::Study;
use crate::chooser::{Place, chooser};
use crate::event::{Amended, Event};
use crate::trial::Trial;
use crate::{Result, Value};

impl Study {
    /// Replaces how a trial ended, which was told or has failed: by a value, or by why there is none. Whether a record is
    /// amended must not depend on the noise of its value, or certificates do not hold.
    ///
    /// ```
    /// # use manyhands_core::{Domain, Parameter, Space, Spec, Strategy, Study};
    /// # fn main() -> manyhands_core::Result<()> {
    /// # let space = Space::new(vec![Parameter::float("x", 0.0, 1.0)?], vec![])?;
    /// # let mut study = Study::new(Spec::learned(Domain::Space(space), Strategy::auto())?)?;
    /// study.ask(1)?;
    /// study.tell(0, 999.0)?;
    /// study.amend(0, Ok(9.99))?; // a typing error
    /// assert_eq!(study.best()?.value, 9.99);
    /// study.restore(0)?;
    /// assert_eq!(study.best()?.value, 999.0);
    /// # Ok(()) }
    /// ```
    pub fn amend(&mut self, trial: usize, outcome: std::result::Result<f64, String>) -> Result<()> {
        self.apply(Event::Amended(Amended { trial, setting: None, outcome: Some(outcome) }))
    }

    /// Replaces the values that the parameters of a trial had, on a space.
    pub fn amend_params(&mut self, trial: usize, params: &[Value]) -> Result<()> {
        let named = self.spec.domain().name_values(params)?;
        let setting = Some(self.spec.actual_setting(self.ledger.trial(trial)?, &named)?);
        self.apply(Event::Amended(Amended { trial, setting, outcome: None }))
    }

    /// Takes the last amendment of a trial back.
    pub fn restore(&mut self, trial: usize) -> Result<()> {
        self.apply(Event::Restored { trial })
    }

    /// Makes a failed trial pending again, for another attempt at the same point.
    pub fn reopen(&mut self, trial: usize) -> Result<()> {
        self.apply(Event::Reopened { trial })
    }

    /// Changes the row of a trial to what its record is after the event.
    pub(super) fn model_revised(&mut self, event: &Event) -> Result<()> {
        let after = self.ledger.revised(event)?;
        let (trial, before) = (after.number(), self.ledger.trial(after.number())?.clone());
        if let Some(value) = after.value() {
            self.spec.check_value(trial, value)?;
        }
        let point = self.point_of(&after)?;
        let is_moved = point != self.points[trial];
        // Even where nothing changes: a fit that is proposed again after this event has seen it.
        self.discard_tentative();
        if !is_moved && before.value() == after.value() {
            return Ok(());
        }
        self.change_row(&before, &after, is_moved.then_some(point.as_slice()))?;
        self.points[trial] = point;
        self.posterior.factor_at_once();
        self.renew_chooser()?;
        self.band = Default::default();
        self.learning.is_outdated |= before.value().is_some() || after.value().is_some();
        Ok(())
    }

    /// The row of a trial, from one record to another; `moved` is its new point, if that is another one.
    fn change_row(&mut self, before: &Trial, after: &Trial, moved: Option<&[f64]>) -> Result<()> {
        let id = after.number() as u64;
        let value = after.value().map(|value| self.warp_value(value));
        match (before.value(), value, moved) {
            (Some(_), Some(value), None) => return Ok(self.posterior.amend(id, value)?),
            (Some(_), ..) => self.posterior.withdraw(id)?,
            (None, ..) => {}
        }
        if let Some(point) = moved {
            self.posterior.retract(id)?;
            self.posterior.hallucinate(Key { id, site: after.candidate() }, point)?;
        }
        value.map_or(Ok(()), |value| Ok(self.posterior.settle(id, value)?))
    }

    /// The coordinates of a trial's record.
    fn point_of(&self, trial: &Trial) -> Result<Vec<f64>> {
        let (candidate, params) = (trial.candidate(), trial.logged_params().to_vec());
        if let Some(actual) = trial.actual() {
            let named = self.spec.domain().name_values(&params)?;
            if self.spec.actual_setting(trial, &named)?.candidate != actual.candidate {
                return Err(self.ledger.bad_log("its candidate does not have its parameters"));
            }
        }
        self.chooser.point(&Place { trial: trial.number(), candidate, params })
    }

    /// A chooser that has computed nothing from the rows as they were.
    fn renew_chooser(&mut self) -> Result<()> {
        let mut renewed = chooser(&self.spec, self.posterior.prior())?;
        self.posterior.keys().iter().for_each(|key| renewed.set_taken(key.site, true));
        self.chooser = renewed;
        Ok(())
    }
}
