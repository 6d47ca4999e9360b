//! What became of every trial, from the log alone: the fold without the model, so that telling costs nothing.

use std::collections::HashMap;

use manyhands_core::{Error as Refusal, Event, TrialState, Value};

use crate::chain::Link;
use crate::store::Record;
use crate::{Error, Result, Time, decode};

/// A trial as the log has it.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// What became of it.
    pub state: TrialState,
    /// Whether it was suggested here; otherwise it comes from elsewhere.
    pub suggested: bool,
    /// Its candidate; on a space that is not finite, its number.
    pub candidate: usize,
    /// Its value in the user's units, once observed.
    pub value: Option<f64>,
    /// Why it failed, if it did.
    pub reason: Option<String>,
    /// The values of its parameters as logged; none on a pool.
    pub params: Vec<Value>,
    /// When it was suggested or included.
    pub asked_at: Time,
    /// When it was told, failed or cancelled.
    pub told_at: Option<Time>,
}

/// All trials of a study, and its log.
#[derive(Debug, Clone, Default)]
pub struct Ledger {
    events: Vec<Event>,
    trials: Vec<Entry>,
    pending: usize,
    late: usize,
    /// The trials that were asked for with a key.
    keys: HashMap<String, Vec<usize>>,
    /// The running hash so far.
    hash: Option<Vec<u8>>,
}

impl Ledger {
    /// The log. Event i has sequence number i + 1.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// All trials in order of their numbers.
    pub fn trials(&self) -> &[Entry] {
        &self.trials
    }

    /// How many trials are pending.
    pub fn pending(&self) -> usize {
        self.pending
    }

    /// How many trials are in this state.
    pub fn count(&self, state: TrialState) -> usize {
        self.trials.iter().filter(|trial| trial.state == state).count()
    }

    /// How many results came too late.
    pub fn late(&self) -> usize {
        self.late
    }

    /// The trials that were asked for with this key.
    pub fn keyed(&self, key: &str) -> Option<&[usize]> {
        self.keys.get(key).map(Vec::as_slice)
    }

    /// The trial of this number, if it is pending.
    pub fn pending_trial(&self, number: usize) -> Result<&Entry> {
        let trial = self.trial(number)?;
        match trial.state {
            TrialState::Pending => Ok(trial),
            state => Err(Refusal::NotPending { trial: number, state }.into()),
        }
    }

    /// The trial of this number.
    pub fn trial(&self, number: usize) -> Result<&Entry> {
        let unknown = Refusal::UnknownTrial { trial: number, trials: self.trials.len() };
        Ok(self.trials.get(number).ok_or(unknown)?)
    }

    /// Takes in the next event of the log.
    pub fn apply(&mut self, record: &Record) -> Result<()> {
        let corrupt = |reason: String| Error::Corrupt { study: None, sequence: record.sequence, reason };
        if record.sequence != self.events.len() + 1 {
            return Err(corrupt(format!("event {} is missing before it", self.events.len() + 1)));
        }
        let hash = self.checked_hash(record).map_err(corrupt)?;
        let event = decode(record)?;
        if event.trial() != record.trial {
            return Err(corrupt("the store has it under another trial than it is about".to_string()));
        }
        let time = record.time;
        match &event {
            Event::Asked(asked) => self.begin(asked.trial, Entry::new(true, asked.candidate, &asked.params, time)),
            Event::Included(included) => {
                let entry = Entry::new(false, included.candidate, &included.params, time);
                self.begin(included.trial, entry).and_then(|()| match included.value {
                    Some(value) => self.end(included.trial, time, |trial| trial.observe(value)),
                    None => Ok(()),
                })
            }
            Event::Told { trial, value } => self.end(*trial, time, |trial| trial.observe(*value)),
            Event::Failed { trial, reason } => self.end(*trial, time, |trial| {
                trial.state = TrialState::Failed;
                trial.reason = Some(reason.clone());
            }),
            Event::Cancelled { trial } => self.end(*trial, time, |trial| trial.state = TrialState::Cancelled),
            Event::LateResult { trial, .. } => self.trial(*trial).map(drop).map_err(|error| error.to_string()),
            _ => Ok(()),
        }
        .map_err(corrupt)?;
        if let (Some(key), Event::Asked(asked)) = (&record.key, &event) {
            self.keys.entry(key.clone()).or_default().push(asked.trial);
        }
        self.hash = hash.or(self.hash.take());
        self.late += usize::from(matches!(event, Event::LateResult { .. }));
        self.events.push(event);
        Ok(())
    }

    /// The running hash with this event, which must be the stored one; none where none was stored.
    fn checked_hash(&self, record: &Record) -> std::result::Result<Option<Vec<u8>>, String> {
        let Record { sequence, time, kind, body, version, key, hash, .. } = record;
        let Some(stored) = hash else {
            let is_older = self.hash.is_none();
            return if is_older { Ok(None) } else { Err("it has no hash, and events before it have one".to_string()) };
        };
        let (sequence, time, version, key) = (*sequence as i64, *time, *version, key.as_deref());
        let link = Link { sequence, time, kind, version, key, body };
        match link.after(self.hash.as_deref()) == *stored {
            true => Ok(hash.clone()),
            false => Err("it or an event before it is not what was written: its hash differs".to_string()),
        }
    }

    fn begin(&mut self, number: usize, entry: Entry) -> std::result::Result<(), String> {
        if number != self.trials.len() {
            return Err(format!("trial {number} begins, {} is next", self.trials.len()));
        }
        self.trials.push(entry);
        self.pending += 1;
        Ok(())
    }

    fn end(&mut self, number: usize, time: Time, change: impl Fn(&mut Entry)) -> std::result::Result<(), String> {
        self.pending_trial(number).map_err(|error| error.to_string())?;
        let trial = &mut self.trials[number];
        trial.told_at = Some(time);
        change(trial);
        self.pending -= 1;
        Ok(())
    }
}

impl Entry {
    fn new(suggested: bool, candidate: usize, params: &[Value], asked_at: Time) -> Self {
        let (state, params) = (TrialState::Pending, params.to_vec());
        Self { state, suggested, candidate, value: None, reason: None, params, asked_at, told_at: None }
    }

    fn observe(&mut self, value: f64) {
        self.state = TrialState::Observed;
        self.value = Some(value);
    }
}
