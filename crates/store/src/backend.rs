//! What every kind of store implements: studies, stored files, append-only events and leases, behind one blocking trait.
//!
//! A backend never reads the body of an event. Of its kind it knows whether such events begin or end a trial
//! ([`Unique`](crate::record::Unique)), and so keeps what must hold whoever writes: a trial begins once and ends at most
//! once, and a trial that has ended has no lease. What events mean is for sessions, which fold them.

use std::fmt::Debug;
use std::time::{Duration, Instant};

use crate::lease::{Acquired, Claim, Fence, Lease};
use crate::record::{Append, Appended, NewEvent, Record};
use crate::store::{StoredFile, StudyId, StudyRow};
use crate::{Error, Result};

/// How long to wait before looking again whether a lease is free, at first and at most.
const PAUSES: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(50));

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

/// A kind of store. Every write is one short transaction; what it has answered is durable.
pub trait Backend: Send + Sync + Debug {
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

    /// The events after the first `after`, in order, and all leases, as of one moment.
    fn events_and_leases(&self, study: StudyId, after: usize) -> Result<(Vec<Record>, Vec<Lease>)>;

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

    /// As [`Backend::acquire`], waiting up to `patience` for the holder to release it, unless that is known to be dead.
    fn acquire_in_turn(&self, study: StudyId, claim: &Claim<'_>, patience: Duration) -> Result<Acquired> {
        let (start, mut pause) = (Instant::now(), PAUSES.0);
        let is_blocking = |lease: &Lease| lease.resource == claim.resource && claim.is_blocked_by(lease);
        loop {
            let held = match self.acquire(study, claim)? {
                Acquired::Held(lease) if !lease.is_orphaned() => lease,
                done => return Ok(done),
            };
            // Reading the leases takes no lock; only a lease that seems free is claimed again.
            while self.leases(study)?.iter().any(|lease| lease.token == held.token && is_blocking(lease)) {
                if start.elapsed() >= patience {
                    return Ok(Acquired::Held(held));
                }
                std::thread::sleep(pause);
                pause = (2 * pause).min(PAUSES.1);
            }
        }
    }

    /// A number that changes when the study's log or leases change, where that can be known without a transaction.
    fn change_counter(&self, study: StudyId) -> Result<Option<u64>> {
        let _ = study;
        Ok(None)
    }

    /// How long a process that waits for others should pause at least between two reads.
    fn poll_interval(&self) -> Duration {
        Duration::from_millis(100)
    }

    /// Prolongs a lease to `term` from now; false if it is gone or a newer one was granted.
    fn renew(&self, study: StudyId, fence: Fence<'_>, term: Duration) -> Result<bool>;

    /// Lets a lease lapse now; nothing happens if it is gone or a newer one was granted.
    fn release(&self, study: StudyId, fence: Fence<'_>) -> Result<()>;

    /// How many transactions the server has counted so far, of all clients; none where no server counts them.
    fn transactions(&self) -> Result<Option<u64>> {
        Ok(None)
    }
}
