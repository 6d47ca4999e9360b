//! Indices in the order of decreasing values, found one by one: most callers need only the first few.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// The indices in the order of decreasing values (`f64::total_cmp`), the lowest index first among equals.
pub(crate) fn descending(values: &[f64]) -> impl Iterator<Item = usize> + use<> {
    let mut heap: BinaryHeap<Ranked> =
        values.iter().enumerate().map(|(index, &value)| Ranked { value, index }).collect();
    std::iter::from_fn(move || heap.pop().map(|first| first.index))
}

/// An index that is greater than another if it comes first.
struct Ranked {
    value: f64,
    index: usize,
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        self.value.total_cmp(&other.value).then(other.index.cmp(&self.index))
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ranked {}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    #[test]
    fn indices_come_in_the_order_of_a_stable_sort() {
        let few = [0.0, -0.0, 1.0, 2.5, -3.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for length in (0..40).chain([500]) {
            let values: Vec<f64> = (0..length).map(|_| few[rng.random_range(0..few.len())]).collect();
            let mut sorted: Vec<usize> = (0..length).collect();
            sorted.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
            assert_eq!(descending(&values).collect::<Vec<_>>(), sorted);
        }
    }
}
