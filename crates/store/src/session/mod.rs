//! A session: one study of a store, kept up to date. The command line and the runner work through sessions only.

mod amend;
mod ask;
mod claim;
mod copy;
mod copy_refusal;
mod decide;
mod entries;
mod inspect;
mod log;
mod queue;
mod tell;

use std::sync::Arc;
use std::time::Duration;

use manyhands_core::{Ledger, Spec, Study, Trial, Value};

pub use self::amend::Amendment;
pub use self::claim::{Claimed, Survey};
pub use self::copy::{CopyPlan, CopyReport};
pub use self::copy_refusal::CopyRefusal;
pub use self::entries::{Change, Entry, EntryFaults, OnConflict, Recorded, TrialEntry, misfits, no_reason};
pub use self::inspect::Inspection;
pub use self::log::StudyLog;
pub use self::tell::{ExternalEvaluation, Reported, TrialResult};
use crate::backend::Backend;
use crate::history::History;
use crate::lease::Lease;
use crate::record::{Append, Appended, Record};
use crate::source::Stored;
use crate::store::{Store, StudyId, StudyRow};
use crate::{Error, Holder, Result, Source, Time, Times};

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
    handle: StudyHandle,
    source: Arc<Source>,
    /// Whether the store has the source's own text.
    is_text_stored: bool,
    history: History,
    study: Option<Study>,
    /// The leases as of the one moment that this session is of; none if it reads the log again.
    frozen_leases: Option<Vec<Lease>>,
    holder: Holder,
    workers: Option<usize>,
}

/// A study in its store.
#[derive(Debug, Clone)]
struct StudyHandle {
    store: Store,
    id: StudyId,
    created: Time,
}

impl StudyHandle {
    fn backend(&self) -> &Arc<dyn Backend> {
        &self.store.backend
    }
}

impl Session {
    /// The study of this name. `shown` names the store where there is no such study.
    pub fn open(store: Store, name: &str, shown: &str) -> Result<Self> {
        Self::named(store, name, shown)?.following()
    }

    /// As [`Session::open`], as of one moment: the log and the leases are read together, and nothing after that.
    pub fn open_frozen(store: Store, name: &str, shown: &str) -> Result<Self> {
        Self::named(store, name, shown)?.frozen()
    }

    /// The study of a file, if it is in the store. A file that describes another study than the stored one is refused;
    /// `[run]` is that of the stored file.
    pub fn open_described(store: Store, source: Source, shown: &str) -> Result<Self> {
        Self::described(store, source, shown)?.following()
    }

    /// As [`Session::open_described`], as of one moment: the log and the leases are read together, and nothing after that.
    pub fn open_described_frozen(store: Store, source: Source, shown: &str) -> Result<Self> {
        Self::described(store, source, shown)?.frozen()
    }

    /// The study of a file, created if it is not there. A file that describes another study than the stored one is
    /// refused; its `[run]` is this session's, and [`Session::store_text`] makes it everyone's.
    pub fn open_or_create(store: Store, source: Source) -> Result<Self> {
        let name = &source.study().name;
        let row = match store.find(name)? {
            Some(row) => row,
            None => match store.backend.create(&source.new_study()) {
                Ok(row) => return Ok(Self::unread(store, &row, source)),
                // Another process got there first.
                Err(Error::StudyExists { .. }) => {
                    store.find(name)?.ok_or_else(|| Error::StudyExists { name: name.clone() })?
                }
                Err(error) => return Err(error),
            },
        };
        row.check_text()?;
        let Stored { source, own } = Stored::read_checked(&store, &row, Some(source))?;
        Self::unread(store, &row, own.unwrap_or(source)).following()
    }

    /// Refuses a study file that describes another study than this one.
    pub fn check(&self, source: &Source) -> Result<()> {
        source.check_same(&self.source)
    }

    /// Another session of the same study on the same store, which knows what this one knows and has a model of its own.
    pub fn another_session(&self) -> Self {
        let (handle, source) = (self.handle.clone(), self.source.clone());
        let (history, frozen_leases, holder) = (self.history.clone(), self.frozen_leases.clone(), self.holder.clone());
        Self { handle, source, history, frozen_leases, holder, study: None, ..*self }
    }

    /// The same session as of now: reads what has been logged since the last read, together with the leases, and nothing
    /// after that.
    pub fn frozen(mut self) -> Result<Self> {
        let read = self.handle.backend().events_and_leases(self.handle.id, self.ledger().events().len());
        let (records, leases) = read.map_err(|error| error.of_study(self.name()))?;
        self.apply(&records)?;
        Ok(Self { frozen_leases: Some(leases), ..self })
    }

