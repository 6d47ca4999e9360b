//! A store in a PostgreSQL database: for many machines. Times and leases go by the server's clock.

mod address;
mod connection;
mod environment;
mod failure;
mod leases;
mod log;
mod passfile;
mod schema;
mod transaction;
mod turns;
mod url;

use std::cell::Cell;
use std::time::Duration;

use tokio_postgres::Row;
use tokio_postgres::types::Type;

pub use self::address::Address;
use self::connection::{Connection, Try};
use self::failure::Failure;
use self::transaction::Transaction;
use self::turns::Line;
use crate::error::found;
use crate::store::{
    Acquired, Append, Appended, Claim, Fence, Lease, NewStudy, Record, Store, StoredFile, StudyId, StudyRow, trial_of,
};
use crate::{Access, Error, Result, Time};

/// The server's clock, in microseconds since 1970.
const NOW: &str = "(extract(epoch from clock_timestamp()) * 1000000)::bigint";

/// A look at a study takes two transactions: an idle worker makes less than one a second.
const PACE: Duration = Duration::from_millis(2500);

/// A store in a PostgreSQL database.
#[derive(Debug)]
pub struct Postgres {
    connection: Connection,
    /// The schema of its tables: the latest one, unless an older store was opened to be read.
    schema: i64,
}

impl Postgres {
    /// Opens the store in a database; makes its tables if they are not there.
    pub fn open(url: &str) -> Result<Self> {
        Self::at(&url.parse()?, Access::Create)
    }

    /// Opens the store at an address; only [`Access::Create`] makes tables, and [`Access::Read`] changes nothing.
    pub fn at(address: &Address, access: Access) -> Result<Self> {
        let (connection, known) = (Connection::open(address)?, schema::STEPS.len() as i64);
        let store = || address.to_string();
        let there = connection.read("looking for the tables", schema::version)?;
        if access != Access::Create && there.is_none() {
            return Err(Error::NoTables { store: store() });
        }
        if let Some(found) = there.filter(|version| *version > known) {
            return Err(Error::Newer { store: store(), found, known });
        }
        if access == Access::Read {
            return Ok(Self { connection, schema: there.unwrap_or(known) });
        }
        match connection.transact("making the tables", |t, _| schema::migrate(t))? {
            Some(found) => Err(Error::Newer { store: store(), found, known }),
            None => Ok(Self { connection, schema: known }),
        }
    }

    /// How many transactions its database has seen so far, whoever made them, as far as the server has counted them.
    pub fn transactions(&self) -> Result<i64> {
        let sql = "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()";
        self.connection.read("counting transactions", |t| Ok(t.query_one(sql, &[])?.get(0)))
    }

    /// Grants a lease unless someone holds it; with a ticket, gets in line for it.
    fn claim(&self, study: StudyId, claim: &Claim<'_>, ticket: Option<(&str, Duration)>) -> Result<Acquired> {
        let granted = Cell::new(None);
        let acquired = self.connection.transact("claiming a lease", |t, _| {
            if !lock(t, study)? {
                return Ok(None);
            }
            if let Some(trial) = trial_of(claim.resource)
                && log::has_ended(t, study, trial)?
            {
                return Ok(Some(Acquired::Ended));
            }
            match leases::find(t, study, claim.resource)? {
                // It was granted, and only the answer was lost.
                Some(lease) if granted.get() == Some((lease.token, lease.since)) => {
                    Ok(Some(Acquired::Granted(lease.token)))
                }
                Some(lease) if !lease.has_lapsed() && claim.instead_of != Some(lease.token) => {
                    ticket.map_or(Ok(()), |(ticket, patience)| turns::queue(t, study, ticket, patience))?;
                    Ok(Some(Acquired::Held(lease)))
                }
                _ => {
                    ticket.map_or(Ok(()), |(ticket, _)| turns::leave(t, study, ticket))?;
                    let (token, since) = leases::grant(t, study, claim)?;
                    granted.set(Some((token, since)));
                    Ok(Some(Acquired::Granted(token)))
                }
            }
        })?;
        acquired.ok_or(Error::Deleted)
    }
}

