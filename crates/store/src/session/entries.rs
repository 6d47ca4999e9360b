//! Many results at once, as a table has them: all of them are checked before anything is logged, and they are logged together.

use std::collections::HashSet;

use manyhands_core::event::Included;
use manyhands_core::{Event, Ledger, Spec, Trial, TrialState, Value};

use super::amend::amended;
use super::decide::encoded_after;
use super::tell::{check_metrics, events_of_external, new_metrics};
use super::{Amendment, ExternalEvaluation, Session};
use crate::backend::NewStudy;
use crate::{Error, Result, Source, Store};

/// The reason of a failure that a table gives none for.
pub fn no_reason() -> String {
    TrialState::Failed.to_string()
}

/// What a table says of one trial.
#[derive(Debug, Clone, PartialEq)]
pub enum Entry {
    /// Of a trial of the study.
    Trial(TrialEntry),
    /// Of an evaluation that was made elsewhere, or is.
    External(ExternalEvaluation),
}

/// What a table says of a trial of the study.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialEntry {
    /// The trial's number.
    pub trial: usize,
    /// The parameters whose values are not those recorded, by name: the setting that the trial was made with.
    pub params: Vec<(String, Value)>,
    /// Its value, or why there is none; none while it is pending.
    pub outcome: Option<std::result::Result<f64, String>>,
    /// Further numbers, by name.
    pub metrics: Vec<(String, f64)>,
}

/// What is done where a table and the record of a trial that has ended differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnConflict {
    /// Nothing is recorded.
    Refuse,
    /// The record is amended.
    Amend,
}

/// What became of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The trial's number.
    pub trial: usize,
    /// Its state now.
    pub state: TrialState,
    /// What was done.
    pub change: Change,
    /// An earlier trial with the same setting and another end, where a new one was added for an evaluation made elsewhere.
    pub beside: Option<usize>,
}

/// What was done with an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It says what was recorded already, or nothing.
    Nothing,
    /// It says why an earlier attempt failed, and the present one is pending.
    OfEarlierAttempt,
    /// Further numbers are in the log, and nothing else.
    Measured,
    /// It is in the log.
    Recorded,
    /// It amended what was recorded.
    Amended,
}

/// What is wrong with entries: each with its position, counted from 0.
pub type EntryFaults = Vec<(usize, Error)>;

impl Session {
    /// Records all entries, or none of them and says what is wrong with each. What is recorded already is not recorded again: an
    /// evaluation made elsewhere is, if the study has a trial with the same parameters and the same end for it.
    pub fn record(
        &mut self,
        entries: &[Entry],
        on_conflict: OnConflict,
    ) -> Result<std::result::Result<Vec<Recorded>, EntryFaults>> {
        let mut decided = Ok(vec![]);
        self.log_decided(|session| {
            let mut rehearsal = Rehearsal::new(session.spec(), session.ledger().clone());
            decided = rehearsal.decide(entries, on_conflict);
            Ok(if decided.is_ok() { rehearsal.events } else { vec![] })
        })?;
        Ok(decided)
    }

    /// Creates a study with evaluations that were made elsewhere, all of it or nothing; what is wrong with them otherwise.
    /// `store` opens the store; where the entries are refused it is not called.
    pub fn create_with<E: From<Error>>(
        store: impl FnOnce() -> std::result::Result<Store, E>,
        source: Source,
        entries: &[Entry],
    ) -> std::result::Result<std::result::Result<(Self, Vec<Recorded>), EntryFaults>, E> {
        let mut rehearsal = Rehearsal::new(&source.study().spec, Ledger::default());
        let recorded = match rehearsal.decide(entries, OnConflict::Refuse) {
            Ok(recorded) => recorded,
            Err(faults) => return Ok(Err(faults)),
        };
        let events = encoded_after(&mut Ledger::default(), &rehearsal.events)?;
        let store = store()?;
        let row = store.backend.create(&NewStudy { events, ..source.new_study() })?;
        Ok(Ok((Self::unread(store, &row, source).following()?, recorded)))
    }
}

/// What is wrong with entries that do not fit a study, whatever it has recorded of their trials.
pub fn misfits(spec: &Spec, ledger: &Ledger, entries: &[Entry]) -> EntryFaults {
    Rehearsal::new(spec, ledger.clone()).decide(entries, OnConflict::Amend).err().unwrap_or_default()
}

/// A ledger that entries are applied to before anything is logged.
struct Rehearsal<'a> {
    spec: &'a Spec,
    ledger: Ledger,
    events: Vec<Event>,
    /// How many trials there were before the entries: those that entries add have no number that an entry can know.
    trials: usize,
    /// The trials that an entry has given a result of: a second one must agree with it.
    said: HashSet<usize>,
    /// The trials from before the entries; those that an entry was found to be are left out.
    earlier: Vec<usize>,
}

impl<'a> Rehearsal<'a> {
    fn new(spec: &'a Spec, ledger: Ledger) -> Self {
        let trials = ledger.trials().len();
        Self { spec, ledger, events: vec![], trials, said: HashSet::new(), earlier: (0..trials).collect() }
    }

