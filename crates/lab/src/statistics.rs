//! Means with standard errors, quartiles, and medians of censored values.

/// A mean and its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// The standard error of the mean: unbiased standard deviation/sqrt(n).
    pub se: f64,
}

impl Estimate {
    /// Of some numbers; the standard error of one is 0.
    pub fn of(values: &[f64]) -> Self {
        // Equal numbers would leave rounding noise.
        if let Some(first) = values.first().filter(|first| values.iter().all(|value| value == *first)) {
            return Self { mean: *first, se: 0.0 };
        }
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Self { mean, se: (squares / (n - 1.0) / n).sqrt() }
    }
}

/// The median and the quartiles of some numbers, by linear interpolation; some numbers may be infinite. NaN of nothing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quartiles {
    /// A quarter is below.
    pub lower: f64,
    /// A half is below.
    pub median: f64,
    /// A quarter is above.
    pub upper: f64,
}

impl Quartiles {
    /// Of some numbers.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let mut sorted: Vec<f64> = values.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        let at = |part: f64| {
            let place = part * (sorted.len().max(1) - 1) as f64;
            let (below, above) = (sorted.get(place.floor() as usize), sorted.get(place.ceil() as usize));
            match (below, above) {
                // Between two infinities or at a number itself there is nothing to interpolate.
                (Some(below), Some(above)) if below == above => *below,
                (Some(below), Some(above)) => below + place.fract() * (above - below),
                _ => f64::NAN,
            }
        };
        Self { lower: at(0.25), median: at(0.5), upper: at(0.75) }
    }
}

/// The median; NaN of nothing.
pub(crate) fn median(values: &[f64]) -> f64 {
    Quartiles::of(values.iter().copied()).median
}

/// The estimate at every position of curves of one length.
pub(crate) fn curve(runs: &[Vec<f64>]) -> Vec<Estimate> {
    let length = runs.first().map_or(0, Vec::len);
    (0..length).map(|t| Estimate::of(&runs.iter().map(|run| run[t]).collect::<Vec<_>>())).collect()
}

/// The median of right-censored numbers: those that are not known are larger than all known ones. None where the median is
/// not known.
pub(crate) fn censored_median(values: &[Option<f64>]) -> Option<f64> {
    let mut known: Vec<f64> = values.iter().flatten().copied().collect();
    known.sort_by(f64::total_cmp);
    let (low, high) = ((values.len().max(1) - 1) / 2, values.len() / 2);
    Some(0.5 * (known.get(low)? + known.get(high)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2, 4, 9: mean 5, squares 9 + 1 + 16 = 26, variance 13, standard error sqrt(13/3).
    #[test]
    fn mean_and_standard_error_by_hand() {
        let estimate = Estimate::of(&[2.0, 4.0, 9.0]);
        assert_eq!(estimate.mean, 5.0);
        assert!((estimate.se - (13.0f64 / 3.0).sqrt()).abs() < 1e-15);
        assert_eq!(Estimate::of(&[0.1; 25]), Estimate { mean: 0.1, se: 0.0 });
        let curve = curve(&[vec![1.0, 2.0], vec![3.0, 2.0]]);
        assert_eq!(curve, [Estimate { mean: 2.0, se: 1.0 }, Estimate { mean: 2.0, se: 0.0 }]);
    }

    #[test]
    fn quartiles_lie_between_numbers_and_may_be_infinite() {
        let quartiles = Quartiles::of([4.0, 1.0, 3.0, 2.0]);
        assert_eq!(quartiles, Quartiles { lower: 1.75, median: 2.5, upper: 3.25 });
        let late = Quartiles::of([1.0, 2.0, f64::INFINITY, f64::INFINITY, f64::INFINITY]);
        assert_eq!(late, Quartiles { lower: 2.0, median: f64::INFINITY, upper: f64::INFINITY });
        assert!(Quartiles::of([]).median.is_nan());
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
    }

    #[test]
    fn a_censored_median_counts_the_unknown_ones() {
        assert_eq!(censored_median(&[Some(3.0), None, Some(1.0)]), Some(3.0));
        assert_eq!(censored_median(&[Some(3.0), Some(1.0)]), Some(2.0));
        assert_eq!(censored_median(&[Some(3.0), None, None]), None);
        assert_eq!(censored_median(&[Some(3.0), None]), None);
        assert_eq!(censored_median(&[]), None);
    }
}
