//! The axis of the values: linear, or the distance to the best one on a logarithmic scale where the values span magnitudes.
//!
//! They do in two cases. A search has converged: on a linear axis a quarter of the values would be within a hundredth of its
//! length from the best one, or the best so far would have been improved there several times without being seen to. Or the magnitudes differ: more than a tenth of the values would be beyond a linear axis, and the
//! distances fill a logarithmic one. A few outliers among many values are beyond the linear axis and do not decide. Values of
//! one order of magnitude, as yields from 50 to 95, are read as what they are, converged or not.

use manyhands_core::Direction;

use crate::axis::PlotAxis;
use crate::shown::Shown;

/// The length of a linear axis over the lower quartile of the distances, or the largest distance over the smallest.
const MAGNITUDES: f64 = 100.0;

/// Fewer distances say nothing about convergence.
const FEWEST_CONVERGED: usize = 5;

/// Fewer distances do not fill an axis.
const FEWEST_SPREAD: usize = 3;

/// Up to this share of the values may be outliers.
const OUTLIERS: f64 = 0.1;

/// The largest part of a logarithmic axis that may be empty between two distances.
const WIDEST_GAP: f64 = 2.0 / 3.0;

/// Values of one sign whose ratio is below this are of one order of magnitude.
const ONE_ORDER: f64 = 10.0;

/// Distances below this share of the largest are rounding.
const ROUNDING: f64 = 1e-13;

/// The distance of marks without a value from the edge, as a fraction of the height.
const EDGE: f64 = 0.035;

/// An edge of a panel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edge {
    Bottom,
    Top,
    Left,
    Right,
}

/// An axis of values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ValueAxis {
    /// The axis.
    pub axis: PlotAxis,
    /// Where trials without a value are.
    pub worse: Edge,
    /// How many values are beyond it.
    pub beyond: usize,
    /// The best value, if distances to it are shown.
    pub best: Option<f64>,
    /// The lowest and the highest number that has a place of its own.
    limits: (f64, f64),
}

impl ValueAxis {
    /// The axis of these values: logarithmic in the distance to the best of them where they span magnitudes.
    pub fn of(values: &[f64], direction: Direction) -> Self {
        Self::unless_converged(values, direction, |_, _| false)
    }

    /// As [`ValueAxis::of`], of the values of trials in their order. However many trials go on elsewhere, the progress of a
    /// search that has converged is seen.
    pub fn of_history(values: &[f64], direction: Direction) -> Self {
        Self::unless_converged(values, direction, |best, length| {
            let mut so_far = f64::INFINITY;
            let improvements = values.iter().filter(|value| {
                let distance = distance(**value, best);
                let is_better = distance < so_far;
                so_far = so_far.min(distance);
                is_better && distance > 0.0 && MAGNITUDES * distance < length
            });
            improvements.count() >= FEWEST_CONVERGED
        })
    }

    /// The axis of these values, with a further reason why they have converged, given the best of them and the length of a
    /// linear axis.
    fn unless_converged(values: &[f64], direction: Direction, has_converged: impl Fn(f64, f64) -> bool) -> Self {
        let better = |a: f64, b: f64| if direction.is_better(b, a) { b } else { a };
        let best = values.iter().copied().reduce(better);
        match best.and_then(|best| Self::of_distances(values, best, has_converged)) {
            Some(axis) => axis,
            None => Self::linear(Shown::of(values).map(|shown| shown.with_best(values, direction)), direction),
        }
    }

    /// A linear axis of the values that are shown, with room for trials without one on the worse side.
    pub fn linear(shown: Option<Shown>, direction: Direction) -> Self {
        let axis = shown.map_or_else(|| PlotAxis::linear(0.0, 1.0), |shown| PlotAxis::linear(shown.low, shown.high));
        let (axis, worse) = match direction {
            Direction::Maximize => (axis.padded(0.14, 0.08), Edge::Bottom),
            Direction::Minimize => (axis.padded(0.08, 0.14), Edge::Top),
        };
        let (limits, beyond) = shown.map_or(((f64::MIN, f64::MAX), 0), |shown| ((shown.low, shown.high), shown.beyond));
        Self { axis, worse, beyond, best: None, limits }
    }

    /// The same values on another axis.
    pub fn on(self, axis: PlotAxis) -> Self {
        Self { axis, ..self }
    }