    /// Applies all entries; what is wrong with those that cannot be.
    fn decide(
        &mut self,
        entries: &[Entry],
        on_conflict: OnConflict,
    ) -> std::result::Result<Vec<Recorded>, EntryFaults> {
        let (mut recorded, mut faults) = (vec![], vec![]);
        for (position, entry) in entries.iter().enumerate() {
            match self.apply(entry, on_conflict) {
                Ok(done) => recorded.push(done),
                Err(error) => faults.push((position, error)),
            }
        }
        if faults.is_empty() { Ok(recorded) } else { Err(faults) }
    }

    fn apply(&mut self, entry: &Entry, on_conflict: OnConflict) -> Result<Recorded> {
        let mut beside = None;
        let (trial, change) = match entry {
            Entry::External(outside) => {
                beside = self.place_at(outside, is_other_end)?.map(|place| self.earlier[place]);
                self.apply_external(outside)?
            }
            Entry::Trial(TrialEntry { trial, .. }) if *trial >= self.trials => {
                return Err(manyhands_core::Error::UnknownTrial { trial: *trial, trials: self.trials }.into());
            }
            Entry::Trial(entry) => {
                let trial = entry.trial;
                let is_first = entry.outcome.is_none() || self.said.insert(trial);
                match is_first {
                    true => (trial, self.apply_to_trial(entry, on_conflict)?),
                    false => self
                        .apply_to_trial(entry, OnConflict::Refuse)
                        .map(|change| (trial, change))
                        .map_err(|error| if is_conflict(&error) { Error::SaidTwice { trial } } else { error })?,
                }
            }
        };
        let beside = beside.filter(|_| trial >= self.trials);
        Ok(Recorded { trial, state: self.ledger.trial(trial)?.state(), change, beside })
    }

    fn apply_external(&mut self, outside: &ExternalEvaluation) -> Result<(usize, Change)> {
        if let Some(place) = self.place_of(outside)? {
            let trial = self.earlier.remove(place);
            check_metrics(&outside.metrics)?;
            let further = new_metrics(self.ledger.trial(trial)?, &outside.metrics);
            let change = if further.is_some() { Change::Measured } else { Change::Nothing };
            self.log(further.into_iter().collect())?;
            return Ok((trial, change));
        }
        if let Some(place) = self.place_under_way(outside)? {
            let (trial, outcome) = (self.earlier.remove(place), outside.outcome.clone());
            let entry = TrialEntry { trial, params: vec![], outcome, metrics: outside.metrics.clone() };
            return Ok((trial, self.apply_to_trial(&entry, OnConflict::Refuse)?));
        }
        let trial = self.ledger.trials().len();
        self.log(events_of_external(self.spec, &self.ledger, outside)?)?;
        Ok((trial, Change::Recorded))
    }

    /// The place among the earlier trials of one that this evaluation is: the same parameters, and the same end. What was told
    /// and amended since is not told again.
    fn place_of(&self, outside: &ExternalEvaluation) -> Result<Option<usize>> {
        let Some(outcome) = &outside.outcome else { return Ok(None) };
        let told = outcome.as_ref().map(|value| *value).map_err(|_| ());
        self.place_at(outside, |trial, included| trial.has_been(&included.params, told))
    }

    /// The place among the earlier trials of this evaluation while it was under way elsewhere.
    fn place_under_way(&self, outside: &ExternalEvaluation) -> Result<Option<usize>> {
        self.place_at(outside, |trial, included| {
            let is_under_way = trial.choice().is_none() && trial.state() == TrialState::Pending;
            is_under_way && trial.logged_params() == included.params
        })
    }

    /// The place of the first earlier trial that is such a one, given an evaluation as it would be included.
    fn place_at(
        &self,
        outside: &ExternalEvaluation,
        is_such: impl Fn(&Trial, &Included) -> bool,
    ) -> Result<Option<usize>> {
        // As a trial of a study without any: one that may be tried only once is there already.
        let included = self.spec.included(&Ledger::default(), &outside.params, None)?;
        // On a space the parameters identify the point; of a row of a pool the candidate says all.
        let is_space = self.spec.domain().space().is_some();
        let is_candidate = |trial: &Trial| is_space || trial.candidate() == included.candidate;
        let is_found = |number: &usize| {
            let trial = &self.ledger.trials()[*number];
            is_candidate(trial) && is_such(trial, &included)
        };
        Ok(self.earlier.iter().position(is_found))
    }

