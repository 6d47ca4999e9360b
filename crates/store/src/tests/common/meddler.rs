//! A store between whose calls something happens: what others do in the meantime, or a store that goes away.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::backend::{Backend, NewStudy};
use crate::lease::{Acquired, Claim, Fence, Lease};
use crate::record::{Append, Appended, Record};
use crate::store::{StoredFile, StudyId, StudyRow};
use crate::{Error, Result};

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Moment {
    AfterEvents,
    BeforeAppend,
    AfterAppend,
    AfterLeases,
}

/// What happens; an error is what the call answers.
pub type Deed = Box<dyn FnOnce() -> Result<()> + Send>;

/// A store with a plan: each deed is done at its moment, once, in order.
pub struct Meddler {
    inner: Arc<dyn Backend>,
    plan: Mutex<VecDeque<(Moment, Deed)>>,
    reads: AtomicUsize,
}

impl Meddler {
    pub fn new(inner: Arc<dyn Backend>) -> Arc<Self> {
        Arc::new(Self { inner, plan: Mutex::default(), reads: AtomicUsize::new(0) })
    }

    pub fn plan(&self, moment: Moment, deed: impl FnOnce() -> Result<()> + Send + 'static) {
        self.plan.lock().unwrap().push_back((moment, Box::new(deed)));
    }

    /// Whether all that was planned has happened.
    pub fn is_done(&self) -> bool {
        self.plan.lock().unwrap().is_empty()
    }

    /// How often the log has been read.
    pub fn reads(&self) -> usize {
        self.reads.load(Ordering::Relaxed)
    }

    fn now(&self, moment: Moment) -> Result<()> {
        let mut plan = self.plan.lock().unwrap();
        let deed = if plan.front().is_some_and(|next| next.0 == moment) { plan.pop_front() } else { None };
        drop(plan);
        deed.map_or(Ok(()), |(_, deed)| deed())
    }
}

/// What a store says that has gone away.
pub fn away() -> Error {
    Error::Unavailable { store: "it".to_string(), reason: "gone".to_string() }
}

impl std::fmt::Debug for Meddler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Meddler")
    }
}

impl Backend for Meddler {
    fn create(&self, study: &NewStudy) -> Result<StudyRow> {
        self.inner.create(study)
    }

    fn studies(&self) -> Result<Vec<StudyRow>> {
        self.inner.studies()
    }

    fn find(&self, name: &str) -> Result<Option<StudyRow>> {
        self.inner.find(name)
    }

    fn set_text(&self, study: StudyId, text: &str) -> Result<()> {
        self.inner.set_text(study, text)
    }

    fn files(&self, study: StudyId) -> Result<Vec<StoredFile>> {
        self.inner.files(study)
    }

    fn delete(&self, study: StudyId) -> Result<()> {
        self.inner.delete(study)
    }

    fn events(&self, study: StudyId, after: usize) -> Result<Vec<Record>> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        let events = self.inner.events(study, after)?;
        self.now(Moment::AfterEvents)?;
        Ok(events)
    }

    fn append(&self, study: StudyId, append: &Append<'_>) -> Result<Appended> {
        self.now(Moment::BeforeAppend)?;
        let appended = self.inner.append(study, append)?;
        self.now(Moment::AfterAppend)?;
        Ok(appended)
    }

    fn leases(&self, study: StudyId) -> Result<Vec<Lease>> {
        let leases = self.inner.leases(study)?;
        self.now(Moment::AfterLeases)?;
        Ok(leases)
    }

    fn acquire(&self, study: StudyId, claim: &Claim<'_>) -> Result<Acquired> {
        self.inner.acquire(study, claim)
    }

    fn renew(&self, study: StudyId, fence: Fence<'_>, term: Duration) -> Result<bool> {
        self.inner.renew(study, fence, term)
    }

    fn release(&self, study: StudyId, fence: Fence<'_>) -> Result<()> {
        self.inner.release(study, fence)
    }

    fn acquire_in_turn(&self, study: StudyId, claim: &Claim<'_>, patience: Duration) -> Result<Acquired> {
        self.inner.acquire_in_turn(study, claim, patience)
    }

    fn pulse(&self, study: StudyId) -> Result<Option<u64>> {
        self.inner.pulse(study)
    }
}
