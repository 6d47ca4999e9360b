//! The slices: posterior mean and interval along one parameter, the others as at the best point, or as near to it as the
//! constraints allow.

use manyhands_core::study::PROBABILITY;
use manyhands_core::{BoundKind, Prediction, Study, Value};

use crate::Result;
use crate::axis::PlotAxis;
use crate::layers::Layer;
use crate::marks::{LegendEntry, Mark, WITH_VALUES};
use crate::overview::Overview;
use crate::panel::{PagePanel, PanelSide};
use crate::parameter::{BaseSetting, NamedValues, PlottedParameter};
use crate::scale::{Edge, ValueAxis};
use crate::shown::Shown;

/// At most this many predictions along a parameter where several vary, and where one does.
const POINTS: (usize, usize) = (61, 201);

/// Predictions along one parameter; none where a value is not allowed.
struct PredictedSlice<'a> {
    parameter: &'a PlottedParameter,
    along: Vec<(f64, Option<Prediction>)>,
}

/// One panel for each of these parameters that can be changed alone, on the same scale of values.
pub fn panels(
    overview: &Overview<'_>,
    all: &[PlottedParameter],
    chosen: &[&PlottedParameter],
    size: (f64, f64),
) -> Result<Vec<PagePanel>> {
    let params = overview.best.as_ref().map_or(&[][..], |best| &best.params);
    let base = BaseSetting::new(overview.study.spec().domain(), all, params);
    let points = if all.len() == 1 { POINTS.1 } else { POINTS.0 };
    let mut slices = chosen
        .iter()
        .map(|parameter| predicted(overview.model(), &base, parameter, points))
        .collect::<Result<Vec<_>>>()?;
    slices.retain(|slice| slice.along.iter().filter(|(_, there)| there.is_some()).count() > 1);
    let y = value_axis(overview, &slices, all.len() == 1);
    Ok(slices.iter().map(|slice| panel(overview, slice, &y, (all.len() == 1, size))).collect())
}

fn predicted<'a>(
    model: &Study,
    base: &BaseSetting<'_>,
    parameter: &'a PlottedParameter,
    points: usize,
) -> Result<PredictedSlice<'a>> {
    let values = parameter.settings(points);
    let along = |with: &dyn Fn(&Value) -> Option<NamedValues>| -> Vec<(f64, Option<NamedValues>)> {
        values.iter().filter_map(|value| Some((parameter.read(value)?, with(value)))).collect()
    };
    let mut settings = along(&|value| base.with(&[(parameter, value)]));
    // In a mixture no parameter changes alone.
    if settings.iter().filter(|(_, named)| named.is_some()).count() < 2 {
        settings = along(&|value| base.nearest_with(&[(parameter, value)]));
    }
    let allowed: Vec<NamedValues> = settings.iter().filter_map(|(_, named)| named.clone()).collect();
    let mut predictions = model.predict_named(&allowed)?.into_iter();
    let along = settings.iter().map(|(at, named)| (*at, named.as_ref().and_then(|_| predictions.next()))).collect();
    Ok(PredictedSlice { parameter, along })
}

fn panel(
    overview: &Overview<'_>,
    slice: &PredictedSlice<'_>,
    y: &ValueAxis,
    (is_only, size): (bool, (f64, f64)),
) -> PagePanel {
    let parameter = slice.parameter;
    let side = parameter.side(None);
    let (x, place) = (side.axis, |value: f64| y.axis.place(value));
    let mut layers = vec![];
    let runs = slice.along.split(|(_, there)| there.is_none());
    for run in runs.filter(|run| !run.is_empty()) {
        let there = || run.iter().filter_map(|(at, there)| Some((x.place(*at), there.as_ref()?)));
        let band: Vec<[f64; 3]> = there().map(|(at, there)| [at, place(there.lower), place(there.upper)]).collect();
        let mean: Vec<(f64, f64)> = there().map(|(at, there)| (at, place(there.mean))).collect();
        if parameter.is_choice() || run.len() == 1 {
            layers.extend([Layer::Whiskers(band), Layer::Pieces(mean)]);
        } else {
            let pieces = if parameter.has_few_values() { mean.clone() } else { vec![] };
            layers.extend([Layer::Band(band), Layer::Curve(mean), Layer::Pieces(pieces)]);
        }
    }
    let onward = onward(slice, &x, y);
    let mut legend = vec![LegendEntry::Curve("mean".to_string()), LegendEntry::Band(band_label(overview, slice))];
    if is_only {
        let (marks, entries) = overview.marked(&WITH_VALUES, |trial, mark| {
            let params = overview.study.params(trial.number()).ok()?;
            Some((x.place(parameter.read(parameter.of(&params)?)?), overview.height(trial, mark, y)?))
        });
        layers.extend(marks);
        legend.extend(entries);
    } else if let Some((at, value)) = best_of(overview, parameter) {
        layers.extend([Layer::Upright(x.place(at)), Layer::Marks(Mark::Best, vec![(x.place(at), place(value))])]);
        legend.push(LegendEntry::Mark(Mark::Best));
    }
    for (mark, places) in onward {
        layers.push(Layer::Marks(mark, places));
        legend.push(LegendEntry::Mark(mark));
    }
    let title = if is_only { format!("value over {}: the posterior", parameter.name) } else { String::new() };
    let y = PanelSide::numbers(y.axis, "");
    PagePanel { title, x: side, y, layers, colours: None, legend, size }
}

