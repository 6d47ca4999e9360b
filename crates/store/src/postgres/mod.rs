//! A store in a PostgreSQL database, for many machines. Times and leases are measured by the server's clock.

mod leases;
mod log;
mod queue;
mod refusal;
mod schema;

use std::cell::Cell;
use std::time::Duration;

pub use manyhands_postgres::{Address, ServerError, ServerErrorKind};
use manyhands_postgres::{Attempt, CallFailure, Connection, Row, Statement, Transaction, Type};

use self::log::AppendCheck;
use self::queue::LeaseQueue;
use crate::backend::{Backend, NewStudy};
use crate::chain::{self, Tail};
use crate::error::found;
use crate::lease::{Acquired, Claim, Fence, Lease, trial_of};
use crate::queue::wait_in_queue;
use crate::record::{Append, Appended, NewEvent, Record};
use crate::store::{StoredFile, StudyId, StudyRow, sha256};
use crate::{Access, Error, Result, Time};

/// The server's clock, in microseconds since 1970.
const NOW: &str = "(extract(epoch from clock_timestamp()) * 1000000)::bigint";

/// Polling a study takes two transactions: an idle worker makes less than one per second.
const POLL_INTERVAL: Duration = Duration::from_millis(2500);

/// A store in a PostgreSQL database.
#[derive(Debug)]
pub struct Postgres {
    connection: Connection,
    /// The schema of its tables: the latest one, unless an older store was opened to be read.
    schema: i64,
}

impl Postgres {
    /// Opens the store at an address; only [`Access::Create`] creates tables, and [`Access::Read`] changes nothing.
    pub fn at(address: &Address, access: Access) -> Result<Self> {
        let (connection, known) = (Connection::open(address)?, schema::STEPS.len() as i64);
        let store = || address.to_string();
        let there = connection.run_one("looking for the tables", schema::version)?;
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

    /// Grants a lease unless someone holds it; whoever is named leaves the queue.
    fn claim(&self, study: StudyId, claim: &Claim<'_>, name: Option<&str>) -> Result<Acquired> {
        let granted = Cell::new(None);
        let acquired = self.connection.transact("claiming a lease", |t, _| {
            let ended = log::has_ended(study, trial_of(claim.resource));
            let looked = t.send_together(vec![lock(study), ended, leases::find(study, claim.resource)])?;
            let [Some(now), ended, found] = [0, 1, 2].map(|place| looked[place].first()) else { return Ok(None) };
            if ended.is_some() {
                return Ok(Some(Acquired::Ended));
            }
            let now = Time::from_micros(now.get(0));
            let next = match found.map(leases::lease) {
                // This claim was granted, and only the answer was lost.
                Some(lease) if granted.get() == Some((lease.token, lease.since)) => {
                    return Ok(Some(Acquired::Granted(lease.token)));
                }
                Some(lease) if claim.is_blocked_by(&lease) => return Ok(Some(Acquired::Held(lease))),
                found => found.map_or(1, |lease| lease.token + 1),
            };
            granted.set(Some((next, now)));
            let leave = name.map(|name| queue::leave(study, name));
            t.send_and_commit([leases::grant(study, claim, now)].into_iter().chain(leave).collect())?;
            Ok(Some(Acquired::Granted(next)))
        })?;
        acquired.ok_or(Error::Deleted)
    }
}

impl Postgres {
    /// The selection of [`study_row`].
    fn rows(&self) -> String {
        let sha256 = if self.schema < schema::WITH_CHECKSUMS { "NULL::text" } else { "sha256" };
        format!("SELECT id, name, created, text, {sha256} FROM manyhands_studies")
    }

