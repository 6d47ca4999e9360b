//! The panels of metrics: further numbers that trials carry, by trial.

use crate::axis::PlotAxis;
use crate::history::trial_axis;
use crate::marks::{LegendEntry, Mark};
use crate::overview::Overview;
use crate::panel::{Layer, PagePanel, PanelSide};
use crate::scale::{Edge, ValueAxis};
use crate::shown::Shown;

/// A metric: its name, and its value in each trial that has one.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricSeries {
    /// Its name.
    pub name: String,
    /// The number of the trial, and the value.
    pub values: Vec<(usize, f64)>,
}

/// The metrics of all trials, in the order in which they first appear.
pub fn series<'a>(trials: impl Iterator<Item = (usize, &'a [(String, f64)])>) -> Vec<MetricSeries> {
    let mut all: Vec<MetricSeries> = vec![];
    for (trial, metrics) in trials {
        for (name, value) in metrics {
            match all.iter_mut().find(|series| series.name == *name) {
                Some(series) => series.values.push((trial, *value)),
                None => all.push(MetricSeries { name: name.clone(), values: vec![(trial, *value)] }),
            }
        }
    }
    all
}

/// One metric by trial.
pub fn panel(overview: &Overview<'_>, series: &MetricSeries, size: (f64, f64)) -> PagePanel {
    let x = trial_axis(overview);
    let finite: Vec<f64> = series.values.iter().map(|(_, value)| *value).filter(|value| value.is_finite()).collect();
    let shown = Shown::of(&finite);
    let axis = shown.map_or_else(|| PlotAxis::linear(0.0, 1.0), |shown| PlotAxis::linear(shown.low, shown.high));
    let y = ValueAxis::linear(shown, overview.direction()).on(axis.padded(0.1, 0.1));
    let on = |side: Option<Edge>| -> Vec<(f64, f64)> {
        let here = series.values.iter().filter(|(_, value)| value.is_finite() && y.side(*value) == side);
        let height = |value: f64| side.map_or_else(|| y.place(value), |edge| y.edge(edge));
        here.map(|(trial, value)| (x.place(*trial as f64), height(*value))).collect()
    };
    let kinds = [(Mark::Number, None), (Mark::Above, Some(Edge::Top)), (Mark::Below, Some(Edge::Bottom))];
    let marks: Vec<(Mark, Vec<(f64, f64)>)> = kinds.map(|(mark, side)| (mark, on(side))).into();
    let marks: Vec<(Mark, Vec<(f64, f64)>)> = marks.into_iter().filter(|(_, places)| !places.is_empty()).collect();
    let beyond = marks.iter().filter(|(mark, _)| *mark != Mark::Number);
    let legend = beyond.map(|(mark, _)| LegendEntry::Mark(*mark)).collect();
    let layers = marks.into_iter().map(|(mark, places)| Layer::Marks(mark, places)).collect();
    let (x, y) = (PanelSide::numbers(x, "trial"), PanelSide::numbers(y.axis, ""));
    PagePanel { title: series.name.clone(), x, y, layers, colours: None, legend, size }
}
