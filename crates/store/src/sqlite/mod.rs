//! A store in one SQLite file: the embedded default. Write-ahead log, every answer on disk.

mod identity;
mod opening;
mod refusal;
mod schema;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior, params};

use self::identity::Identity;
use self::refusal::{gone, refused};
use crate::codec::VERSION;
use crate::error::found;
use crate::store::{
    Acquired, Append, Appended, Claim, Fence, Lease, NewEvent, NewStudy, Record, Store, StoredFile, StudyId, StudyRow,
};
use crate::{Access, Error, Holder, Result, Time};

/// How long to wait for another process's transaction.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long to wait before trying again where SQLite does not wait.
const PAUSE: Duration = Duration::from_millis(5);

/// A store in a SQLite file.
#[derive(Debug)]
pub struct Sqlite {
    path: PathBuf,
    file: Identity,
    schema: i64,
    connection: Mutex<Connection>,
}

/// Whether a commit must be on disk before it is answered. A lease need not be: it protects processes, and no process
/// outlives the power.
#[derive(Clone, Copy, PartialEq)]
enum Durable {
    Yes,
    No,
}

impl Sqlite {
    /// Opens the store in a file. One is made if there is none and `access` says so; if that fails, nothing is left behind.
    pub fn open(path: impl AsRef<Path>, access: Access) -> Result<Self> {
        let path = path.as_ref().to_path_buf();
        let (connection, schema) = opening::open(&path, access)?;
        let file = Identity::of(&path).ok_or_else(|| gone(&path))?;
        Ok(Self { path, file, schema, connection: Mutex::new(connection) })
    }

    /// The schema of its tables: the latest one, unless an older store was opened to be read.
    pub fn schema(&self) -> i64 {
        self.schema
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        // A panic inside a transaction has rolled it back.
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A file that was removed can still be written, and nobody will ever read it.
    fn check_file(&self) -> Result<()> {
        if Identity::of(&self.path) == Some(self.file) { Ok(()) } else { Err(gone(&self.path)) }
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
            Ok(result)
        };
        run().map_err(|error| refused(&self.path, &error))
    }
}

impl Store for Sqlite {
    fn create(&self, study: &NewStudy) -> Result<StudyRow> {
        let created = Time::now();
        let id = self.write(Durable::Yes, |t| {
            let sql = "INSERT INTO studies (name, created, text) VALUES (?, ?, ?) ON CONFLICT (name) DO NOTHING";
            if t.execute(sql, params![study.name, created.micros(), study.text])? == 0 {
                return Ok(None);
            }
            let id = t.last_insert_rowid();
            for file in &study.files {
                let sql = "INSERT INTO files (study, role, name, sha256, content) VALUES (?, ?, ?, ?, ?)";
                t.execute(sql, params![id, file.role, file.name, file.sha256, file.content])?;
            }
            for (event, sequence) in study.events.iter().zip(1..) {
                insert(t, StudyId(id), sequence, "", event)?;
            }
            Ok(Some(id))
        })?;
        let id = id.ok_or_else(|| Error::StudyExists { name: study.name.clone() })?;
        Ok(StudyRow { id: StudyId(id), name: study.name.clone(), created, text: study.text.clone() })
    }

    fn studies(&self) -> Result<Vec<StudyRow>> {
        self.read(|c| {
            let mut statement = c.prepare_cached("SELECT id, name, created, text FROM studies ORDER BY name")?;
            statement.query_map([], study_row)?.collect()
        })
    }

    fn find(&self, name: &str) -> Result<Option<StudyRow>> {
        let sql = "SELECT id, name, created, text FROM studies WHERE name = ?";
        self.read(|c| c.prepare_cached(sql)?.query_row([name], study_row).optional())
    }

