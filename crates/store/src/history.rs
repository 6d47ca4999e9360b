//! The fold over a stored log: the ledger of its events, their times, the keys of asks, and the running hash.

use std::collections::HashMap;

use manyhands_core::event::EventKind;
use manyhands_core::{Event, Ledger};

use crate::Time;
use crate::chain::{Hash, HashedEvent};
use crate::codec::decode;
use crate::error::Damage;
use crate::record::Record;

/// When a trial began and ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    /// When it was suggested or included.
    pub asked_at: Time,
    /// When it was told, failed or cancelled; none while it is pending.
    pub told_at: Option<Time>,
}

/// The records of a study, read in order.
#[derive(Debug, Clone, Default)]
pub struct History {
    ledger: Ledger,
    times: Vec<Times>,
    /// The trials that were asked for with a key.
    keys: HashMap<String, Vec<usize>>,
    /// The running hash so far.
    hash: Option<Hash>,
}

impl History {
    /// What became of every trial.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    pub fn into_ledger(self) -> Ledger {
        self.ledger
    }

    /// When the trials began and ended, in order of their numbers.
    pub fn times(&self) -> &[Times] {
        &self.times
    }

    /// The trials that were asked for with this key.
    pub fn keyed(&self, key: &str) -> Option<&[usize]> {
        self.keys.get(key).map(Vec::as_slice)
    }

    /// Applies the next record of the log, if it is undamaged and can follow those before it.
    pub fn apply(&mut self, record: &Record) -> Result<(), Damage> {
        let (event, hash) = self.read(record)?;
        if event.trial() != record.trial {
            let reason = "the store has it under another trial than it is about".to_string();
            return Err(Damage { sequence: record.sequence, reason });
        }
        self.add(record, event, hash)
    }

    /// As [`History::apply`], for a record of an exported log, which does not list trials apart from the events. Returns the
    /// event.
    pub fn apply_exported(&mut self, record: &Record) -> Result<&Event, Damage> {
        let (event, hash) = self.read(record)?;
        self.add(record, event, hash)?;
        // Its sequence number was checked to be the next one.
        Ok(&self.ledger.events()[record.sequence - 1])
    }

    /// The event of the next record, and its running hash.
    fn read(&self, record: &Record) -> Result<(Event, Option<Hash>), Damage> {
        let corrupt = |reason: String| Damage { sequence: record.sequence, reason };
        let next = self.ledger.events().len() + 1;
        if record.sequence != next {
            return Err(corrupt(format!("event {next} is missing before it")));
        }
        let hash = self.checked_hash(record).map_err(corrupt)?;
        Ok((decode(record)?, hash))
    }

    fn add(&mut self, record: &Record, event: Event, hash: Option<Hash>) -> Result<(), Damage> {
        let damage = |error| Damage { sequence: record.sequence, reason: reason(&error) };
        let (kind, trial) = (event.kind(), event.trial());
        self.ledger.apply(event).map_err(damage)?;
        if kind.begins_a_trial() {
            let is_told = self.ledger.trials().last().is_some_and(|trial| trial.value().is_some());
            self.times.push(Times { asked_at: record.time, told_at: is_told.then_some(record.time) });
        }
        if let (true, Some(times)) = (kind.ends_a_trial(), trial.and_then(|trial| self.times.get_mut(trial))) {
            times.told_at = Some(record.time);
        }
        if let (true, Some(times)) = (kind.reopens_a_trial(), trial.and_then(|trial| self.times.get_mut(trial))) {
            times.told_at = None;
        }
        if let (Some(key), EventKind::Asked, Some(trial)) = (&record.key, kind, trial) {
            self.keys.entry(key.clone()).or_default().push(trial);
        }
        self.hash = hash.or(self.hash.take());
        Ok(())
    }

    /// The running hash with this event, which must be the stored one; none where none was stored.
    fn checked_hash(&self, record: &Record) -> Result<Option<Hash>, String> {
        let Record { sequence, time, kind, body, version, key, hash, .. } = record;
        let Some(stored) = hash else {
            let is_older = self.hash.is_none();
            return if is_older { Ok(None) } else { Err("it has no hash, and events before it have one".to_string()) };
        };
        let (sequence, time, version, key) = (*sequence as i64, *time, *version, key.as_deref());
        let hashed = HashedEvent { sequence, time, kind, version, key, body };
        let found = hashed.after(self.hash.as_ref().map(Hash::as_slice));
        match found == stored.as_slice() {
            true => Ok(Some(found)),
            false => Err("it or an event before it is not what was written: its hash differs".to_string()),
        }
    }
}

/// Why an event cannot follow, without its sequence number, which the store's own error has.
fn reason(error: &manyhands_core::Error) -> String {
    match error {
        manyhands_core::Error::BadLog { reason, .. } => reason.clone(),
        error => error.to_string(),
    }
}
