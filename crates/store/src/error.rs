//! The errors of stores and sessions: the offending value, what is allowed, and how to fix it.

use std::path::PathBuf;

use manyhands_core::file::{Difference, FileError};
use manyhands_core::text::{exact, quoted};

use crate::CopyRefusal;

/// The longest key of an ask.
pub(crate) const KEY_LENGTH: usize = 200;

/// Why a store or a session refused; nothing that is stored has changed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The study refused.
    #[error(transparent)]
    Study(#[from] manyhands_core::Error),
    /// A text is not the address of a store.
    #[error("{} is not a store: {reason}", quoted(url))]
    Location {
        /// What was given, as far as it can hold no password.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A store on PostgreSQL, which this build does not have.
    #[error("this manyhands has no PostgreSQL stores: it was built without the feature \"postgres\"")]
    NoPostgres,
    /// A store cannot be opened, or does not answer.
    #[error("the store {store} cannot be used: {reason}")]
    Unavailable {
        /// The store, without its password.
        store: String,
        /// What it said.
        reason: String,
    },
    /// A server's certificate does not prove its identity.
    #[error("the store {store} is not trusted: {reason}")]
    UntrustedCertificate {
        /// The store, without its password.
        store: String,
        /// What is wrong with its certificate.
        reason: String,
    },
    /// A server has no free connection.
    #[error("the store {store} has no free connection: {reason}")]
    NoFreeConnection {
        /// The store, without its password.
        store: String,
        /// What it said.
        reason: String,
    },
    /// Permanent refusal: retrying cannot help.
    #[error("the store {store} refuses: {reason}")]
    Refused {
        /// The store, without its password.
        store: String,
        /// What it said.
        reason: String,
    },
    /// A file cannot be a store: trying again cannot help.
    #[error("the store sqlite:{} refuses: {reason}", path.display())]
    RefusedFile {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// There is no such file.
    #[error("there is no store at {}", path.display())]
    NoStore {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// A database has no tables of manyhands.
    #[error("there is no store in {store}: it has no tables of manyhands")]
    NoTables {
        /// The database.
        store: String,
    },
    /// A file has nothing in it, or a database no tables.
    #[error("there is no store at {}: the file is empty", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// A store can only be read once it has been upgraded.
    #[error("the store {store} was written by an older manyhands: its schema is {found}, reading needs {needed}")]
    Older {
        /// The store.
        store: String,
        /// Its schema.
        found: i64,
        /// The oldest that can be read.
        needed: i64,
    },
    /// The operating system denies reading or writing.
    #[error("permission denied: {} cannot be {action}", path.display())]
    Denied {
        /// The file.
        path: PathBuf,
        /// "read" or "written".
        action: &'static str,
    },
    /// A file is not a store.
    #[error("{} is not a manyhands store: {reason}", path.display())]
    NotAStore {
        /// The file.
        path: PathBuf,
        /// What it is instead.
        reason: String,
    },
    /// A store's file is damaged.
    #[error("the store {} is damaged: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        reason: String,
    },
    /// A trial has another value already.
    #[error("trial {trial} has the value {} already, got {}", exact(*before), exact(*now))]
    OtherValue {
        /// The trial.
        trial: usize,
        /// Its value.
        before: f64,
        /// What was told now.
        now: f64,
    },
    /// A trial was told with another setting already.
    #[error("trial {trial} was told already, with another setting: {}", differences.join(", "))]
    OtherSetting {
        /// The trial.
        trial: usize,
        /// What differs: the values now, and as recorded.
        differences: Vec<String>,
    },
    /// Two rows of a table say different things of a trial.
    #[error("an earlier row of the table says something else of trial {trial}")]
    SaidTwice {
        /// The trial.
        trial: usize,
    },
    /// A trial has a metric of this name with another number.
    #[error("trial {trial} has {} = {} already, got {}", quoted(name), exact(*before), exact(*now))]
    OtherMetric {
        /// The trial.
        trial: usize,
        /// The metric.
        name: String,
        /// Its number.
        before: f64,
        /// What was told now.
        now: f64,
    },
    /// A study cannot be copied.
    #[error(transparent)]
    Copy(#[from] CopyRefusal),
    /// A metric cannot be kept.
    #[error("the metric {} must have a name of its own and a finite number, got {value}", quoted(name))]
    BadMetric {
        /// Its name.
        name: String,
        /// Its number.
        value: f64,
    },
    /// A store was made by a later version.
    #[error("the store {store} was written by a newer manyhands: its schema is {found}, this one knows up to {known}")]
    Newer {
        /// The store.
        store: String,
        /// Its schema.
        found: i64,
        /// The latest that is known.
        known: i64,
    },
    /// Another process holds a database for too long.
    #[error("the store {store} was locked by another program for more than {seconds} seconds")]
    Locked {
        /// The store.
        store: String,
        /// How long was waited.
        seconds: u64,
    },
    /// There is no room left.
    #[error("the store {store} has no room to write: {reason}")]
    Full {
        /// The store.
        store: String,
        /// What the system said.
        reason: String,
    },
    /// No study has this name.
    #[error("there is no study {} in {store}{}", quoted(name), others(known))]
    UnknownStudy {
        /// The name.
        name: String,
        /// The store.
        store: String,
        /// The studies that are there.
        known: Vec<String>,
    },
    /// A study was deleted while it was in use.
    #[error("the study has been deleted")]
    Deleted,
    /// A study of this name is there already.
    #[error("there is a study \"{name}\" already")]
    StudyExists {
        /// The name.
        name: String,
    },
    /// A study file is not the one that its study was created with.
    #[error("study \"{name}\" was created from another file:{}", listed(differences))]
    Differs {
        /// The study.
        name: String,
        /// What differs: in the file, and as stored.
        differences: Vec<Difference>,
    },
    /// A study file is wrong.
    #[error("{0}")]
    File(FileError),
    /// A stored study file, or a file that it names, is not what was stored.
    #[error("study {} cannot be read: {reason}", quoted(study))]
    CorruptStudy {
        /// The study.
        study: String,
        /// What is wrong.
        reason: String,
    },
    /// A stored event is not what was stored, or cannot follow those before it.
    #[error("event {sequence} of the log of study {} cannot be read: {reason}", quoted(study))]
    CorruptEvent {
        /// The study.
        study: String,
        /// The event's place in the log, from 1.
        sequence: usize,
        /// What is wrong.
        reason: String,
    },
    /// The first line of an exported log, which describes the study, cannot be read.
    #[error("the study cannot be read: {reason}")]
    CorruptExport {
        /// What is wrong.
        reason: String,
    },
    /// An event of an exported log cannot be read.
    #[error("{0}")]
    CorruptExportedEvent(Damage),
    /// The key of an ask was used for another number of suggestions.
    #[error("the key {} was used to ask for {before}, and now for {asked}", quoted(key))]
    KeyUsed {
        /// The key.
        key: String,
        /// How many suggestions it was used for.
        before: usize,
        /// How many are asked for now.
        asked: usize,
    },
    /// A text cannot be the key of an ask.
    #[error("the key of an ask must have 1 to {KEY_LENGTH} characters and no control characters, got {}", quoted(key))]
    BadKey {
        /// The text.
        key: String,
    },
    /// An event cannot be written as JSON and read back.
    #[error("an event cannot be stored: {reason}")]
    Encode {
        /// Why.
        reason: String,
    },
    /// Others have been asking for too long.
    #[error("no turn to choose trials within {seconds} seconds; {holder} is choosing now")]
    Busy {
        /// Who holds the ask-lease.
        holder: String,
        /// How long was waited.
        seconds: u64,
    },
    /// As many trials are pending as may be.
    #[error("asking for {asked} with {pending} pending exceeds workers = {workers}")]
    TooManyPending {
        /// How many suggestions were asked for.
        asked: usize,
        /// How many trials are pending.
        pending: usize,
        /// How many may be.
        workers: usize,
    },
    /// The system refuses to start a thread.
    #[error("cannot start a thread that {task}: {reason}")]
    NoThread {
        /// What it was to do.
        task: &'static str,
        /// What the system said.
        reason: String,
    },
    /// A bug in manyhands.
    #[error("internal error: {what}")]
    Internal {
        /// What cannot happen.
        what: &'static str,
    },
}

/// An event of a log that is not what was written, or cannot follow those before it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("event {sequence} of the log cannot be read: {reason}")]
pub struct Damage {
    /// The event's place in the log, from 1.
    pub sequence: usize,
    /// What is wrong.
    pub reason: String,
}

impl Damage {
    pub(crate) fn in_study(self, name: &str) -> Error {
        let Self { sequence, reason } = self;
        Error::CorruptEvent { study: name.to_string(), sequence, reason }
    }
}

impl Error {
    /// With the name of the study that was read, where it is about damage.
    pub(crate) fn of_study(self, name: &str) -> Self {
        match self {
            Self::Damaged { path, reason } => {
                Self::Damaged { path, reason: format!("{reason} (reading study {})", quoted(name)) }
            }
            other => other,
        }
    }
}

/// Refuses if a study was not there.
pub(crate) fn found(is_there: bool) -> Result<()> {
    if is_there { Ok(()) } else { Err(Error::Deleted) }
}

fn others(known: &[String]) -> String {
    match known {
        [] => "; it has no studies".to_string(),
        known => format!("; it has {}", known.join(", ")),
    }
}

fn listed(differences: &[Difference]) -> String {
    let line = |d: &Difference| {
        let [this, other] = [&d.this, &d.other].map(|value| value.as_deref().unwrap_or("missing"));
        let same = this.chars().zip(other.chars()).take_while(|(this, other)| this == other).count();
        let (this, other) = (around(this, same), around(other, same));
        format!("\n  {}: {this} in the file, {other} as stored", d.key)
    };
    differences.iter().map(line).collect()
}

/// The part of a long text around one place.
fn around(text: &str, place: usize) -> String {
    const SHOWN: usize = 240;
    let length = text.chars().count();
    let start = if length <= SHOWN { 0 } else { place.saturating_sub(SHOWN / 2).min(length - SHOWN) };
    let shown: String = text.chars().skip(start).take(SHOWN).collect();
    let cut = |is_cut: bool| if is_cut { "..." } else { "" };
    format!("{}{shown}{}", cut(start > 0), cut(start + SHOWN < length))
}

/// The result of a store's or a session's operations.
pub type Result<T> = std::result::Result<T, Error>;
