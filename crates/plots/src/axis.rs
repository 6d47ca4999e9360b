//! One axis of a picture: where a number is on it, and its ticks.
//!
//! Panels are drawn in *places*: multiples of a power of ten, counted from near the low end, or logarithms. So spans below
//! 2e-16 and numbers near 1e300 are drawn like any others.

use manyhands_core::text::significant;

/// No axis is shorter: near the smallest floats there is nothing to divide.
const SMALLEST: f64 = 1e-305;

/// A logarithmic axis whose ends have a smaller ratio than this has the ticks of a linear one.
const NEARLY_LINEAR: f64 = 4.0;

/// Longer labels are hard to compare.
const LONGEST: usize = 9;

/// Ticks are alike where they span at most this share of their numbers.
const ALIKE: f64 = 1e-4;

/// An axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlotAxis {
    measure: Measure,
    /// The places of the numbers it is made for.
    ends: (f64, f64),
    /// The places that it shows.
    range: (f64, f64),
}

/// How a number becomes a place.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Measure {
    /// The number in units of 10^exponent, minus the origin.
    Linear { exponent: i32, origin: f64, is_integer: bool },
    /// The logarithm to base 10.
    Log,
}

/// A tick: where it is, and what it says.
#[derive(Debug, Clone, PartialEq)]
pub struct AxisTick {
    /// Its place.
    pub place: f64,
    /// Its label.
    pub label: String,
}

impl PlotAxis {
    /// From the lowest number to the highest, evenly.
    pub fn linear(low: f64, high: f64) -> Self {
        Self::even(low, high, false)
    }

    /// As [`PlotAxis::linear`], with ticks at integers only.
    pub fn integer(low: f64, high: f64) -> Self {
        Self::even(low, high, true)
    }

    fn even(low: f64, high: f64, is_integer: bool) -> Self {
        let (low, high) = apart(low, high);
        let half = high / 2.0 - low / 2.0;
        let exponent = (half / 5.0).log10().floor() as i32;
        let exponent = if is_integer { exponent.max(0) } else { exponent };
        // A multiple of every step that ticks may have.
        let origin = (low / 10f64.powi(exponent) / 100.0).floor() * 100.0;
        let measure = Measure::Linear { exponent, origin, is_integer };
        let ends = (measure.place(low), measure.place(high));
        Self { measure, ends, range: ends }
    }

    /// From the lowest number to the highest, both positive, evenly in the logarithm.
    pub fn logarithmic(low: f64, high: f64) -> Self {
        let (low, high) = if low < high { (low, high) } else { (low / 2.0, high * 2.0) };
        let ends = (Measure::Log.place(low), Measure::Log.place(high));
        Self { measure: Measure::Log, ends, range: ends }
    }

    /// With room beyond the ends, as fractions of the length between them.
    pub fn padded(self, below: f64, above: f64) -> Self {
        let span = self.ends.1 - self.ends.0;
        Self { range: (self.ends.0 - below * span, self.ends.1 + above * span), ..self }
    }

    /// Where a number is; those far beyond the axis are closer than they should be, and outside in any case.
    pub fn place(&self, number: f64) -> f64 {
        let beyond = 50.0 * (self.range.1 - self.range.0);
        self.measure.place(number).clamp(self.range.0 - beyond, self.range.1 + beyond)
    }

    /// Which part of the way from the low end of what is shown to its high end a place is.
    pub fn part(&self, place: f64) -> f64 {
        (place - self.range.0) / (self.range.1 - self.range.0)
    }

    /// The place at a fraction of the way from the low end to the high end.
    pub fn between(&self, part: f64) -> f64 {
        self.ends.0 + part * (self.ends.1 - self.ends.0)
    }

    /// The place at a fraction of the range that is shown.
    pub fn shown(&self, part: f64) -> f64 {
        self.range.0 + part * (self.range.1 - self.range.0)
    }

    /// At most `most` ticks at round numbers, no two with the same label.
    pub fn ticks(&self, most: usize) -> Vec<AxisTick> {
        match self.measure {
            Measure::Linear { .. } => self.even_ticks(most),
            Measure::Log => self.logarithmic_ticks(most),
        }
    }

