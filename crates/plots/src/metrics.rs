//! The panels of metrics: further numbers that trials carry, by trial.

use crate::axis::PlotAxis;
use crate::history::trial_axis;
use crate::marks::{LegendEntry, Mark, WITH_VALUES};
use crate::overview::{Overview, own_mark};
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
    let (mut layers, mut legend) = (vec![], vec![]);
    for mark in WITH_VALUES.into_iter().chain([Mark::Cancelled]) {
        let places = places(overview, series, mark, (&x, &y));
        if !places.is_empty() {
            layers.push(Layer::Marks(mark, places));
            legend.push(LegendEntry::Mark(mark));
        }
    }
    let (x, y) = (PanelSide::numbers(x, "trial"), PanelSide::numbers(y.axis, ""));
    PagePanel { title: series.name.clone(), x, y, layers, colours: None, legend, size }
}

/// Where a metric has marks of this kind: trials look as in every other panel.
fn places(
    overview: &Overview<'_>,
    series: &MetricSeries,
    mark: Mark,
    (x, y): (&PlotAxis, &ValueAxis),
) -> Vec<(f64, f64)> {
    let place = |&(number, value): &(usize, f64)| {
        let (trial, side) = (overview.study.trials().get(number)?, y.side(value));
        let is_marked = match mark {
            Mark::Best => overview.is_best(trial),
            Mark::Above => side == Some(Edge::Top),
            Mark::Below => side == Some(Edge::Bottom),
            _ => side.is_none() && own_mark(trial) == mark,
        };
        let height = side.map_or_else(|| y.place(value), |edge| y.edge(edge));
        (is_marked && value.is_finite()).then_some((x.place(number as f64), height))
    };
    series.values.iter().filter_map(place).collect()
}
