//! The signed-rank test against published tables and examples.

#![allow(clippy::approx_constant)] // one patient scored 3.14

use manyhands_lab::experiment::SignedRank;

fn close(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-12 * b.abs(), "{a} against {b}");
}

/// Darwin's Zea mays data (Fisher 1935): W+ = 96, p = 0.0412597... (two-sided), as in SciPy's documentation of `wilcoxon`.
#[test]
fn darwins_maize() {
    let heights = [6., 8., 14., 16., 23., 24., 28., 29., 41., -48., 49., 56., 60., -67., 75.];
    let test = SignedRank::test(&heights);
    assert_eq!((test.pairs, test.positive, test.negative), (15, 96.0, 24.0));
    close(test.p_two_sided(), 0.041259765625);
    close(test.p_greater, 0.0206298828125);
}

/// Hamilton's depression scale (Hollander and Wolfe 1973, page 29): V = 40, p = 0.01953, as in R's `wilcox.test` example.
#[test]
fn depression_scale() {
    let before = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30];
    let after = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29];
    let differences: Vec<f64> = before.iter().zip(after).map(|(a, b)| a - b).collect();
    let test = SignedRank::test(&differences);
    assert_eq!(test.positive, 40.0);
    close(test.p_greater, 0.01953125);
}

/// The table of critical values (Wilcoxon and Wilcox 1964): the largest W with P(W <= that) <= 0.025, for n = 6 .. 25.
#[test]
fn critical_values_of_the_published_table() {
    let table = [0, 2, 3, 5, 8, 10, 13, 17, 21, 25, 29, 34, 40, 46, 52, 58, 65, 73, 81, 89];
    for (n, critical) in (6usize..).zip(table) {
        let level = |sum: usize| SignedRank::test(&with_sum(n, sum)).p_less;
        assert!(level(critical) <= 0.025 && level(critical + 1) > 0.025, "n = {n}, W = {critical}");
    }
}

/// Differences of sizes 1 .. n whose positive ranks add up to `sum`.
fn with_sum(n: usize, mut sum: usize) -> Vec<f64> {
    let mut differences = Vec::new();
    for rank in (1..=n).rev() {
        let positive = rank <= sum;
        sum -= if positive { rank } else { 0 };
        differences.push(if positive { rank as f64 } else { -(rank as f64) });
    }
    assert_eq!(sum, 0);
    differences
}

/// Ties share their rank, zeros are dropped; levels by SciPy's exhaustive permutation test.
#[test]
fn ties_and_zeros() {
    let test = SignedRank::test(&[1., 1., -1., 2., 2., -3., 4., 5., 0., 0.]);
    assert_eq!((test.pairs, test.positive), (8, 28.0));
    close(test.p_less, 0.9296875);
    close(test.p_greater, 0.0859375);
}

/// By SciPy's `wilcoxon(method="approx", correction=True)`.
#[test]
fn many_pairs_are_approximated_by_a_normal() {
    let differences: Vec<f64> = (0..130).map(|i| f64::from(i * 37 % 101 - 45) * 0.1).collect();
    let test = SignedRank::test(&differences);
    assert_eq!((test.pairs, test.positive), (129, 4909.5));
    assert!((test.p_less - 0.954_168_845_067_330_7).abs() < 1e-12, "{}", test.p_less);
    assert!((test.p_greater - 0.046_057_731_743_182_25).abs() < 1e-12, "{}", test.p_greater);
}

#[test]
fn nothing_to_compare_is_no_evidence() {
    let test = SignedRank::test(&[0.0, 0.0]);
    assert_eq!((test.pairs, test.p_less, test.p_greater, test.p_two_sided()), (0, 1.0, 1.0, 1.0));
}
