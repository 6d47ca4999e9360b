//! The queue of points that are tried before suggestions: what `enqueue` gives.

use manyhands_core::Value;
use manyhands_store::Session;
use serde_json::{Value as Json, json};

use crate::{table, value};

/// The points of the queue as a JSON array, the next one first.
pub fn json(session: &Session) -> Json {
    let names = session.spec().domain().names();
    let point = |params: &Vec<Value>| json!({"params": value::params(names.iter().copied().zip(params))});
    points(session).iter().map(point).collect()
}

/// The points of the queue as a table, the next one first.
pub fn text(session: &Session) -> String {
    let points = points(session);
    if points.is_empty() {
        return "the queue is empty".to_string();
    }
    let names = session.spec().domain().names();
    let header: Vec<String> = ["place"].iter().chain(&names).map(ToString::to_string).collect();
    let row = |(place, params): (usize, &Vec<Value>)| {
        [(place + 1).to_string()].into_iter().chain(params.iter().map(Value::short)).collect()
    };
    table(&header, &points.iter().enumerate().map(row).collect::<Vec<_>>())
}

/// The values of the parameters of each point.
fn points(session: &Session) -> Vec<Vec<Value>> {
    let domain = session.spec().domain();
    let params = |next: &manyhands_core::event::Enqueued| {
        domain.logged_params(next.candidate.unwrap_or(usize::MAX), &next.params)
    };
    session.ledger().queue().map(params).collect()
}
