//! What was expected of trials that were made with another setting than the suggested one.
//!
//! The log has what was expected at the suggestion. A value from elsewhere says nothing about that: where the model is sure, a
//! hundredth of a range is many sds. So the model as it was before the suggestion predicts again, at the actual setting.

use super::Study;
use crate::chooser::Place;
use crate::event::{Asked, Event};
use crate::{Phase, Result};

/// Trials that were chosen with more values are left out: every prediction costs a factor of all of them.
const MOST_VALUES: usize = 500;

impl Study {
    /// The intervals of such trials, by number.
    pub(super) fn expected_elsewhere(&self) -> &[(usize, [f64; 2])] {
        // A log that this study has applied can be applied again.
        self.elsewhere.get_or_init(|| self.expect_elsewhere().unwrap_or_default())
    }

    fn expect_elsewhere(&self) -> Result<Vec<(usize, [f64; 2])>> {
        let events = self.ledger.events();
        let Some(last) = events.iter().rposition(|event| self.moved_by(event).is_some()) else { return Ok(vec![]) };
        let (mut past, mut expected) = (Self::new(self.spec.clone())?, vec![]);
        for event in &events[..=last] {
            if past.posterior.observed() > MOST_VALUES {
                break;
            }
            if let Some(place) = self.moved_by(event).filter(|_| past.is_predicting()) {
                expected.extend(past.expectation(&place)?.1.map(|interval| (place.trial, interval)));
            }
            past.apply(event.clone())?;
        }
        Ok(expected)
    }

    /// Where a trial was made that this event suggested for another place, if it has a value.
    fn moved_by(&self, event: &Event) -> Option<Place> {
        let Event::Asked(Asked { trial, choice, .. }) = event else { return None };
        let made = Some(&self.ledger.trials()[*trial]).filter(|made| made.is_moved() && made.value().is_some())?;
        let (candidate, params) = (made.candidate(), made.logged_params().to_vec());
        (choice.phase != Phase::Design).then_some(Place { trial: *trial, candidate, params })
    }
}
