//! Events as stores keep them: the version of the format, the kind, and the body as JSON.

use manyhands_core::Event;

use crate::error::Damage;
use crate::record::{NewEvent, Record};
use crate::{Error, Result};

/// The version of the format: 2 since choices and fits say which engine made them, 3 since choices say what they are for and
/// what they expect, 4 since trials can be amended, attempted again and measured further, and points enqueued.
pub(crate) const VERSION: i64 = 4;

/// An event of an attempt at its trial as it is stored; refused where reading it would not give the same event, as with numbers
/// that are not finite.
pub fn encode(event: &Event, attempt: usize) -> Result<NewEvent> {
    let body = event.to_json().map_err(|error| Error::Encode { reason: error.to_string() })?;
    Ok(NewEvent { kind: event.kind(), trial: event.trial(), body, time: None, key: None, attempt })
}

/// The event of a record.
pub fn decode(record: &Record) -> std::result::Result<Event, Damage> {
    let corrupt = |reason: String| Damage { sequence: record.sequence, reason };
    if !(1..=VERSION).contains(&record.version) {
        let reason = format!("its format is {}, this manyhands knows 1 to {VERSION}", record.version);
        return Err(corrupt(reason));
    }
    Event::from_json(&record.kind, &record.body).map_err(|error| corrupt(error.to_string()))
}
