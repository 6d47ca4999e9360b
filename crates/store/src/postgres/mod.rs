//! A store in a PostgreSQL database: for many machines. Times and leases go by the server's clock.

mod address;
mod connection;
mod environment;
mod passfile;
mod schema;
mod url;

use std::cell::Cell;
use std::time::Duration;

use postgres::{Error as Failure, Row, Transaction};

pub use self::address::Address;
use self::connection::{Connection, Try};
use crate::codec::VERSION;
use crate::error::found;
use crate::store::{
    Acquired, Append, Appended, Claim, Fence, Lease, NewEvent, NewStudy, Record, Store, StoredFile, StudyId, StudyRow,
};
use crate::{Access, Error, Holder, Result, Time};

/// The server's clock, in microseconds since 1970.
const NOW: &str = "(extract(epoch from clock_timestamp()) * 1000000)::bigint";

/// A store in a PostgreSQL database.
#[derive(Debug)]
pub struct Postgres {
    connection: Connection,
}

impl Postgres {
    /// Opens the store in a database; makes its tables if they are not there.
    pub fn open(url: &str) -> Result<Self> {
        Self::at(&url.parse()?, Access::Create)
    }

    /// Opens the store at an address; only [`Access::Create`] makes tables, and [`Access::Read`] changes nothing.
    pub fn at(address: &Address, access: Access) -> Result<Self> {
        Ok(Self { connection: Connection::open(address, access)? })
    }
}

impl Store for Postgres {
    fn create(&self, study: &NewStudy) -> Result<StudyRow> {
        let created = self.connection.transact(|t, time| {
            let sql = format!(
                "INSERT INTO manyhands_studies (name, created, text) VALUES ($1, {NOW}, $2) \
                 ON CONFLICT (name) DO NOTHING RETURNING id, name, created, text"
            );
            let Some(row) = t.query_opt(&sql, &[&study.name, &study.text])? else {
                // Ours, if an answer was lost and the text is the same.
                let found = find(t, &study.name)?;
                return Ok(found.filter(|row| time == Try::Again && row.text == study.text));
            };
            let row = study_row(&row);
            for file in &study.files {
                let sql =
                    "INSERT INTO manyhands_files (study, role, name, sha256, content) VALUES ($1, $2, $3, $4, $5)";
                t.execute(sql, &[&row.id.0, &file.role, &file.name, &file.sha256, &file.content])?;
            }
            insert(t, row.id, &Append { events: &study.events, ..Append::default() })?;
            Ok(Some(row))
        })?;
        created.ok_or_else(|| Error::StudyExists { name: study.name.clone() })
    }

    fn studies(&self) -> Result<Vec<StudyRow>> {
        // By the bytes of the name, as SQLite does.
        let sql = "SELECT id, name, created, text FROM manyhands_studies ORDER BY name COLLATE \"C\"";
        self.connection.transact(|t, _| Ok(t.query(sql, &[])?.iter().map(study_row).collect()))
    }

    fn find(&self, name: &str) -> Result<Option<StudyRow>> {
        self.connection.transact(|t, _| find(t, name))
    }

    fn set_text(&self, study: StudyId, text: &str) -> Result<()> {
        let sql = "UPDATE manyhands_studies SET text = $1 WHERE id = $2";
        found(self.connection.transact(|t, _| Ok(t.execute(sql, &[&text, &study.0])? > 0))?)
    }

    fn files(&self, study: StudyId) -> Result<Vec<StoredFile>> {
        let sql = "SELECT role, name, sha256, content FROM manyhands_files WHERE study = $1 ORDER BY role";
        let file =
            |row: &Row| StoredFile { role: row.get(0), name: row.get(1), sha256: row.get(2), content: row.get(3) };
        self.connection.transact(|t, _| Ok(t.query(sql, &[&study.0])?.iter().map(file).collect()))
    }

    fn delete(&self, study: StudyId) -> Result<()> {
        let sql = "DELETE FROM manyhands_studies WHERE id = $1";
        // If an answer was lost, it may have been us.
        found(self.connection.transact(|t, time| Ok(t.execute(sql, &[&study.0])? > 0 || time == Try::Again))?)
    }

