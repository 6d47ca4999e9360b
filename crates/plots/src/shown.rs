//! The range of values that a picture shows, so that a few outliers do not flatten the rest.

use manyhands_core::Direction;

/// The share of the values, those nearest to the median, that sets the scale.
const CENTRAL: f64 = 0.75;

/// Values are shown as long as they span at most this many times what the central ones do.
const WIDEST: f64 = 20.0;

/// The best value is shown as long as the range spans at most this many times what it spans without it.
const ABSURD: f64 = 1e4;

/// The range of the values that are shown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shown {
    /// The lowest.
    pub low: f64,
    /// The highest.
    pub high: f64,
    /// How many values are outside.
    pub beyond: usize,
}

impl Shown {
    /// None where there are no values.
    pub fn of(values: &[f64]) -> Option<Self> {
        let mut nearest = values.to_vec();
        nearest.sort_by(f64::total_cmp);
        let median = *nearest.get(values.len() / 2)?;
        // Halves, because the distance of 1e308 and -1e308 overflows.
        let apart = |a: f64, b: f64| (a / 2.0 - b / 2.0).abs();
        nearest.sort_by(|a, b| apart(*a, median).total_cmp(&apart(*b, median)));
        let central = ((CENTRAL * values.len() as f64) as usize).max(2);
        let (mut low, mut high, mut scale) = (median, median, 0.0);
        for (index, &value) in nearest.iter().enumerate() {
            let wider = (low.min(value), high.max(value));
            let span = apart(wider.0, wider.1);
            if index < central || scale == 0.0 {
                scale = span;
            } else if span > WIDEST * scale {
                break;
            }
            (low, high) = wider;
        }
        let beyond = values.iter().filter(|value| !(low..=high).contains(*value)).count();
        Some(Self { low, high, beyond })
    }

    /// The same range, and the best of the values, unless that is absurdly far away.
    pub fn with_best(self, values: &[f64], direction: Direction) -> Self {
        let best = values.iter().copied().reduce(|a, b| if direction.is_better(b, a) { b } else { a });
        let Some(best) = best else { return self };
        let (low, high) = (self.low.min(best), self.high.max(best));
        let half = |low: f64, high: f64| high / 2.0 - low / 2.0;
        if half(low, high) > ABSURD * half(self.low, self.high) {
            return self;
        }
        Self { low, high, beyond: values.iter().filter(|value| !(low..=high).contains(*value)).count() }
    }

    /// Both ends.
    pub fn ends(self) -> [f64; 2] {
        [self.low, self.high]
    }

    /// The numbers that lie in the range; those outside are at its ends.
    pub fn within(self, numbers: &[f64]) -> Vec<f64> {
        numbers.iter().map(|number| number.clamp(self.low, self.high)).collect()
    }

    /// From the lowest number to the highest, outliers and all.
    pub fn covering(numbers: &[f64]) -> Option<Self> {
        let low = numbers.iter().copied().reduce(f64::min)?;
        Some(Self { low, high: numbers.iter().copied().fold(low, f64::max), beyond: 0 })
    }

    /// The range widened to contain other values, by at most half its length at each end.
    pub fn widened_by(self, others: &[f64]) -> Self {
        let reach = if self.high > self.low { self.high / 2.0 - self.low / 2.0 } else { f64::MAX };
        let within = |value: &f64| value.clamp((self.low - reach).max(f64::MIN), (self.high + reach).min(f64::MAX));
        let others = || others.iter().filter(|value| !value.is_nan()).map(within);
        Self { low: others().fold(self.low, f64::min), high: others().fold(self.high, f64::max), ..self }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn values_of_one_magnitude_are_all_shown() {
        let shown = Shown::of(&[3.0, -1.0, 2.0, 0.5, 9.0, 7.0]).unwrap();
        assert_eq!((shown.low, shown.high, shown.beyond), (-1.0, 9.0, 0));
    }

    #[test]
    fn values_far_away_are_left_out_on_both_sides() {
        let shown = Shown::of(&[1.0, 2.0, 3.0, 2.5, 1.5, 2.2, 1e300, -1e308]).unwrap();
        assert_eq!((shown.low, shown.high, shown.beyond), (1.0, 3.0, 2));
    }

    #[test]
    fn the_best_value_is_shown_however_few_are_near_it() {
        let values = [1.0, 2.0, 3.0, 2.5, 1.5, 2.2, 100.0, -50.0];
        let shown = Shown::of(&values).unwrap();
        assert_eq!(shown.beyond, 2);
        let best = shown.with_best(&values, Direction::Maximize);
        assert_eq!((best.low, best.high, best.beyond), (1.0, 100.0, 1));
        let best = shown.with_best(&values, Direction::Minimize);
        assert_eq!((best.low, best.high, best.beyond), (-50.0, 3.0, 1));
    }

    #[test]
    fn few_values_and_constant_ones_have_a_range() {
        assert_eq!(Shown::of(&[]), None);
        assert_eq!(Shown::of(&[4.0]), Some(Shown { low: 4.0, high: 4.0, beyond: 0 }));
        assert_eq!(Shown::of(&[1e308, -1e308]), Some(Shown { low: -1e308, high: 1e308, beyond: 0 }));
        assert_eq!(Shown::of(&[4.0; 9]), Some(Shown { low: 4.0, high: 4.0, beyond: 0 }));
        // Constant but for one: nothing to flatten.
        assert_eq!(Shown::of(&[4.0, 4.0, 4.0, 4.0, 9e99]).unwrap().high, 9e99);
    }

    #[test]
    fn a_band_widens_the_range_but_does_not_flatten_the_values() {
        let shown = Shown { low: 0.0, high: 2.0, beyond: 0 };
        let wider = shown.widened_by(&[-1.0, 50.0, f64::INFINITY, f64::NAN]);
        assert_eq!((wider.low, wider.high), (-1.0, 3.0));
        let single = Shown { low: 3.0, high: 3.0, beyond: 0 }.widened_by(&[-7.0, 9.0]);
        assert_eq!((single.low, single.high), (-7.0, 9.0));
    }
}
