//! Several methods on the same runs: mean ranks, and paired tests of each against one of them, corrected for their number.
//!
//! | symbol | name | meaning |
//! |---|---|---|
//! | | losses | one number per method and run; smaller is better, the same run for all methods is a pair |
//! | p_(i) | p | the two-sided level of a signed-rank test; the i-th smallest of m |
//! | | p_holm | max over j <= i of min(1, (m - j + 1) p_(j)) (Holm 1979): below 5 % with probability at most 5 % if no difference is real |

use crate::SignedRank;
use crate::statistics::Estimate;

/// The level of the corrected tests.
pub(crate) const LEVEL: f64 = 0.05;

/// A method beside the reference, run by run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PairedTest {
    /// In how many runs the method lost less.
    pub wins: usize,
    /// In how many both lost the same.
    pub ties: usize,
    /// The method's loss minus the reference's.
    pub difference: Estimate,
    /// The paired test on the differences.
    pub test: SignedRank,
    /// Its two-sided level, corrected for all tests against the same reference.
    pub p_holm: f64,
}

/// What a paired test says of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It loses less than the reference.
    Better,
    /// It loses more.
    Worse,
    /// The test does not reach its level.
    Undecided,
}

impl Standing {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Undecided => "not decided",
        }
    }
}

impl PairedTest {
    /// In how many runs the method lost more.
    pub fn losses(&self) -> usize {
        self.test.pairs - self.wins
    }

    /// At 5 %, after the correction.
    pub fn standing(&self) -> Standing {
        match self.p_holm < LEVEL {
            true if self.test.p_less < self.test.p_greater => Standing::Better,
            true => Standing::Worse,
            false => Standing::Undecided,
        }
    }
}

/// Tests every method but the reference against it; none for the reference itself. Where methods have fewer runs, those are
/// the first ones.
pub(crate) fn against(reference: usize, losses: &[Vec<f64>]) -> Vec<Option<PairedTest>> {
    let of = |(method, of): (usize, &Vec<f64>)| {
        (method != reference).then(|| of.iter().zip(&losses[reference]).map(|(a, b)| a - b).collect())
    };
    paired_tests(&losses.iter().enumerate().map(of).collect::<Vec<_>>())
}

/// A test for each method of which there are differences, its loss minus the reference's for each pair of runs; corrected for
/// their number.
pub(crate) fn paired_tests(differences: &[Option<Vec<f64>>]) -> Vec<Option<PairedTest>> {
    let test = |differences: &Vec<f64>| {
        let test = SignedRank::test(differences);
        PairedTest {
            wins: differences.iter().filter(|d| **d < 0.0).count(),
            ties: differences.iter().filter(|d| **d == 0.0).count(),
            difference: Estimate::of(differences),
            p_holm: test.p_two_sided(),
            test,
        }
    };
    let mut tests: Vec<Option<PairedTest>> = differences.iter().map(|of| of.as_ref().map(test)).collect();
    let mut ordered: Vec<&mut PairedTest> = tests.iter_mut().flatten().collect();
    ordered.sort_by(|a, b| a.p_holm.total_cmp(&b.p_holm));
    let (mut left, mut largest) = (ordered.len(), 0.0);
    for test in ordered {
        largest = f64::max(largest, (left as f64 * test.p_holm).min(1.0));
        test.p_holm = largest;
        left -= 1;
    }
    tests
}

/// The fewest pairs with which one of so many tests can reach the level after the correction. The least two-sided level of a
/// signed-rank test of n pairs is 2^(1-n), and the correction multiplies it by the number of tests.
pub(crate) fn fewest_pairs(tests: usize) -> usize {
    let mut pairs = 1;
    let mut least = tests as f64;
    while least >= LEVEL {
        pairs += 1;
        least *= 0.5;
    }
    pairs
}

