//! A session: one study of a store, kept up to date. Everything that a user meets calls this.

mod ask;
mod claim;
mod inspect;
mod log;
mod tell;

use std::sync::Arc;
use std::time::Duration;

use manyhands_core::file::Difference;
use manyhands_core::{Ledger, Spec, Study, Trial, Value};

pub use self::claim::{Claimed, Survey};
pub use self::inspect::Inspection;
pub use self::log::StudyLog;
pub use self::tell::{Outside, Reported};
use crate::store::{Store, StudyId, StudyRow};
use crate::{Error, History, Holder, Result, Source, Times};

/// One study of a store.
///
/// The ledger (what became of every trial) follows the log at hardly any cost; the model is built when something needs it.
///
/// ```
/// use manyhands_store::{Access, Location, Session, Source};
/// # fn main() -> manyhands_store::Result<()> {
/// let location: Location = "memory:".parse()?; // or sqlite:studies.db, or postgres://me@host/studies
/// let store = location.open(Access::Create)?;
/// let text = "name = \"s\"\n[space]\nx = { float = [0.0, 1.0] }\n";
/// let source = Source::read(text, |path| unreachable!("this study names no file, and no {path}"))?;
/// let mut session = Session::open_or_create(store.clone(), source)?;
/// for suggestion in session.ask(3)? {
///     session.tell(suggestion.trial, suggestion.point[0].sin())?;
/// }
/// let mut another = Session::open(store, "s", "memory:")?; // as another process would
/// assert_eq!(another.study()?.best()?.trial, session.study()?.best()?.trial);
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Session {
    store: Arc<dyn Store>,
    id: StudyId,
    source: Source,
    history: History,
    study: Option<Study>,
    holder: Holder,
    workers: Option<usize>,
}

impl Session {
    /// The study of this name.
    pub fn open(store: Arc<dyn Store>, name: &str, shown: &str) -> Result<Self> {
        let Some(row) = store.find(name)? else {
            let known = store.studies()?.into_iter().map(|row| row.name).collect();
            return Err(Error::UnknownStudy { name: name.to_string(), store: shown.to_string(), known });
        };
        let source = stored(&*store, &row)?;
        Self::at(store, &row, source)
    }

    /// The study of a file, created if it is not there. A file that describes another study than the stored one is
    /// refused; its `[run]` is this session's, and [`Session::keep_text`] makes it everyone's.
    pub fn open_or_create(store: Arc<dyn Store>, source: Source) -> Result<Self> {
        let name = &source.study().name;
        let row = match store.find(name)? {
            Some(row) => row,
            None => match store.create(&source.new_study()) {
                Ok(row) => return Self::at(store, &row, source),
                // Another process was faster.
                Err(Error::StudyExists { .. }) => {
                    store.find(name)?.ok_or_else(|| Error::StudyExists { name: name.clone() })?
                }
                Err(error) => return Err(error),
            },
        };
        let stored = stored(&*store, &row)?;
        let differences = differences(&source, &stored);
        if !differences.is_empty() {
            return Err(Error::Differs { name: name.clone(), differences });
        }
        Self::at(store, &row, source)
    }

    /// Refuses a study file that describes another study than this one.
    pub fn check(&self, source: &Source) -> Result<()> {
        let differences = differences(source, &self.source);
        if differences.is_empty() { Ok(()) } else { Err(Error::Differs { name: self.name().to_string(), differences }) }
    }

    /// Another session of the same study on the same store, with a ledger and a model of its own.
    pub fn twin(&self) -> Result<Self> {
        let (store, source, workers, holder) =
            (self.store.clone(), self.source.clone(), self.workers, self.holder.clone());
        let mut twin = Self { store, id: self.id, source, history: History::default(), study: None, holder, workers };
        twin.sync()?;
        Ok(twin)
    }

    /// Keeps the study file as it was given, for those who know the study by its name.
    pub fn keep_text(&self) -> Result<()> {
        match self.store.find(self.name())? {
            Some(row) if row.text == self.source.text() => Ok(()),
            _ => self.store.set_text(self.id, self.source.text()),
        }
    }

    fn at(store: Arc<dyn Store>, row: &StudyRow, source: Source) -> Result<Self> {
        let (history, holder) = (History::default(), Holder::this_process());
        let mut session = Self { store, id: row.id, source, history, study: None, holder, workers: None };
        session.sync()?;
        Ok(session)
    }

