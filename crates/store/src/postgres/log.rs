//! The log of a study in PostgreSQL: events, their running hash, and what must not be logged twice.

use manyhands_postgres::{Row, Statement, Type};

use super::schema::HASHED;
use crate::Time;
use crate::chain::Tail;
use crate::codec::VERSION;
use crate::record::{Append, AttemptKey, NewEvent, Record, Unique};
use crate::store::StudyId;

/// Selects the events after the first `after`, in order; read by [`records`].
pub fn selection(study: StudyId, after: usize, schema: i64) -> Statement<'static> {
    let added = if schema < HASHED { "NULL::text, NULL::bytea" } else { "key, hash" };
    // One statement: a study without new events gives one row of NULLs, an unknown study none.
    let sql = format!(
        "SELECT sequence, time, kind, trial, body, version, {added} FROM manyhands_studies LEFT JOIN manyhands_events \
         ON study = id AND sequence > $2 WHERE id = $1 ORDER BY sequence"
    );
    Statement::new(sql).int(study.0).int(after as i64)
}

/// The selected events; none if there is no such study.
pub fn records(rows: &[Row]) -> Option<Vec<Record>> {
    let is_event = |row: &&Row| row.get::<_, Option<i64>>(0).is_some();
    (!rows.is_empty()).then(|| rows.iter().filter(is_event).map(record).collect())
}

fn record(row: &Row) -> Record {
    Record {
        sequence: usize::try_from(row.get::<_, i64>(0)).unwrap_or(0),
        time: Time::from_micros(row.get(1)),
        kind: row.get(2),
        trial: row.get::<_, Option<i64>>(3).and_then(|trial| usize::try_from(trial).ok()),
        body: row.get(4),
        version: row.get(5),
        key: row.get(6),
        hash: row.get(7),
    }
}

/// The end of a log, and whether events may be added there.
#[derive(Debug)]
pub struct AppendCheck {
    pub tail: Tail,
    /// Whether an append of this origin is in the log.
    pub is_stored: bool,
    /// The token of the latest grant of what the append is fenced by.
    pub token: Option<u64>,
    /// A trial that another event has begun, or ended.
    pub taken: Option<usize>,
}

/// Selects all that an append depends on; read by [`AppendCheck::read`].
pub fn append_check<'a>(study: StudyId, append: &Append<'a>) -> Statement<'a> {
    let mut lists: Vec<Vec<i64>> = vec![];
    let mut taken = |wanted: Unique| {
        let unique = append.events.iter().filter_map(NewEvent::unique).filter(|(unique, _)| *unique == wanted);
        let keys: Vec<AttemptKey> = unique.map(|(_, key)| key).collect();
        if keys.is_empty() {
            return "NULL".to_string();
        }
        lists.push(keys.iter().map(|key| key.trial as i64).collect());
        lists.push(keys.iter().map(|key| key.attempt as i64).collect());
        let (trials, attempts, kinds) = (lists.len() + 2, lists.len() + 3, wanted.kinds());
        format!(
            // The trials alone find the few rows of an index; which attempts they are of is checked there.
            "(SELECT min(trial) FROM manyhands_events WHERE study = $1 AND trial = ANY(${trials}) AND kind IN ({kinds}) \
             AND (trial, attempt) IN (SELECT * FROM unnest(${trials}::bigint[], ${attempts}::bigint[])))"
        )
    };
    let taken = Unique::ALL.map(&mut taken).join(", ");
    let sql = format!(
        "SELECT coalesce(last.sequence, 0), last.hash, \
         EXISTS (SELECT 1 FROM manyhands_events WHERE study = $1 AND origin = $2), \
         (SELECT token FROM manyhands_leases WHERE study = $1 AND resource = $3), \
         coalesce({taken})::bigint \
         FROM (SELECT) AS one LEFT JOIN LATERAL (SELECT sequence, hash FROM manyhands_events WHERE study = $1 \
         ORDER BY sequence DESC LIMIT 1) AS last ON true"
    );
    let fence = append.fence.map(|fence| fence.resource);
    let statement = Statement::new(sql).int(study.0).text(append.origin).with(fence, Type::TEXT);
    lists.into_iter().fold(statement, |statement, list| statement.with(list, Type::INT8_ARRAY))
}

impl AppendCheck {
    pub fn read(row: &Row) -> Self {
        Self {
            tail: Tail { sequence: usize::try_from(row.get::<_, i64>(0)).unwrap_or(0), hash: row.get(1) },
            is_stored: row.get(2),
            token: row.get::<_, Option<i64>>(3).map(|token| token as u64),
            taken: row.get::<_, Option<i64>>(4).and_then(|trial| usize::try_from(trial).ok()),
        }
    }
}

/// Adds the records of events at the end.
pub fn insert<'a>(study: StudyId, origin: &'a str, records: &'a [Record], events: &[NewEvent]) -> Statement<'a> {
    let sql = "INSERT INTO manyhands_events \
               (study, origin, version, sequence, time, kind, trial, body, key, hash, attempt) \
               SELECT $1, $2, $3, * FROM unnest($4::bigint[], $5::bigint[], $6::text[], $7::bigint[], $8::text[], \
               $9::text[], $10::bytea[], $11::bigint[])";
    let sequences: Vec<i64> = records.iter().map(|record| record.sequence as i64).collect();
    let times: Vec<i64> = records.iter().map(|record| record.time.micros()).collect();
    let kinds: Vec<&str> = records.iter().map(|record| record.kind.as_str()).collect();
    let trials: Vec<Option<i64>> = records.iter().map(|record| record.trial.map(|trial| trial as i64)).collect();
    let bodies: Vec<&str> = records.iter().map(|record| record.body.as_str()).collect();
    let keys: Vec<Option<&str>> = records.iter().map(|record| record.key.as_deref()).collect();
    let hashes: Vec<Option<&[u8]>> = records.iter().map(|record| record.hash.as_deref()).collect();
    let statement = Statement::new(sql).int(study.0).text(origin).int(VERSION).with(sequences, Type::INT8_ARRAY);
    let statement = statement.with(times, Type::INT8_ARRAY).with(kinds, Type::TEXT_ARRAY);
    let statement = statement.with(trials, Type::INT8_ARRAY).with(bodies, Type::TEXT_ARRAY);
    let attempts: Vec<i64> = events.iter().map(|event| event.attempt as i64).collect();
    statement.with(keys, Type::TEXT_ARRAY).with(hashes, Type::BYTEA_ARRAY).with(attempts, Type::INT8_ARRAY)
}

/// Whether the latest attempt at a trial has been told, failed or cancelled: one row if so. No row where there is no trial.
pub fn has_ended(study: StudyId, trial: Option<usize>) -> Statement<'static> {
    let (ends, reopenings) = (Unique::End.kinds(), Unique::Reopening.kinds());
    let sql = format!(
        "SELECT 1 FROM manyhands_events WHERE study = $1 AND trial = $2 AND kind IN ({ends}) AND attempt = coalesce(\
         (SELECT max(attempt) FROM manyhands_events WHERE study = $1 AND trial = $2 AND kind IN ({reopenings})), 0)"
    );
    Statement::new(sql).int(study.0).with(trial.map(|trial| trial as i64), Type::INT8)
}
