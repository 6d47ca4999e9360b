//! Points of large grids in logs of engines that did not number them: found from their parameters.
//!
//! Before engine 5 grids of more than 16,384 points were searched like continuous spaces where the model was learned or the
//! rule sampled. Events there have the trial's number for a candidate, or none, and the values of the parameters. So on such
//! grids the parameters decide, but in choices of an engine that numbers the points.

use manyhands_gp as gp;

use super::Study;
use crate::domain::candidate_at;
use crate::event::{ActualSetting, Amended, Asked, Enqueued, Event, Included};
use crate::tuning::FINITE_POINTS;
use crate::{Choice, Result, Value};

/// The first engine that numbers the points of all grids that are finite now.
const NUMBERS_LARGE_GRIDS: u32 = 5;

impl Study {
    /// An event with the candidate of its point; refused where its parameters are those of no candidate.
    pub(super) fn located(&self, event: Event) -> Result<Event> {
        let (Some(space), Some(candidates @ gp::Domain::Grid(grid))) = (self.spec.domain().space(), self.spec.finite())
        else {
            return Ok(event);
        };
        if grid.len() <= FINITE_POINTS {
            return Ok(event);
        }
        let find = |params: &[Value]| {
            let found = space.embed(params).and_then(|point| candidate_at(candidates, &point));
            found.map_err(|error| self.ledger.bad_log(&format!("its point is none of the grid's: {error}")))
        };
        Ok(match event {
            Event::Asked(asked) if asked.engine < NUMBERS_LARGE_GRIDS => {
                let candidate = find(&asked.choice.params)?;
                Event::Asked(Asked { choice: Choice { candidate, ..asked.choice }, ..asked })
            }
            Event::Included(included) => {
                let candidate = find(&included.params)?;
                Event::Included(Included { candidate, ..included })
            }
            Event::Enqueued(enqueued) => {
                let candidate = Some(find(&enqueued.params)?);
                Event::Enqueued(Enqueued { candidate, ..enqueued })
            }
            Event::Amended(Amended { trial, setting: Some(ActualSetting { params, .. }), outcome }) => {
                let candidate = Some(find(&params)?);
                Event::Amended(Amended { trial, setting: Some(ActualSetting { candidate, params }), outcome })
            }
            other => other,
        })
    }
}
