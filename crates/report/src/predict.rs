//! Predictions at given points.

use manyhands_core::study::representable;
use manyhands_core::{Prediction, TrialState};
use manyhands_store::Session;
use serde_json::{Value as Json, json};

use crate::plate::PointRow;
use crate::table;
use crate::value::stated;

/// Predictions as a JSON array, in the order of their points; null where the model has nothing to expect yet.
pub fn json(session: &Session, predictions: &[Prediction]) -> Json {
    let is_expected = is_expected(session);
    predictions.iter().map(|prediction| one(prediction, is_expected)).collect()
}

/// Whether the model has anything to expect: a learned one has not before its first value.
fn is_expected(session: &Session) -> bool {
    !session.spec().learns() || session.ledger().count(TrialState::Observed) > 0
}

fn one(prediction: &Prediction, is_expected: bool) -> Json {
    let stated = |number: f64| representable(number).filter(|_| is_expected);
    json!({
        "mean": stated(prediction.mean),
        "sd": stated(prediction.sd),
        "sd_pending": stated(prediction.sd_pending),
        "lower": stated(prediction.lower),
        "upper": stated(prediction.upper),
        "kind": prediction.kind.to_string(),
    })
}

/// Points and their predictions as a table; blank where the model has nothing to expect yet.
pub fn text(session: &Session, points: &[PointRow], predictions: &[Prediction]) -> String {
    let is_expected = is_expected(session);
    let names = points.first().map(|row| row.named.iter().map(|(name, _)| name.clone()).collect()).unwrap_or_default();
    let header: Vec<String> =
        [names, ["mean", "sd", "sd_pending", "lower", "upper"].map(String::from).to_vec()].concat();
    let row = |(point, p): (&PointRow, &Prediction)| {
        let numbers = [p.mean, p.sd, p.sd_pending, p.lower, p.upper]
            .map(|number| if is_expected { stated(number) } else { String::new() });
        point.named.iter().map(|(_, value)| value.short()).chain(numbers).collect()
    };
    table(&header, &points.iter().zip(predictions).map(row).collect::<Vec<_>>())
}
