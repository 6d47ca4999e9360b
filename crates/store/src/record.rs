//! Events as a store keeps them, and which of them a trial has at most once.

use manyhands_core::event::EventKind;

use crate::Time;
use crate::lease::{Claim, Fence};

/// An event to be logged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEvent {
    pub kind: EventKind,
    /// The trial it is about.
    pub trial: Option<usize>,
    /// Its content, as JSON.
    pub body: String,
    /// When it happened, if that is not now.
    pub time: Option<Time>,
    /// The key of the ask that it belongs to, if its asker gave one.
    pub key: Option<String>,
    /// The attempt at its trial that it belongs to, from 0.
    pub attempt: usize,
}

impl NewEvent {
    /// What the log holds at most once for an attempt at its trial, if it is such an event.
    pub fn unique(&self) -> Option<(Unique, AttemptKey)> {
        Some((Unique::of(self.kind)?, AttemptKey { trial: self.trial?, attempt: self.attempt }))
    }

    /// The trial that it ends, if it ends one.
    pub fn ended_trial(&self) -> Option<usize> {
        self.trial.filter(|_| Unique::of(self.kind) == Some(Unique::End))
    }
}

/// One attempt at a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AttemptKey {
    pub trial: usize,
    pub attempt: usize,
}

/// What a log holds at most once for each attempt at a trial, whoever writes: the one place where stores learn which events those
/// are. Their databases have a unique index for each (`schema`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unique {
    /// A trial begins once, with attempt 0.
    Beginning,
    /// Each later attempt begins once.
    Reopening,
    /// An attempt ends once.
    End,
}

impl Unique {
    pub const ALL: [Self; 3] = [Self::Beginning, Self::Reopening, Self::End];

    pub fn of(kind: EventKind) -> Option<Self> {
        Self::ALL.into_iter().find(|unique| unique.includes(kind))
    }

    fn includes(self, kind: EventKind) -> bool {
        match self {
            Self::Beginning => kind.begins_a_trial(),
            Self::Reopening => kind.reopens_a_trial(),
            Self::End => kind.ends_a_trial(),
        }
    }

    /// The kinds of such events, as SQL lists them.
    pub fn kinds(self) -> String {
        let kinds = EventKind::ALL.into_iter().filter(|kind| self.includes(*kind));
        kinds.map(|kind| format!("'{kind}'")).collect::<Vec<_>>().join(", ")
    }
}

/// A logged event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Its place in the study's log, from 1.
    pub sequence: usize,
    /// When it was logged.
    pub time: Time,
    /// The name of its kind.
    pub kind: String,
    /// The trial it is about.
    pub trial: Option<usize>,
    /// Its content, as JSON.
    pub body: String,
    /// The version of the content's format.
    pub version: i64,
    /// The key of the ask that it belongs to, if its asker gave one.
    pub key: Option<String>,
    /// The running hash up to and including this event; none where the store keeps none, or did not yet.
    pub hash: Option<Vec<u8>>,
}

/// Events to be logged together, or not at all.
#[derive(Debug, Clone, Default)]
pub struct Append<'a> {
    /// A name that no other append has: one that is repeated, because its answer was lost, is stored once.
    pub origin: &'a str,
    pub events: &'a [NewEvent],
    /// Refused if a newer lease was granted than this.
    pub fence: Option<Fence<'a>>,
    /// Refused if the log has more events than this: they were decided on without those.
    pub after: Option<usize>,
    /// Leases that are granted with it.
    pub claims: &'a [Claim<'a>],
    /// Leases that end with it.
    pub releases: &'a [Fence<'a>],
}

/// What became of an append.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Appended {
    /// It is durable.
    Stored {
        /// The tokens of its claims, in their order.
        tokens: Vec<u64>,
        /// The events as they are stored; none if an earlier append of the same origin has stored them.
        records: Vec<Record>,
    },
    /// A newer lease was granted; nothing was stored.
    Fenced {
        /// Its token.
        current: u64,
    },
    /// Another event has begun or ended this trial; nothing was stored.
    Taken { trial: usize },
    /// The log has more events than the append was based on; nothing was stored.
    Outdated,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The indexes of the schemas list these kinds. A kind that is added to either list needs a new schema step.
    #[test]
    fn the_kinds_are_those_of_the_unique_indexes() {
        assert_eq!(Unique::Beginning.kinds(), "'asked', 'included'");
        assert_eq!(Unique::Reopening.kinds(), "'reopened'");
        assert_eq!(Unique::End.kinds(), "'told', 'failed', 'cancelled'");
    }
}
