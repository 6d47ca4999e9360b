//! A store in one SQLite file, the embedded default: write-ahead log, acknowledged events are on disk.

mod identity;
mod leases;
mod log;
mod opening;
mod queue;
mod refusal;
mod schema;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior, params};

use self::identity::FileIdentity;
use self::queue::LeaseQueue;
use self::refusal::{gone, refused};
use crate::backend::{Backend, NewStudy};
use crate::clock::{Clock, SystemClock};
use crate::error::found;
use crate::lease::{Acquired, Claim, Fence, Lease, trial_of};
use crate::queue::wait_in_queue;
use crate::record::{Append, Appended, NewEvent, Record};
use crate::store::{StoredFile, StudyId, StudyRow, sha256};
use crate::{Access, Error, Result, Time};

/// How long to wait for another process's transaction.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long to wait before trying again where SQLite does not wait.
const PAUSE: Duration = Duration::from_millis(5);

/// A store in a SQLite file.
#[derive(Debug)]
pub struct Sqlite {
    path: PathBuf,
    file: FileIdentity,
    /// The schema of its tables: the latest one, unless an older store was opened to be read.
    schema: i64,
    connection: Mutex<Connection>,
    clock: Arc<dyn Clock>,
    /// How often this process has written: SQLite's own counter covers other connections only.
    writes: AtomicU64,
}

/// Whether a commit must be on disk before it is acknowledged. A lease need not be: it is about running processes, and none
/// survives a power failure.
#[derive(Clone, Copy, PartialEq)]
enum Durable {
    Yes,
    No,
}

impl Sqlite {
    /// Opens the store in a file. It is created if it does not exist and `access` says so; if that fails, no file is left.
    pub fn open(path: &Path, access: Access) -> Result<Self> {
        Self::open_with_clock(path, access, Arc::new(SystemClock))
    }

    /// As [`Sqlite::open`], by other clocks than this machine's.
    pub fn open_with_clock(path: &Path, access: Access, clock: Arc<dyn Clock>) -> Result<Self> {
        let (connection, schema) = opening::open(path, access)?;
        let file = FileIdentity::of(path).ok_or_else(|| gone(path))?;
        let (path, connection) = (path.to_path_buf(), Mutex::new(connection));
        Ok(Self { path, file, schema, connection, clock, writes: AtomicU64::new(0) })
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        // A panic inside a transaction has rolled it back.
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn moment(&self) -> leases::Moment {
        leases::Moment { wall: self.clock.now(), ticks: self.clock.ticks() }
    }

    /// Refuses a file that was removed: it could still be written, and nobody would ever read it.
    fn check_file(&self) -> Result<()> {
        if FileIdentity::of(&self.path) == Some(self.file) { Ok(()) } else { Err(gone(&self.path)) }
    }

    /// Reads, outside of any transaction.
    fn read<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T> {
        self.check_file()?;
        work(&self.connection()).map_err(|error| refused(&self.path, &error))
    }

    /// One short transaction that writes.
    fn write<T>(&self, durable: Durable, work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>) -> Result<T> {
        self.check_file()?;
        let mut connection = self.connection();
        let run = || {
            let level = if durable == Durable::Yes { "FULL" } else { "NORMAL" };
            connection.pragma_update(None, "synchronous", level)?;
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let result = work(&transaction)?;
            transaction.commit()?;
            self.writes.fetch_add(1, Ordering::Relaxed);
            Ok(result)
        };
        run().map_err(|error| refused(&self.path, &error))
    }

    /// The selection of [`study_row`].
    fn rows(&self) -> String {
        let sha256 = if self.schema < schema::WITH_CHECKSUMS { "NULL" } else { "sha256" };
        format!("SELECT id, name, created, text, {sha256} FROM studies")
    }

    /// Grants a lease unless someone holds it; whoever is named leaves the queue.
    fn claim(&self, study: StudyId, claim: &Claim<'_>, name: Option<&str>) -> Result<Acquired> {
        let now = self.moment();
        let acquired = self.write(Durable::No, |t| {
            if !is_there(t, study)? {
                return Ok(None);
            }
            if let Some(trial) = trial_of(claim.resource)
                && log::has_ended(t, study, trial)?
            {
                return Ok(Some(Acquired::Ended));
            }
            match leases::find(t, study, claim.resource, now)? {
                Some(lease) if claim.is_blocked_by(&lease) => Ok(Some(Acquired::Held(lease))),
                _ => {
                    name.map_or(Ok(()), |name| queue::leave(t, study, name))?;
                    leases::grant(t, study, claim, now).map(|token| Some(Acquired::Granted(token)))
                }
            }
        })?;
        acquired.ok_or(Error::Deleted)
    }
}

impl Backend for Sqlite {
    fn create(&self, study: &NewStudy) -> Result<StudyRow> {
        let (created, sum) = (self.clock.now(), sha256(study.text.as_bytes()));
        let id = self.write(Durable::Yes, |t| {
            let sql = "INSERT INTO studies (name, created, text, sha256) VALUES (?, ?, ?, ?) \
                       ON CONFLICT (name) DO NOTHING";
            if t.execute(sql, params![study.name, created.micros(), study.text, sum])? == 0 {
                return Ok(None);
            }
            let id = t.last_insert_rowid();
            for file in &study.files {
                let sql = "INSERT INTO files (study, role, name, sha256, content) VALUES (?, ?, ?, ?, ?)";
                t.execute(sql, params![id, file.role, file.name, file.sha256, file.content])?;
            }
            log::insert(t, StudyId(id), "", &study.events, created)?;
            Ok(Some(id))
        })?;
        let id = id.ok_or_else(|| Error::StudyExists { name: study.name.clone() })?;
        let (name, text) = (study.name.clone(), study.text.clone());
        Ok(StudyRow { id: StudyId(id), name, created, text, sha256: Some(sum) })
    }

