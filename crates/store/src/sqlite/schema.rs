//! The tables of a SQLite store, and how older ones are upgraded.

use rusqlite::{Connection, TransactionBehavior};

/// "mnyh": says that a SQLite file is a manyhands store.
pub const APPLICATION: i64 = 0x6d6e_7968;

/// Step i makes schema i + 1 out of schema i. Steps are never changed, only added.
///
/// Which events an attempt at a trial has once is said by [`Unique`](crate::record::Unique), and the last indexes `beginnings`,
/// `reopenings` and `ends` must agree with it.
pub const STEPS: [&str; 6] = [
    "CREATE TABLE studies (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL UNIQUE,
        created INTEGER NOT NULL,
        text TEXT NOT NULL
    );
    CREATE TABLE files (
        study INTEGER NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
        role TEXT NOT NULL,
        name TEXT NOT NULL,
        sha256 TEXT NOT NULL,
        content BLOB NOT NULL,
        PRIMARY KEY (study, role)
    );
    CREATE TABLE events (
        study INTEGER NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
        sequence INTEGER NOT NULL,
        time INTEGER NOT NULL,
        kind TEXT NOT NULL,
        trial INTEGER,
        body TEXT NOT NULL,
        version INTEGER NOT NULL,
        origin TEXT NOT NULL,
        PRIMARY KEY (study, sequence)
    ) WITHOUT ROWID;
    CREATE TABLE leases (
        study INTEGER NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
        resource TEXT NOT NULL,
        token INTEGER NOT NULL,
        host TEXT NOT NULL,
        boot TEXT NOT NULL,
        pid INTEGER NOT NULL,
        started INTEGER NOT NULL,
        expires INTEGER NOT NULL,
        PRIMARY KEY (study, resource)
    ) WITHOUT ROWID;",
    // A trial begins once and ends at most once, whoever writes.
    "CREATE UNIQUE INDEX beginnings ON events (study, trial) WHERE kind IN ('asked', 'included');
    CREATE UNIQUE INDEX ends ON events (study, trial) WHERE kind IN ('told', 'failed', 'cancelled');",
    // Keys of asks, a running hash, leases by a monotonic clock; no lease of a trial that has ended.
    "ALTER TABLE events ADD COLUMN key TEXT;
    ALTER TABLE events ADD COLUMN hash BLOB;
    CREATE INDEX origins ON events (study, origin);
    ALTER TABLE leases ADD COLUMN since INTEGER;
    ALTER TABLE leases ADD COLUMN renewed INTEGER;
    ALTER TABLE leases ADD COLUMN term INTEGER;
    DELETE FROM leases WHERE EXISTS (SELECT 1 FROM events WHERE events.study = leases.study
        AND leases.resource = 'trial:' || events.trial AND kind IN ('told', 'failed', 'cancelled'));",
    // The queue of those who want to ask.
    "CREATE TABLE turns (
        place INTEGER PRIMARY KEY AUTOINCREMENT,
        study INTEGER NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
        ticket TEXT NOT NULL,
        until INTEGER NOT NULL,
        UNIQUE (study, ticket)
    );",
    // A checksum of the study file, to notice damage.
    "ALTER TABLE studies ADD COLUMN sha256 TEXT;",
    // A failed trial can be attempted again: an end is that of an attempt.
    "ALTER TABLE events ADD COLUMN attempt INTEGER NOT NULL DEFAULT 0;
    DROP INDEX ends;
    CREATE UNIQUE INDEX ends ON events (study, trial, attempt) WHERE kind IN ('told', 'failed', 'cancelled');
    CREATE UNIQUE INDEX reopenings ON events (study, trial, attempt) WHERE kind IN ('reopened');",
];

/// The first schema with keys and hashes of events, and leases by a monotonic clock.
pub const HASHED: i64 = 3;

/// The first schema with checksums of study files.
pub const WITH_CHECKSUMS: i64 = 5;

/// What a database file is.
pub enum Found {
    /// A store of this schema; the latest one, if it was to be upgraded.
    Known(i64),
    /// A database of another program.
    Foreign,
    /// A store of a later version.
    Newer(i64),
}

/// Reads the schema and changes nothing. An empty file is a store of schema 0.
pub fn look(connection: &Connection) -> rusqlite::Result<Found> {
    let (application, version) = marks(connection)?;
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if application != APPLICATION && (application != 0 || version != 0 || tables > 0) {
        return Ok(Found::Foreign);
    }
    Ok(if version > STEPS.len() as i64 { Found::Newer(version) } else { Found::Known(version) })
}

/// Creates the tables, or upgrades them; databases of other programs and of later versions are left alone.
pub fn migrate(connection: &mut Connection) -> rusqlite::Result<Found> {
    let latest = STEPS.len() as i64;
    match look(connection)? {
        Found::Known(version) if version < latest => {}
        found => return Ok(found),
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Again: another process may have got there first.
    let version = match look(&transaction)? {
        Found::Known(version) => version,
        found => return Ok(found),
    };
    for step in STEPS.iter().skip(usize::try_from(version).unwrap_or(0)) {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", latest)?;
    transaction.commit()?;
    Ok(Found::Known(latest))
}

fn marks(connection: &Connection) -> rusqlite::Result<(i64, i64)> {
    let mark = |name: &str| connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0));
    Ok((mark("application_id")?, mark("user_version")?))
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
