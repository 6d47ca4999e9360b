//! Inspection for damage: which part of a stored study is as it was written, and what is wrong with the rest.

use manyhands_core::study::Verification;
use manyhands_core::{Ledger, Study};

use super::log::written;
use crate::history::History;
use crate::record::Record;
use crate::source::Stored;
use crate::{Result, Source, Store};

/// What an inspection of a stored study has found.
#[derive(Debug)]
pub struct Inspection {
    source: Source,
    /// The events up to the first that is damaged.
    records: Vec<Record>,
    history: History,
    /// Whether the study file is as it was written, or the user's own.
    has_sound_file: bool,
    /// What is wrong with what is stored, in words: with the store's file, then with the study's log.
    pub faults: Vec<String>,
}

impl Inspection {
    /// Inspects the study of this name; `shown` names the store in errors. The user's own study file, if there is one, must
    /// describe the same study, and replaces a stored one that is damaged.
    pub fn of(store: &Store, name: &str, shown: &str, own: Option<Source>) -> Result<Self> {
        let row = store.find_known(name, shown)?;
        let mut faults = store.backend.faults()?;
        let damage = row.check_text().err();
        let has_sound_file = damage.is_none() || own.is_some();
        let source = match own {
            Some(own) if damage.is_some() => own,
            own => Stored::read_checked(store, &row, own)?.source,
        };
        faults.extend(damage.map(|error| error.to_string()));
        let (found, unread) = store.backend.readable_events(row.id)?;
        let (mut history, mut records) = (History::default(), Vec::new());
        let mut fault = unread.map(|error| error.to_string());
        for record in found {
            match history.apply(&record) {
                Ok(()) => records.push(record),
                Err(damage) => {
                    fault = Some(damage.to_string());
                    break;
                }
            }
        }
        faults.extend(fault);
        Ok(Self { source, records, history, has_sound_file, faults })
    }

    /// Refuses sound events that the study's model cannot take.
    pub fn replay(&self) -> Result<()> {
        Ok(Study::replay(self.source.study().spec.clone(), self.ledger().events()).map(drop)?)
    }

    /// Makes every choice and every fit of the sound events again; refuses them where [`Inspection::replay`] does.
    pub fn verify_choices(&self) -> Result<Verification> {
        Ok(Study::verify(&self.source.study().spec, self.ledger().events())?)
    }

    /// How many events are as they were written.
    pub fn events(&self) -> usize {
        self.records.len()
    }

    /// How many of them are covered by the running hash.
    pub fn hashed(&self) -> usize {
        self.records.iter().filter(|record| record.hash.is_some()).count()
    }

    /// The study's trials, as far as its events are sound.
    pub fn ledger(&self) -> &Ledger {
        self.history.ledger()
    }

    /// What the study is.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Whether the study file is as it was written, or the user's own: otherwise the sound events would be exported as those
    /// of another study.
    pub fn has_sound_file(&self) -> bool {
        self.has_sound_file
    }

    /// The study with the events that are sound, as a log that can be imported.
    pub fn salvage(self) -> Result<String> {
        written(&self.source, self.records)
    }
}