    fn studies(&self) -> Result<Vec<StudyRow>> {
        self.read(|c| {
            let mut statement = c.prepare_cached(&format!("{} ORDER BY name", self.rows()))?;
            statement.query_map([], study_row)?.collect()
        })
    }

    fn find(&self, name: &str) -> Result<Option<StudyRow>> {
        let sql = format!("{} WHERE name = ?", self.rows());
        self.read(|c| c.prepare_cached(&sql)?.query_row([name], study_row).optional())
    }

    fn set_text(&self, study: StudyId, text: &str) -> Result<()> {
        let sql = "UPDATE studies SET text = ?, sha256 = ? WHERE id = ?";
        found(self.write(Durable::Yes, |t| t.execute(sql, params![text, sha256(text.as_bytes()), study.0]))? > 0)
    }

    fn files(&self, study: StudyId) -> Result<Vec<StoredFile>> {
        self.read(|c| {
            let sql = "SELECT role, name, sha256, content FROM files WHERE study = ? ORDER BY role";
            let mut statement = c.prepare_cached(sql)?;
            let file = |row: &Row<'_>| {
                let (role, name) = (row.get(0)?, row.get(1)?);
                Ok(StoredFile { role, name, sha256: row.get(2)?, content: row.get(3)? })
            };
            statement.query_map([study.0], file)?.collect()
        })
    }

    fn delete(&self, study: StudyId) -> Result<()> {
        let sql = "DELETE FROM studies WHERE id = ?";
        found(self.write(Durable::Yes, |t| t.execute(sql, [study.0]))? > 0)
    }

    fn events(&self, study: StudyId, after: usize) -> Result<Vec<Record>> {
        let (records, is_there) = self.read(|c| {
            let records = log::read(c, study, after, self.schema)?;
            let is_there = !records.is_empty() || is_there(c, study)?;
            Ok((records, is_there))
        })?;
        found(is_there).map(|()| records)
    }

    fn events_and_leases(&self, study: StudyId, after: usize) -> Result<(Vec<Record>, Vec<Lease>)> {
        let now = self.moment();
        let (records, leases, is_there) = self.read(|c| {
            // Deferred: all reads of one transaction see the same state, and no lock is taken to write.
            let t = c.unchecked_transaction()?;
            let records = log::read(&t, study, after, self.schema)?;
            Ok((records, leases::read(&t, study, now, self.schema)?, is_there(&t, study)?))
        })?;
        found(is_there).map(|()| (records, leases))
    }

    fn readable_events(&self, study: StudyId) -> Result<(Vec<Record>, Option<Error>)> {
        let (records, fault) = self.read(|c| log::read_until_error(c, study, self.schema))?;
        Ok((records, fault.map(|error| refused(&self.path, &error))))
    }

    fn faults(&self) -> Result<Vec<String>> {
        let checked = self.read(|c| {
            let mut statement = c.prepare("PRAGMA integrity_check")?;
            let said: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
            Ok(said.into_iter().filter(|line| line != "ok").collect())
        });
        // Where the check itself cannot go on, that is the fault; the readable part is read all the same.
        match checked {
            Err(Error::Damaged { reason, .. }) => Ok(vec![reason]),
            checked => checked,
        }
    }

