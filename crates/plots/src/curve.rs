//! The second panel where one parameter varies: the posterior mean and its band.

use std::slice;

use kuva::plot::{BandPlot, LinePlot};
use kuva::render::layout::Layout;
use kuva::render::plots::Plot;
use manyhands_core::study::PROBABILITY;
use manyhands_core::{BoundKind, Prediction};

use crate::Result;
use crate::axis::{PlotAxis, framed};
use crate::marks::{BLUE, FAINT, LegendEntry, WITH_VALUES};
use crate::overview::{Edge, Overview};
use crate::page::{PagePanel, label};
use crate::parameter::{PlottedParameter, values};
use crate::shown::Shown;

/// At most this many predictions.
const POINTS: usize = 201;

/// Mean, band and trials; none where no value of the variable is allowed.
pub fn panel(overview: &Overview<'_>, variable: &PlottedParameter) -> Result<Option<PagePanel>> {
    let domain = overview.study.spec().domain();
    let named = |part: f64| values(domain, slice::from_ref(variable), &[part]);
    let mut points: Vec<_> = variable.steps(POINTS).into_iter().filter_map(named).collect();
    points.dedup();
    let predictions = overview.study.predict_named(&points)?;
    let Some(first) = predictions.first() else { return Ok(None) };
    // There is nothing between categories: each is a step.
    let beyond = if variable.is_choice() { variable.beyond(POINTS) } else { 0.0 };
    let (x, y) = (variable.axis(beyond), value_axis(overview, &predictions));
    let xs: Vec<f64> = points.iter().filter_map(|named| Some(x.place(variable.among(named)?))).collect();
    let (xs, drawn) = if variable.is_choice() { steps(&xs, &predictions) } else { (xs, predictions.clone()) };
    let (marks, entries) = overview.marked(&WITH_VALUES, |trial, mark| {
        Some((
            x.place(variable.of(&overview.study.params(trial.number()).ok()?)?),
            overview.height(trial, mark, &y, Edge::Bottom)?,
        ))
    });
    let band = match first.kind {
        BoundKind::Theorem => {
            let probability = ((1.0 - overview.study.spec().strategy().delta) * 1e6).round() / 1e6;
            format!("band (theorem, probability {probability})")
        }
        _ => format!("{} % interval of the model", 100.0 * PROBABILITY),
    };
    let layout = variable
        .label_x(framed(Layout::new((0.0, 1.0), (0.0, 1.0)), &x, &y))
        .with_x_label(label(&variable.name))
        .with_y_label("value")
        .with_title(format!("posterior over {}", label(&variable.name)));
    Ok(Some(PagePanel {
        plots: lines(&xs, &drawn, &y).into_iter().chain(marks).collect(),
        layout,
        width: 540.0,
        legend: [LegendEntry::Curve("mean".to_string()), LegendEntry::Band(band)].into_iter().chain(entries).collect(),
    }))
}

/// Every prediction drawn from half a place before its own to half a place after it.
fn steps(xs: &[f64], predictions: &[Prediction]) -> (Vec<f64>, Vec<Prediction>) {
    let ends = xs.iter().flat_map(|x| [x - 0.5, x + 0.5]).collect();
    (ends, predictions.iter().flat_map(|prediction| [*prediction, *prediction]).collect())
}

fn lines(xs: &[f64], predictions: &[Prediction], y: &PlotAxis) -> [Plot; 2] {
    let each = |end: fn(&Prediction) -> f64| predictions.iter().map(|p| y.place(end(p))).collect::<Vec<f64>>();
    let band = BandPlot::new(xs.to_vec(), each(|p| p.lower), each(|p| p.upper));
    let mean = LinePlot::new().with_data(xs.iter().copied().zip(each(|p| p.mean)));
    [Plot::Band(band.with_color(BLUE).with_opacity(FAINT)), Plot::Line(mean.with_color(BLUE).with_stroke_width(1.8))]
}

/// The values that are shown and as much of the band as does not flatten them, with room for pending trials below.
fn value_axis(overview: &Overview<'_>, predictions: &[Prediction]) -> PlotAxis {
    let ends = predictions.iter().flat_map(|p| [p.lower, p.mean, p.upper]);
    let ends: Vec<f64> = ends.filter(|end| end.is_finite()).collect();
    let shown = overview.shown.map(|shown| shown.widened_by(&ends)).or_else(|| Shown::of(&ends));
    shown.map_or_else(|| PlotAxis::linear(0.0, 1.0), |shown| PlotAxis::linear(shown.low, shown.high)).padded(0.1, 0.05)
}
