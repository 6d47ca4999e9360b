//! A store in memory: for tests, and for studies that nobody needs to keep.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::backend::{Backend, NewStudy};
use crate::chain::{self, Tail};
use crate::lease::{Acquired, Claim, Fence, Lease, trial_of, trial_resource};
use crate::record::{Append, Appended, AttemptKey, NewEvent, Record, Unique};
use crate::store::{StoredFile, StudyId, StudyRow, sha256};
use crate::{Error, Holder, Result, Time};

/// A store in memory.
#[derive(Debug, Default)]
pub struct Memory {
    state: Mutex<MemoryState>,
}

#[derive(Debug, Default)]
struct MemoryState {
    studies: Vec<StoredStudy>,
    created: i64,
}

#[derive(Debug)]
struct StoredStudy {
    row: StudyRow,
    files: Vec<StoredFile>,
    records: Vec<Record>,
    /// What attempts at trials have had that they have once.
    unique: HashSet<(Unique, AttemptKey)>,
    origins: HashSet<String>,
    leases: Vec<MemoryLease>,
    /// How often the log or a lease has changed.
    change_counter: u64,
}

#[derive(Debug)]
struct MemoryLease {
    resource: String,
    token: u64,
    holder: Holder,
    since: Time,
    renewed: Instant,
    term: Duration,
}

impl MemoryState {
    fn study(&mut self, id: StudyId) -> Result<&mut StoredStudy> {
        self.studies.iter_mut().find(|stored| stored.row.id == id).ok_or(Error::Deleted)
    }
}

impl MemoryLease {
    fn lease(&self) -> Lease {
        let (resource, token, holder) = (self.resource.clone(), self.token, self.holder.clone());
        Lease { resource, token, holder, since: self.since, silent: self.renewed.elapsed(), term: self.term }
    }
}

impl StoredStudy {
    fn lease(&mut self, resource: &str) -> Option<&mut MemoryLease> {
        self.leases.iter_mut().find(|lease| lease.resource == resource)
    }

    fn grant(&mut self, claim: &Claim<'_>) -> u64 {
        let token = self.lease(claim.resource).map_or(1, |lease| lease.token + 1);
        let (resource, holder, term) = (claim.resource.to_string(), claim.holder.clone(), claim.term);
        self.leases.retain(|lease| lease.resource != resource);
        self.leases.push(MemoryLease { resource, token, holder, since: Time::now(), renewed: Instant::now(), term });
        token
    }

    fn release(&mut self, fence: Fence<'_>) {
        if let Some(lease) = self.lease(fence.resource).filter(|lease| lease.token == fence.token) {
            lease.term = Duration::ZERO;
        }
    }

    /// The first trial that has been begun, reopened or ended by another event.
    fn taken(&self, append: &Append<'_>) -> Option<usize> {
        let mut unique = append.events.iter().filter_map(NewEvent::unique);
        unique.find(|unique| self.unique.contains(unique)).map(|(_, key)| key.trial)
    }

    /// Whether the latest attempt at a trial has ended.
    fn has_ended(&self, trial: usize) -> bool {
        let is_known = |unique, attempt| self.unique.contains(&(unique, AttemptKey { trial, attempt }));
        let latest = (1..).take_while(|attempt| is_known(Unique::Reopening, *attempt)).last().unwrap_or(0);
        is_known(Unique::End, latest)
    }

    fn push(&mut self, events: &[NewEvent]) -> Vec<Record> {
        let hash = self.records.last().and_then(|record| record.hash.clone());
        let records = chain::records(events, Tail { sequence: self.records.len(), hash }, Time::now());
        self.records.extend_from_slice(&records);
        self.unique.extend(events.iter().filter_map(NewEvent::unique));
        for resource in events.iter().filter_map(NewEvent::ended_trial).map(trial_resource) {
            self.leases.retain(|lease| lease.resource != resource);
        }
        records
    }
}

impl Memory {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    fn state(&self) -> MutexGuard<'_, MemoryState> {
        // Every change is complete before the lock is released, even where a thread panics.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Backend for Memory {
    fn create(&self, study: &NewStudy) -> Result<StudyRow> {
        let mut state = self.state();
        if state.studies.iter().any(|stored| stored.row.name == study.name) {
            return Err(Error::StudyExists { name: study.name.clone() });
        }
        state.created += 1;
        let (id, created) = (StudyId(state.created), Time::now());
        let (name, text) = (study.name.clone(), study.text.clone());
        let row = StudyRow { id, name, created, sha256: Some(sha256(text.as_bytes())), text };
        let (unique, origins) = Default::default();
        let (files, records, leases) = (study.files.clone(), vec![], vec![]);
        let mut stored = StoredStudy { row: row.clone(), files, records, unique, origins, leases, change_counter: 0 };
        stored.push(&study.events);
        state.studies.push(stored);
        Ok(row)
    }