    fn events(&self, study: StudyId, after: usize) -> Result<Vec<Record>> {
        let sql = "SELECT sequence, time, kind, body, version FROM manyhands_events \
                   WHERE study = $1 AND sequence > $2 ORDER BY sequence";
        let record = |row: &Row| Record {
            sequence: usize::try_from(row.get::<_, i64>(0)).unwrap_or(0),
            time: Time::from_micros(row.get(1)),
            kind: row.get(2),
            body: row.get(3),
            version: row.get(4),
        };
        let (records, is_there) = self.connection.transact(|t, _| {
            let records: Vec<Record> = t.query(sql, &[&study.0, &(after as i64)])?.iter().map(record).collect();
            let is_there = !records.is_empty() || is_there(t, study)?;
            Ok((records, is_there))
        })?;
        found(is_there).map(|()| records)
    }

    fn append(&self, study: StudyId, append: &Append<'_>) -> Result<Appended> {
        let appended = self.connection.transact(|t, time| {
            if !lock(t, study)? {
                return Ok(None);
            }
            if time == Try::Again && is_stored(t, study, append.origin)? {
                return Ok(Some(Appended::Stored));
            }
            if let Some(fence) = append.fence
                && let Some(current) = token(t, study, fence.resource)?.filter(|current| *current != fence.token)
            {
                return Ok(Some(Appended::Fenced { current }));
            }
            if let Some(trial) = taken(t, study, append.events)? {
                return Ok(Some(Appended::Taken { trial }));
            }
            insert(t, study, append)?;
            for claim in append.claims {
                grant(t, study, claim)?;
            }
            for fence in append.releases {
                lapse(t, study, *fence)?;
            }
            Ok(Some(Appended::Stored))
        })?;
        appended.ok_or(Error::Deleted)
    }

    fn leases(&self, study: StudyId) -> Result<Vec<Lease>> {
        let sql = format!("{LEASES} WHERE study = $1").replace("NOW", NOW);
        self.connection.transact(|t, _| Ok(t.query(&sql, &[&study.0])?.iter().map(lease_row).collect()))
    }

    fn acquire(&self, study: StudyId, claim: &Claim<'_>) -> Result<Acquired> {
        let sql = format!("{LEASES} WHERE study = $1 AND resource = $2").replace("NOW", NOW);
        let granted = Cell::new(None);
        let acquired = self.connection.transact(|t, _| {
            if !lock(t, study)? {
                return Ok(None);
            }
            let lease = t.query_opt(&sql, &[&study.0, &claim.resource])?.map(|row| lease_row(&row));
            match lease {
                // It was granted, and only the answer was lost.
                Some(lease) if granted.get() == Some((lease.token, lease.expires)) => {
                    Ok(Some(Acquired::Granted(lease.token)))
                }
                Some(lease) if !lease.lapsed && claim.instead_of != Some(lease.token) => {
                    Ok(Some(Acquired::Held(lease)))
                }
                _ => {
                    let (token, expires) = grant(t, study, claim)?;
                    granted.set(Some((token, expires)));
                    Ok(Some(Acquired::Granted(token)))
                }
            }
        })?;
        acquired.ok_or(Error::Deleted)
    }

    fn renew(&self, study: StudyId, fence: Fence<'_>, term: Duration) -> Result<bool> {
        let sql = format!(
            "UPDATE manyhands_leases SET expires = {NOW} + $1 WHERE study = $2 AND resource = $3 AND token = $4"
        );
        let term = micros(term);
        let (resource, token) = (fence.resource, fence.token as i64);
        self.connection.transact(|t, _| Ok(t.execute(&sql, &[&term, &study.0, &resource, &token])? > 0))
    }

    fn release(&self, study: StudyId, fence: Fence<'_>) -> Result<()> {
        self.connection.transact(|t, _| lapse(t, study, fence))
    }
}

const LEASES: &str = "SELECT resource, token, host, boot, pid, started, expires, expires <= NOW FROM manyhands_leases";

fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX / 4)
}

fn study_row(row: &Row) -> StudyRow {
    let (id, created) = (StudyId(row.get(0)), Time::from_micros(row.get(2)));
    StudyRow { id, name: row.get(1), created, text: row.get(3) }
}

fn lease_row(row: &Row) -> Lease {
    let holder = Holder {
        host: row.get(2),
        boot: row.get(3),
        pid: u32::try_from(row.get::<_, i64>(4)).unwrap_or(0),
        started: row.get::<_, i64>(5) as u64,
    };
    let (token, expires) = (row.get::<_, i64>(1) as u64, Time::from_micros(row.get(6)));
    Lease { resource: row.get(0), token, holder, expires, lapsed: row.get(7) }
}