    fn set_text(&self, study: StudyId, text: &str) -> Result<()> {
        let sql = "UPDATE studies SET text = ? WHERE id = ?";
        found(self.write(Durable::Yes, |t| t.execute(sql, params![text, study.0]))? > 0)
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
            let sql = "SELECT sequence, time, kind, body, version FROM events WHERE study = ? AND sequence > ? \
                       ORDER BY sequence";
            let mut statement = c.prepare_cached(sql)?;
            let record = |row: &Row<'_>| {
                let (sequence, time) = (row.get::<_, i64>(0)?, Time::from_micros(row.get(1)?));
                let sequence = usize::try_from(sequence).unwrap_or(0);
                Ok(Record { sequence, time, kind: row.get(2)?, body: row.get(3)?, version: row.get(4)? })
            };
            let records: Vec<Record> =
                statement.query_map(params![study.0, after as i64], record)?.collect::<rusqlite::Result<_>>()?;
            let is_there = !records.is_empty() || is_there(c, study)?;
            Ok((records, is_there))
        })?;
        found(is_there).map(|()| records)
    }

    fn append(&self, study: StudyId, append: &Append<'_>) -> Result<Appended> {
        let appended = self.write(Durable::Yes, |t| {
            if !is_there(t, study)? {
                return Ok(None);
            }
            if let Some(fence) = append.fence
                && let Some(current) = token(t, study, fence.resource)?.filter(|current| *current != fence.token)
            {
                return Ok(Some(Appended::Fenced { current }));
            }
            if let Some(trial) = taken(t, study, append.events)? {
                return Ok(Some(Appended::Taken { trial }));
            }
            let sql = "SELECT coalesce(max(sequence), 0) FROM events WHERE study = ?";
            let last: i64 = t.prepare_cached(sql)?.query_row([study.0], |row| row.get(0))?;
            for (event, sequence) in append.events.iter().zip(last + 1..) {
                insert(t, study, sequence, append.origin, event)?;
            }
            append.claims.iter().try_for_each(|claim| grant(t, study, claim).map(drop))?;
            append.releases.iter().try_for_each(|fence| lapse(t, study, *fence))?;
            Ok(Some(Appended::Stored))
        })?;
        appended.ok_or(Error::Deleted)
    }

    fn leases(&self, study: StudyId) -> Result<Vec<Lease>> {
        self.read(|c| {
            let sql = "SELECT resource, token, host, boot, pid, started, expires FROM leases WHERE study = ?";
            c.prepare_cached(sql)?.query_map([study.0], lease_row)?.collect()
        })
    }

    fn acquire(&self, study: StudyId, claim: &Claim<'_>) -> Result<Acquired> {
        let acquired = self.write(Durable::No, |t| {
            if !is_there(t, study)? {
                return Ok(None);
            }
            let sql = "SELECT resource, token, host, boot, pid, started, expires FROM leases \
                       WHERE study = ? AND resource = ?";
            let lease = t.prepare_cached(sql)?.query_row(params![study.0, claim.resource], lease_row).optional()?;
            match lease {
                Some(lease) if !lease.lapsed && claim.instead_of != Some(lease.token) => {
                    Ok(Some(Acquired::Held(lease)))
                }
                _ => grant(t, study, claim).map(|token| Some(Acquired::Granted(token))),
            }
        })?;
        acquired.ok_or(Error::Deleted)
    }

    fn renew(&self, study: StudyId, fence: Fence<'_>, term: Duration) -> Result<bool> {
        let sql = "UPDATE leases SET expires = ? WHERE study = ? AND resource = ? AND token = ?";
        let expires = Time::now().after(term).micros();
        let values = params![expires, study.0, fence.resource, fence.token as i64];
        self.write(Durable::No, |t| t.execute(sql, values).map(|rows| rows > 0))
    }

    fn release(&self, study: StudyId, fence: Fence<'_>) -> Result<()> {
        self.write(Durable::No, |t| lapse(t, study, fence))
    }
}

fn is_there(c: &Connection, study: StudyId) -> rusqlite::Result<bool> {
    c.prepare_cached("SELECT 1 FROM studies WHERE id = ?")?.exists([study.0])
}

fn study_row(row: &Row<'_>) -> rusqlite::Result<StudyRow> {
    let (id, created) = (StudyId(row.get(0)?), Time::from_micros(row.get(2)?));
    Ok(StudyRow { id, name: row.get(1)?, created, text: row.get(3)? })
}

