//! A store that runs planned actions around its calls: what other processes do in the meantime, or a store that goes away.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::backend::{Backend, NewStudy};
use crate::lease::{Acquired, Claim, Fence, Lease};
use crate::record::{Append, Appended, Record};
use crate::store::{StoredFile, StudyId, StudyRow};
use crate::{Error, Result};

/// When an action runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Point {
    AfterEvents,
    BeforeAppend,
    AfterLeases,
}

/// What is done; an error becomes the answer of the call.
pub type Action = Box<dyn FnOnce() -> Result<()> + Send>;

/// A store with a plan: each action runs once at its point, in order.
pub struct Interceptor {
    inner: Arc<dyn Backend>,
    plan: Mutex<VecDeque<(Point, Action)>>,
    reads: AtomicUsize,
}

impl Interceptor {
    pub fn new(inner: Arc<dyn Backend>) -> Arc<Self> {
        Arc::new(Self { inner, plan: Mutex::default(), reads: AtomicUsize::new(0) })
    }

    pub fn plan(&self, moment: Point, action: impl FnOnce() -> Result<()> + Send + 'static) {
        self.plan.lock().unwrap().push_back((moment, Box::new(action)));
    }

    /// Whether all that was planned has happened.
    pub fn is_done(&self) -> bool {
        self.plan.lock().unwrap().is_empty()
    }

    /// How often the log has been read.
    pub fn reads(&self) -> usize {
        self.reads.load(Ordering::Relaxed)
    }

    fn now(&self, moment: Point) -> Result<()> {
        let mut plan = self.plan.lock().unwrap();
        let action = if plan.front().is_some_and(|next| next.0 == moment) { plan.pop_front() } else { None };
        drop(plan);
        action.map_or(Ok(()), |(_, action)| action())
    }
}

/// What a store says that has gone away.
pub fn away() -> Error {
    Error::Unavailable { store: "it".to_string(), reason: "gone".to_string() }
}

impl std::fmt::Debug for Interceptor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Interceptor")
    }
}

impl Backend for Interceptor {
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
        self.now(Point::AfterEvents)?;
        Ok(events)
    }

    fn events_and_leases(&self, study: StudyId, after: usize) -> Result<(Vec<Record>, Vec<Lease>)> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        let read = self.inner.events_and_leases(study, after)?;
        self.now(Point::AfterLeases)?;
        Ok(read)
    }

    fn append(&self, study: StudyId, append: &Append<'_>) -> Result<Appended> {
        self.now(Point::BeforeAppend)?;
        self.inner.append(study, append)
    }

    fn leases(&self, study: StudyId) -> Result<Vec<Lease>> {
        let leases = self.inner.leases(study)?;
        self.now(Point::AfterLeases)?;
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

    fn change_counter(&self, study: StudyId) -> Result<Option<u64>> {
        self.inner.change_counter(study)
    }
}
