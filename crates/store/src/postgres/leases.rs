//! Leases in PostgreSQL, by the server's clock alone.

use std::time::Duration;

use manyhands_postgres::{Row, Statement, Type};

use super::NOW;
use super::schema::HASHED;
use crate::clock::micros;
use crate::lease::{Claim, Fence, Lease, trial_resource};
use crate::store::StudyId;
use crate::{Holder, Time};

/// The columns that [`lease`] reads, then `more`. An older manyhands stored only the time at which a lease expires.
fn columns(schema: i64, more: &str) -> String {
    let (since, renewed, term) =
        if schema < HASHED { ("NULL::bigint", "NULL::bigint", "NULL::bigint") } else { ("since", "renewed", "term") };
    format!(
        "SELECT resource, token, host, boot, pid, started, coalesce({since}, 0), \
         CASE WHEN {term} IS NULL THEN 0 ELSE greatest({NOW} - {renewed}, 0) END, \
         coalesce({term}, greatest(expires - {NOW}, 0)) {more} FROM manyhands_leases WHERE study = $1"
    )
}

/// A lease from its row.
pub fn lease(row: &Row) -> Lease {
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

/// All leases of a study, each to be read by [`lease`].
pub fn all(study: StudyId, schema: i64) -> Statement<'static> {
    Statement::new(columns(schema, "")).int(study.0)
}

/// One lease.
pub fn find(study: StudyId, resource: &str) -> Statement<'_> {
    find_and(study, resource, "")
}

/// One lease, and `more` in the tenth column.
pub fn find_and<'a>(study: StudyId, resource: &'a str, more: &str) -> Statement<'a> {
    Statement::new(format!("{} AND resource = $2", columns(HASHED, more))).int(study.0).text(resource)
}

/// The token of the latest grant.
pub fn token(study: StudyId, resource: &str) -> Statement<'_> {
    let sql = "SELECT token FROM manyhands_leases WHERE study = $1 AND resource = $2";
    Statement::new(sql).int(study.0).text(resource)
}

/// Grants a lease; its token.
pub fn grant<'a>(study: StudyId, claim: &Claim<'a>, now: Time) -> Statement<'a> {
    let sql = "INSERT INTO manyhands_leases AS held \
               (study, resource, token, host, boot, pid, started, expires, since, renewed, term) \
               VALUES ($1, $2, 1, $3, $4, $5, $6, $8 + $7, $8, $8, $7) \
               ON CONFLICT (study, resource) DO UPDATE SET token = held.token + 1, host = excluded.host, \
               boot = excluded.boot, pid = excluded.pid, started = excluded.started, expires = excluded.expires, \
               since = excluded.since, renewed = excluded.renewed, term = excluded.term RETURNING token";
    let Holder { host, boot, pid, started } = claim.holder;
    let statement = Statement::new(sql).int(study.0).text(claim.resource).text(host).text(boot);
    statement.int(i64::from(*pid)).int(*started as i64).int(micros(claim.term)).int(now.micros())
}

/// Prolongs a lease; a row, unless it is gone or a newer one was granted.
pub fn renew(study: StudyId, fence: Fence<'_>, term: Duration) -> Statement<'_> {
    let sql = format!(
        "UPDATE manyhands_leases SET expires = {NOW} + $4, renewed = {NOW}, term = $4 \
         WHERE study = $1 AND resource = $2 AND token = $3 RETURNING token"
    );
    Statement::new(sql).int(study.0).text(fence.resource).int(fence.token as i64).int(micros(term))
}

/// Releases a lease.
pub fn release(study: StudyId, fence: Fence<'_>) -> Statement<'_> {
    let sql = "UPDATE manyhands_leases SET expires = 0, term = 0 WHERE study = $1 AND resource = $2 AND token = $3";
    Statement::new(sql).int(study.0).text(fence.resource).int(fence.token as i64)
}

/// Removes the leases of trials that have ended, which are never granted again.
pub fn remove(study: StudyId, trials: Vec<usize>) -> Statement<'static> {
    let sql = "DELETE FROM manyhands_leases WHERE study = $1 AND resource = ANY($2)";
    Statement::new(sql).int(study.0).with(trials.into_iter().map(trial_resource).collect::<Vec<_>>(), Type::TEXT_ARRAY)
}