    /// The logarithmic axis of the distances, where they span magnitudes.
    fn of_distances(values: &[f64], best: f64, has_also_converged: impl Fn(f64, f64) -> bool) -> Option<Self> {
        let mut distances: Vec<f64> = values.iter().map(|value| distance(*value, best)).collect();
        distances.sort_by(f64::total_cmp);
        let largest = *distances.last()?;
        distances.retain(|distance| *distance > ROUNDING * largest.max(best.abs()));
        let linear = Shown::of(values)?;
        let has_outliers = linear.beyond as f64 > OUTLIERS * values.len() as f64;
        let length = distance(linear.high, linear.low);
        let has_converged =
            (has_converged(&distances, length) || has_also_converged(best, length)) && !are_of_one_order(linear);
        let spans_magnitudes = has_converged || (has_outliers && are_spread(&distances));
        if !spans_magnitudes {
            return None;
        }
        let shown = Shown::of(&distances.iter().map(|distance| distance.log10()).collect::<Vec<_>>())?;
        let (low, high) = (10f64.powf(shown.low), 10f64.powf(shown.high));
        let beyond = distances.iter().filter(|distance| **distance > 1.000_001 * high).count();
        let axis = PlotAxis::logarithmic(low, high).padded(0.16, 0.14);
        Some(Self { axis, worse: Edge::Top, beyond, best: Some(best), limits: (low, high) })
    }

    /// The lowest and the highest number that has a place of its own.
    pub fn limits(&self) -> (f64, f64) {
        self.limits
    }

    /// How far a value is from the best one, and not closer than the axis shows; the value itself on a linear axis.
    pub fn distance(&self, value: f64) -> f64 {
        self.best.map_or(value, |best| distance(value, best).max(self.limits.0))
    }

    /// The place of a value. The best value itself, whose distance has no logarithm, is at the bottom.
    pub fn place(&self, value: f64) -> f64 {
        match self.best {
            None => self.axis.place(value),
            Some(best) => self.place_of_distance(distance(value, best)),
        }
    }

    fn place_of_distance(&self, distance: f64) -> f64 {
        if distance < 0.999_999 * self.limits.0 { self.edge(Edge::Bottom) } else { self.axis.place(distance) }
    }

    /// The edge that a value is beyond.
    pub fn side(&self, value: f64) -> Option<Edge> {
        match self.best {
            Some(best) => (distance(value, best) > 1.000_001 * self.limits.1).then_some(Edge::Top),
            None if value > self.limits.1 => Some(Edge::Top),
            None if value < self.limits.0 => Some(Edge::Bottom),
            None => None,
        }
    }

    /// The place of marks at an edge.
    pub fn edge(&self, edge: Edge) -> f64 {
        self.axis.shown(if edge == Edge::Top { 1.0 - EDGE } else { EDGE })
    }
}

/// Whether a quarter of the sorted distances would be at the best end of a linear axis.
fn has_converged(distances: &[f64], length: f64) -> bool {
    let quartile = distances.get(distances.len() / 4);
    distances.len() >= FEWEST_CONVERGED && quartile.is_some_and(|quartile| length > MAGNITUDES * quartile)
}

/// Whether the values that a linear axis shows have one sign and one order of magnitude.
fn are_of_one_order(Shown { low, high, .. }: Shown) -> bool {
    let (smaller, larger) = (low.abs().min(high.abs()), low.abs().max(high.abs()));
    (low > 0.0 || high < 0.0) && larger < ONE_ORDER * smaller
}

/// Whether the sorted distances differ in magnitude, without one gap that would be most of a logarithmic axis.
fn are_spread(distances: &[f64]) -> bool {
    let (Some(smallest), Some(largest)) = (distances.first(), distances.last()) else { return false };
    let decades = |from: f64, to: f64| to.log10() - from.log10();
    let gap = distances.windows(2).map(|pair| decades(pair[0], pair[1])).fold(0.0, f64::max);
    let span = decades(*smallest, *largest);
    distances.len() >= FEWEST_SPREAD && span > MAGNITUDES.log10() && gap <= WIDEST_GAP * span
}