    fn even_ticks(&self, most: usize) -> Vec<AxisTick> {
        let Measure::Linear { exponent, is_integer, .. } = self.measure else { return vec![] };
        let span = self.range.1 - self.range.0;
        // Steps of 1, 2 or 5 times a power of ten, in places; those of an integer axis are integers.
        let first = (span / most.max(1) as f64 / 10.0).log10().floor() as i32;
        let first = if is_integer { first.max(-exponent) } else { first };
        let steps = (first..).flat_map(|power| [1.0, 2.0, 5.0].map(|digit| (digit, power)));
        for (digit, power) in steps.take(30) {
            let step = digit * 10f64.powi(power);
            let ticks = (((self.range.0 - 1e-9 * span) / step).ceil() as i64)
                ..=(((self.range.1 + 1e-9 * span) / step).floor() as i64);
            if ticks.clone().count() <= most {
                return self.labelled(ticks.map(|tick| tick as f64 * step), power);
            }
        }
        vec![]
    }

    /// Ticks at these places of a linear axis, in steps of 10^power places. Of long numbers that differ only in their last
    /// digits the first is written, and how much each other one is above it.
    fn labelled(&self, places: impl Iterator<Item = f64>, power: i32) -> Vec<AxisTick> {
        let Measure::Linear { exponent, origin, .. } = self.measure else { return vec![] };
        let digits = (exponent, power);
        // Rounding up near the largest float gives no float.
        let is_float = |place: &f64| !written(origin + place, digits, true).contains("inf");
        let places: Vec<f64> = places.filter(is_float).collect();
        let mut labels = labels(places.iter().map(|place| origin + place), digits);
        if let [first, .., last] = places[..] {
            let is_long = longest(&labels) > LONGEST;
            if is_long && last - first <= ALIKE * (origin + first).abs() {
                let above = self::labels(places[1..].iter().map(|place| place - first), digits);
                labels = self::labels([origin + first].into_iter(), digits);
                labels.extend(above.iter().map(|label| format!("+{label}")));
            }
        }
        places.into_iter().zip(labels).map(|(place, label)| AxisTick { place, label }).collect()
    }

    /// Ones, twos and fives of every decade, or every decade, or every second and so on: the most that are allowed.
    fn logarithmic_ticks(&self, most: usize) -> Vec<AxisTick> {
        let (low, high) = (10f64.powf(self.range.0), 10f64.powf(self.range.1));
        if high / low < NEARLY_LINEAR {
            let even = Self::linear(low, high);
            let tick = |tick: AxisTick| {
                let number = Measure::number(even.measure, tick.place);
                AxisTick { place: Measure::Log.place(number), ..tick }
            };
            return even.ticks(most).into_iter().map(tick).collect();
        }
        let decades = (self.range.0.floor() as i64)..=(self.range.1.ceil() as i64);
        let inside = |tick: &AxisTick| (self.range.0 - 1e-9..=self.range.1 + 1e-9).contains(&tick.place);
        let tick = |digit: f64, decade: i64| {
            let number = digit * 10f64.powi(decade as i32);
            AxisTick { place: Measure::Log.place(digit) + decade as f64, label: tidy(&significant(number, 3)) }
        };
        let digits: Vec<AxisTick> = decades
            .clone()
            .flat_map(|decade| [1.0, 2.0, 5.0].map(|digit| tick(digit, decade)))
            .filter(inside)
            .collect();
        if digits.len() <= most {
            return digits;
        }
        let stride = |stride: i64| -> Vec<AxisTick> {
            decades.clone().filter(|d| d.rem_euclid(stride) == 0).map(|d| tick(1.0, d)).filter(inside).collect()
        };
        (1..700).map(stride).find(|ticks| ticks.len() <= most).unwrap_or_default()
    }
}

impl Measure {
    fn place(self, number: f64) -> f64 {
        match self {
            Self::Linear { exponent, origin, .. } => number / 10f64.powi(exponent) - origin,
            Self::Log => number.log10(),
        }
    }

    fn number(self, place: f64) -> f64 {
        match self {
            Self::Linear { exponent, origin, .. } => (place + origin) * 10f64.powi(exponent),
            Self::Log => 10f64.powf(place),
        }
    }
}

