//! Studies of three kinds, and what their evaluations give.

use manyhands_core::{Event, Suggestion, Value};

use crate::{Session, Source, Store, StudyLog};

/// A model that is learned, on a space of mixed parameters; to be minimized.
pub const LEARNED: &str = r#"name = "learned"
direction = "minimize"
seed = 3
[space]
x = { float = [-1.0, 2.0] }
rate = { float = [1e-4, 1e-1], scale = "log" }
layers = { int = [1, 6] }
act = { choice = ["relu", "gelü \"0\""] }
[strategy]
design = 4
"#;

/// A model that is given, on a grid.
pub const GRID: &str = r#"name = "grid"
seed = 5
[space]
u = { float = [0.0, 1.0], points = 9 }
v = { float = [0.0, 1.0], points = 9 }
[model]
kernel = "matern"
smoothness = 2.5
lengthscale = 0.3
noise = 0.01
[strategy]
name = "igp-bucb"
norm_bound = 1.0
"#;

/// A pool of candidates, each to be had once.
pub const POOL: &str = r#"name = "pool"
[candidates]
file = "pool.csv"
repeats = false
[model]
kernel = "se"
lengthscale = 0.3
noise = 0.01
[strategy]
name = "gp-bts"
norm_bound = 1.0
"#;

pub fn pool() -> String {
    let row = |i: usize| format!("{},{}\n", 20.0 + i as f64 * 1.25, (i * i) % 17);
    std::iter::once("temp,conc\n".to_string()).chain((0..30).map(row)).collect()
}

pub const ALL: [&str; 3] = [LEARNED, GRID, POOL];

pub fn source(text: &str) -> Source {
    source_with(text, &pool())
}

pub fn source_with(text: &str, pool: &str) -> Source {
    Source::read(text, |_| Ok(pool.as_bytes().to_vec())).unwrap()
}

pub fn session(store: impl Into<Store>, text: &str) -> Session {
    Session::open_or_create(store.into(), source(text)).unwrap()
}

/// A session's study with its log, as text.
pub fn export(session: &Session) -> String {
    StudyLog::export(session.store(), session.name(), "it", None).unwrap()
}

/// What evaluating a trial gives.
pub fn value(suggestion: &Suggestion) -> f64 {
    suggestion.point.iter().enumerate().map(|(i, x)| (3.0 * x + i as f64).sin()).sum()
}

/// An evaluation made elsewhere, for each of the studies; a candidate that the other one is not.
pub fn outside(text: &str, other: bool) -> Vec<(String, Value)> {
    let named = |pairs: &[(&str, Value)]| pairs.iter().map(|(name, value)| (name.to_string(), value.clone())).collect();
    let float = Value::Float;
    match text.lines().next() {
        Some("name = \"learned\"") => named(&[
            ("x", float(if other { 0.1 + 0.2 } else { -0.0 })),
            ("rate", float(1e-3)),
            ("layers", Value::Int(2)),
            ("act", Value::Text("gelü \"0\"".to_string())),
        ]),
        Some("name = \"grid\"") => named(&[("u", float(0.5)), ("v", float(if other { 0.25 } else { 1.0 }))]),
        _ if other => named(&[("temp", float(21.25)), ("conc", float(1.0))]),
        _ => named(&[("temp", float(20.0)), ("conc", float(0.0))]),
    }
}

/// Events so that they differ when a bit does: `==` does not see the sign of zero.
pub fn bits(events: &[Event]) -> Vec<String> {
    events.iter().map(|event| format!("{event:?}")).collect()
}