impl Store for Postgres {
    fn create(&self, study: &NewStudy) -> Result<StudyRow> {
        let created = self.connection.transact("creating a study", |t, time| {
            let sql = format!(
                "INSERT INTO manyhands_studies (name, created, text) VALUES ($1, {NOW}, $2) \
                 ON CONFLICT (name) DO NOTHING RETURNING id, name, created, text"
            );
            let Some(row) = t.query_opt(&sql, &[(&study.name, Type::TEXT), (&study.text, Type::TEXT)])? else {
                // Ours, if an answer was lost and the text is the same.
                let found = find(t, &study.name)?;
                return Ok(found.filter(|row| time == Try::Again && row.text == study.text));
            };
            let row = study_row(&row);
            for file in &study.files {
                let sql =
                    "INSERT INTO manyhands_files (study, role, name, sha256, content) VALUES ($1, $2, $3, $4, $5)";
                let texts = [&file.role, &file.name, &file.sha256].map(|text| (text as _, Type::TEXT));
                let [role, name, sum] = texts;
                t.execute(sql, &[(&row.id.0, Type::INT8), role, name, sum, (&file.content, Type::BYTEA)])?;
            }
            log::insert(t, row.id, "", &study.events, row.created)?;
            Ok(Some(row))
        })?;
        created.ok_or_else(|| Error::StudyExists { name: study.name.clone() })
    }

    fn studies(&self) -> Result<Vec<StudyRow>> {
        // By the bytes of the name, as SQLite does.
        let sql = "SELECT id, name, created, text FROM manyhands_studies ORDER BY name COLLATE \"C\"";
        self.connection.read("listing studies", |t| Ok(t.query(sql, &[])?.iter().map(study_row).collect()))
    }

    fn find(&self, name: &str) -> Result<Option<StudyRow>> {
        self.connection.read("finding a study", |t| find(t, name))
    }

    fn set_text(&self, study: StudyId, text: &str) -> Result<()> {
        let sql = "UPDATE manyhands_studies SET text = $1 WHERE id = $2";
        let values = [(&text as _, Type::TEXT), (&study.0 as _, Type::INT8)];
        found(self.connection.transact("keeping the study file", |t, _| Ok(t.execute(sql, &values)? > 0))?)
    }

    fn files(&self, study: StudyId) -> Result<Vec<StoredFile>> {
        let sql = "SELECT role, name, sha256, content FROM manyhands_files WHERE study = $1 ORDER BY role";
        let file =
            |row: &Row| StoredFile { role: row.get(0), name: row.get(1), sha256: row.get(2), content: row.get(3) };
        let read = |t: &Transaction<'_>| t.query(sql, &[(&study.0, Type::INT8)]);
        self.connection.read("reading a study's files", |t| Ok(read(t)?.iter().map(file).collect()))
    }

    fn delete(&self, study: StudyId) -> Result<()> {
        let sql = "DELETE FROM manyhands_studies WHERE id = $1";
        found(self.connection.transact("deleting a study", |t, time| {
            // If an answer was lost, it may have been us.
            Ok(t.execute(sql, &[(&study.0, Type::INT8)])? > 0 || time == Try::Again)
        })?)
    }

    fn events(&self, study: StudyId, after: usize) -> Result<Vec<Record>> {
        let records = self.connection.read("reading the log", |t| log::read(t, study, after, self.schema))?;
        records.ok_or(Error::Deleted)
    }