    fn studies(&self) -> Result<Vec<StudyRow>> {
        let mut rows: Vec<StudyRow> = self.state().studies.iter().map(|stored| stored.row.clone()).collect();
        rows.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(rows)
    }

    fn find(&self, name: &str) -> Result<Option<StudyRow>> {
        Ok(self.state().studies.iter().find(|stored| stored.row.name == name).map(|stored| stored.row.clone()))
    }

    fn set_text(&self, study: StudyId, text: &str) -> Result<()> {
        let mut state = self.state();
        let row = &mut state.study(study)?.row;
        (row.text, row.sha256) = (text.to_string(), Some(sha256(text.as_bytes())));
        Ok(())
    }

    fn files(&self, study: StudyId) -> Result<Vec<StoredFile>> {
        Ok(self.state().study(study)?.files.clone())
    }

    fn delete(&self, study: StudyId) -> Result<()> {
        let mut state = self.state();
        state.study(study)?;
        state.studies.retain(|stored| stored.row.id != study);
        Ok(())
    }

    fn events(&self, study: StudyId, after: usize) -> Result<Vec<Record>> {
        Ok(self.state().study(study)?.records.iter().skip(after).cloned().collect())
    }

    fn events_and_leases(&self, study: StudyId, after: usize) -> Result<(Vec<Record>, Vec<Lease>)> {
        let mut state = self.state();
        let stored = state.study(study)?;
        let leases = stored.leases.iter().map(MemoryLease::lease).collect();
        Ok((stored.records.iter().skip(after).cloned().collect(), leases))
    }

    fn append(&self, study: StudyId, append: &Append<'_>) -> Result<Appended> {
        let mut state = self.state();
        let stored = state.study(study)?;
        if stored.origins.contains(append.origin) {
            let token = |claim: &Claim<'_>| stored.lease(claim.resource).map(|lease| lease.token);
            let tokens = append.claims.iter().filter_map(token).collect();
            return Ok(Appended::Stored { tokens, records: vec![] });
        }
        if let Some(fence) = append.fence
            && let Some(lease) = stored.lease(fence.resource).filter(|lease| lease.token != fence.token)
        {
            return Ok(Appended::Fenced { current: lease.token });
        }
        if let Some(trial) = stored.taken(append) {
            return Ok(Appended::Taken { trial });
        }
        if append.after.is_some_and(|after| stored.records.len() > after) {
            return Ok(Appended::Outdated);
        }
        let records = stored.push(append.events);
        stored.origins.insert(append.origin.to_string());
        let tokens = append.claims.iter().map(|claim| stored.grant(claim)).collect();
        append.releases.iter().for_each(|fence| stored.release(*fence));
        stored.change_counter += 1;
        Ok(Appended::Stored { tokens, records })
    }

    fn leases(&self, study: StudyId) -> Result<Vec<Lease>> {
        Ok(self.state().study(study)?.leases.iter().map(MemoryLease::lease).collect())
    }

    fn acquire(&self, study: StudyId, claim: &Claim<'_>) -> Result<Acquired> {
        let mut state = self.state();
        let stored = state.study(study)?;
        if trial_of(claim.resource).is_some_and(|trial| stored.has_ended(trial)) {
            return Ok(Acquired::Ended);
        }
        match stored.lease(claim.resource).map(|held| held.lease()) {
            Some(lease) if claim.is_blocked_by(&lease) => Ok(Acquired::Held(lease)),
            _ => Ok(Acquired::Granted(stored.grant(claim))),
        }
    }

    fn renew(&self, study: StudyId, fence: Fence<'_>, term: Duration) -> Result<bool> {
        let mut state = self.state();
        let lease = state.study(study)?.lease(fence.resource).filter(|lease| lease.token == fence.token);
        let renewed = lease.map(|lease| (lease.renewed, lease.term) = (Instant::now(), term));
        Ok(renewed.is_some())
    }

    fn release(&self, study: StudyId, fence: Fence<'_>) -> Result<()> {
        let mut state = self.state();
        let stored = state.study(study)?;
        stored.release(fence);
        stored.change_counter += 1;
        Ok(())
    }

    fn change_counter(&self, study: StudyId) -> Result<Option<u64>> {
        Ok(Some(self.state().study(study)?.change_counter))
    }
}
