//! The best trial.

use manyhands_core::study::representable;
use manyhands_core::text::short;
use manyhands_core::{Best, Domain};
use manyhands_store::Session;
use serde_json::{Value as Json, json};

use crate::value::{params, unsigned_zero};

/// The best trial as JSON.
pub fn json(best: &Best, domain: &Domain) -> Json {
    json!({
        "trial": best.trial,
        "params": params(domain.named(&best.params)),
        "value": best.value,
        "mean": representable(unsigned_zero(best.mean)),
        "lower": representable(best.lower),
        "upper": representable(best.upper),
        "regret_bound": best.regret_bound,
    })
}

/// The best trial's value, then one line per parameter.
pub fn text(best: &Best, domain: &Domain) -> String {
    let mut text = format!("best: {} (trial {})", short(best.value), best.trial);
    for (name, value) in domain.named(&best.params) {
        text += &format!("\n  {name} = {}", value.short());
    }
    text
}

/// The trial with the most extreme value and that value, if it is strictly better than the best trial's: the best trial is
/// chosen by its bound, not by its value.
pub(crate) fn most_extreme(best: &Best, session: &Session) -> Option<(usize, f64)> {
    let direction = session.spec().direction();
    session.ledger().extreme(direction).filter(|(_, value)| direction.is_better(*value, best.value))
}
