//! Certificates: bounds on the regret, which are theorems.

use manyhands_core::study::representable;
use manyhands_core::text::significant;
use manyhands_core::{Best, Certificate, Domain};
use serde_json::{Value as Json, json};

use crate::value::{params, params_line};

/// A certificate as JSON.
pub(crate) fn json(certificate: &Certificate, domain: &Domain) -> Json {
    json!({
        "regret_bound": certificate.regret_bound,
        "upper": representable(certificate.upper),
        "lower": representable(certificate.lower),
        "params": params(domain.named(&certificate.params)),
        "candidate": certificate.candidate,
        "delta": certificate.delta,
        "kind": certificate.kind.to_string(),
        "gap": certificate.gap,
    })
}

/// A certificate as a sentence; what it says of the best point comes first, where that is another.
pub(crate) fn text(certificate: &Certificate, best: Option<&Best>, domain: &Domain) -> String {
    let of_best = best.filter(|best| best.params != certificate.params).and_then(|best| best.regret_bound);
    let of_best =
        of_best.map(|bound| format!("the best point is within {} of the optimum, and ", significant(bound, 3)));
    format!(
        "{}{} is within {} of the optimum with probability {} (a theorem under the stated kernel, norm and noise bounds)",
        of_best.unwrap_or_default(),
        params_line(domain.named(&certificate.params)),
        significant(certificate.regret_bound, 3),
        1.0 - certificate.delta,
    )
}

/// The bound alone, for a line of progress.
pub fn brief(certificate: &Certificate) -> String {
    format!("at most {} from the optimum", significant(certificate.regret_bound, 2))
}