fn lease_row(row: &Row<'_>) -> rusqlite::Result<Lease> {
    let holder =
        Holder { host: row.get(2)?, boot: row.get(3)?, pid: row.get(4)?, started: row.get::<_, i64>(5)? as u64 };
    let expires = Time::from_micros(row.get(6)?);
    let (token, lapsed) = (row.get::<_, i64>(1)? as u64, expires <= Time::now());
    Ok(Lease { resource: row.get(0)?, token, holder, expires, lapsed })
}

/// The first trial that another event has begun, or ended.
fn taken(t: &Transaction<'_>, study: StudyId, events: &[NewEvent]) -> rusqlite::Result<Option<usize>> {
    for event in events {
        let Some((trial, kinds)) = event.rivals() else { continue };
        let sql = format!("SELECT 1 FROM events WHERE study = ? AND trial = ? AND kind IN ({kinds})");
        if t.prepare_cached(&sql)?.exists(params![study.0, trial])? {
            return Ok(event.trial);
        }
    }
    Ok(None)
}

fn insert(t: &Transaction<'_>, study: StudyId, sequence: i64, origin: &str, event: &NewEvent) -> rusqlite::Result<()> {
    let sql = "INSERT INTO events (study, sequence, time, kind, trial, body, version, origin) \
               VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
    let (time, trial) = (event.time.unwrap_or_else(Time::now).micros(), event.trial.map(|trial| trial as i64));
    let values = params![study.0, sequence, time, event.kind, trial, event.body, VERSION, origin];
    t.prepare_cached(sql)?.execute(values).map(drop)
}

fn token(t: &Transaction<'_>, study: StudyId, resource: &str) -> rusqlite::Result<Option<u64>> {
    let sql = "SELECT token FROM leases WHERE study = ? AND resource = ?";
    let found: Option<i64> =
        t.prepare_cached(sql)?.query_row(params![study.0, resource], |row| row.get(0)).optional()?;
    Ok(found.map(|token| token as u64))
}

fn grant(t: &Transaction<'_>, study: StudyId, claim: &Claim<'_>) -> rusqlite::Result<u64> {
    let sql = "INSERT INTO leases (study, resource, token, host, boot, pid, started, expires) \
               VALUES (?, ?, 1, ?, ?, ?, ?, ?) ON CONFLICT (study, resource) DO UPDATE SET token = token + 1, \
               host = excluded.host, boot = excluded.boot, pid = excluded.pid, started = excluded.started, \
               expires = excluded.expires RETURNING token";
    let Holder { host, boot, pid, started } = claim.holder;
    let expires = Time::now().after(claim.term).micros();
    let values = params![study.0, claim.resource, host, boot, pid, *started as i64, expires];
    t.prepare_cached(sql)?.query_row(values, |row| row.get::<_, i64>(0)).map(|token| token as u64)
}

fn lapse(t: &Transaction<'_>, study: StudyId, fence: Fence<'_>) -> rusqlite::Result<()> {
    let sql = "UPDATE leases SET expires = 0 WHERE study = ? AND resource = ? AND token = ?";
    t.prepare_cached(sql)?.execute(params![study.0, fence.resource, fence.token as i64]).map(drop)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
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
            let event = |kind| NewEvent { kind, trial: Some(trial), body: "x".repeat(3000), time: None };
            let events = [event("asked"), event("told")];
            store.append(id, &Append { origin: "o", events: &events, ..Append::default() })
        };
        may_have(10);
        let stored = (0..).take_while(|trial| append(*trial) == Ok(Appended::Stored)).count();
        assert!(stored > 0);
        assert!(matches!(append(stored), Err(Error::Full { .. })));
        assert_eq!(store.events(id, 0).unwrap().len(), 2 * stored);
        may_have(1000);
        assert_eq!(append(stored), Ok(Appended::Stored));
        let sound: String = store.connection().query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!((sound.as_str(), store.events(id, 0).unwrap().len()), ("ok", 2 * stored + 2));
    }
}
