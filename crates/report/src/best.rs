//! The best point: what to deploy.

use manyhands_core::study::{BestBy, BestSoFar, representable};
use manyhands_core::text::{short, significant};
use manyhands_core::{Best, Direction, Domain, Spec};
use serde_json::{Value as Json, json};

use crate::value::{params, unsigned_zero};

/// The best point as JSON.
pub fn json(best: &Best, domain: &Domain) -> Json {
    json!({
        "trial": best.trial,
        "params": params(domain.named(&best.params)),
        "value": best.value,
        "by": best.by.name(),
        "mean": representable(unsigned_zero(best.mean)),
        "sd": representable(best.sd),
        "lower": representable(best.lower),
        "upper": representable(best.upper),
        "measured": best.measured,
        "reading": {"trial": best.reading.trial, "value": best.reading.value},
        "regret_bound": best.regret_bound,
    })
}

/// What it gives, one line per parameter, and the best single reading where that is another.
pub fn text(best: &Best, spec: &Spec) -> String {
    let mut text = format!("best: {}", headline(best, spec.direction()));
    for (name, value) in spec.domain().named(&best.params) {
        text += &format!("\n  {name} = {}", value.short());
    }
    if best.is_noisy && spec.direction().is_better(best.reading.value, best.value) {
        let (value, trial) = (short(best.reading.value), best.reading.trial);
        let is_lucky = spec.direction().is_better(best.reading.value, best.mean);
        let luck = if is_lucky { ", partly luck" } else { "" };
        text += &format!("\nbest single reading: {value} (trial {trial}){luck}");
    }
    text
}

/// The value or estimate, and how it is known, on one line.
fn headline(best: &Best, direction: Direction) -> String {
    let trial = best.trial;
    if best.by == BestBy::Value {
        let times = if best.measured > 1 { format!(", measured {}", times(best.measured)) } else { String::new() };
        return format!("{} (trial {trial}{times})", short(best.value));
    }
    let estimate = format!("{} estimated, sd {}", short(best.mean), significant(best.sd, 2));
    let measured = match best.measured {
        1 => format!("measured once: {}", short(best.value)),
        several => format!("measured {}", times(several)),
    };
    let cautious = match direction {
        _ if best.by != BestBy::Bound => String::new(),
        Direction::Maximize => format!("; chosen for its lower bound, {}", short(best.lower)),
        Direction::Minimize => format!("; chosen for its upper bound, {}", short(best.upper)),
    };
    format!("{estimate} (trial {trial}, {measured}{cautious})")
}

/// The value or estimate and its trial, for a line of progress.
pub fn brief(incumbent: &BestSoFar) -> String {
    let BestSoFar { trial, by, value } = incumbent;
    let value = if *by == BestBy::Value { short(*value) } else { format!("about {}", significant(*value, 4)) };
    format!("best {value} (trial {trial})")
}

fn times(count: usize) -> String {
    if count == 2 { "twice".to_string() } else { format!("{count} times") }
}