    /// Takes in what has been logged since.
    pub fn sync(&mut self) -> Result<()> {
        let (store, name) = (&self.store, &self.source.study().name);
        let records = store.events(self.id, self.history.ledger().events().len());
        let mut apply = |record| self.history.apply(&record);
        records.and_then(|records| records.into_iter().try_for_each(&mut apply)).map_err(|error| error.of_study(name))
    }

    /// The study with its model, up to date.
    pub fn study(&mut self) -> Result<&mut Study> {
        self.sync()?;
        self.model()
    }

    /// The study with its model, as of the last look at the log.
    fn model(&mut self) -> Result<&mut Study> {
        let mut study = match self.study.take() {
            Some(study) => study,
            None => Study::new(self.spec().clone())?,
        };
        study.extend(&self.history.ledger().events()[study.events().len()..])?;
        Ok(self.study.insert(study))
    }

    /// A number that changes when the study's log or leases change, where that can be known without a transaction.
    pub fn pulse(&self) -> Result<Option<u64>> {
        self.store.pulse(self.id)
    }

    /// How long to wait at least between two looks at what others do.
    pub fn pace(&self) -> Duration {
        self.store.pace()
    }

    /// On behalf of another process than this one, as a service does.
    pub fn held_by(self, holder: Holder) -> Self {
        Self { holder, ..self }
    }

    /// What became of every trial, as of the last look.
    pub fn ledger(&self) -> &Ledger {
        self.history.ledger()
    }

    /// The trial of this number, as of the last look.
    pub fn trial(&self, number: usize) -> Result<&Trial> {
        Ok(self.ledger().trial(number)?)
    }

    /// When the trials began and ended, in order of their numbers, as of the last look.
    pub fn times(&self) -> &[Times] {
        self.history.times()
    }

    /// What the study is.
    pub fn spec(&self) -> &Spec {
        &self.source.study().spec
    }

    /// The study file and the files that it names.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The study's name.
    pub fn name(&self) -> &str {
        &self.source.study().name
    }

    /// Where the study is kept.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// The study's key in its store.
    pub fn id(&self) -> StudyId {
        self.id
    }

    /// Allows at most this many pending trials where the study has no `max_pending`; none, as at first, for any number.
    pub fn set_workers(&mut self, workers: Option<usize>) {
        self.workers = workers;
    }

    /// How many trials run at once, if that was set.
    pub fn workers(&self) -> Option<usize> {
        self.workers
    }

    /// The most trials that may be pending: `max_pending`, or else the number of workers.
    pub fn most_pending(&self) -> Option<usize> {
        self.spec().strategy().max_pending.or(self.workers)
    }

    /// The values of a trial's parameters, by name, in the order of the study file.
    pub fn params(&self, trial: usize) -> Result<Vec<(&str, Value)>> {
        let trial = self.ledger().trial(trial)?;
        let domain = self.spec().domain();
        let values = domain.logged_params(trial.candidate(), trial.logged_params());
        Ok(domain.names().into_iter().zip(values).collect())
    }

    /// Deletes the study with its log.
    pub fn delete(self) -> Result<()> {
        self.store.delete(self.id)
    }
}

/// A study as it is stored.
fn stored(store: &dyn Store, row: &StudyRow) -> Result<Source> {
    row.check_text()?;
    readable(store, row)
}

/// As it is stored, changed or not, if it can be read.
fn readable(store: &dyn Store, row: &StudyRow) -> Result<Source> {
    Source::stored(row.text.clone(), store.files(row.id)?).map_err(|error| error.of_study(&row.name))
}

/// What differs between a study file and the stored study: settings, and contents of files.
fn differences(source: &Source, stored: &Source) -> Vec<Difference> {
    let mut differences = source.study().differences(stored.study());
    for (file, kept) in source.files().iter().zip(stored.files()) {
        if file.sha256 != kept.sha256 {
            let key = if file.role == "candidates" { "candidates.file" } else { "candidates.covariance" };
            let said = |sha256: &str| format!("content with SHA-256 {}...", &sha256[..12.min(sha256.len())]);
            differences.push(Difference { key: key.to_string(), this: said(&file.sha256), other: said(&kept.sha256) });
        }
    }
    differences
}