fn distance(value: f64, best: f64) -> f64 {
    // Halves, because the distance of 1e308 and -1e308 overflows.
    2.0 * (value / 2.0 - best / 2.0).abs().min(f64::MAX / 4.0)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn values_of_six_magnitudes_have_a_logarithmic_axis_and_those_of_one_do_not() {
        let magnitudes: Vec<f64> = (0..30).map(|i| 10f64.powf(f64::from(i) * 0.2 - 3.0)).collect();
        let axis = ValueAxis::of(&magnitudes, Direction::Minimize);
        assert_eq!(axis.best, Some(1e-3));
        let even: Vec<f64> = (0..30).map(f64::from).collect();
        assert_eq!(ValueAxis::of(&even, Direction::Minimize).best, None);
        // The same distances when maximizing, and with an offset.
        let negated: Vec<f64> = magnitudes.iter().map(|value| 7.0 - value).collect();
        assert_eq!(ValueAxis::of(&negated, Direction::Maximize).best, Some(7.0 - 1e-3));
    }

    #[test]
    fn one_value_far_away_does_not_make_the_axis_logarithmic() {
        let mut values: Vec<f64> = (0..30).map(f64::from).collect();
        values.push(1e12);
        let axis = ValueAxis::of(&values, Direction::Minimize);
        assert_eq!((axis.best, axis.beyond, axis.side(1e12)), (None, 1, Some(Edge::Top)));
    }

    #[test]
    fn few_values_of_several_magnitudes_have_a_logarithmic_axis_with_all_of_them() {
        for values in [vec![0.031, 3.0, 4.0, 35.5, 35.5, 35.5, 1234.5], vec![1e9, 1.0, 1e3, 1e6]] {
            let best = values.iter().copied().fold(f64::MAX, f64::min);
            let axis = ValueAxis::of(&values, Direction::Minimize);
            assert_eq!((axis.best, axis.beyond), (Some(best), 0), "{values:?}");
            assert!(values.iter().all(|value| axis.side(*value).is_none()), "{values:?}");
            let negated: Vec<f64> = values.iter().map(|value| -value).collect();
            assert_eq!(ValueAxis::of(&negated, Direction::Maximize).best, Some(-best));
        }
    }

    #[test]
    fn few_values_of_one_magnitude_and_equal_ones_have_a_linear_axis() {
        let ordinary = [vec![], vec![4.0], vec![4.0; 30], vec![1.0, 5.0, 9.0], vec![0.0, 0.5, 30.0, 80.0]];
        for values in ordinary.into_iter().chain([vec![-1.0, -1e3, -1e6, -1e9, 1e9]]) {
            assert_eq!(ValueAxis::of(&values, Direction::Maximize).best, None, "{values:?}");
        }
    }

    #[test]
    fn a_converged_search_among_values_of_one_order_has_a_linear_axis() {
        let distances = || (0..30).map(|i| 10f64.powf(2.0 - 0.2 * f64::from(i)));
        let axis =
            |value: fn(f64) -> f64| ValueAxis::of(&distances().map(value).collect::<Vec<_>>(), Direction::Maximize);
        assert_eq!(axis(|distance| -50.0 - distance).best, None);
        assert_eq!(axis(|distance| 160.0 - distance).best, None);
        assert!(axis(|distance| -0.01 - distance).best.is_some() && axis(|distance| 0.135 - distance).best.is_some());
    }

    #[test]
    fn progress_is_seen_however_many_trials_go_on_elsewhere() {
        let converging = (0..20).map(|i| 10f64.powf(-0.5 * f64::from(i)));
        let elsewhere = (0..200).map(|i| 1.0 + f64::from(i) / 200.0);
        let values: Vec<f64> = converging.chain(elsewhere).collect();
        assert!(ValueAxis::of_history(&values, Direction::Minimize).best.is_some());
        assert_eq!(ValueAxis::of(&values, Direction::Minimize).best, None, "of many cells few are near the best");
        let even: Vec<f64> = (0..2000).map(|i| f64::from(i * 7919 % 2000)).collect();
        assert_eq!(ValueAxis::of_history(&even, Direction::Minimize).best, None);
    }

    #[test]
    fn the_best_value_is_at_the_bottom_and_better_is_lower() {
        let values: Vec<f64> = (0..12).map(|i| if i == 0 { 0.0 } else { -10f64.powi(i - 6) }).collect();
        let axis = ValueAxis::of(&values, Direction::Maximize);
        let places: Vec<f64> = values.iter().map(|value| axis.place(*value)).collect();
        assert_eq!(places[0], axis.edge(Edge::Bottom));
        assert!(places.windows(2).all(|pair| pair[0] < pair[1]), "{places:?}");
    }

    #[test]
    fn distances_that_overflow_have_a_place() {
        let values: Vec<f64> = (0..40).map(|i| if i % 2 == 0 { -1.7e308 } else { 10f64.powi(i) }).collect();
        let axis = ValueAxis::of(&values, Direction::Maximize);
        assert!(values.iter().all(|value| axis.place(*value).is_finite()));
    }
}
