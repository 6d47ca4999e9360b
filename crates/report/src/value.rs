//! Values of parameters and numbers: as JSON, and as text.

use manyhands_core::Value;
use manyhands_core::study::representable;
use manyhands_core::text::significant;
use serde_json::Value as Json;

/// Named values as a JSON object, in order.
pub fn params<'a>(named: impl IntoIterator<Item = (&'a str, &'a Value)>) -> Json {
    manyhands_core::json::named(named)
}

/// Named values on one line.
pub fn params_line<'a>(named: impl IntoIterator<Item = (&'a str, &'a Value)>) -> String {
    named.into_iter().map(|(name, value)| format!("{name} = {}", value.short())).collect::<Vec<_>>().join(", ")
}

/// A number as JSON: zero has no sign.
pub(crate) fn unsigned_zero(value: f64) -> f64 {
    value + 0.0
}

/// A number of the model in a table: "beyond" where floats cannot state it.
pub(crate) fn stated(number: f64) -> String {
    representable(number).map_or("beyond".to_string(), |number| significant(number, 4))
}