    fn find_in(&self, t: &Transaction<'_>, name: &str) -> std::result::Result<Option<StudyRow>, CallFailure> {
        let sql = format!("{} WHERE name = $1", self.rows());
        Ok(t.query_opt(Statement::new(sql).text(name))?.map(|row| study_row(&row)))
    }
}

impl Backend for Postgres {
    fn create(&self, study: &NewStudy) -> Result<StudyRow> {
        let sum = sha256(study.text.as_bytes());
        let created = self.connection.transact("creating a study", |t, time| {
            let sql = format!(
                "INSERT INTO manyhands_studies (name, created, text, sha256) VALUES ($1, {NOW}, $2, $3) \
                 ON CONFLICT (name) DO NOTHING RETURNING id, name, created, text, sha256"
            );
            let Some(row) = t.query_opt(Statement::new(sql).text(&study.name).text(&study.text).text(&sum))? else {
                // If an answer was lost and the text is the same, this call has created it.
                let found = self.find_in(t, &study.name)?;
                return Ok(found.filter(|row| time == Attempt::Again && row.text == study.text));
            };
            let row = study_row(&row);
            let records = chain::records(&study.events, Tail::default(), row.created);
            let events = log::insert(row.id, "", &records, &study.events);
            t.send_and_commit(study.files.iter().map(|file| file_of(row.id, file)).chain([events]).collect())?;
            Ok(Some(row))
        })?;
        created.ok_or_else(|| Error::StudyExists { name: study.name.clone() })
    }

    fn studies(&self) -> Result<Vec<StudyRow>> {
        // By the bytes of the name, as SQLite does.
        let sql = format!("{} ORDER BY name COLLATE \"C\"", self.rows());
        let rows = self.connection.run_one("listing studies", |t| t.query(Statement::new(&sql)))?;
        Ok(rows.iter().map(study_row).collect())
    }

    fn find(&self, name: &str) -> Result<Option<StudyRow>> {
        Ok(self.connection.run_one("finding a study", |t| self.find_in(t, name))?)
    }

    fn set_text(&self, study: StudyId, text: &str) -> Result<()> {
        let sql = "UPDATE manyhands_studies SET text = $1, sha256 = $2 WHERE id = $3 RETURNING id";
        let sum = sha256(text.as_bytes());
        let change = || Statement::new(sql).text(text).text(&sum).int(study.0);
        found(self.connection.transact("keeping the study file", |t, _| Ok(t.query_opt(change())?.is_some()))?)
    }

    fn files(&self, study: StudyId) -> Result<Vec<StoredFile>> {
        let sql = "SELECT role, name, sha256, content FROM manyhands_files WHERE study = $1 ORDER BY role";
        let file =
            |row: &Row| StoredFile { role: row.get(0), name: row.get(1), sha256: row.get(2), content: row.get(3) };
        let rows = self.connection.run_one("reading a study's files", |t| t.query(Statement::new(sql).int(study.0)))?;
        Ok(rows.iter().map(file).collect())
    }

    fn delete(&self, study: StudyId) -> Result<()> {
        let sql = "DELETE FROM manyhands_studies WHERE id = $1 RETURNING id";
        found(self.connection.transact("deleting a study", |t, time| {
            // If an answer was lost, this call may have deleted it.
            Ok(t.query_opt(Statement::new(sql).int(study.0))?.is_some() || time == Attempt::Again)
        })?)
    }

    fn events(&self, study: StudyId, after: usize) -> Result<Vec<Record>> {
        let records =
            self.connection.run_one("reading the log", |t| t.query(log::selection(study, after, self.schema)))?;
        log::records(&records).ok_or(Error::Deleted)
    }

    fn events_and_leases(&self, study: StudyId, after: usize) -> Result<(Vec<Record>, Vec<Lease>)> {
        let (records, leases) = self.connection.read_at_once("reading the log and the leases", |t| {
            let statements = vec![log::selection(study, after, self.schema), leases::all(study, self.schema)];
            let answers = t.send_and_commit(statements)?;
            Ok((log::records(&answers[0]), answers[1].iter().map(leases::lease).collect()))
        })?;
        records.map(|records| (records, leases)).ok_or(Error::Deleted)
    }

