//! A store in memory: for tests, and for studies that nobody needs to keep.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::codec::VERSION;
use crate::store::{
    Acquired, Append, Appended, Claim, Fence, Lease, NewEvent, NewStudy, Record, Store, StoredFile, StudyId, StudyRow,
};
use crate::{Error, Result, Time};

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
    /// For each record, the trial that it begins and the one that it ends.
    beginnings: Vec<usize>,
    ends: Vec<usize>,
    leases: Vec<Lease>,
}

impl State {
    fn study(&mut self, id: StudyId) -> Result<&mut Kept> {
        self.studies.iter_mut().find(|kept| kept.row.id == id).ok_or(Error::Deleted)
    }
}

impl Kept {
    fn lease(&mut self, resource: &str) -> Option<&mut Lease> {
        self.leases.iter_mut().find(|lease| lease.resource == resource)
    }

    fn grant(&mut self, claim: &Claim<'_>) -> u64 {
        let expires = Time::now().after(claim.term);
        let token = self.lease(claim.resource).map_or(1, |lease| lease.token + 1);
        let (resource, holder) = (claim.resource.to_string(), claim.holder.clone());
        self.leases.retain(|lease| lease.resource != resource);
        self.leases.push(Lease { resource, token, holder, expires, lapsed: false });
        token
    }

    /// The first trial that has been begun, or ended, by another event.
    fn taken(&self, append: &Append<'_>) -> Option<usize> {
        let clash = |event: &&NewEvent| {
            let among = |list: &[usize]| event.trial.is_some_and(|trial| list.contains(&trial));
            (event.begins() && among(&self.beginnings)) || (event.ends() && among(&self.ends))
        };
        append.events.iter().find(clash).and_then(|event| event.trial)
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
        let row = StudyRow { id, name: study.name.clone(), created, text: study.text.clone() };
        let (beginnings, ends) = (vec![], vec![]);
        let files = study.files.clone();
        let mut kept = Kept { row: row.clone(), files, records: vec![], beginnings, ends, leases: vec![] };
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
        self.state().study(study)?.row.text = text.to_string();
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
        if let Some(fence) = append.fence
            && let Some(lease) = kept.lease(fence.resource).filter(|lease| lease.token != fence.token)
        {
            return Ok(Appended::Fenced { current: lease.token });
        }
        if let Some(trial) = kept.taken(append) {
            return Ok(Appended::Taken { trial });
        }
        kept.push(append.events);
        for claim in append.claims {
            kept.grant(claim);
        }
        for fence in append.releases {
            kept.release(*fence);
        }
        Ok(Appended::Stored)
    }

    fn leases(&self, study: StudyId) -> Result<Vec<Lease>> {
        let now = Time::now();
        let with_state = |lease: &Lease| Lease { lapsed: lease.expires <= now, ..lease.clone() };
        Ok(self.state().study(study)?.leases.iter().map(with_state).collect())
    }

    fn acquire(&self, study: StudyId, claim: &Claim<'_>) -> Result<Acquired> {
        let mut state = self.state();
        let kept = state.study(study)?;
        let now = Time::now();
        match kept.lease(claim.resource) {
            Some(lease) if lease.expires > now && claim.instead_of != Some(lease.token) => {
                Ok(Acquired::Held(lease.clone()))
            }
            _ => Ok(Acquired::Granted(kept.grant(claim))),
        }
    }

    fn renew(&self, study: StudyId, fence: Fence<'_>, term: Duration) -> Result<bool> {
        let mut state = self.state();
        let lease = state.study(study)?.lease(fence.resource).filter(|lease| lease.token == fence.token);
        let renewed = lease.map(|lease| lease.expires = Time::now().after(term));
        Ok(renewed.is_some())
    }

    fn release(&self, study: StudyId, fence: Fence<'_>) -> Result<()> {
        self.state().study(study)?.release(fence);
        Ok(())
    }
}

impl Kept {
    fn push(&mut self, events: &[NewEvent]) {
        for event in events {
            let (sequence, time) = (self.records.len() + 1, event.time.unwrap_or_else(Time::now));
            let (kind, body) = (event.kind.to_string(), event.body.clone());
            self.records.push(Record { sequence, time, kind, body, version: VERSION });
            self.beginnings.extend(event.trial.filter(|_| event.begins()));
            self.ends.extend(event.trial.filter(|_| event.ends()));
        }
    }

    fn release(&mut self, fence: Fence<'_>) {
        if let Some(lease) = self.lease(fence.resource).filter(|lease| lease.token == fence.token) {
            lease.expires = Time::default();
        }
    }
}