/// The mean over runs of every method's rank in a run, 1 for the smallest loss; equal losses share their mean rank. Runs that
/// not all methods have are left out.
pub(crate) fn mean_ranks(losses: &[Vec<f64>]) -> Vec<f64> {
    let runs = losses.iter().map(Vec::len).min().unwrap_or(0);
    let rank = |method: &Vec<f64>, run: usize| {
        let below = losses.iter().filter(|other| other[run] < method[run]).count();
        let equal = losses.iter().filter(|other| other[run] == method[run]).count();
        below as f64 + 0.5 * (equal + 1) as f64
    };
    losses.iter().map(|method| (0..runs).map(|run| rank(method, run)).sum::<f64>() / runs as f64).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// Ranks 1, 2.5, 2.5 and 4 in one run, and the reverse without ties in another.
    #[test]
    fn ranks_of_ties_are_shared_and_runs_of_some_methods_alone_are_left_out() {
        let losses = [vec![0.1, 9.0, 5.0], vec![0.2, 8.0], vec![0.2, 7.0, 5.0], vec![0.3, 6.0, 5.0]];
        assert_eq!(mean_ranks(&losses), [2.5, 2.75, 2.25, 2.5]);
    }

    /// The best that n pairs can do is not enough with one pair less.
    #[test]
    fn the_fewest_pairs_are_those_with_which_something_can_be_decided() {
        for tests in [1, 3, 14, 16] {
            let least = |pairs: usize| {
                let worse: Vec<f64> = (1..=pairs).map(|i| 0.1 * i as f64).collect();
                let losses = [vec![vec![0.0; pairs]], vec![worse; tests]].concat();
                against(0, &losses)[1].as_ref().unwrap().standing()
            };
            let fewest = fewest_pairs(tests);
            assert_eq!((least(fewest), least(fewest - 1)), (Standing::Worse, Standing::Undecided), "{tests} tests");
        }
        assert_eq!([1, 14].map(fewest_pairs), [6, 10]);
    }

    #[test]
    fn a_method_does_not_differ_from_itself() {
        let losses = vec![vec![0.3, 0.1, 0.7, 0.2]; 2];
        let tests = against(0, &losses);
        let itself = tests[1].as_ref().unwrap();
        assert!(tests[0].is_none());
        assert_eq!((itself.wins, itself.ties, itself.test.pairs, itself.p_holm), (0, 4, 0, 1.0));
        assert_eq!((itself.difference, itself.standing()), (Estimate { mean: 0.0, se: 0.0 }, Standing::Undecided));
        assert_eq!(mean_ranks(&losses), [1.5, 1.5]);
    }

    /// Levels by hand: nine pairs with one sign have p = 2/512, eight of nine (the ninth the smallest) 4/512. Holm takes three
    /// times the first, twice the second and once the last, which may not fall below the one before it.
    #[test]
    fn levels_are_multiplied_by_the_tests_that_are_left() {
        let reference: Vec<f64> = vec![1.0; 9];
        let off =
            |signs: &dyn Fn(usize) -> f64| (1..=9).map(|i| 1.0 + 0.01 * signs(i) * i as f64).collect::<Vec<f64>>();
        let losses = [
            off(&|i| if i == 1 { -1.0 } else { 1.0 }),
            reference,
            off(&|_| -1.0),
            off(&|i| if i % 2 == 0 { 1.0 } else { -1.0 }),
        ];
        let tests = against(1, &losses);
        let of = |i: usize| tests[i].as_ref().unwrap();
        assert_eq!((of(2).p_holm, of(2).standing(), of(2).wins), (3.0 * 2.0 / 512.0, Standing::Better, 9));
        assert_eq!((of(0).p_holm, of(0).standing(), of(0).wins), (2.0 * 4.0 / 512.0, Standing::Worse, 1));
        assert_eq!((of(3).p_holm, of(3).standing()), (of(3).test.p_two_sided(), Standing::Undecided));
        // Three equal levels are all tripled.
        let same = vec![off(&|_| 1.0); 3];
        let losses = [vec![vec![1.0; 9]], same].concat();
        assert!(against(0, &losses).iter().flatten().all(|test| test.p_holm == 3.0 * 2.0 / 512.0));
    }
}
