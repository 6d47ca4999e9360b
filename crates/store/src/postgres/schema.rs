//! The tables of a PostgreSQL store and how older ones become newer ones.

use postgres::{Error, Transaction};

/// Step i makes schema i + 1 out of schema i. Steps are never changed, only added.
pub const STEPS: [&str; 2] = [
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
];

/// Only one process at a time makes tables.
const LOCK: i64 = 0x6d6e_7968;

/// Makes the tables, or brings them up to date; the schema found if it is newer than any known.
pub fn migrate(transaction: &mut Transaction<'_>) -> Result<Option<i64>, Error> {
    let known = STEPS.len() as i64;
    if let Some(version) = version(transaction)?.filter(|version| *version >= known) {
        return Ok((version > known).then_some(version));
    }
    transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK])?;
    // Another process may have been faster. Only making the table makes the server look again whether it is there.
    transaction.batch_execute("CREATE TABLE IF NOT EXISTS manyhands_schema (version BIGINT NOT NULL)")?;
    let found = version(transaction)?;
    if found.is_none() {
        transaction.batch_execute("INSERT INTO manyhands_schema (version) VALUES (0)")?;
    }
    let found = found.unwrap_or(0);
    if found > known {
        return Ok(Some(found));
    }
    for step in STEPS.iter().skip(usize::try_from(found).unwrap_or(0)) {
        transaction.batch_execute(step)?;
    }
    transaction.execute("UPDATE manyhands_schema SET version = $1 WHERE version < $1", &[&known])?;
    Ok(None)
}

/// The schema that is there, if any is.
pub fn version(transaction: &mut Transaction<'_>) -> Result<Option<i64>, Error> {
    let there: bool = transaction.query_one("SELECT to_regclass('manyhands_schema') IS NOT NULL", &[])?.get(0);
    if !there {
        return Ok(None);
    }
    Ok(transaction.query_opt("SELECT version FROM manyhands_schema", &[])?.map(|row| row.get(0)))
}
