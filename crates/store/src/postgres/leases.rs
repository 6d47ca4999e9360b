//! Leases in PostgreSQL, by the server's clock alone.

use std::time::Duration;

use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::NOW;
use super::failure::Failure;
use super::schema::HASHED;
use super::transaction::Transaction;
use crate::store::{Claim, Fence, Lease, StudyId, trial_resource};
use crate::{Holder, Time};

/// `silent` and `term`; an older manyhands left only the moment when a lease expires.
fn columns(schema: i64) -> String {
    let (since, renewed, term) =
        if schema < HASHED { ("NULL::bigint", "NULL::bigint", "NULL::bigint") } else { ("since", "renewed", "term") };
    format!(
        "SELECT resource, token, host, boot, pid, started, coalesce({since}, 0), \
         CASE WHEN {term} IS NULL THEN 0 ELSE greatest({NOW} - {renewed}, 0) END, \
         coalesce({term}, greatest(expires - {NOW}, 0)) FROM manyhands_leases WHERE study = $1"
    )
}

fn lease(row: &Row) -> Lease {
    let holder = Holder {
        host: row.get(2),
        boot: row.get(3),
        pid: u32::try_from(row.get::<_, i64>(4)).unwrap_or(0),
        started: row.get::<_, i64>(5) as u64,
    };
    let duration = |column: usize| Duration::from_micros(u64::try_from(row.get::<_, i64>(column)).unwrap_or(0));
    let (resource, token, since) = (row.get(0), row.get::<_, i64>(1) as u64, Time::from_micros(row.get(6)));
    Lease { resource, token, holder, since, silent: duration(7), term: duration(8) }
}

/// All leases of a study.
pub fn read(t: &Transaction<'_>, study: StudyId, schema: i64) -> Result<Vec<Lease>, Failure> {
    Ok(t.query(&columns(schema), &[(&study.0, Type::INT8)])?.iter().map(lease).collect())
}

/// One lease.
pub fn find(t: &Transaction<'_>, study: StudyId, resource: &str) -> Result<Option<Lease>, Failure> {
    let sql = format!("{} AND resource = $2", columns(HASHED));
    Ok(t.query_opt(&sql, &[(&study.0, Type::INT8), (&resource, Type::TEXT)])?.map(|row| lease(&row)))
}

/// The token of the latest grant.
pub fn token(t: &Transaction<'_>, study: StudyId, resource: &str) -> Result<Option<u64>, Failure> {
    let sql = "SELECT token FROM manyhands_leases WHERE study = $1 AND resource = $2";
    let row = t.query_opt(sql, &[(&study.0, Type::INT8), (&resource, Type::TEXT)])?;
    Ok(row.map(|row| row.get::<_, i64>(0) as u64))
}

/// Grants a lease; its token, and since when.
pub fn grant(t: &Transaction<'_>, study: StudyId, claim: &Claim<'_>) -> Result<(u64, Time), Failure> {
    let sql = format!(
        "INSERT INTO manyhands_leases AS held \
         (study, resource, token, host, boot, pid, started, expires, since, renewed, term) \
         SELECT $1, $2, 1, $3, $4, $5, $6, now.now + $7, now.now, now.now, $7 FROM (SELECT {NOW} AS now) AS now \
         ON CONFLICT (study, resource) DO UPDATE SET token = held.token + 1, host = excluded.host, \
         boot = excluded.boot, pid = excluded.pid, started = excluded.started, expires = excluded.expires, \
         since = excluded.since, renewed = excluded.renewed, term = excluded.term RETURNING token, since"
    );
    let Holder { host, boot, pid, started } = claim.holder;
    let (pid, started, term) = (i64::from(*pid), *started as i64, micros(claim.term));
    let row = t.query_one(
        &sql,
        &[
            (&study.0, Type::INT8),
            (&claim.resource, Type::TEXT),
            (host, Type::TEXT),
            (boot, Type::TEXT),
            (&pid, Type::INT8),
            (&started, Type::INT8),
            (&term, Type::INT8),
        ],
    )?;
    Ok((row.get::<_, i64>(0) as u64, Time::from_micros(row.get(1))))
}

/// Prolongs a lease; false if it is gone or a newer one was granted.
pub fn renew(t: &Transaction<'_>, study: StudyId, fence: Fence<'_>, term: Duration) -> Result<bool, Failure> {
    let sql = format!(
        "UPDATE manyhands_leases SET expires = {NOW} + $4, renewed = {NOW}, term = $4 \
         WHERE study = $1 AND resource = $2 AND token = $3"
    );
    let (token, term) = (fence.token as i64, micros(term));
    let values = [
        (&study.0 as _, Type::INT8),
        (&fence.resource as _, Type::TEXT),
        (&token as _, Type::INT8),
        (&term as _, Type::INT8),
    ];
    Ok(t.execute(&sql, &values)? > 0)
}

/// Gives a lease back.
pub fn release(t: &Transaction<'_>, study: StudyId, fence: Fence<'_>) -> Result<(), Failure> {
    let sql = "UPDATE manyhands_leases SET expires = 0, term = 0 WHERE study = $1 AND resource = $2 AND token = $3";
    let token = fence.token as i64;
    t.execute(sql, &[(&study.0, Type::INT8), (&fence.resource, Type::TEXT), (&token, Type::INT8)]).map(drop)
}

/// Removes the lease of a trial that has ended: nobody may have it any more.
pub fn remove(t: &Transaction<'_>, study: StudyId, trial: usize) -> Result<(), Failure> {
    let sql = "DELETE FROM manyhands_leases WHERE study = $1 AND resource = $2";
    t.execute(sql, &[(&study.0, Type::INT8), (&trial_resource(trial), Type::TEXT)]).map(drop)
}

/// As the tables have it.
pub fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX / 4)
}