    fn append(&self, study: StudyId, append: &Append<'_>) -> Result<Appended> {
        let now = self.moment();
        let appended = self.write(Durable::Yes, |t| {
            if !is_there(t, study)? {
                return Ok(None);
            }
            if log::is_stored(t, study, append.origin)? {
                let token = |claim: &Claim<'_>| leases::token(t, study, claim.resource).transpose();
                let tokens = append.claims.iter().filter_map(token).collect::<rusqlite::Result<_>>()?;
                return Ok(Some(Appended::Stored { tokens, records: vec![] }));
            }
            if let Some(fence) = append.fence
                && let Some(current) = leases::token(t, study, fence.resource)?.filter(|token| *token != fence.token)
            {
                return Ok(Some(Appended::Fenced { current }));
            }
            if let Some(trial) = log::taken(t, study, append.events)? {
                return Ok(Some(Appended::Taken { trial }));
            }
            if let Some(after) = append.after
                && log::length(t, study)? > after
            {
                return Ok(Some(Appended::Outdated));
            }
            let records = log::insert(t, study, append.origin, append.events, now.wall)?;
            let mut ended = append.events.iter().filter_map(NewEvent::ended_trial);
            ended.try_for_each(|trial| leases::remove(t, study, trial))?;
            let grant = |claim| leases::grant(t, study, claim, now);
            let tokens = append.claims.iter().map(grant).collect::<rusqlite::Result<_>>()?;
            append.releases.iter().try_for_each(|fence| leases::release(t, study, *fence))?;
            Ok(Some(Appended::Stored { tokens, records }))
        })?;
        appended.ok_or(Error::Deleted)
    }

    fn leases(&self, study: StudyId) -> Result<Vec<Lease>> {
        let now = self.moment();
        self.read(|c| leases::read(c, study, now, self.schema))
    }

    fn acquire(&self, study: StudyId, claim: &Claim<'_>) -> Result<Acquired> {
        self.claim(study, claim, None)
    }

    fn acquire_in_turn(&self, study: StudyId, claim: &Claim<'_>, patience: Duration) -> Result<Acquired> {
        wait_in_queue(&LeaseQueue { store: self, study }, claim, patience)
    }

    fn renew(&self, study: StudyId, fence: Fence<'_>, term: Duration) -> Result<bool> {
        let now = self.moment();
        self.write(Durable::No, |t| leases::renew(t, study, fence, term, now))
    }

    fn release(&self, study: StudyId, fence: Fence<'_>) -> Result<()> {
        self.write(Durable::No, |t| leases::release(t, study, fence))
    }

    fn change_counter(&self, _study: StudyId) -> Result<Option<u64>> {
        let others = |c: &Connection| c.query_row("PRAGMA data_version", [], |row| row.get::<_, i64>(0));
        Ok(Some((self.read(others)? as u64).wrapping_add(self.writes.load(Ordering::Relaxed))))
    }
}

fn is_there(c: &Connection, study: StudyId) -> rusqlite::Result<bool> {
    c.prepare_cached("SELECT 1 FROM studies WHERE id = ?")?.exists([study.0])
}

fn study_row(row: &Row<'_>) -> rusqlite::Result<StudyRow> {
    let (id, created) = (StudyId(row.get(0)?), Time::from_micros(row.get(2)?));
    Ok(StudyRow { id, name: row.get(1)?, created, text: row.get(3)?, sha256: row.get(4)? })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use manyhands_core::event::EventKind;

    use super::*;

    #[test]
    fn a_store_that_has_reached_its_size_refuses_whole_appends_and_goes_on_when_it_may_grow() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.db");
        let store = Sqlite::open(&path, Access::Create).unwrap();
        let new = NewStudy { name: "s".to_string(), text: String::new(), files: vec![], events: vec![] };
        let id = store.create(&new).unwrap().id;
        let may_have = |pages: i64| {
            let connection = store.connection();
            let now: i64 = connection.query_row("PRAGMA page_count", [], |row| row.get(0)).unwrap();
            connection.query_row(&format!("PRAGMA max_page_count = {}", now + pages), [], |_| Ok(())).unwrap();
        };
        let append = |trial: usize| {
            let event = |kind| {
                let (trial, body, time, key, attempt) = (Some(trial), "x".repeat(3000), None, None, 0);
                NewEvent { kind, trial, body, time, key, attempt }
            };
            let (events, origin) = ([event(EventKind::Asked), event(EventKind::Told)], trial.to_string());
            let append = Append { origin: &origin, events: &events, ..Append::default() };
            store.append(id, &append).map(|appended| matches!(appended, Appended::Stored { .. }))
        };
        may_have(10);
        let stored = (0..).take_while(|trial| append(*trial) == Ok(true)).count();
        assert!(stored > 0);
        assert!(matches!(append(stored), Err(Error::Full { .. })));
        assert_eq!(store.events(id, 0).unwrap().len(), 2 * stored);
        may_have(1000);
        assert_eq!(append(stored), Ok(true));
        let sound: String = store.connection().query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!((sound.as_str(), store.events(id, 0).unwrap().len()), ("ok", 2 * stored + 2));
    }
}