/// Numbers of units of 10^exponent in steps of 10^power of them, all with an exponent or all without one: very large and very
/// small ones in the way that is shorter.
fn labels(units: impl Iterator<Item = f64>, digits: (i32, i32)) -> Vec<String> {
    let (exponent, units) = (digits.0, units.collect::<Vec<_>>());
    let [plain, scientific] = [false, true]
        .map(|scientific| units.iter().map(|units| written(*units, digits, scientific)).collect::<Vec<_>>());
    let is_extreme = exponent < -5 || units.iter().any(|units| units.abs() * 10f64.powi(exponent) >= 1e6);
    if is_extreme && longest(&scientific) < longest(&plain) { scientific } else { plain }
}

fn longest(labels: &[String]) -> usize {
    labels.iter().map(String::len).max().unwrap_or_default()
}

/// A number of units of 10^exponent, in steps of 10^power of them.
fn written(units: f64, (exponent, power): (i32, i32), scientific: bool) -> String {
    let step = 10f64.powi(power);
    let units = (units / step).round() * step;
    let number = units * 10f64.powi(exponent);
    if units == 0.0 {
        "0".to_string()
    } else if scientific {
        let digits = (units.abs().log10().floor() as i32 - power).clamp(0, 17) as usize;
        tidy(&format!("{number:.digits$e}"))
    } else {
        tidy(&format!("{number:.*}", (-exponent - power).max(0) as usize))
    }
}

/// Two distinct ends: a single number gets room around it.
fn apart(low: f64, high: f64) -> (f64, f64) {
    let tiny = (1e-12 * low.abs().max(high.abs())).max(SMALLEST);
    if high / 2.0 - low / 2.0 > tiny {
        return (low, high);
    }
    let room = if low == 0.0 { 1.0 } else { (low.abs() / 2.0).max(SMALLEST) };
    ((low - room).max(f64::MIN), (high + room).min(f64::MAX))
}

