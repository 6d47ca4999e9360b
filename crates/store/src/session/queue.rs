//! The queue: points that are to be tried before suggestions.

use manyhands_core::{Event, Value};

use super::Session;
use crate::Result;

impl Session {
    /// Has points tried before any suggestion, in this order, all of them or none.
    pub fn enqueue(&mut self, points: &[Vec<(String, Value)>]) -> Result<()> {
        let decide = |session: &mut Self| {
            let mut ledger = session.ledger().clone();
            let mut events = Vec::with_capacity(points.len());
            for named in points {
                let event = Event::Enqueued(session.spec().enqueued(&ledger, named)?);
                ledger.apply(event.clone())?;
                events.push(event);
            }
            Ok(events)
        };
        self.log_decided(decide).map(drop)
    }

    /// Forgets the points that were enqueued and not tried yet; how many there were.
    pub fn clear_queue(&mut self) -> Result<usize> {
        let mut cleared = 0;
        self.log_decided(|session| {
            cleared = session.ledger().queue().len();
            Ok(if cleared > 0 { vec![Event::Cleared] } else { vec![] })
        })?;
        Ok(cleared)
    }
}
