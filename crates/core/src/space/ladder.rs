//! Discrete numbers in order: integers, evenly spaced points or levels, each with its coordinate in the unit interval.

use super::interval::Interval;

/// At least two numbers in increasing order.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Ladder {
    /// Every integer from `low` to `high`, evenly spaced.
    Integers { low: i64, high: i64 },
    /// Every integer of the interval, spaced by its logarithm.
    LogIntegers { low: i64, high: i64, interval: Interval },
    /// `points` numbers, evenly spaced on the interval's scale.
    Even { points: usize, interval: Interval },
    /// These numbers, spaced by their size; users write them as integers where `are_integers`.
    Levels { values: Vec<f64>, coordinates: Vec<f64>, are_integers: bool },
}

impl Ladder {
    /// These integers, at least two in increasing order, each of which is a float too.
    pub fn int_levels(values: &[i64]) -> Self {
        Self::spaced_by_size(values.iter().map(|value| *value as f64).collect(), true)
    }

    /// These numbers, at least two in increasing order.
    pub fn levels(values: Vec<f64>) -> Self {
        Self::spaced_by_size(values, false)
    }

    fn spaced_by_size(values: Vec<f64>, are_integers: bool) -> Self {
        let (low, high) = (values[0], values[values.len() - 1]);
        let coordinates = values.iter().map(|value| (value - low) / (high - low)).collect();
        Self::Levels { values, coordinates, are_integers }
    }

    /// How many rungs.
    pub fn len(&self) -> usize {
        match self {
            Self::Integers { low, high } | Self::LogIntegers { low, high, .. } => (high - low) as usize + 1,
            Self::Even { points, .. } => *points,
            Self::Levels { values, .. } => values.len(),
        }
    }

    /// The number on a rung.
    pub fn value(&self, rung: usize) -> f64 {
        match self {
            Self::Integers { low, .. } | Self::LogIntegers { low, .. } => (low + rung as i64) as f64,
            Self::Even { interval, .. } => interval.value(self.coordinate(rung)),
            Self::Levels { values, .. } => values[rung],
        }
    }

    /// The coordinate of a rung: 0 for the first, 1 for the last.
    pub fn coordinate(&self, rung: usize) -> f64 {
        match self {
            Self::Integers { .. } | Self::Even { .. } => rung as f64 / (self.len() - 1) as f64,
            Self::LogIntegers { interval, .. } => interval.coordinate(self.value(rung)),
            Self::Levels { coordinates, .. } => coordinates[rung],
        }
    }

    /// The rung nearest to a coordinate, the lower of two.
    pub fn nearest(&self, coordinate: f64) -> usize {
        let guess = match self {
            Self::Integers { .. } | Self::Even { .. } => coordinate * (self.len() - 1) as f64,
            Self::LogIntegers { low, interval, .. } => interval.value(coordinate) - *low as f64,
            Self::Levels { coordinates, .. } => coordinates.partition_point(|c| *c < coordinate) as f64,
        };
        self.nearest_around(guess.round(), |rung| (self.coordinate(rung) - coordinate).abs())
    }

    /// The rung whose number is nearest to a value, the lower of two.
    pub fn nearest_value(&self, value: f64) -> usize {
        let guess = match self {
            Self::Integers { low, .. } | Self::LogIntegers { low, .. } => value - *low as f64,
            Self::Even { points, interval } => interval.coordinate(value) * (points - 1) as f64,
            Self::Levels { values, .. } => values.partition_point(|level| *level < value) as f64,
        };
        self.nearest_around(guess.round(), |rung| (self.value(rung) - value).abs())
    }

    /// The rung for a number of [0, 1): each as likely as its share of the scale (all alike but for logarithms).
    pub fn pick(&self, u: f64) -> usize {
        let last = self.len() - 1;
        let rung = match self {
            Self::LogIntegers { low, high, .. } => {
                let (from, to) = ((*low as f64 - 0.5).ln(), (*high as f64 + 0.5).ln());
                (from + u * (to - from)).exp().round() - *low as f64
            }
            _ => (u * self.len() as f64).floor(),
        };
        (rung.max(0.0) as usize).min(last)
    }

    fn nearest_around(&self, guess: f64, distance: impl Fn(usize) -> f64) -> usize {
        let last = self.len() - 1;
        let guess = (guess.max(0.0) as usize).min(last);
        let mut best = guess.saturating_sub(1);
        for rung in best + 1..=(guess + 1).min(last) {
            if distance(rung) < distance(best) {
                best = rung;
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::super::Scale;
    use super::*;

    fn ladders() -> Vec<Ladder> {
        let log = |low: i64, high: i64| {
            let interval = Interval::new(low as f64, high as f64, Scale::Log);
            Ladder::LogIntegers { low, high, interval }
        };
        vec![
            Ladder::Integers { low: -3, high: 9 },
            Ladder::Integers { low: 0, high: 1 << 50 },
            log(1, 1000),
            log(1, 1 << 40),
            Ladder::Even { points: 100, interval: Interval::new(0.1, 0.7, Scale::Linear) },
            Ladder::Even { points: 2, interval: Interval::new(1e-9, 1e9, Scale::Log) },
            Ladder::levels(vec![0.1, 0.3, 1.0, 1e6]),
            Ladder::int_levels(&[-7, 16, 32, 1 << 53]),
        ]
    }

    #[test]
    fn every_rung_is_nearest_to_its_own_coordinate_and_value() {
        for ladder in ladders() {
            let last = ladder.len() - 1;
            for rung in (0..=last.min(2000)).chain(last.saturating_sub(2000)..=last) {
                assert_eq!(ladder.nearest(ladder.coordinate(rung)), rung, "{ladder:?}");
                assert_eq!(ladder.nearest_value(ladder.value(rung)), rung, "{ladder:?}");
            }
        }
    }

    #[test]
    fn the_nearest_rung_is_that_of_a_search_over_all() {
        for ladder in ladders().into_iter().filter(|ladder| ladder.len() <= 1000) {
            for step in 0..=1000 {
                let c = step as f64 / 1000.0;
                let distance = |rung: usize| (ladder.coordinate(rung) - c).abs();
                let brute = (0..ladder.len()).map(distance).fold(f64::INFINITY, f64::min);
                assert_eq!(distance(ladder.nearest(c)), brute, "{ladder:?} at {c}");
            }
        }
    }

    #[test]
    fn evenly_spread_numbers_pick_every_rung_alike() {
        for ladder in ladders().into_iter().filter(|ladder| ladder.len() <= 100) {
            let mut counts = vec![0; ladder.len()];
            (0..ladder.len() * 10)
                .for_each(|i| counts[ladder.pick((i as f64 + 0.5) / (ladder.len() * 10) as f64)] += 1);
            assert!(counts.iter().all(|&count| count == 10), "{ladder:?}: {counts:?}");
        }
    }
}
