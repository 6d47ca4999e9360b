//! The tables of a PostgreSQL store, and how older ones are upgraded.

use manyhands_postgres::{CallFailure, Statement, Transaction};

/// Step i makes schema i + 1 out of schema i. Steps are never changed, only added.
///
/// Which events an attempt at a trial has once is said by [`Unique`](crate::record::Unique), and the last indexes
/// `manyhands_beginnings`, `manyhands_reopenings` and `manyhands_ends` must agree with it.
pub const STEPS: [&str; 5] = [
    "CREATE TABLE manyhands_studies (
        id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        created BIGINT NOT NULL,
        text TEXT NOT NULL
    );
    CREATE TABLE manyhands_files (
        study BIGINT NOT NULL REFERENCES manyhands_studies (id) ON DELETE CASCADE,
        role TEXT NOT NULL,
        name TEXT NOT NULL,
        sha256 TEXT NOT NULL,
        content BYTEA NOT NULL,
        PRIMARY KEY (study, role)
    );
    CREATE TABLE manyhands_events (
        study BIGINT NOT NULL REFERENCES manyhands_studies (id) ON DELETE CASCADE,
        sequence BIGINT NOT NULL,
        time BIGINT NOT NULL,
        kind TEXT NOT NULL,
        trial BIGINT,
        body TEXT NOT NULL,
        version BIGINT NOT NULL,
        origin TEXT NOT NULL,
        PRIMARY KEY (study, sequence)
    );
    CREATE TABLE manyhands_leases (
        study BIGINT NOT NULL REFERENCES manyhands_studies (id) ON DELETE CASCADE,
        resource TEXT NOT NULL,
        token BIGINT NOT NULL,
        host TEXT NOT NULL,
        boot TEXT NOT NULL,
        pid BIGINT NOT NULL,
        started BIGINT NOT NULL,
        expires BIGINT NOT NULL,
        PRIMARY KEY (study, resource)
    );",
    // A trial begins once and ends at most once, whoever writes.
    "CREATE UNIQUE INDEX manyhands_beginnings ON manyhands_events (study, trial) WHERE kind IN ('asked', 'included');
    CREATE UNIQUE INDEX manyhands_ends ON manyhands_events (study, trial) WHERE kind IN ('told', 'failed', 'cancelled');",
    // Keys of asks, a running hash, when leases were renewed, the queue of askers; no lease of a trial that has ended.
    "ALTER TABLE manyhands_events ADD COLUMN key TEXT, ADD COLUMN hash BYTEA;
    CREATE INDEX manyhands_origins ON manyhands_events (study, origin);
    ALTER TABLE manyhands_leases ADD COLUMN since BIGINT, ADD COLUMN renewed BIGINT, ADD COLUMN term BIGINT;
    DELETE FROM manyhands_leases AS lease USING manyhands_events AS event WHERE event.study = lease.study
        AND lease.resource = 'trial:' || event.trial AND event.kind IN ('told', 'failed', 'cancelled');
    CREATE TABLE manyhands_turns (
        study BIGINT NOT NULL REFERENCES manyhands_studies (id) ON DELETE CASCADE,
        ticket TEXT NOT NULL,
        place BIGINT GENERATED ALWAYS AS IDENTITY,
        until BIGINT NOT NULL,
        PRIMARY KEY (study, ticket)
    );",
    // A checksum of the study file, to notice damage.
    "ALTER TABLE manyhands_studies ADD COLUMN sha256 TEXT;",
    // A failed trial can be attempted again: an end is that of an attempt.
    "ALTER TABLE manyhands_events ADD COLUMN attempt BIGINT NOT NULL DEFAULT 0;
    DROP INDEX manyhands_ends;
    CREATE UNIQUE INDEX manyhands_ends ON manyhands_events (study, trial, attempt)
        WHERE kind IN ('told', 'failed', 'cancelled');
    CREATE UNIQUE INDEX manyhands_reopenings ON manyhands_events (study, trial, attempt) WHERE kind IN ('reopened');",
];

/// The first schema with keys and hashes of events, and the times at which leases were renewed.
pub const HASHED: i64 = 3;

/// The first schema with checksums of study files.
pub const WITH_CHECKSUMS: i64 = 4;

/// Only one process at a time makes tables.
const LOCK: i64 = 0x6d6e_7968;

/// Creates the tables, or upgrades them; the schema found if it is newer than any known.
pub fn migrate(t: &Transaction<'_>) -> Result<Option<i64>, CallFailure> {
    let known = STEPS.len() as i64;
    if let Some(version) = version(t)?.filter(|version| *version >= known) {
        return Ok((version > known).then_some(version));
    }
    // Upgrading a large store may take longer than the limits for single statements.
    t.run("SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0")?;
    t.query(Statement::new("SELECT pg_advisory_xact_lock($1)").int(LOCK))?;
    // Another process may have got there first. Only making the table makes the server look again whether it is there.
    t.run("CREATE TABLE IF NOT EXISTS manyhands_schema (version BIGINT NOT NULL)")?;
    let found = version(t)?;
    if found.is_none() {
        t.run("INSERT INTO manyhands_schema (version) VALUES (0)")?;
    }
    let found = found.unwrap_or(0);
    if found > known {
        return Ok(Some(found));
    }
    for step in STEPS.iter().skip(usize::try_from(found).unwrap_or(0)) {
        t.run(step)?;
    }
    t.query(Statement::new("UPDATE manyhands_schema SET version = $1 WHERE version < $1").int(known))?;
    Ok(None)
}

/// The schema that a database has.
pub fn version(t: &Transaction<'_>) -> Result<Option<i64>, CallFailure> {
    let there = t.query_opt(Statement::new("SELECT 1 WHERE to_regclass('manyhands_schema') IS NOT NULL"))?;
    if there.is_none() {
        return Ok(None);
    }
    Ok(t.query_opt(Statement::new("SELECT version FROM manyhands_schema"))?.map(|row| row.get(0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Unique;

    #[test]
    fn the_unique_indexes_list_the_kinds_that_begin_and_end_a_trial() {
        for kinds in Unique::ALL.map(Unique::kinds) {
            assert!(STEPS.iter().any(|step| step.contains(&format!("WHERE kind IN ({kinds});"))), "{kinds}");
        }
    }
}