    /// Keeps the study file as it was given, for those who know the study by its name.
    pub fn store_text(&self) -> Result<()> {
        if self.is_text_stored { Ok(()) } else { self.handle.backend().set_text(self.handle.id, self.source.text()) }
    }

    /// The stored study of this name, without its log.
    fn named(store: Store, name: &str, shown: &str) -> Result<Self> {
        let row = store.find_known(name, shown)?;
        row.check_text()?;
        let stored = Stored::read(&store, &row, None)?;
        Ok(Self::unread(store, &row, stored.source))
    }

    /// The stored study that a file describes, without its log.
    fn described(store: Store, source: Source, shown: &str) -> Result<Self> {
        let row = store.find_known(&source.study().name, shown)?;
        row.check_text()?;
        let stored = Stored::read_checked(&store, &row, Some(source))?;
        Ok(Self::unread(store, &row, stored.source))
    }

    /// The same session once it has read the log.
    fn following(mut self) -> Result<Self> {
        self.sync()?;
        Ok(self)
    }

    /// A session that has read nothing of the log.
    fn unread(store: Store, row: &StudyRow, source: Source) -> Self {
        let is_text_stored = row.text == source.text();
        let (history, holder, source) = (History::default(), Holder::this_process(), Arc::new(source));
        let handle = StudyHandle { store, id: row.id, created: row.created };
        Self { handle, source, is_text_stored, history, study: None, frozen_leases: None, holder, workers: None }
    }

    /// Reads what has been logged since the last read.
    pub fn sync(&mut self) -> Result<()> {
        let records = self.handle.backend().events(self.handle.id, self.ledger().events().len());
        self.apply(&records.map_err(|error| error.of_study(self.name()))?)
    }

    /// Applies the next records of the log.
    fn apply(&mut self, records: &[Record]) -> Result<()> {
        let applied = records.iter().try_for_each(|record| self.history.apply(record));
        applied.map_err(|damage| damage.in_study(&self.source.study().name))
    }

    /// Appends events, and takes in what was stored: the records of the append if they come next in the log, otherwise
    /// all that was logged since.
    fn append(&mut self, append: &Append<'_>) -> Result<Appended> {
        let appended = self.handle.backend().append(self.handle.id, append)?;
        if let Appended::Stored { records, .. } = &appended {
            self.apply_appended(append, records);
        }
        Ok(appended)
    }

    fn apply_appended(&mut self, append: &Append<'_>, records: &[Record]) {
        let next = self.ledger().events().len() + 1;
        let is_next = records.first().map_or(append.events.is_empty(), |record| record.sequence == next);
        let is_applied = is_next && self.apply(records).is_ok();
        if !is_applied {
            // The events are in the log even if it cannot be read now; the next read finds them.
            let _ = self.sync();
        }
    }

    /// The study with its model, up to date.
    pub fn study(&mut self) -> Result<&mut Study> {
        if self.frozen_leases.is_none() {
            self.sync()?;
        }
        self.model()
    }

    /// The study with its model, as of the last read of the log.
    fn model(&mut self) -> Result<&mut Study> {
        let mut study = match self.study.take() {
            Some(study) => study,
            None => Study::new(self.spec().clone())?,
        };
        study.extend(&self.history.ledger().events()[study.events().len()..])?;
        Ok(self.study.insert(study))
    }

    /// A number that changes when the study's log or leases change, where that can be known without a transaction.
    pub fn change_counter(&self) -> Result<Option<u64>> {
        self.handle.backend().change_counter(self.handle.id)
    }

    /// How long to wait at least between two reads of what others do.
    pub fn poll_interval(&self) -> Duration {
        self.handle.backend().poll_interval()
    }

    /// Acts for another process than this one.
    #[cfg(test)]
    pub(crate) fn held_by(self, holder: Holder) -> Self {
        Self { holder, ..self }
    }

    /// What became of every trial, as of the last read of the log.
    pub fn ledger(&self) -> &Ledger {
        self.history.ledger()
    }

    /// The trial of this number, as of the last read of the log.
    pub fn trial(&self, number: usize) -> Result<&Trial> {
        Ok(self.ledger().trial(number)?)
    }

    /// When the trials began and ended, in order of their numbers, as of the last read of the log.
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
    pub fn store(&self) -> &Store {
        &self.handle.store
    }

    /// The study's key in its store.
    pub fn id(&self) -> StudyId {
        self.handle.id
    }

    /// When the study was created.
    pub fn created(&self) -> Time {
        self.handle.created
    }

    /// Where the study has no `max_pending`, allows workers at most this many trials, and [`Session::ask`] this many
    /// pending ones; none, as at first, for any number.
    pub fn set_workers(&mut self, workers: Option<usize>) {
        self.workers = workers;
    }

    /// The number of workers, where it is a bound.
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
        self.handle.store.delete(self.handle.id)
    }
}
