//! The panels of metrics: further numbers that trials carry, by trial.

use manyhands_core::Direction;

use crate::axis::PlotAxis;
use crate::history::trial_side;
use crate::layers::Layer;
use crate::marks::{LegendEntry, Mark, WITH_VALUES};
use crate::overview::{Overview, own_mark};
use crate::panel::{PagePanel, PanelSide};
use crate::scale::ValueAxis;
use crate::shown::Shown;

/// The ratio of magnitudes that differ.
const MAGNITUDES: f64 = 30.0;

/// A metric: its name, and its value in each trial that has one.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricSeries {
    /// Its name.
    pub name: String,
    /// The number of the trial, and the value.
    pub values: Vec<(usize, f64)>,
}

impl MetricSeries {
    /// Whether it has one value everywhere.
    pub fn is_constant(&self) -> bool {
        self.values.iter().all(|(_, value)| *value == self.values[0].1)
    }
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
    let x = trial_side(overview);
    let finite: Vec<f64> = series.values.iter().map(|(_, value)| *value).filter(|value| value.is_finite()).collect();
    let y = axis_of(&finite, overview.direction());
    let (mut layers, mut legend) = (vec![], vec![]);
    for mark in WITH_VALUES.into_iter().chain([Mark::Cancelled]) {
        let places = places(overview, series, mark, (&x.axis, &y));
        if !places.is_empty() {
            layers.push(Layer::Marks(mark, places));
            legend.push(LegendEntry::Mark(mark));
        }
    }
    let y = PanelSide::numbers(y.axis, "");
    PagePanel { title: series.name.clone(), x, y, layers, colours: None, legend, size }
}

/// Logarithmic where the values are positive and most of them would be at the foot of a linear axis.
fn axis_of(values: &[f64], direction: Direction) -> ValueAxis {
    let (shown, axis) = if span_magnitudes(values) {
        let shown = Shown::of(&values.iter().map(|value| value.log10()).collect::<Vec<_>>());
        let shown = shown.map(|shown| Shown { low: under(shown.low), high: over(shown.high), ..shown });
        (shown, shown.map(|shown| PlotAxis::logarithmic(shown.low, shown.high)))
    } else {
        let shown = Shown::of(values);
        (shown, shown.map(|shown| PlotAxis::linear(shown.low, shown.high)))
    };
    let axis = axis.unwrap_or_else(|| PlotAxis::linear(0.0, 1.0));
    ValueAxis::linear(shown, direction).on(axis.padded(0.1, 0.1))
}

/// Whether values are positive and of several magnitudes, whatever a tenth at each end is.
fn span_magnitudes(values: &[f64]) -> bool {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let tenth = sorted.len() / 10;
    let (low, high) = (sorted.get(tenth), sorted.get(sorted.len().saturating_sub(1 + tenth)));
    sorted.first().is_some_and(|least| *least > 0.0)
        && low.zip(high).is_some_and(|(low, high)| *high > MAGNITUDES * low)
}

/// The number of this logarithm, and not more: rounding must not put the lowest value beyond the axis.
fn under(logarithm: f64) -> f64 {
    (0.999_999 * 10f64.powf(logarithm)).max(f64::MIN_POSITIVE)
}

/// As [`under`], for the highest.
fn over(logarithm: f64) -> f64 {
    (1.000_001 * 10f64.powf(logarithm)).min(f64::MAX)
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
            Mark::Beyond(edge) => side == Some(edge),
            _ => side.is_none() && own_mark(trial) == mark,
        };
        let height = side.map_or_else(|| y.place(value), |edge| y.edge(edge));
        (is_marked && value.is_finite()).then_some((x.place(number as f64), height))
    };
    series.values.iter().filter_map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positive_values_of_several_magnitudes_have_a_logarithmic_axis_with_all_of_them() {
        let values: Vec<f64> = (0..31).map(|i| 10f64.powf(f64::from(i) * 0.2 - 3.0)).collect();
        let axis = axis_of(&values, Direction::Maximize);
        let parts: Vec<f64> = values.iter().map(|value| axis.axis.part(axis.place(*value))).collect();
        assert!(values.iter().all(|value| axis.side(*value).is_none()));
        let steps: Vec<f64> = parts.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(steps.iter().all(|step| (step - steps[0]).abs() < 1e-6), "{parts:?} are not evenly spaced");
    }

    #[test]
    fn values_of_one_magnitude_with_an_outlier_or_a_zero_have_a_linear_axis() {
        let even: Vec<f64> = (1..30).map(f64::from).collect();
        assert!(!span_magnitudes(&even) && !span_magnitudes(&[even.clone(), vec![1e9]].concat()));
        assert!(!span_magnitudes(&[0.0, 1e-3, 1.0, 1e3]) && !span_magnitudes(&[-1.0, 1e3]) && !span_magnitudes(&[]));
        assert!(span_magnitudes(&[1e-3, 1.0, 1e3]));
    }
}
