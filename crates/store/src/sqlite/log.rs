//! The log of a study in SQLite: events, their running hash, and what must not be logged twice.

use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};

use super::schema::HASHED;
use crate::Time;
use crate::chain::{self, Tail};
use crate::record::{AttemptKey, NewEvent, Record, Unique};
use crate::store::StudyId;

/// The events after the first `after`, in order.
pub fn read(c: &Connection, study: StudyId, after: usize, schema: i64) -> rusqlite::Result<Vec<Record>> {
    c.prepare_cached(&selection(schema))?.query_map(params![study.0, after as i64], record)?.collect()
}

/// The events up to the first that cannot be read, and why it cannot.
pub fn read_until_error(
    c: &Connection,
    study: StudyId,
    schema: i64,
) -> rusqlite::Result<(Vec<Record>, Option<rusqlite::Error>)> {
    let mut statement = c.prepare_cached(&selection(schema))?;
    let mut records = Vec::new();
    for found in statement.query_map(params![study.0, 0], record)? {
        match found {
            Ok(record) => records.push(record),
            Err(error) => return Ok((records, Some(error))),
        }
    }
    Ok((records, None))
}

fn selection(schema: i64) -> String {
    let added = if schema < HASHED { "NULL, NULL" } else { "key, hash" };
    format!(
        "SELECT sequence, time, kind, trial, body, version, {added} FROM events \
         WHERE study = ? AND sequence > ? ORDER BY sequence"
    )
}

fn record(row: &Row<'_>) -> rusqlite::Result<Record> {
    Ok(Record {
        sequence: usize::try_from(row.get::<_, i64>(0)?).unwrap_or(0),
        time: Time::from_micros(row.get(1)?),
        kind: row.get(2)?,
        trial: row.get::<_, Option<i64>>(3)?.and_then(|trial| usize::try_from(trial).ok()),
        body: row.get(4)?,
        version: row.get(5)?,
        key: row.get(6)?,
        hash: row.get(7)?,
    })
}

/// Adds events at the end; their records.
pub fn insert(
    t: &Transaction<'_>,
    study: StudyId,
    origin: &str,
    events: &[NewEvent],
    now: Time,
) -> rusqlite::Result<Vec<Record>> {
    let records = chain::records(events, tail(t, study)?, now);
    let sql = "INSERT INTO events (study, sequence, time, kind, trial, body, version, origin, key, hash, attempt) \
               VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    let mut statement = t.prepare_cached(sql)?;
    for (Record { sequence, time, kind, trial, body, version, key, hash }, event) in records.iter().zip(events) {
        let (sequence, micros, trial) = (*sequence as i64, time.micros(), trial.map(|trial| trial as i64));
        let attempt = event.attempt as i64;
        statement
            .execute(params![study.0, sequence, micros, kind, trial, body, version, origin, key, hash, attempt])?;
    }
    Ok(records)
}

/// How many events a log has.
pub fn length(t: &Transaction<'_>, study: StudyId) -> rusqlite::Result<usize> {
    let sequence: i64 = t
        .prepare_cached("SELECT coalesce(max(sequence), 0) FROM events WHERE study = ?")?
        .query_row([study.0], |row| row.get(0))?;
    Ok(usize::try_from(sequence).unwrap_or(0))
}

/// The end of a log. Events of an older manyhands have no hash: the running hash begins after them.
fn tail(t: &Transaction<'_>, study: StudyId) -> rusqlite::Result<Tail> {
    let sql = "SELECT hash FROM events WHERE study = ? AND hash IS NOT NULL ORDER BY sequence DESC LIMIT 1";
    let hash = t.prepare_cached(sql)?.query_row([study.0], |row| row.get(0)).optional()?;
    Ok(Tail { sequence: length(t, study)?, hash })
}

/// Whether an append of this origin is in the log.
pub fn is_stored(t: &Transaction<'_>, study: StudyId, origin: &str) -> rusqlite::Result<bool> {
    t.prepare_cached("SELECT 1 FROM events WHERE study = ? AND origin = ?")?.exists(params![study.0, origin])
}

/// Whether the latest attempt at a trial has been told, failed or cancelled.
pub fn has_ended(t: &Transaction<'_>, study: StudyId, trial: usize) -> rusqlite::Result<bool> {
    let (ends, reopenings) = (Unique::End.kinds(), Unique::Reopening.kinds());
    let sql = format!(
        "SELECT 1 FROM events WHERE study = ?1 AND trial = ?2 AND kind IN ({ends}) AND attempt = coalesce(\
         (SELECT max(attempt) FROM events WHERE study = ?1 AND trial = ?2 AND kind IN ({reopenings})), 0)"
    );
    t.prepare_cached(&sql)?.exists(params![study.0, trial as i64])
}

/// The first trial that another event has begun, reopened or ended.
pub fn taken(t: &Transaction<'_>, study: StudyId, events: &[NewEvent]) -> rusqlite::Result<Option<usize>> {
    for (unique, AttemptKey { trial, attempt }) in events.iter().filter_map(NewEvent::unique) {
        let kinds = unique.kinds();
        let sql = format!("SELECT 1 FROM events WHERE study = ? AND trial = ? AND attempt = ? AND kind IN ({kinds})");
        if t.prepare_cached(&sql)?.exists(params![study.0, trial as i64, attempt as i64])? {
            return Ok(Some(trial));
        }
    }
    Ok(None)
}