/// Where the mean or the interval goes on beyond an edge: a mark in the middle of each stretch, and of each stretch of the mean.
fn onward(slice: &PredictedSlice<'_>, x: &PlotAxis, y: &ValueAxis) -> Vec<(Mark, Vec<(f64, f64)>)> {
    let part = |value: f64| y.axis.part(y.axis.place(value));
    let places = |edge: Edge| -> Vec<(f64, f64)> {
        let is_beyond = |value: f64| if edge == Edge::Top { part(value) > 1.0 } else { part(value) < 0.0 };
        let end = |there: &Prediction| if edge == Edge::Top { there.upper } else { there.lower };
        // 2 where the mean is beyond, 1 where only the interval is.
        let depth = |there: &Option<Prediction>| match there {
            Some(there) if is_beyond(there.mean) => 2,
            Some(there) if is_beyond(end(there)) => 1,
            _ => 0,
        };
        let along: Vec<(f64, usize)> = slice.along.iter().map(|(at, there)| (x.place(*at), depth(there))).collect();
        // Categories have nothing between them.
        let is_choice = slice.parameter.is_choice();
        let stretches = along.chunk_by(|a, b| !is_choice && (a.1 > 0) == (b.1 > 0)).filter(|stretch| stretch[0].1 > 0);
        let marked = stretches.flat_map(|stretch| {
            let means: Vec<&[(f64, usize)]> = stretch.chunk_by(|a, b| a.1 == b.1).filter(|run| run[0].1 == 2).collect();
            if means.is_empty() { vec![stretch] } else { means }
        });
        marked.map(|run| (0.5 * (run[0].0 + run[run.len() - 1].0), y.edge(edge))).collect()
    };
    let marks = [Edge::Top, Edge::Bottom].map(|edge| (Mark::Onward(edge), places(edge)));
    marks.into_iter().filter(|(_, places)| !places.is_empty()).collect()
}

/// Where the best point is along a parameter, and its value.
fn best_of(overview: &Overview<'_>, parameter: &PlottedParameter) -> Option<(f64, f64)> {
    let best = overview.best.as_ref()?;
    Some((parameter.read(parameter.of(&best.params)?)?, overview.best_value()?))
}

/// What the band is.
fn band_label(overview: &Overview<'_>, slice: &PredictedSlice<'_>) -> String {
    let kind = slice.along.iter().filter_map(|(_, there)| there.as_ref()).map(|there| there.kind).next();
    match kind {
        Some(BoundKind::Theorem) => {
            let probability = ((1.0 - overview.study.spec().strategy().delta) * 1e6).round() / 1e6;
            format!("band (theorem, probability {probability})")
        }
        _ => format!("{} % interval of the model", 100.0 * PROBABILITY),
    }
}

/// What of the means is shown and as much of the bands as does not flatten them. Where one parameter varies, all values are on
/// the slice, and those that the history shows are shown here; trials without one have room.
fn value_axis(overview: &Overview<'_>, slices: &[PredictedSlice<'_>], is_only: bool) -> ValueAxis {
    let there = |slice: &PredictedSlice<'_>| slice.along.iter().filter_map(|(_, there)| *there).collect::<Vec<_>>();
    let ends = |there: Vec<Prediction>| there.into_iter().flat_map(|there| [there.lower, there.mean, there.upper]);
    let ends = finite(slices.iter().flat_map(|slice| ends(there(slice))));
    let own = if is_only {
        overview.shown
    } else {
        let means = |slice: &PredictedSlice<'_>| {
            finite(there(slice).iter().map(|there| there.mean).chain(overview.best_value()))
        };
        // Of a few values none is an outlier.
        let shown = |slice: &PredictedSlice<'_>| match slice.parameter.has_few_values() {
            true => Shown::covering(&means(slice)),
            false => Shown::of(&means(slice)),
        };
        let all: Vec<f64> = slices.iter().filter_map(shown).flat_map(Shown::ends).collect();
        // As far as the values of the trials reach, and half as far again.
        overview.shown.map_or_else(|| Shown::of(&all), |values| Shown::covering(&values.widened_by(&all).within(&all)))
    };
    let shown = own.map(|shown| shown.widened_by(&ends)).or_else(|| Shown::of(&ends));
    let axis = shown.map_or_else(|| PlotAxis::linear(0.0, 1.0), |shown| PlotAxis::linear(shown.low, shown.high));
    // Values beyond those that are shown are marked at the edge, as in the history.
    ValueAxis::linear(overview.shown, overview.direction()).on(axis.padded(0.08, 0.08))
}

fn finite(numbers: impl Iterator<Item = f64>) -> Vec<f64> {
    numbers.filter(|number| number.is_finite()).collect()
}
