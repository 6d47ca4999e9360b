//! Leases in SQLite. They are measured by the monotonic clock (`renewed`, `term`); those of holders on another machine or
//! boot by the wall clock (`expires`).

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};

use super::schema::HASHED;
use crate::clock::micros;
use crate::lease::{Claim, Fence, Lease, trial_resource};
use crate::store::StudyId;
use crate::{Holder, Time};

/// Now, by both clocks.
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    pub wall: Time,
    pub ticks: Duration,
}

const COLUMNS: &str = "SELECT resource, token, host, boot, pid, started, expires, since, renewed, term FROM leases";

fn lease(row: &Row<'_>, now: Moment) -> rusqlite::Result<Lease> {
    let holder =
        Holder { host: row.get(2)?, boot: row.get(3)?, pid: row.get(4)?, started: row.get::<_, i64>(5)? as u64 };
    let (resource, token, expires) = (row.get(0)?, row.get::<_, i64>(1)? as u64, Time::from_micros(row.get(6)?));
    let (since, renewed): (Option<i64>, Option<i64>) = (row.get(7)?, row.get(8)?);
    let since = Time::from_micros(since.unwrap_or(0));
    let (silent, term) = match row.get::<_, Option<i64>>(9)?.map(duration) {
        Some(term) if holder.shares_clock() => (now.ticks.saturating_sub(duration(renewed.unwrap_or(0))), term),
        Some(term) => (Time::from_micros(expires.micros() - micros(term)).until(now.wall), term),
        // Written by an older manyhands, which had only the wall clock.
        None => (Duration::ZERO, now.wall.until(expires)),
    };
    Ok(Lease { resource, token, holder, since, silent, term })
}

/// All leases of a study.
pub fn read(c: &Connection, study: StudyId, now: Moment, schema: i64) -> rusqlite::Result<Vec<Lease>> {
    let columns =
        if schema < HASHED { COLUMNS.replace("since, renewed, term", "NULL, NULL, NULL") } else { COLUMNS.into() };
    let sql = format!("{columns} WHERE study = ?");
    c.prepare_cached(&sql)?.query_map([study.0], |row| lease(row, now))?.collect()
}

/// One lease.
pub fn find(c: &Connection, study: StudyId, resource: &str, now: Moment) -> rusqlite::Result<Option<Lease>> {
    let sql = format!("{COLUMNS} WHERE study = ? AND resource = ?");
    c.prepare_cached(&sql)?.query_row(params![study.0, resource], |row| lease(row, now)).optional()
}

/// The token of the latest grant.
pub fn token(t: &Transaction<'_>, study: StudyId, resource: &str) -> rusqlite::Result<Option<u64>> {
    let sql = "SELECT token FROM leases WHERE study = ? AND resource = ?";
    let found: Option<i64> =
        t.prepare_cached(sql)?.query_row(params![study.0, resource], |row| row.get(0)).optional()?;
    Ok(found.map(|token| token as u64))
}

/// Grants a lease; its token.
pub fn grant(t: &Transaction<'_>, study: StudyId, claim: &Claim<'_>, now: Moment) -> rusqlite::Result<u64> {
    let sql = "INSERT INTO leases (study, resource, token, host, boot, pid, started, expires, since, renewed, term) \
               VALUES (?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (study, resource) DO UPDATE SET token = token + 1, \
               host = excluded.host, boot = excluded.boot, pid = excluded.pid, started = excluded.started, \
               expires = excluded.expires, since = excluded.since, renewed = excluded.renewed, term = excluded.term \
               RETURNING token";
    let Holder { host, boot, pid, started } = claim.holder;
    let (expires, since) = (now.wall.after(claim.term).micros(), now.wall.micros());
    let (renewed, term) = (micros(now.ticks), micros(claim.term));
    let values = params![study.0, claim.resource, host, boot, pid, *started as i64, expires, since, renewed, term];
    t.prepare_cached(sql)?.query_row(values, |row| row.get::<_, i64>(0)).map(|token| token as u64)
}

/// Prolongs a lease; false if it is gone or a newer one was granted.
pub fn renew(
    t: &Transaction<'_>,
    study: StudyId,
    fence: Fence<'_>,
    term: Duration,
    now: Moment,
) -> rusqlite::Result<bool> {
    let sql = "UPDATE leases SET expires = ?, renewed = ?, term = ? WHERE study = ? AND resource = ? AND token = ?";
    let (expires, renewed) = (now.wall.after(term).micros(), micros(now.ticks));
    let values = params![expires, renewed, micros(term), study.0, fence.resource, fence.token as i64];
    t.prepare_cached(sql)?.execute(values).map(|rows| rows > 0)
}

/// Releases a lease.
pub fn release(t: &Transaction<'_>, study: StudyId, fence: Fence<'_>) -> rusqlite::Result<()> {
    let sql = "UPDATE leases SET expires = 0, term = 0 WHERE study = ? AND resource = ? AND token = ?";
    t.prepare_cached(sql)?.execute(params![study.0, fence.resource, fence.token as i64]).map(drop)
}

/// Removes the lease of a trial that has ended, which is never granted again.
pub fn remove(t: &Transaction<'_>, study: StudyId, trial: usize) -> rusqlite::Result<()> {
    let sql = "DELETE FROM leases WHERE study = ? AND resource = ?";
    t.prepare_cached(sql)?.execute(params![study.0, trial_resource(trial)]).map(drop)
}

fn duration(micros: i64) -> Duration {
    Duration::from_micros(u64::try_from(micros).unwrap_or(0))
}
