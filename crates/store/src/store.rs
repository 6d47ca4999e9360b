//! A store as its users have it: a handle on studies, however they are kept.

use std::fmt;
use std::sync::Arc;

use manyhands_core::Ledger;
use sha2::{Digest, Sha256};

use crate::backend::Backend;
use crate::history::History;
use crate::{Error, Result, Time};

/// A place that keeps studies, opened by [`Location::open`](crate::Location::open). Clones share one connection.
///
/// Trials are asked for and told through a [`Session`](crate::Session); the store itself lists, finds and deletes studies.
///
/// ```
/// use manyhands_store::{Access, Location};
/// # fn main() -> manyhands_store::Result<()> {
/// let store = Location::Memory.open(Access::Create)?;
/// assert!(store.studies()?.is_empty());
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Store {
    pub(crate) backend: Arc<dyn Backend>,
}

impl Store {
    pub(crate) fn new(backend: impl Backend + 'static) -> Self {
        Self { backend: Arc::new(backend) }
    }

    /// All studies, by name.
    pub fn studies(&self) -> Result<Vec<StudyRow>> {
        self.backend.studies()
    }

    /// The study of this name.
    pub fn find(&self, name: &str) -> Result<Option<StudyRow>> {
        self.backend.find(name)
    }

    /// The study of this name; where there is none, an error that lists those that are there. `shown` names the store.
    pub fn find_known(&self, name: &str, shown: &str) -> Result<StudyRow> {
        if let Some(row) = self.find(name)? {
            return Ok(row);
        }
        let known = self.studies()?.into_iter().map(|row| row.name).collect();
        Err(Error::UnknownStudy { name: name.to_string(), store: shown.to_string(), known })
    }

    /// What became of every trial of a study: its log alone is read, and not what the study is.
    pub fn ledger(&self, row: &StudyRow) -> Result<Ledger> {
        row.check_text()?;
        let mut history = History::default();
        let records = self.backend.events(row.id, 0).map_err(|error| error.of_study(&row.name))?;
        let applied = records.iter().try_for_each(|record| history.apply(record));
        applied.map_err(|damage| damage.in_study(&row.name))?;
        Ok(history.into_ledger())
    }

    /// The files that were stored with a study.
    pub fn files(&self, study: StudyId) -> Result<Vec<StoredFile>> {
        self.backend.files(study)
    }

    /// Deletes a study with its log, its files and its leases.
    pub fn delete(&self, study: StudyId) -> Result<()> {
        self.backend.delete(study)
    }

    /// How many transactions the store's server has counted so far, of all clients; none where no server counts them. For
    /// measurements of this crate, not for its users.
    #[doc(hidden)]
    pub fn transactions(&self) -> Result<Option<u64>> {
        self.backend.transactions()
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.backend.fmt(f)
    }
}

/// A study's key inside its store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StudyId(pub i64);

/// A stored study.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StudyRow {
    /// Its key.
    pub id: StudyId,
    /// Its name.
    pub name: String,
    /// When it was created.
    pub created: Time,
    /// Its study file, as TOML.
    pub(crate) text: String,
    /// SHA-256 of the text, in hexadecimal; none where an older version stored it.
    pub(crate) sha256: Option<String>,
}

impl StudyRow {
    /// Refuses a text that is not what was stored.
    pub(crate) fn check_text(&self) -> Result<()> {
        match &self.sha256 {
            Some(stored) if *stored != sha256(self.text.as_bytes()) => Err(Error::CorruptStudy {
                study: self.name.clone(),
                reason: "its study file is not what was stored: its SHA-256 differs".to_string(),
            }),
            _ => Ok(()),
        }
    }
}

/// A file that belongs to a study, as it was when the study was created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredFile {
    /// What it is for: "candidates" or "covariance".
    pub role: String,
    /// The path that the study file names.
    pub name: String,
    /// SHA-256 of its content, in hexadecimal.
    pub sha256: String,
    /// What is in it.
    pub content: Vec<u8>,
}

/// SHA-256 in hexadecimal.
pub(crate) fn sha256(content: &[u8]) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}
