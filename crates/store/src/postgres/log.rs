//! The log of a study in PostgreSQL: events, their running hash, and what must not be logged twice.

use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::failure::Failure;
use super::schema::HASHED;
use super::transaction::Transaction;
use crate::Time;
use crate::chain::Link;
use crate::codec::VERSION;
use crate::store::{NewEvent, Record, StudyId};

/// The events after the first `after`, in order; none if there is no such study.
pub fn read(t: &Transaction<'_>, study: StudyId, after: usize, schema: i64) -> Result<Option<Vec<Record>>, Failure> {
    let added = if schema < HASHED { "NULL::text, NULL::bytea" } else { "key, hash" };
    // One statement: a study without new events gives one row of nothing.
    let sql = format!(
        "SELECT sequence, time, kind, body, version, {added} FROM manyhands_studies LEFT JOIN manyhands_events \
         ON study = id AND sequence > $2 WHERE id = $1 ORDER BY sequence"
    );
    let rows = t.query(&sql, &[(&study.0, Type::INT8), (&(after as i64), Type::INT8)])?;
    let is_event = |row: &&Row| row.get::<_, Option<i64>>(0).is_some();
    Ok((!rows.is_empty()).then(|| rows.iter().filter(is_event).map(record).collect()))
}

fn record(row: &Row) -> Record {
    Record {
        sequence: usize::try_from(row.get::<_, i64>(0)).unwrap_or(0),
        time: Time::from_micros(row.get(1)),
        kind: row.get(2),
        body: row.get(3),
        version: row.get(4),
        key: row.get(5),
        hash: row.get(6),
    }
}

/// Adds events at the end.
pub fn insert(
    t: &Transaction<'_>,
    study: StudyId,
    origin: &str,
    events: &[NewEvent],
    now: Time,
) -> Result<(), Failure> {
    let sql = "SELECT (SELECT coalesce(max(sequence), 0) FROM manyhands_events WHERE study = $1), \
               (SELECT hash FROM manyhands_events WHERE study = $1 AND hash IS NOT NULL ORDER BY sequence DESC LIMIT 1)";
    let row = t.query_one(sql, &[(&study.0, Type::INT8)])?;
    let (last, mut hash): (i64, Option<Vec<u8>>) = (row.get(0), row.get(1));
    let sql = "INSERT INTO manyhands_events (study, sequence, time, kind, trial, body, version, origin, key, hash) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
    for (event, sequence) in events.iter().zip(last + 1..) {
        let NewEvent { kind, trial, body, time, key } = event;
        let (time, trial) = (time.unwrap_or(now), trial.map(|trial| trial as i64));
        let link = Link { sequence, time, kind, version: VERSION, key: key.as_deref(), body };
        let next = link.after(hash.as_deref());
        t.execute(
            sql,
            &[
                (&study.0, Type::INT8),
                (&sequence, Type::INT8),
                (&time.micros(), Type::INT8),
                (kind, Type::TEXT),
                (&trial, Type::INT8),
                (body, Type::TEXT),
                (&VERSION, Type::INT8),
                (&origin, Type::TEXT),
                (key, Type::TEXT),
                (&next, Type::BYTEA),
            ],
        )?;
        hash = Some(next);
    }
    Ok(())
}

/// Whether an append of this origin is in the log.
pub fn is_stored(t: &Transaction<'_>, study: StudyId, origin: &str) -> Result<bool, Failure> {
    let sql = "SELECT EXISTS (SELECT 1 FROM manyhands_events WHERE study = $1 AND origin = $2)";
    Ok(t.query_one(sql, &[(&study.0, Type::INT8), (&origin, Type::TEXT)])?.get(0))
}

/// Whether a trial has been told, failed or cancelled.
pub fn has_ended(t: &Transaction<'_>, study: StudyId, trial: usize) -> Result<bool, Failure> {
    exists(t, study, trial as i64, "'told', 'failed', 'cancelled'")
}

/// The first trial that another event has begun, or ended.
pub fn taken(t: &Transaction<'_>, study: StudyId, events: &[NewEvent]) -> Result<Option<usize>, Failure> {
    for event in events {
        let Some((trial, kinds)) = event.rivals() else { continue };
        if exists(t, study, trial, kinds)? {
            return Ok(event.trial);
        }
    }
    Ok(None)
}

fn exists(t: &Transaction<'_>, study: StudyId, trial: i64, kinds: &str) -> Result<bool, Failure> {
    let sql =
        format!("SELECT EXISTS (SELECT 1 FROM manyhands_events WHERE study = $1 AND trial = $2 AND kind IN ({kinds}))");
    Ok(t.query_one(&sql, &[(&study.0, Type::INT8), (&trial, Type::INT8)])?.get(0))
}
