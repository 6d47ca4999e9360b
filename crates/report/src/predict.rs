//! Predictions at given points.

use manyhands_core::study::representable;
use manyhands_core::{PointRow, Prediction};
use serde_json::{Value as Json, json};

use crate::table;
use crate::value::stated;

/// Predictions as a JSON array, in the order of their points.
pub fn json(predictions: &[Prediction]) -> Json {
    predictions.iter().map(one).collect()
}

fn one(prediction: &Prediction) -> Json {
    json!({
        "mean": representable(prediction.mean),
        "sd": representable(prediction.sd),
        "sd_pending": representable(prediction.sd_pending),
        "lower": representable(prediction.lower),
        "upper": representable(prediction.upper),
        "kind": prediction.kind.to_string(),
    })
}

/// Points and their predictions as a table.
pub fn text(points: &[PointRow], predictions: &[Prediction]) -> String {
    let names = points.first().map(|row| row.named.iter().map(|(name, _)| name.clone()).collect()).unwrap_or_default();
    let header: Vec<String> =
        [names, ["mean", "sd", "sd_pending", "lower", "upper"].map(String::from).to_vec()].concat();
    let row = |(point, p): (&PointRow, &Prediction)| {
        let numbers = [p.mean, p.sd, p.sd_pending, p.lower, p.upper].map(stated);
        point.named.iter().map(|(_, value)| value.short()).chain(numbers).collect()
    };
    table(&header, &points.iter().zip(predictions).map(row).collect::<Vec<_>>())
}
