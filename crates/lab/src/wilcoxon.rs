//! The paired signed-rank test (Wilcoxon 1945), exact also with ties.
//!
//! | symbol | name | meaning |
//! |---|---|---|
//! | d_i | differences | first minus second of each pair; zeros are dropped |
//! | W+ | positive | sum of the ranks of abs d_i with d_i > 0; tied ones share their mean rank |
//!
//! Under the hypothesis that each d_i is symmetric around 0, every rank counts with probability 1/2. Up to 100 pairs the
//! distribution of W+ is summed out over the ranks at hand; for more pairs a normal with the variance of those ranks and a
//! continuity correction replaces it.

use manyhands_core::normal::cumulative;

/// With more pairs than this the normal approximation is used.
const EXACT: usize = 100;

/// The result of the test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SignedRank {
    /// Pairs that differ.
    pub pairs: usize,
    /// W+.
    pub positive: f64,
    /// W-, the same for negative differences.
    pub negative: f64,
    /// P(W+ is at most what was seen): small if the differences are below 0.
    pub p_less: f64,
    /// P(W+ is at least what was seen): small if the differences are above 0.
    pub p_greater: f64,
}

impl SignedRank {
    /// Tests differences of pairs.
    pub fn test(differences: &[f64]) -> Self {
        let mut nonzero: Vec<f64> = differences.iter().copied().filter(|d| *d != 0.0).collect();
        nonzero.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
        let doubled = doubled_ranks(&nonzero);
        let positive: usize = nonzero.iter().zip(&doubled).filter(|(d, _)| **d > 0.0).map(|(_, rank)| rank).sum();
        let total: usize = doubled.iter().sum();
        let (p_less, p_greater) =
            if nonzero.len() <= EXACT { exact(&doubled, positive) } else { normal(&doubled, positive) };
        Self {
            pairs: nonzero.len(),
            positive: positive as f64 / 2.0,
            negative: (total - positive) as f64 / 2.0,
            p_less,
            p_greater,
        }
    }

    /// The two-sided level.
    pub fn p_two_sided(&self) -> f64 {
        (2.0 * self.p_less.min(self.p_greater)).min(1.0)
    }
}

/// Twice the rank of each of some numbers sorted by size: integers even where ties share a rank.
fn doubled_ranks(sorted: &[f64]) -> Vec<usize> {
    let mut ranks = Vec::with_capacity(sorted.len());
    for group in sorted.chunk_by(|a, b| a.abs() == b.abs()) {
        let first = ranks.len() + 1;
        // The mean of first .. first + len - 1, doubled.
        ranks.resize(ranks.len() + group.len(), 2 * first + group.len() - 1);
    }
    ranks
}

/// P(W <= seen) and P(W >= seen), by adding one rank after the other.
fn exact(doubled: &[usize], seen: usize) -> (f64, f64) {
    let total: usize = doubled.iter().sum();
    let mut probability = vec![0.0; total + 1];
    probability[0] = 1.0;
    let mut reached = 0;
    for &rank in doubled {
        reached += rank;
        for sum in (0..=reached).rev() {
            let with = if sum >= rank { probability[sum - rank] } else { 0.0 };
            probability[sum] = 0.5 * (probability[sum] + with);
        }
    }
    (probability[..=seen].iter().sum::<f64>().min(1.0), probability[seen..].iter().sum::<f64>().min(1.0))
}

fn normal(doubled: &[usize], seen: usize) -> (f64, f64) {
    let rank = |doubled: usize| doubled as f64 / 2.0;
    let mean = 0.5 * doubled.iter().map(|&r| rank(r)).sum::<f64>();
    let sd = 0.5 * doubled.iter().map(|&r| rank(r).powi(2)).sum::<f64>().sqrt();
    let distance = rank(seen) - mean;
    (cumulative((distance + 0.5) / sd), cumulative((0.5 - distance) / sd))
}
