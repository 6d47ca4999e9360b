//! A store in memory: for tests, and for studies that nobody needs to keep.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::chain::Stamp;
use crate::codec::VERSION;
use crate::source::sha256;
use crate::store::{
    Acquired, Append, Appended, Claim, Fence, Lease, NewEvent, NewStudy, Record, Store, StoredFile, StudyId, StudyRow,
    trial_of, trial_resource,
};
use crate::{Error, Holder, Result, Time, chain};

/// A store in memory.
#[derive(Debug, Default)]
pub struct Memory {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    studies: Vec<Kept>,
    created: i64,
}

#[derive(Debug)]
struct Kept {
    row: StudyRow,
    files: Vec<StoredFile>,
    records: Vec<Record>,
    /// The trials that have begun, and that have ended.
    beginnings: HashSet<usize>,
    ends: HashSet<usize>,
    origins: HashSet<String>,
    leases: Vec<Held>,
    /// How often the log or a lease has changed.
    pulse: u64,
}

#[derive(Debug)]
struct Held {
    resource: String,
    token: u64,
    holder: Holder,
    since: Time,
    renewed: Instant,
    term: Duration,
}

impl State {
    fn study(&mut self, id: StudyId) -> Result<&mut Kept> {
        self.studies.iter_mut().find(|kept| kept.row.id == id).ok_or(Error::Deleted)
    }
}

impl Held {
    fn lease(&self) -> Lease {
        let (resource, token, holder) = (self.resource.clone(), self.token, self.holder.clone());
        Lease { resource, token, holder, since: self.since, silent: self.renewed.elapsed(), term: self.term }
    }
}

impl Kept {
    fn lease(&mut self, resource: &str) -> Option<&mut Held> {
        self.leases.iter_mut().find(|lease| lease.resource == resource)
    }

    fn grant(&mut self, claim: &Claim<'_>) -> u64 {
        let token = self.lease(claim.resource).map_or(1, |lease| lease.token + 1);
        let (resource, holder, term) = (claim.resource.to_string(), claim.holder.clone(), claim.term);
        self.leases.retain(|lease| lease.resource != resource);
        self.leases.push(Held { resource, token, holder, since: Time::now(), renewed: Instant::now(), term });
        token
    }

    fn release(&mut self, fence: Fence<'_>) {
        if let Some(lease) = self.lease(fence.resource).filter(|lease| lease.token == fence.token) {
            lease.term = Duration::ZERO;
        }
    }

    /// The first trial that has been begun, or ended, by another event.
    fn taken(&self, append: &Append<'_>) -> Option<usize> {
        let clash = |event: &&NewEvent| {
            let among = |set: &HashSet<usize>| event.trial.is_some_and(|trial| set.contains(&trial));
            (event.begins() && among(&self.beginnings)) || (event.ends() && among(&self.ends))
        };
        append.events.iter().find(clash).and_then(|event| event.trial)
    }

    fn push(&mut self, events: &[NewEvent]) {
        let (last, hash) = (self.records.len() as i64, self.records.last().and_then(|record| record.hash.clone()));
        for (event, Stamp { time, hash, .. }) in events.iter().zip(chain::stamps(events, last, hash, Time::now())) {
            let (sequence, hash) = (self.records.len() + 1, Some(hash));
            let (kind, body, key) = (event.kind.to_string(), event.body.clone(), event.key.clone());
            self.records.push(Record { sequence, time, kind, trial: event.trial, body, version: VERSION, key, hash });
            self.beginnings.extend(event.trial.filter(|_| event.begins()));
            if let Some(trial) = event.trial.filter(|_| event.ends()) {
                self.ends.insert(trial);
                self.leases.retain(|lease| lease.resource != trial_resource(trial));
            }
        }
    }
}

impl Memory {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Every change is made whole before the lock is let go, panic or not.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for Memory {
    fn create(&self, study: &NewStudy) -> Result<StudyRow> {
        let mut state = self.state();
        if state.studies.iter().any(|kept| kept.row.name == study.name) {
            return Err(Error::StudyExists { name: study.name.clone() });
        }
        state.created += 1;
        let (id, created) = (StudyId(state.created), Time::now());
        let (name, text) = (study.name.clone(), study.text.clone());
        let row = StudyRow { id, name, created, sha256: Some(sha256(text.as_bytes())), text };
        let (beginnings, ends, origins) = Default::default();
        let (files, records, leases) = (study.files.clone(), vec![], vec![]);
        let mut kept = Kept { row: row.clone(), files, records, beginnings, ends, origins, leases, pulse: 0 };
        kept.push(&study.events);
        state.studies.push(kept);
        Ok(row)
    }

    fn studies(&self) -> Result<Vec<StudyRow>> {
        let mut rows: Vec<StudyRow> = self.state().studies.iter().map(|kept| kept.row.clone()).collect();
        rows.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(rows)
    }

    fn find(&self, name: &str) -> Result<Option<StudyRow>> {
        Ok(self.state().studies.iter().find(|kept| kept.row.name == name).map(|kept| kept.row.clone()))
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
        state.studies.retain(|kept| kept.row.id != study);
        Ok(())
    }

    fn events(&self, study: StudyId, after: usize) -> Result<Vec<Record>> {
        Ok(self.state().study(study)?.records.iter().skip(after).cloned().collect())
    }

    fn append(&self, study: StudyId, append: &Append<'_>) -> Result<Appended> {
        let mut state = self.state();
        let kept = state.study(study)?;
        if kept.origins.contains(append.origin) {
            let token = |claim: &Claim<'_>| kept.lease(claim.resource).map(|lease| lease.token);
            return Ok(Appended::Stored(append.claims.iter().filter_map(token).collect()));
        }
        if let Some(fence) = append.fence
            && let Some(lease) = kept.lease(fence.resource).filter(|lease| lease.token != fence.token)
        {
            return Ok(Appended::Fenced { current: lease.token });
        }
        if let Some(trial) = kept.taken(append) {
            return Ok(Appended::Taken { trial });
        }
        kept.push(append.events);
        kept.origins.insert(append.origin.to_string());
        let granted = append.claims.iter().map(|claim| kept.grant(claim)).collect();
        append.releases.iter().for_each(|fence| kept.release(*fence));
        kept.pulse += 1;
        Ok(Appended::Stored(granted))
    }

    fn leases(&self, study: StudyId) -> Result<Vec<Lease>> {
        Ok(self.state().study(study)?.leases.iter().map(Held::lease).collect())
    }

    fn acquire(&self, study: StudyId, claim: &Claim<'_>) -> Result<Acquired> {
        let mut state = self.state();
        let kept = state.study(study)?;
        if trial_of(claim.resource).is_some_and(|trial| kept.ends.contains(&trial)) {
            return Ok(Acquired::Ended);
        }
        match kept.lease(claim.resource).map(|held| held.lease()) {
            Some(lease) if !lease.has_lapsed() && claim.instead_of != Some(lease.token) => Ok(Acquired::Held(lease)),
            _ => Ok(Acquired::Granted(kept.grant(claim))),
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
        let kept = state.study(study)?;
        kept.release(fence);
        kept.pulse += 1;
        Ok(())
    }

    fn pulse(&self, study: StudyId) -> Result<Option<u64>> {
        Ok(Some(self.state().study(study)?.pulse))
    }
}
