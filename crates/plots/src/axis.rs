//! One axis of a picture: where a number is on it, and the labels of its ticks.
//!
//! The drawing library is given *places*, not numbers: it treats spans below 2e-16 as empty, loses numbers near 1e300, and
//! has no heat maps on logarithmic axes. A place is a multiple of a power of ten, counted from near the low end, or a logarithm.

use std::sync::Arc;

use kuva::render::layout::{Layout, TickFormat};
use manyhands_core::text::significant;

/// A logarithmic axis that spans fewer decades than this has ticks at powers of two.
const FEW_DECADES: f64 = 1.5;

/// No axis is shorter: near the smallest floats there is nothing to divide.
const SMALLEST: f64 = 1e-305;

/// About this many ticks.
const TICKS: f64 = 5.0;

/// An axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlotAxis {
    measure: Measure,
    /// The places of the numbers it is made for.
    ends: (f64, f64),
    /// The places that it shows.
    range: (f64, f64),
    /// From tick to tick.
    step: f64,
}

/// How a number becomes a place.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Measure {
    /// The number in units of 10^exponent, minus the origin.
    Linear { exponent: i32, origin: f64, scientific: bool },
    /// The logarithm.
    Log { base: f64 },
}

impl PlotAxis {
    /// From the lowest number to the highest, evenly.
    pub fn linear(low: f64, high: f64) -> Self {
        Self::even(low, high, i32::MIN)
    }

    /// As [`PlotAxis::linear`], with ticks at integers only.
    pub fn integer(low: f64, high: f64) -> Self {
        Self::even(low, high, 0)
    }

    fn even(low: f64, high: f64, least_exponent: i32) -> Self {
        let (low, high) = apart(low, high);
        let raw = (high / 2.0 - low / 2.0) / (TICKS / 2.0);
        let exponent = (raw.log10().floor() as i32).max(least_exponent);
        let unit = 10f64.powi(exponent);
        let step = match raw / unit {
            steps if steps <= 1.5 => 1.0,
            steps if steps < 3.0 => 2.0,
            steps if steps <= 7.0 => 5.0,
            _ => 10.0,
        };
        // A multiple of every step, also of those that a colour scale chooses.
        let origin = (low / unit / 10.0).floor() * 10.0;
        let scientific = exponent < -5 || low.abs().max(high.abs()) >= 1e6;
        let measure = Measure::Linear { exponent, origin, scientific };
        let ends = (measure.place(low), measure.place(high));
        Self { measure, ends, range: ends, step }
    }

    /// From the lowest number to the highest, both positive, evenly in the logarithm.
    pub fn logarithmic(low: f64, high: f64) -> Self {
        let base = if (high / low).log10() < FEW_DECADES { 2.0 } else { 10.0 };
        let measure = Measure::Log { base };
        let ends = (measure.place(low), measure.place(high));
        let span = ends.1 - ends.0;
        // Powers of two below one where the axis spans less than two octaves.
        let step = if span < 2.0 { (span / TICKS).log2().ceil().exp2() } else { (span / (TICKS + 1.0)).ceil() };
        Self { measure, ends, range: ends, step }
    }

    /// With room beyond the ends, as fractions of the length between them.
    pub fn padded(self, below: f64, above: f64) -> Self {
        let span = self.ends.1 - self.ends.0;
        Self { range: (self.ends.0 - below * span, self.ends.1 + above * span), ..self }
    }

    /// Where a number is; numbers beyond the axis are at its end.
    pub fn place(&self, number: f64) -> f64 {
        self.measure.place(number).clamp(self.range.0, self.range.1)
    }

    /// The place at a fraction of the way from the low end to the high end.
    pub fn between(&self, part: f64) -> f64 {
        self.ends.0 + part * (self.ends.1 - self.ends.0)
    }

    /// The place at a fraction of the range that is shown.
    pub fn shown(&self, part: f64) -> f64 {
        self.range.0 + part * (self.range.1 - self.range.0)
    }