    fn append(&self, study: StudyId, append: &Append<'_>) -> Result<Appended> {
        let appended = self.connection.transact("logging events", |t, _| {
            let Some(now) = lock_at(t, study)? else { return Ok(None) };
            if log::is_stored(t, study, append.origin)? {
                let token = |claim: &Claim<'_>| leases::token(t, study, claim.resource).transpose();
                let tokens: std::result::Result<_, _> = append.claims.iter().filter_map(token).collect();
                return Ok(Some(Appended::Stored(tokens?)));
            }
            if let Some(fence) = append.fence
                && let Some(current) = leases::token(t, study, fence.resource)?.filter(|token| *token != fence.token)
            {
                return Ok(Some(Appended::Fenced { current }));
            }
            if let Some(trial) = log::taken(t, study, append.events)? {
                return Ok(Some(Appended::Taken { trial }));
            }
            log::insert(t, study, append.origin, append.events, now)?;
            for event in append.events.iter().filter(|event| event.ends()) {
                event.trial.map_or(Ok(()), |trial| leases::remove(t, study, trial))?;
            }
            let mut granted = Vec::new();
            for claim in append.claims {
                granted.push(leases::grant(t, study, claim)?.0);
            }
            append.releases.iter().try_for_each(|fence| leases::release(t, study, *fence))?;
            Ok(Some(Appended::Stored(granted)))
        })?;
        appended.ok_or(Error::Deleted)
    }

    fn leases(&self, study: StudyId) -> Result<Vec<Lease>> {
        self.connection.read("reading the leases", |t| leases::read(t, study, self.schema))
    }

    fn acquire(&self, study: StudyId, claim: &Claim<'_>) -> Result<Acquired> {
        self.claim(study, claim, None)
    }

    fn acquire_in_turn(&self, study: StudyId, claim: &Claim<'_>, patience: Duration) -> Result<Acquired> {
        let (ticket, mut line) = (turns::ticket(), Line::new(patience));
        loop {
            let held = match self.claim(study, claim, Some((&ticket, patience)))? {
                Acquired::Held(lease) if !lease.is_of_the_dead() && !line.is_over() => lease,
                done => return Ok(done),
            };
            // Looking takes no lock; only what is free is claimed again.
            loop {
                let view =
                    self.connection.read("waiting for a turn", |t| turns::look(t, study, claim.resource, &ticket))?;
                if line.is_over() || line.is_turn(view, held.token) {
                    break;
                }
                line.wait(view.ahead);
            }
        }
    }

    fn renew(&self, study: StudyId, fence: Fence<'_>, term: Duration) -> Result<bool> {
        self.connection.transact("renewing a lease", |t, _| leases::renew(t, study, fence, term))
    }

    fn release(&self, study: StudyId, fence: Fence<'_>) -> Result<()> {
        self.connection.transact("releasing a lease", |t, _| leases::release(t, study, fence))
    }

    fn pace(&self) -> Duration {
        PACE
    }
}

fn study_row(row: &Row) -> StudyRow {
    let (id, created) = (StudyId(row.get(0)), Time::from_micros(row.get(2)));
    StudyRow { id, name: row.get(1), created, text: row.get(3) }
}

fn find(t: &Transaction<'_>, name: &str) -> std::result::Result<Option<StudyRow>, Failure> {
    let sql = "SELECT id, name, created, text FROM manyhands_studies WHERE name = $1";
    Ok(t.query_opt(sql, &[(&name, Type::TEXT)])?.map(|row| study_row(&row)))
}

/// Whatever writes to a study's log or leases holds this, for the length of a short transaction; false if it is gone.
fn lock(t: &Transaction<'_>, study: StudyId) -> std::result::Result<bool, Failure> {
    Ok(lock_at(t, study)?.is_some())
}

/// As [`lock`]; the server's time once it is held.
fn lock_at(t: &Transaction<'_>, study: StudyId) -> std::result::Result<Option<Time>, Failure> {
    let sql = format!("SELECT {NOW} FROM manyhands_studies WHERE id = $1 FOR NO KEY UPDATE");
    Ok(t.query_opt(&sql, &[(&study.0, Type::INT8)])?.map(|row| Time::from_micros(row.get(0))))
}