/// A number without trailing zeros.
pub fn tidy(number: &str) -> String {
    let (mantissa, exponent) = number.find('e').map_or((number, ""), |at| number.split_at(at));
    let mantissa = if mantissa.contains('.') { mantissa.trim_end_matches('0').trim_end_matches('.') } else { mantissa };
    format!("{mantissa}{exponent}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &PlotAxis) -> Vec<String> {
        axis.ticks(6).into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn ticks_are_round_numbers_at_every_magnitude() {
        assert_eq!(labels(&PlotAxis::linear(-5.0, 10.0)), ["-5", "0", "5", "10"]);
        assert_eq!(labels(&PlotAxis::linear(0.0, 1.0)), ["0", "0.2", "0.4", "0.6", "0.8", "1"]);
        assert_eq!(labels(&PlotAxis::linear(1e300, 3e300)), ["1e300", "1.5e300", "2e300", "2.5e300", "3e300"]);
        assert_eq!(labels(&PlotAxis::linear(0.0, 4e-20)), ["0", "1e-20", "2e-20", "3e-20", "4e-20"]);
        assert_eq!(labels(&PlotAxis::linear(-1e308, 1e308)), ["-1e308", "-5e307", "0", "5e307", "1e308"]);
        assert_eq!(
            labels(&PlotAxis::linear(1e5, 1e5 + 0.4)),
            ["100000", "100000.1", "100000.2", "100000.3", "100000.4"]
        );
    }

    #[test]
    fn numbers_of_few_digits_are_written_in_full() {
        assert_eq!(
            labels(&PlotAxis::linear(1e6, 1e6 + 0.8)),
            ["1000000", "1000000.2", "1000000.4", "1000000.6", "1000000.8"]
        );
        assert_eq!(labels(&PlotAxis::linear(1.0001, 1.00016)), ["1.0001", "1.00012", "1.00014", "1.00016"]);
    }

    #[test]
    fn what_long_numbers_share_is_written_once() {
        assert_eq!(labels(&PlotAxis::linear(1e9, 1e9 + 80.0)), ["1e9", "+20", "+40", "+60", "+80"]);
        let close = PlotAxis::linear(1e6 + 0.0009, 1e6 + 0.0051);
        assert_eq!(labels(&close), ["1000000.001", "+0.001", "+0.002", "+0.003", "+0.004"]);
        let negative = PlotAxis::linear(-123_456.004_1, -123_455.999_9);
        assert_eq!(labels(&negative), ["-123456.004", "+0.001", "+0.002", "+0.003", "+0.004"]);
    }

    /// Pairs of numbers of every size, in order.
    fn pairs() -> Vec<(f64, f64)> {
        let sizes =
            [0.0, 5e-324, 1e-310, 2.3e-308, 1e-300, 1e-290, 1e-9, 1.0, 1.0 + f64::EPSILON, 1e17, 1e308, f64::MAX];
        let numbers: Vec<f64> = sizes.iter().flat_map(|&size| [-size, size]).collect();
        let all = numbers.iter().flat_map(|a| numbers.iter().map(move |b| (*a, *b)));
        all.filter(|(a, b)| a <= b).collect()
    }

    #[test]
    fn every_pair_of_numbers_has_an_axis_with_few_distinct_ticks() {
        for (low, high) in pairs() {
            let axis = PlotAxis::linear(low, high).padded(0.1, 0.05);
            let [first, last] = [axis.place(low), axis.place(high)];
            assert!(first.is_finite() && last.is_finite() && first <= last, "{low} to {high}: {axis:?}");
            for most in 2..8 {
                let labels: Vec<String> = axis.ticks(most).into_iter().map(|tick| tick.label).collect();
                assert!(labels.len() <= most, "{low} to {high}: {labels:?}");
                let mut distinct = labels.clone();
                distinct.dedup();
                assert_eq!(distinct, labels, "{low} to {high}");
                assert!(labels.iter().all(|label| !label.contains("NaN") && !label.contains("inf")), "{labels:?}");
            }
            assert!(axis.ticks(6).len() >= 2, "{low} to {high}: {:?}", axis.ticks(6));
        }
    }

    #[test]
    fn integers_have_no_ticks_between_them() {
        assert_eq!(labels(&PlotAxis::integer(0.0, 2.0)), ["0", "1", "2"]);
        assert_eq!(labels(&PlotAxis::integer(0.0, 39.0)), ["0", "10", "20", "30"]);
    }

    #[test]
    fn a_number_alone_has_room_around_it() {
        assert_eq!(labels(&PlotAxis::linear(4.0, 4.0)), ["2", "3", "4", "5", "6"]);
        assert_eq!(labels(&PlotAxis::linear(0.0, 0.0)), ["-1", "-0.5", "0", "0.5", "1"]);
        assert!(labels(&PlotAxis::linear(f64::MAX, f64::MAX)).len() > 2);
    }

    #[test]
    fn logarithmic_ticks_are_round_numbers() {
        assert_eq!(labels(&PlotAxis::logarithmic(1e-5, 1e-1)), ["1e-5", "0.0001", "0.001", "0.01", "0.1"]);
        assert_eq!(labels(&PlotAxis::logarithmic(1.0, 20.0)), ["1", "2", "5", "10", "20"]);
        assert_eq!(labels(&PlotAxis::logarithmic(16.0, 1024.0)), ["20", "50", "100", "200", "500", "1000"]);
        assert_eq!(labels(&PlotAxis::logarithmic(1.0, 1.5)), ["1", "1.1", "1.2", "1.3", "1.4", "1.5"]);
        assert_eq!(labels(&PlotAxis::logarithmic(3.0, 8.0)), ["3", "4", "5", "6", "7", "8"]);
        assert!((4..=6).contains(&labels(&PlotAxis::logarithmic(1e-150, 1e150)).len()));
    }

    #[test]
    fn numbers_beyond_the_axis_are_outside_of_it() {
        let axis = PlotAxis::linear(0.0, 10.0).padded(0.1, 0.0);
        assert!(axis.part(axis.place(-1e300)) < 0.0 && axis.part(axis.place(1e300)) > 1.0);
        assert!(axis.place(f64::INFINITY).is_finite() && axis.place(f64::NEG_INFINITY).is_finite());
        assert_eq!(axis.part(axis.place(-1.0)), 0.0);
    }
}