    fn apply_to_trial(&mut self, entry: &TrialEntry, on_conflict: OnConflict) -> Result<Change> {
        let record = self.ledger.trial(entry.trial)?.clone();
        let amendment = Amendment { outcome: None, params: entry.params.clone() };
        let moved = match record.state() {
            TrialState::Pending => amended(self.spec, &record, &amendment)?,
            _ => None,
        };
        if entry.outcome.as_ref().is_some_and(|outcome| is_of_earlier_attempt(&record, outcome)) {
            let is_pending = record.state() == TrialState::Pending;
            return Ok(if is_pending { Change::OfEarlierAttempt } else { Change::Nothing });
        }
        check_metrics(&entry.metrics)?;
        let (mut events, change) = match (&entry.outcome, record.state()) {
            (Some(outcome), TrialState::Pending) => {
                (moved.into_iter().chain([end(self.spec, entry.trial, outcome)?]).collect(), Change::Recorded)
            }
            (Some(_), _) => self.revision(&record, entry, on_conflict)?,
            (None, TrialState::Cancelled) => return Ok(Change::Nothing),
            // What is known of a trial that is still to be told, such as its setting.
            (None, _) => {
                let change = if moved.is_some() { Change::Amended } else { Change::Nothing };
                (moved.into_iter().collect(), change)
            }
        };
        if let Some(other) = other_metric(&record, &entry.metrics).filter(|_| on_conflict == OnConflict::Refuse) {
            return Err(other);
        }
        events.extend(new_metrics(&record, &entry.metrics));
        let is_more = change == Change::Nothing && !events.is_empty();
        self.log(events)?;
        Ok(if is_more { Change::Measured } else { change })
    }

    /// What an entry changes of a trial that has ended; refused where it differs from the record, unless that is to be amended.
    fn revision(&self, record: &Trial, entry: &TrialEntry, on_conflict: OnConflict) -> Result<(Vec<Event>, Change)> {
        // That both have failed is no conflict, whatever the reasons. Another reason amends, unless it is no more than the word.
        let is_agreed = |outcome: &std::result::Result<f64, String>| match outcome {
            Err(why) => record.reason().is_some() && (on_conflict == OnConflict::Refuse || *why == no_reason()),
            Ok(_) => false,
        };
        let outcome = entry.outcome.clone().filter(|outcome| !is_agreed(outcome));
        let amendment = Amendment { outcome, params: entry.params.clone() };
        match (amended(self.spec, record, &amendment)?, on_conflict) {
            (None, _) => Ok((vec![], Change::Nothing)),
            (Some(event), OnConflict::Amend) => Ok((vec![event], Change::Amended)),
            (Some(_), OnConflict::Refuse) => Err(conflict(self.spec, record, &amendment)),
        }
    }

    fn log(&mut self, events: Vec<Event>) -> Result<()> {
        for event in events {
            self.ledger.apply(event.clone())?;
            self.events.push(event);
        }
        Ok(())
    }
}

/// Whether an entry was refused because something else is recorded.
fn is_conflict(error: &Error) -> bool {
    matches!(error, Error::OtherValue { .. } | Error::OtherSetting { .. } | Error::OtherMetric { .. })
        || matches!(error, Error::Study(manyhands_core::Error::NotPending { .. }))
}

/// Whether a trial has ended, for the same setting as this evaluation.
fn is_other_end(trial: &Trial, included: &Included) -> bool {
    matches!(trial.state(), TrialState::Observed | TrialState::Failed) && trial.logged_params() == included.params
}

/// Whether a failure is the one of an attempt before the present one: a table that is told again still has it.
fn is_of_earlier_attempt(record: &Trial, outcome: &std::result::Result<f64, String>) -> bool {
    let is_known = |why: &String| record.earlier_failures().contains(why);
    record.state() != TrialState::Failed && outcome.as_ref().err().is_some_and(is_known)
}

/// The error for a metric that a trial has with another number.
fn other_metric(record: &Trial, metrics: &[(String, f64)]) -> Option<Error> {
    let known = |name: &String| record.metrics().iter().find(|(known, _)| known == name);
    metrics.iter().find_map(|(name, now)| {
        let (_, before) = known(name).filter(|(_, before)| before != now)?;
        Some(Error::OtherMetric { trial: record.number(), name: name.clone(), before: *before, now: *now })
    })
}

/// The event that ends a trial.
fn end(spec: &Spec, trial: usize, outcome: &std::result::Result<f64, String>) -> Result<Event> {
    match outcome {
        Ok(value) => {
            spec.check_value(trial, *value)?;
            Ok(Event::Told { trial, value: *value })
        }
        Err(reason) => Ok(Event::Failed { trial, reason: reason.clone() }),
    }
}

/// Why what a table says of a trial that has ended is not recorded.
fn conflict(spec: &Spec, record: &Trial, amendment: &Amendment) -> Error {
    let trial = record.number();
    let recorded = spec.domain().logged_params(record.candidate(), record.logged_params());
    let difference = |(name, now): &(String, Value)| {
        let (_, known) = spec.domain().named(&recorded).find(|(known, _)| known == name)?;
        Some(format!("{name} = {}, and {} as recorded", now.short(), known.short()))
    };
    let differences = || amendment.params.iter().filter_map(difference).collect();
    match (record.value(), &amendment.outcome) {
        (Some(before), Some(Ok(now))) if before != *now => Error::OtherValue { trial, before, now: *now },
        (Some(_), Some(Ok(_))) | (_, None) => Error::OtherSetting { trial, differences: differences() },
        _ => manyhands_core::Error::NotPending { trial, state: record.state() }.into(),
    }
}