    fn append(&self, study: StudyId, append: &Append<'_>) -> Result<Appended> {
        let appended = self.connection.transact("logging events", |t, _| {
            let looked = t.send_together(vec![lock(study), log::append_check(study, append)])?;
            let [Some(now), Some(end)] = [0, 1].map(|place| looked[place].first()) else { return Ok(None) };
            let (now, end) = (Time::from_micros(now.get(0)), AppendCheck::read(end));
            if end.is_stored {
                let held =
                    t.send_together(append.claims.iter().map(|claim| leases::token(study, claim.resource)).collect())?;
                return Ok(Some(Appended::Stored { tokens: tokens(&held), records: vec![] }));
            }
            if let (Some(fence), Some(current)) = (append.fence, end.token)
                && current != fence.token
            {
                return Ok(Some(Appended::Fenced { current }));
            }
            if let Some(trial) = end.taken {
                return Ok(Some(Appended::Taken { trial }));
            }
            if append.after.is_some_and(|after| end.tail.sequence > after) {
                return Ok(Some(Appended::Outdated));
            }
            let records = chain::records(append.events, end.tail, now);
            let mut changes: Vec<Statement<'_>> =
                append.claims.iter().map(|claim| leases::grant(study, claim, now)).collect();
            changes.push(log::insert(study, append.origin, &records, append.events));
            let ended: Vec<usize> = append.events.iter().filter_map(NewEvent::ended_trial).collect();
            if !ended.is_empty() {
                changes.push(leases::remove(study, ended));
            }
            changes.extend(append.releases.iter().map(|fence| leases::release(study, *fence)));
            let changed = t.send_and_commit(changes)?;
            Ok(Some(Appended::Stored { tokens: tokens(&changed[..append.claims.len()]), records }))
        })?;
        appended.ok_or(Error::Deleted)
    }

    fn leases(&self, study: StudyId) -> Result<Vec<Lease>> {
        let read = |t: &Transaction<'_>| t.query(leases::all(study, self.schema));
        Ok(self.connection.run_one("reading the leases", read)?.iter().map(leases::lease).collect())
    }

    fn acquire(&self, study: StudyId, claim: &Claim<'_>) -> Result<Acquired> {
        self.claim(study, claim, None)
    }

    fn acquire_in_turn(&self, study: StudyId, claim: &Claim<'_>, patience: Duration) -> Result<Acquired> {
        wait_in_queue(&LeaseQueue { store: self, study }, claim, patience)
    }

    fn renew(&self, study: StudyId, fence: Fence<'_>, term: Duration) -> Result<bool> {
        let work = |t: &Transaction<'_>, _| t.send_and_commit(vec![leases::renew(study, fence, term)]);
        let answers = self.connection.transact("renewing a lease", work)?;
        Ok(!answers[0].is_empty())
    }

    fn release(&self, study: StudyId, fence: Fence<'_>) -> Result<()> {
        let work = |t: &Transaction<'_>, _| t.send_and_commit(vec![leases::release(study, fence)]).map(drop);
        Ok(self.connection.transact("releasing a lease", work)?)
    }

    fn poll_interval(&self) -> Duration {
        POLL_INTERVAL
    }

    fn transactions(&self) -> Result<Option<u64>> {
        let sql = "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()";
        let read = |t: &Transaction<'_>| t.query_opt(Statement::new(sql));
        let row = self.connection.run_one("counting transactions", read)?;
        Ok(row.and_then(|row| u64::try_from(row.get::<_, i64>(0)).ok()))
    }
}

fn study_row(row: &Row) -> StudyRow {
    let (id, created) = (StudyId(row.get(0)), Time::from_micros(row.get(2)));
    StudyRow { id, name: row.get(1), created, text: row.get(3), sha256: row.get(4) }
}

fn file_of(study: StudyId, file: &StoredFile) -> Statement<'_> {
    let sql = "INSERT INTO manyhands_files (study, role, name, sha256, content) VALUES ($1, $2, $3, $4, $5)";
    let statement = Statement::new(sql).int(study.0).text(&file.role).text(&file.name).text(&file.sha256);
    statement.with(file.content.as_slice(), Type::BYTEA)
}

/// The tokens that statements have answered with.
fn tokens(answers: &[Vec<Row>]) -> Vec<u64> {
    answers.iter().flatten().map(|row| row.get::<_, i64>(0) as u64).collect()
}

/// Locks a study for the length of a short transaction: every writer to its log or leases does. Answers with the server's
/// time once it is locked; no row if the study is gone. Statements sent together with it run under the lock.
fn lock(study: StudyId) -> Statement<'static> {
    Statement::new(format!("SELECT {NOW} FROM manyhands_studies WHERE id = $1 FOR NO KEY UPDATE")).int(study.0)
}
