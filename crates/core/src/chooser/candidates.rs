//! The candidates of one ask on a space, with their moments, kept between its picks.

use manyhands_gp::{Acquisition, Points, Screen, Shortlist, View};

use crate::tuning::SCREENED_ROWS;
use crate::{Error, Result};

/// The candidates of an ask are drawn before they are read.
const NOT_DRAWN: Error = Error::Internal { what: "candidates were not drawn" };

/// Which candidates' scores are wanted.
#[derive(Debug, Clone, Copy)]
pub(super) enum Wanted {
    /// Only the best: others may be reported as minus infinity.
    Best,
    /// All of them.
    All,
}

/// The candidates of an ask.
#[derive(Debug, Clone, Default)]
pub(super) struct AskCandidates {
    moments: Option<Moments>,
    /// Whether they are those of the current ask.
    is_current: bool,
}

/// The moments of the candidates.
#[derive(Debug, Clone)]
enum Moments {
    /// Exact moments of every candidate, where rows are few.
    Screen(Screen),
    /// Bounds for most candidates, where rows are many.
    Shortlist(Shortlist),
}

impl AskCandidates {
    /// A new ask begins: candidates will be drawn again.
    pub fn begin_ask(&mut self) {
        self.is_current = false;
    }

    /// Whether they are those of an ask that is over.
    pub fn are_outdated(&self) -> bool {
        !self.is_current || self.moments.is_none()
    }

    /// AskCandidates of a new ask, in the memory of those of the last one.
    pub fn renew(&mut self, view: View<'_>, candidates: Points) -> Result<()> {
        let is_few = view.keys().len() <= SCREENED_ROWS;
        self.moments = Some(match (is_few, self.moments.take()) {
            (true, Some(Moments::Screen(screen))) => Moments::Screen(screen.renewed(view, candidates)?),
            (true, _) => Moments::Screen(Screen::new(view, candidates)?),
            (false, _) => Moments::Shortlist(Shortlist::new(view, candidates)?),
        });
        self.is_current = true;
        Ok(())
    }

    /// The candidates' scores.
    pub fn scores(&mut self, view: View<'_>, acquisition: &dyn Acquisition, wanted: Wanted) -> Result<Vec<f64>> {
        match (&mut self.moments, wanted) {
            (Some(Moments::Shortlist(list)), Wanted::Best) => Ok(list.highest(view, acquisition)),
            (Some(Moments::Shortlist(list)), Wanted::All) => Ok(list.all(view, acquisition)),
            (Some(Moments::Screen(screen)), _) => {
                screen.append(view);
                Ok(screen.values(acquisition))
            }
            (None, _) => Err(NOT_DRAWN),
        }
    }

    /// The candidates, in order.
    pub fn points(&self) -> impl Iterator<Item = &[f64]> {
        self.list().into_iter().flat_map(Points::iter)
    }

    /// One of them.
    pub fn get(&self, index: usize) -> &[f64] {
        self.list().map_or(&[], |points| points.get(index))
    }

    /// All of them.
    pub fn all(&self) -> Result<&Points> {
        self.list().ok_or(NOT_DRAWN)
    }

    fn list(&self) -> Option<&Points> {
        match &self.moments {
            Some(Moments::Screen(screen)) => Some(screen.candidates()),
            Some(Moments::Shortlist(list)) => Some(list.candidates()),
            None => None,
        }
    }
}