fn find(t: &mut Transaction<'_>, name: &str) -> std::result::Result<Option<StudyRow>, Failure> {
    let sql = "SELECT id, name, created, text FROM manyhands_studies WHERE name = $1";
    Ok(t.query_opt(sql, &[&name])?.map(|row| study_row(&row)))
}

/// Whatever writes to a study's log or leases holds this, for the length of a short transaction; false if it is gone.
fn lock(t: &mut Transaction<'_>, study: StudyId) -> std::result::Result<bool, Failure> {
    let sql = "SELECT id FROM manyhands_studies WHERE id = $1 FOR NO KEY UPDATE";
    Ok(t.query_opt(sql, &[&study.0])?.is_some())
}

fn is_there(t: &mut Transaction<'_>, study: StudyId) -> std::result::Result<bool, Failure> {
    Ok(t.query_opt("SELECT 1 FROM manyhands_studies WHERE id = $1", &[&study.0])?.is_some())
}

fn is_stored(t: &mut Transaction<'_>, study: StudyId, origin: &str) -> std::result::Result<bool, Failure> {
    let sql = "SELECT EXISTS (SELECT 1 FROM manyhands_events WHERE study = $1 AND origin = $2)";
    Ok(t.query_one(sql, &[&study.0, &origin])?.get(0))
}

/// The first trial that another event has begun, or ended.
fn taken(t: &mut Transaction<'_>, study: StudyId, events: &[NewEvent]) -> std::result::Result<Option<usize>, Failure> {
    for event in events {
        let Some((trial, kinds)) = event.rivals() else { continue };
        let sql = format!(
            "SELECT EXISTS (SELECT 1 FROM manyhands_events WHERE study = $1 AND trial = $2 AND kind IN ({kinds}))"
        );
        if t.query_one(&sql, &[&study.0, &trial])?.get(0) {
            return Ok(event.trial);
        }
    }
    Ok(None)
}

fn insert(t: &mut Transaction<'_>, study: StudyId, append: &Append<'_>) -> std::result::Result<(), Failure> {
    let sql = "SELECT coalesce(max(sequence), 0) FROM manyhands_events WHERE study = $1";
    let last: i64 = t.query_one(sql, &[&study.0])?.get(0);
    let sql = format!(
        "INSERT INTO manyhands_events (study, sequence, time, kind, trial, body, version, origin) \
         VALUES ($1, $2, coalesce($3, {NOW}), $4, $5, $6, $7, $8)"
    );
    let statement = t.prepare(&sql)?;
    for (event, sequence) in append.events.iter().zip(last + 1..) {
        let (time, trial) = (event.time.map(Time::micros), event.trial.map(|trial| trial as i64));
        let (study, origin) = (study.0, append.origin);
        t.execute(&statement, &[&study, &sequence, &time, &event.kind, &trial, &event.body, &VERSION, &origin])?;
    }
    Ok(())
}

fn token(t: &mut Transaction<'_>, study: StudyId, resource: &str) -> std::result::Result<Option<u64>, Failure> {
    let sql = "SELECT token FROM manyhands_leases WHERE study = $1 AND resource = $2";
    Ok(t.query_opt(sql, &[&study.0, &resource])?.map(|row| row.get::<_, i64>(0) as u64))
}

fn grant(t: &mut Transaction<'_>, study: StudyId, claim: &Claim<'_>) -> std::result::Result<(u64, Time), Failure> {
    let sql = format!(
        "INSERT INTO manyhands_leases AS held (study, resource, token, host, boot, pid, started, expires) \
         VALUES ($1, $2, 1, $3, $4, $5, $6, {NOW} + $7) ON CONFLICT (study, resource) DO UPDATE \
         SET token = held.token + 1, host = excluded.host, boot = excluded.boot, pid = excluded.pid, \
         started = excluded.started, expires = excluded.expires RETURNING token, expires"
    );
    let Holder { host, boot, pid, started } = claim.holder;
    let (pid, started, term) = (i64::from(*pid), *started as i64, micros(claim.term));
    let row = t.query_one(&sql, &[&study.0, &claim.resource, host, boot, &pid, &started, &term])?;
    Ok((row.get::<_, i64>(0) as u64, Time::from_micros(row.get(1))))
}

fn lapse(t: &mut Transaction<'_>, study: StudyId, fence: Fence<'_>) -> std::result::Result<(), Failure> {
    let sql = "UPDATE manyhands_leases SET expires = 0 WHERE study = $1 AND resource = $2 AND token = $3";
    t.execute(sql, &[&study.0, &fence.resource, &(fence.token as i64)]).map(drop)
}
