//! The score beside rejection sampling: draws of the function grouped by their argmax.

use manyhands_gp::Points;

use super::{Rows, State, kernels, rng, scattered};
use crate::elimination::dot;

/// How scores differ over candidates.
struct Agreement {
    mean_difference: f64,
    correlation: f64,
    /// What the choice by the first is worth by the second, as a share of the best.
    worth: f64,
}

impl Agreement {
    fn of(found: &[f64], exact: &[f64]) -> Self {
        let best = |scores: &[f64]| (0..scores.len()).max_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap();
        let differences = found.iter().zip(exact).map(|(a, b)| (a - b).abs());
        Self {
            mean_difference: differences.sum::<f64>() / found.len() as f64,
            correlation: correlation(found, exact),
            worth: exact[best(found)] / exact[best(exact)],
        }
    }
}

/// Draws of the function, grouped by their argmax: how often each candidate is the argmax in all of them and in the first
/// 4,000, and the sums of deviations from the mean and of their squares in each group.
struct Groups {
    counts: Vec<usize>,
    first: Vec<usize>,
    sums: Vec<Vec<[f64; 2]>>,
}

impl Groups {
    fn of(state: &State, draws: &[Vec<f64>]) -> Self {
        let len = state.mean.len();
        let (mut counts, mut first, mut sums) = (vec![0; len], vec![0; len], vec![vec![[0.0; 2]; len]; len]);
        for (index, draw) in draws.iter().enumerate() {
            let star = (0..len).max_by(|&a, &b| draw[a].total_cmp(&draw[b])).unwrap();
            counts[star] += 1;
            first[star] += usize::from(index < 4_000);
            for x in 0..len {
                let off = draw[x] - state.mean[x];
                sums[star][x][0] += off;
                sums[star][x][1] += off * off;
            }
        }
        Self { counts, first, sums }
    }

    fn variance(&self, star: usize, x: usize) -> f64 {
        let (n, [sum, squares]) = (self.counts[star] as f64, self.sums[star][x]);
        (squares - sum * sum / n).max(0.0) / (n - 1.0).max(1.0)
    }
}

/// The error is that of expectation propagation, which sees of the other candidates the observed ones: the simulation's is a
/// hundredth. It is larger with fewer values, and where candidates are much closer to each other than a lengthscale.
#[test]
fn scores_agree_with_rejection_sampling_within_the_error_of_expectation_propagation() {
    for number in 0..40 {
        let rng = &mut rng(1_000 + number as u64);
        let rows = Rows { observed: 6 + number % 20, pending: number / 3 % 5 };
        let kernel = kernels()[number % 3].clone().with_variance(1.0).unwrap();
        let state = State::new(scattered(30, rng), kernel, 0.025, rows, rng);
        let points = Points::from_rows(&state.candidates).unwrap();
        let draws = state.posterior.view().draw_jointly(&points, 1.0, 40_000, rng).unwrap();
        let groups = Groups::of(&state, &draws);
        let score = |x: usize| state.score(x, &groups.counts, |star| groups.variance(star, x));
        let exact: Vec<f64> = (0..30).map(score).collect();
        let Agreement { mean_difference, correlation, worth } = Agreement::of(&state.scores(&groups.first), &exact);
        assert!(
            mean_difference <= 0.05 && correlation >= 0.9 && worth >= 0.85,
            "state {number}: {mean_difference}, {correlation}, {worth}"
        );
    }
}

fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let centered = |v: &[f64]| {
        let mean = v.iter().sum::<f64>() / v.len() as f64;
        v.iter().map(|x| x - mean).collect::<Vec<_>>()
    };
    let (a, b) = (centered(a), centered(b));
    dot(&a, &b) / (dot(&a, &a) * dot(&b, &b)).sqrt()
}
