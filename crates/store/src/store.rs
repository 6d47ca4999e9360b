//! What a store is: studies, stored files, append-only events and leases, behind one blocking trait.

use std::fmt::Debug;
use std::time::{Duration, Instant};

use crate::source::sha256;
use crate::{Error, Holder, Life, Result, Time};

/// How long to wait before looking again whether a lease is free, at first and at most.
const PAUSES: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(50));

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
    pub text: String,
    /// SHA-256 of the text, in hexadecimal; none where an older version stored it.
    pub sha256: Option<String>,
}

impl StudyRow {
    /// Refuses a text that is not what was stored.
    pub(crate) fn check_text(&self) -> Result<()> {
        match &self.sha256 {
            Some(stored) if *stored != sha256(self.text.as_bytes()) => Err(Error::Corrupt {
                study: Some(self.name.clone()),
                sequence: 0,
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

/// A study to be created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewStudy {
    /// Its name, which no other study of the store has.
    pub name: String,
    /// Its study file, as TOML.
    pub text: String,
    /// The files that it names.
    pub files: Vec<StoredFile>,
    /// What happened to it elsewhere, if it comes from another store.
    pub events: Vec<NewEvent>,
}

/// An event to be logged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEvent {
    /// Its kind: "asked", "told", ...
    pub kind: &'static str,
    /// The trial it is about.
    pub trial: Option<usize>,
    /// Its content, as JSON.
    pub body: String,
    /// When it happened, if that is not now.
    pub time: Option<Time>,
    /// The key of the ask that it belongs to, if its asker gave one.
    pub key: Option<String>,
}

impl NewEvent {
    /// Whether it begins a trial. A trial has one beginning.
    pub fn begins(&self) -> bool {
        BEGINNINGS.contains(&self.kind)
    }

    /// Whether it ends a trial. A trial has at most one end.
    pub fn ends(&self) -> bool {
        ENDS.contains(&self.kind)
    }

    /// Its trial and, as SQL lists them, the kinds of events that must not be there for that trial.
    pub(crate) fn rivals(&self) -> Option<(i64, &'static str)> {
        let kinds = match (self.begins(), self.ends()) {
            (true, _) => BEGINNINGS_IN_SQL,
            (_, true) => ENDS_IN_SQL,
            _ => return None,
        };
        Some((self.trial? as i64, kinds))
    }
}

const BEGINNINGS: [&str; 2] = ["asked", "included"];
const ENDS: [&str; 3] = ["told", "failed", "cancelled"];

/// The same, as SQL lists them.
pub(crate) const BEGINNINGS_IN_SQL: &str = "'asked', 'included'";
pub(crate) const ENDS_IN_SQL: &str = "'told', 'failed', 'cancelled'";

/// A logged event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Its place in the study's log, from 1.
    pub sequence: usize,
    /// When it was logged.
    pub time: Time,
    /// Its kind.
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
    /// The events.
    pub events: &'a [NewEvent],
    /// Refused if a newer lease was granted than this.
    pub fence: Option<Fence<'a>>,
    /// Leases that are granted with it.
    pub claims: &'a [Claim<'a>],
    /// Leases that end with it.
    pub releases: &'a [Fence<'a>],
}

/// A lease as its holder knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fence<'a> {
    /// What is leased: "ask", or "trial:7".
    pub resource: &'a str,
    /// The fencing token: it grows with every grant.
    pub token: u64,
}

/// A lease that is wanted.
#[derive(Debug, Clone, Copy)]
pub struct Claim<'a> {
    /// What is to be leased.
    pub resource: &'a str,
    /// Who wants it.
    pub holder: &'a Holder,
    /// For how long, unless it is renewed.
    pub term: Duration,
    /// A grant that no longer counts: its holder is known to be dead, or a user takes the trial away.
    pub instead_of: Option<u64>,
}

/// The name of a trial's lease.
pub(crate) fn trial_resource(trial: usize) -> String {
    format!("trial:{trial}")
}

/// The trial that a lease is for.
pub(crate) fn trial_of(resource: &str) -> Option<usize> {
    resource.strip_prefix("trial:")?.parse().ok()
}

/// A lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// What is leased.
    pub resource: String,
    /// The fencing token of the latest grant.
    pub token: u64,
    /// Who holds it.
    pub holder: Holder,
    /// Since when this holder has had it.
    pub since: Time,
    /// How long ago it was granted or last renewed, by the store's clock, which does not jump.
    pub silent: Duration,
    /// How long it holds without being renewed; zero once it has been released.
    pub term: Duration,
}

impl Lease {
    /// Whether its holder has given it back.
    pub fn is_released(&self) -> bool {
        self.term.is_zero()
    }

