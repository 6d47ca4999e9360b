//! An interval of real numbers, laid over the unit interval evenly or evenly in the logarithm.

use super::Scale;

/// The numbers from `low` to `high`, low < high, on their scale.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Interval {
    pub low: f64,
    pub high: f64,
    scale: Scale,
    /// low and high on the scale.
    from: f64,
    to: f64,
    quantum: f64,
}

impl Interval {
    pub fn new(low: f64, high: f64, scale: Scale) -> Self {
        let (from, to) = (scale.of(low), scale.of(high));
        // Going to a value and back moves a coordinate by a few roundings of the larger end; multiples of this survive it.
        let size = from.abs().max(to.abs()) + if scale == Scale::Log { 1.0 } else { 0.0 };
        let rounding = 32.0 * f64::EPSILON * (1.0 + size / (to - from));
        let quantum = rounding.log2().ceil().exp2().min(1.0);
        Self { low, high, scale, from, to, quantum }
    }

    /// The step between distinct coordinates.
    pub fn quantum(&self) -> f64 {
        self.quantum
    }

    /// The change of the value for a unit change of the coordinate, at a value.
    pub fn slope(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Linear => self.to - self.from,
            Scale::Log => value * (self.to - self.from),
        }
    }

    pub fn is_log(&self) -> bool {
        self.scale == Scale::Log
    }

    /// The nearest distinct coordinate in [0, 1]: a multiple of the step.
    pub fn snap(&self, coordinate: f64) -> f64 {
        let snapped = (coordinate / self.quantum).round() * self.quantum;
        // Not clamp: it keeps -0 and NaN.
        if snapped > 0.0 { snapped.min(1.0) } else { 0.0 }
    }

    /// The coordinate of a value, unrounded.
    pub fn coordinate(&self, value: f64) -> f64 {
        (self.scale.of(value) - self.from) / (self.to - self.from)
    }

    /// The value at a coordinate: exactly `low` at 0 and `high` at 1, never outside.
    pub fn value(&self, coordinate: f64) -> f64 {
        if coordinate >= 1.0 {
            return self.high;
        }
        if coordinate <= 0.0 {
            return self.low;
        }
        self.scale.inverse(self.from + coordinate * (self.to - self.from)).clamp(self.low, self.high)
    }
}

impl Scale {
    pub(super) fn of(self, value: f64) -> f64 {
        match self {
            Self::Linear => value,
            Self::Log => value.ln(),
        }
    }

    fn inverse(self, scaled: f64) -> f64 {
        match self {
            Self::Linear => scaled,
            Self::Log => scaled.exp(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapped_coordinate_survives_the_way_to_its_value_and_back() {
        let ends = [-1e12, -998_400.316, -1.0, 0.0, 1e-300, 1e-9, 0.1, 1.0 / 3.0, 1.0, 7e5, 1e12];
        let widths = [1e-12, 1e-9, 1e-3, 1.0, 1e3, 1e12, 1e300];
        for (low, width, scale) in ends.iter().flat_map(|&low| {
            widths.iter().flat_map(move |&width| [Scale::Linear, Scale::Log].map(|scale| (low, width, scale)))
        }) {
            if scale == Scale::Log && low <= 0.0 || scale.of(low + width) <= scale.of(low) {
                continue;
            }
            let interval = Interval::new(low, low + width, scale);
            for step in 0..=2000 {
                let snapped = interval.snap(f64::from(step) / 1999.5);
                let back = interval.snap(interval.coordinate(interval.value(snapped)));
                assert_eq!(back.to_bits(), snapped.to_bits(), "{interval:?} at {snapped}");
            }
        }
    }

    #[test]
    fn what_is_no_coordinate_becomes_one() {
        let interval = Interval::new(0.0, 1.0, Scale::Linear);
        assert_eq!(
            [f64::NAN, -0.0, -3.0, 7.0].map(|c| interval.snap(c).to_bits()),
            [0.0, 0.0, 0.0, 1.0].map(f64::to_bits)
        );
    }
}