    /// The label of a tick at a place.
    pub fn label(&self, place: f64) -> String {
        match self.measure {
            Measure::Log { base } => tidy(&significant(base.powf(place), 3)),
            Measure::Linear { exponent, origin, scientific } => {
                // Ticks of a colour scale may be at fractions of a unit.
                let units = ((origin + place) * 100.0).round() / 100.0;
                let number = units * 10f64.powi(exponent);
                if units == 0.0 {
                    "0".to_string()
                } else if scientific {
                    let digits = units.abs().log10().floor().max(0.0) as usize + 1;
                    tidy(&format!("{number:.digits$e}"))
                } else {
                    tidy(&format!("{number:.*}", (1 - exponent).max(0) as usize))
                }
            }
        }
    }

    /// The labels, as the drawing library wants them.
    pub fn ticks(&self) -> TickFormat {
        let axis = *self;
        TickFormat::Custom(Arc::new(move |place| axis.label(place)))
    }
}

/// A layout with these axes.
pub fn framed(layout: Layout, x: &PlotAxis, y: &PlotAxis) -> Layout {
    let mut layout = layout
        .with_title_size(14)
        .with_label_size(13)
        .with_tick_size(11)
        .with_x_axis_min(x.range.0)
        .with_x_axis_max(x.range.1)
        .with_x_tick_step(x.step)
        .with_x_tick_format(x.ticks())
        .with_y_axis_min(y.range.0)
        .with_y_axis_max(y.range.1)
        .with_y_tick_step(y.step)
        .with_y_tick_format(y.ticks());
    // Margins are measured from these.
    (layout.x_range, layout.y_range) = (x.range, y.range);
    layout
}

impl Measure {
    fn place(self, number: f64) -> f64 {
        match self {
            Self::Linear { exponent, origin, .. } => number / 10f64.powi(exponent) - origin,
            Self::Log { base } => number.log2() / base.log2(),
        }
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
fn tidy(number: &str) -> String {
    let (mantissa, exponent) = number.find('e').map_or((number, ""), |at| number.split_at(at));
    let mantissa = if mantissa.contains('.') { mantissa.trim_end_matches('0').trim_end_matches('.') } else { mantissa };
    format!("{mantissa}{exponent}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The labels at the ticks, those at the ends among them in spite of rounding.
    fn labels(axis: &PlotAxis) -> Vec<String> {
        let [first, last] = [axis.range.0 / axis.step, axis.range.1 / axis.step];
        let ticks = (first - 1e-9).ceil() as i64..=(last + 1e-9).floor() as i64;
        ticks.map(|tick| axis.label(tick as f64 * axis.step)).collect()
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
    fn every_pair_of_numbers_has_an_axis() {
        let sizes =
            [0.0, 5e-324, 1e-310, 2.3e-308, 1e-300, 1e-290, 1e-9, 1.0, 1.0 + f64::EPSILON, 1e17, 1e308, f64::MAX];
        let numbers: Vec<f64> = sizes.iter().flat_map(|&size| [-size, size]).collect();
        for (&low, &high) in numbers.iter().flat_map(|a| numbers.iter().map(move |b| (a, b))).filter(|(a, b)| a <= b) {
            let axis = PlotAxis::linear(low, high).padded(0.1, 0.05);
            let [first, last] = [axis.place(low), axis.place(high)];
            assert!(first.is_finite() && last.is_finite() && first <= last, "{low} to {high}: {axis:?}");
            assert!(axis.step > 0.0 && (last - first) / axis.step < 20.0, "{low} to {high}: {axis:?}");
            assert!(!axis.label(first).contains("NaN"), "{low} to {high}");
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
    fn logarithmic_ticks_are_powers_of_ten_or_of_two() {
        assert_eq!(labels(&PlotAxis::logarithmic(1e-5, 1e-1)), ["1e-5", "0.0001", "0.001", "0.01", "0.1"]);
        assert_eq!(labels(&PlotAxis::logarithmic(1.0, 20.0)), ["1", "2", "4", "8", "16"]);
        assert_eq!(labels(&PlotAxis::logarithmic(1e-150, 1e150)).len(), 7);
        assert!(labels(&PlotAxis::logarithmic(1.0, 1.5)).len() > 2);
    }

    #[test]
    fn places_beyond_the_axis_are_at_its_end() {
        let axis = PlotAxis::linear(0.0, 10.0).padded(0.1, 0.0);
        assert_eq!([axis.place(-1e300), axis.place(1e300)], [axis.shown(0.0), axis.shown(1.0)]);
        assert_eq!(axis.place(-1.0), axis.shown(0.0));
    }
}