    /// Whether its holder is known to be dead.
    pub fn is_of_the_dead(&self) -> bool {
        self.holder.life() == Life::Gone
    }

    /// Whether it was released, or not renewed in time.
    pub fn has_lapsed(&self) -> bool {
        self.silent >= self.term
    }
}

/// Whether a lease is what a claim wants and someone else's.
fn is_held(lease: &Lease, claim: &Claim<'_>) -> bool {
    lease.resource == claim.resource && !lease.has_lapsed() && claim.instead_of != Some(lease.token)
}

/// What became of a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Acquired {
    /// It was granted with this token.
    Granted(u64),
    /// Someone else holds it.
    Held(Lease),
    /// It is the lease of a trial that has ended, which nobody may have any more.
    Ended,
}

/// What became of an append.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Appended {
    /// It is durable; the tokens of its claims, in their order.
    Stored(Vec<u64>),
    /// A newer lease was granted; nothing was stored.
    Fenced {
        /// Its token.
        current: u64,
    },
    /// Another event has begun or ended this trial; nothing was stored.
    Taken {
        /// The trial.
        trial: usize,
    },
}

/// A place that keeps studies. Every call is one short transaction; what it has answered is durable.
pub trait Store: Send + Sync + Debug {
    /// Creates a study, unless one of that name is there.
    fn create(&self, study: &NewStudy) -> Result<StudyRow>;

    /// All studies, by name.
    fn studies(&self) -> Result<Vec<StudyRow>>;

    /// The study of this name.
    fn find(&self, name: &str) -> Result<Option<StudyRow>>;

    /// Replaces the text of a study's file.
    fn set_text(&self, study: StudyId, text: &str) -> Result<()>;

    /// The files of a study.
    fn files(&self, study: StudyId) -> Result<Vec<StoredFile>>;

    /// Deletes a study with all that belongs to it.
    fn delete(&self, study: StudyId) -> Result<()>;

    /// The events after the first `after`, in order.
    fn events(&self, study: StudyId, after: usize) -> Result<Vec<Record>>;

    /// The events up to the first that cannot be read, and why it cannot.
    fn readable_events(&self, study: StudyId) -> Result<(Vec<Record>, Option<Error>)> {
        Ok((self.events(study, 0)?, None))
    }

    /// What is wrong with the store itself, in words, as far as it can tell.
    fn faults(&self) -> Result<Vec<String>> {
        Ok(vec![])
    }

    /// Logs events. An append whose origin is in the log already is answered as stored, and changes nothing. The lease of
    /// a trial that ends is removed.
    fn append(&self, study: StudyId, append: &Append<'_>) -> Result<Appended>;

    /// All leases of a study: that of asking, and those of trials that have not ended.
    fn leases(&self, study: StudyId) -> Result<Vec<Lease>>;

    /// Grants a lease, unless someone holds it, or it is that of a trial that has ended.
    fn acquire(&self, study: StudyId, claim: &Claim<'_>) -> Result<Acquired>;

    /// As [`Store::acquire`], waiting up to `patience` for the holder to release it; not for one that is known to be dead.
    fn acquire_in_turn(&self, study: StudyId, claim: &Claim<'_>, patience: Duration) -> Result<Acquired> {
        let (start, mut pause) = (Instant::now(), PAUSES.0);
        loop {
            let held = match self.acquire(study, claim)? {
                Acquired::Held(lease) if !lease.is_of_the_dead() => lease,
                done => return Ok(done),
            };
            // Looking takes no lock; only what looks free is asked for again.
            while self.leases(study)?.iter().any(|lease| lease.token == held.token && is_held(lease, claim)) {
                if start.elapsed() >= patience {
                    return Ok(Acquired::Held(held));
                }
                std::thread::sleep(pause);
                pause = (2 * pause).min(PAUSES.1);
            }
        }
    }

    /// A number that changes when the study's log or leases change, where that can be known without a transaction.
    fn pulse(&self, study: StudyId) -> Result<Option<u64>> {
        let _ = study;
        Ok(None)
    }

    /// How long to wait at least between two looks at a study that others work on, so that waiting costs next to nothing.
    fn pace(&self) -> Duration {
        Duration::from_millis(100)
    }

    /// Prolongs a lease to `term` from now; false if it is gone or a newer one was granted.
    fn renew(&self, study: StudyId, fence: Fence<'_>, term: Duration) -> Result<bool>;

    /// Lets a lease lapse now; nothing happens if it is gone or a newer one was granted.
    fn release(&self, study: StudyId, fence: Fence<'_>) -> Result<()>;
}
