//! A session: one study of a store, kept up to date. The command line and the runner work through sessions only.

mod ask;
mod claim;
mod inspect;
mod log;
mod tell;

use std::sync::Arc;
use std::time::Duration;

use manyhands_core::{Ledger, Spec, Study, Trial, Value};

pub use self::claim::{Claimed, Survey};
pub use self::inspect::Inspection;
pub use self::log::StudyLog;
pub use self::tell::{ExternalEvaluation, Reported};
use crate::history::History;
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
    store: Store,
    id: StudyId,
    created: Time,
    source: Arc<Source>,
    /// Whether the store has the source's own text.
    is_text_stored: bool,
    history: History,
    study: Option<Study>,
    /// Whether [`Session::study`] reads the log again.
    reads_new_events: bool,
    holder: Holder,
    workers: Option<usize>,
}

impl Session {
    /// The study of this name. `shown` names the store where there is no such study.
    pub fn open(store: Store, name: &str, shown: &str) -> Result<Self> {
        let row = store.find_known(name, shown)?;
        row.check_text()?;
        let stored = Stored::read(&store, &row, None)?;
        Self::at(store, &row, stored.source)
    }

    /// The study of a file, if it is in the store. A file that describes another study than the stored one is refused;
    /// `[run]` is that of the stored file.
    pub fn open_described(store: Store, source: Source, shown: &str) -> Result<Self> {
        let row = store.find_known(&source.study().name, shown)?;
        row.check_text()?;
        let stored = Stored::read_checked(&store, &row, Some(source))?;
        Self::at(store, &row, stored.source)
    }

    /// The study of a file, created if it is not there. A file that describes another study than the stored one is
    /// refused; its `[run]` is this session's, and [`Session::store_text`] makes it everyone's.
    pub fn open_or_create(store: Store, source: Source) -> Result<Self> {
        let name = &source.study().name;
        let row = match store.find(name)? {
            Some(row) => row,
            None => match store.backend.create(&source.new_study()) {
                Ok(row) => return Ok(Self::unread(store, &row, source)),
                // Another process was faster.
                Err(Error::StudyExists { .. }) => {
                    store.find(name)?.ok_or_else(|| Error::StudyExists { name: name.clone() })?
                }
                Err(error) => return Err(error),
            },
        };
        row.check_text()?;
        let Stored { source, own } = Stored::read_checked(&store, &row, Some(source))?;
        Self::at(store, &row, own.unwrap_or(source))
    }

    /// Refuses a study file that describes another study than this one.
    pub fn check(&self, source: &Source) -> Result<()> {
        source.check_same(&self.source)
    }

    /// Another session of the same study on the same store, which knows what this one knows and has a model of its own.
    pub fn another_session(&self) -> Self {
        let (store, source, history, holder) =
            (self.store.clone(), self.source.clone(), self.history.clone(), self.holder.clone());
        Self { store, source, history, holder, study: None, ..*self }
    }

    /// The same session as of one moment: [`Session::study`] reads nothing more from the log.
    pub fn frozen(self) -> Self {
        Self { reads_new_events: false, ..self }
    }

    /// Keeps the study file as it was given, for those who know the study by its name.
    pub fn store_text(&self) -> Result<()> {
        if self.is_text_stored { Ok(()) } else { self.store.backend.set_text(self.id, self.source.text()) }
    }

    fn at(store: Store, row: &StudyRow, source: Source) -> Result<Self> {
        let mut session = Self::unread(store, row, source);
        session.sync()?;
        Ok(session)
    }

    /// A session that has read nothing of the log.
    fn unread(store: Store, row: &StudyRow, source: Source) -> Self {
        let is_text_stored = row.text == source.text();
        let (history, holder, source) = (History::default(), Holder::this_process(), Arc::new(source));
        let (id, created) = (row.id, row.created);
        Self {
            store,
            id,
            created,
            source,
            is_text_stored,
            history,
            study: None,
            reads_new_events: true,
            holder,
            workers: None,
        }
    }

    /// Reads what has been logged since the last read.
    pub fn sync(&mut self) -> Result<()> {
        let (store, name) = (&self.store.backend, &self.source.study().name);
        let records = store.events(self.id, self.history.ledger().events().len());
        let mut apply = |record| self.history.apply(&record);
        records.and_then(|records| records.into_iter().try_for_each(&mut apply)).map_err(|error| error.of_study(name))
    }

    /// Appends events, and takes in what was stored: the records of the append if they come next in the log, otherwise
    /// all that was logged since.
    fn append(&mut self, append: &Append<'_>) -> Result<Appended> {
        let appended = self.store.backend.append(self.id, append)?;
        if let Appended::Stored { records, .. } = &appended {
            self.apply_appended(append, records);
        }
        Ok(appended)
    }

    fn apply_appended(&mut self, append: &Append<'_>, records: &[Record]) {
        let next = self.ledger().events().len() + 1;
        let is_next = records.first().map_or(append.events.is_empty(), |record| record.sequence == next);
        let is_taken_in = is_next && records.iter().try_for_each(|record| self.history.apply(record)).is_ok();
        if !is_taken_in {
            // The events are in the log even if it cannot be read now; the next read finds them.
            let _ = self.sync();
        }
    }

    /// The study with its model, up to date.
    pub fn study(&mut self) -> Result<&mut Study> {
        if self.reads_new_events {
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
        self.store.backend.change_counter(self.id)
    }

    /// How long to wait at least between two reads of what others do.
    pub fn poll_interval(&self) -> Duration {
        self.store.backend.poll_interval()
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
        &self.store
    }

    /// The study's key in its store.
    pub fn id(&self) -> StudyId {
        self.id
    }

    /// When the study was created.
    pub fn created(&self) -> Time {
        self.created
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
