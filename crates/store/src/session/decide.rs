//! Events that depend on the whole log: they are decided on from what is known, and decided on again if the log has grown.

use manyhands_core::{Event, Ledger};

use super::Session;
use crate::Result;
use crate::codec::encode;
use crate::lease::Claim;
use crate::record::{Append, Appended, NewEvent};

impl Session {
    /// Logs what `decide` gives for the present log, all of it or nothing; nothing where that is no event. Between its decision
    /// and the append nothing else is logged: otherwise it decides again. The events must be able to follow the log.
    pub(super) fn log_decided(&mut self, decide: impl FnMut(&mut Self) -> Result<Vec<Event>>) -> Result<Vec<Event>> {
        self.log_decided_with(&[], decide)
    }

    /// As [`Session::log_decided`], with leases that are granted together with the events.
    pub(super) fn log_decided_with(
        &mut self,
        claims: &[Claim<'_>],
        mut decide: impl FnMut(&mut Self) -> Result<Vec<Event>>,
    ) -> Result<Vec<Event>> {
        let (origin, mut is_up_to_date) = (self.new_origin(), false);
        loop {
            let decided = decide(self).and_then(|events| Ok((self.encoded_in_order(&events)?, events)));
            // What is known suffices to log something: should the log have grown, the append says so.
            if !is_up_to_date && decided.as_ref().map_or(true, |(_, events)| events.is_empty()) {
                self.sync()?;
                is_up_to_date = true;
                continue;
            }
            let (encoded, events) = decided?;
            if events.is_empty() {
                return Ok(events);
            }
            let after = Some(self.ledger().events().len());
            let append = Append { origin: &origin, events: &encoded, after, claims, ..Append::default() };
            if let Appended::Stored { .. } = self.append(&append)? {
                return Ok(events);
            }
            self.sync()?;
            is_up_to_date = true;
        }
    }

    /// Events as they are stored, each with its attempt; refused where they cannot follow the log.
    fn encoded_in_order(&self, events: &[Event]) -> Result<Vec<NewEvent>> {
        encoded_after(&mut self.ledger().clone(), events)
    }

    /// An event as it is stored, with the attempt that its trial is in.
    pub(super) fn encoded(&self, event: &Event) -> Result<NewEvent> {
        encode_applied(self.ledger(), event)
    }
}

/// Events as they are stored after those of a ledger, which they are applied to.
pub(super) fn encoded_after(ledger: &mut Ledger, events: &[Event]) -> Result<Vec<NewEvent>> {
    let encoded = |event: &Event| {
        ledger.apply(event.clone())?;
        encode_applied(ledger, event)
    };
    events.iter().map(encoded).collect()
}

/// An event that a ledger ends with, as it is stored.
pub(super) fn encode_applied(ledger: &Ledger, event: &Event) -> Result<NewEvent> {
    encode(event, attempt(ledger, event))
}

/// The attempt that the trial of an event is in.
fn attempt(ledger: &Ledger, event: &Event) -> usize {
    event.trial().and_then(|trial| ledger.trials().get(trial)).map_or(0, |trial| trial.attempt())
}
