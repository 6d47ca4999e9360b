//! Predictive entropy search: expectation propagation from dense matrices, sweep by sweep, given where the maximum is.
//!
//! | symbol | name | meaning |
//! |---|---|---|
//! | x\* | star | where the maximum is |
//! | g_j = f(x\*) - f(x_j) | - | at least 0 at every other observed point x_j |
//! | tau_j, nu_j | sites | precision and precision times mean of the Gaussian in place of the j-th condition |
//! | v(x given x\*) | variances | the variance of f(x) given that the maximum is at x\* |

use super::dense::Dense;
use super::special::{log_cdf, log_density};
use super::states::{ask, of};
use crate::common::{rng, solve, uniform};
use crate::oracle::definitions::{Rows, covariance};
use manyhands_core::gp::{Covariance, Kernel, Points, Prior};
use manyhands_core::{Direction, Domain, Rule, Spec, Strategy, Study, Suggestion};
use rand::{Rng, RngExt};
use rand_distr::{Distribution, StandardNormal};

type Matrix = Vec<Vec<f64>>;

/// A Gaussian over all candidates.
struct Belief {
    mean: Vec<f64>,
    covariance: Matrix,
}

/// The belief times the sites: precisions on the differences to the star, from scratch by the matrix inversion lemma.
fn with_sites(belief: &Belief, star: usize, others: &[usize], sites: &[(f64, f64)]) -> Belief {
    let k = &belief.covariance;
    let n = k.len();
    // Columns K a_j, a_j = e_star - e_j.
    let columns: Matrix = others.iter().map(|&j| (0..n).map(|i| k[i][star] - k[i][j]).collect()).collect();
    let along = |v: &[f64], j: usize| v[star] - v[others[j]];
    // (I + A'KA T) z = A'K e_i and so on, with T the diagonal of the precisions.
    let system: Matrix = (0..others.len())
        .map(|p| {
            let entry = |q: usize| f64::from(u8::from(p == q)) + along(&columns[q], p) * sites[q].0;
            (0..others.len()).map(entry).collect()
        })
        .collect();
    let mut sides: Matrix = (0..n).map(|i| (0..others.len()).map(|p| columns[p][i]).collect()).collect();
    // The mean moves to m + K A (nu - T z), z = (I + A'KA T)^{-1} A'(m + K A nu).
    let pushed: Vec<f64> =
        (0..n).map(|i| belief.mean[i] + (0..others.len()).map(|p| columns[p][i] * sites[p].1).sum::<f64>()).collect();
    sides.push((0..others.len()).map(|p| along(&pushed, p)).collect());
    let (solved, _) = solve(system, sides);
    let less = |i: usize, z: &[f64]| (0..others.len()).map(|p| columns[p][i] * sites[p].0 * z[p]).sum::<f64>();
    Belief {
        mean: (0..n).map(|i| pushed[i] - less(i, &solved[n])).collect(),
        covariance: (0..n).map(|i| (0..n).map(|j| k[i][j] - less(i, &solved[j])).collect()).collect(),
    }
}

/// phi(a)/Phi(a).
fn hazard(a: f64) -> f64 {
    (log_density(a) - log_cdf(a)).exp()
}

/// The site that gives a normal variable the mean and variance it has given that it is positive, from its cavity.
fn site((mean, variance): (f64, f64), (tau, nu): (f64, f64)) -> (f64, f64) {
    let (cavity_tau, cavity_nu) = (1.0 / variance - tau, mean / variance - nu);
    let (cavity_mean, cavity_sd) = (cavity_nu / cavity_tau, cavity_tau.sqrt().recip());
    let a = cavity_mean / cavity_sd;
    let b = hazard(a);
    let (mean, variance) = (cavity_mean + cavity_sd * b, cavity_sd.powi(2) * (1.0 - b * (b + a)));
    ((1.0 / variance - cavity_tau).max(0.0), mean / variance - cavity_nu)
}

/// Sweeps until no site moves.
fn propagate(belief: &Belief, star: usize, others: &[usize]) -> Belief {
    let mut sites = vec![(0.0, 0.0); others.len()];
    for _ in 0..400 {
        let before = sites.clone();
        for (p, &j) in others.iter().enumerate() {
            let now = with_sites(belief, star, others, &sites);
            let k = &now.covariance;
            let difference = (now.mean[star] - now.mean[j], k[star][star] - 2.0 * k[star][j] + k[j][j]);
            sites[p] = site(difference, sites[p]);
        }
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-13 * a.abs();
        if sites.iter().zip(&before).all(|(a, b)| near(a.0, b.0) && near(a.1, b.1)) {
            break;
        }
    }
    with_sites(belief, star, others, &sites)
}

/// v(x given x*) at every candidate.
fn variances(belief: &Belief, star: usize, observed: &[usize]) -> Vec<f64> {
    let others: Vec<usize> = observed.iter().copied().filter(|&j| j != star).collect();
    let after = propagate(belief, star, &others);
    let k = &after.covariance;
    let at = |x: usize| {
        if x == star || others.contains(&x) {
            return k[x][x];
        }
        let r = k[x][x] + k[star][star] - 2.0 * k[x][star];
        let a = (after.mean[star] - after.mean[x]) / r.sqrt();
        let b = hazard(a);
        k[x][x] - b * (b + a) * (k[x][x] - k[x][star]).powi(2) / r
    };
    (0..k.len()).map(at).collect()
}

/// For each star, by how much knowing it lowers the entropy of a value at every candidate.
fn losses(dense: &Dense, stars: &[usize]) -> Matrix {
    let covariance = covariance(&dense.prior, &dense.points, &dense.rows.all());
    let belief = Belief { mean: dense.means.iter().map(|mean| mean.0).collect(), covariance };
    let observed: Vec<usize> = (0..dense.len()).filter(|&i| dense.rows.observed.contains(&dense.points[i])).collect();
    let noise = dense.prior.noise();
    let loss = |&star: &usize| {
        let after = variances(&belief, star, &observed);
        let at = |x: usize| 0.5 * ((belief.covariance[x][x] + noise) / (after[x] + noise)).ln();
        (0..dense.len()).map(at).collect()
    };
    stars.iter().map(loss).collect()
}

#[test]
fn expectation_propagation_of_one_condition_is_exact_by_simulation() {
    const DRAWS: usize = 400_000;
    let factor = [[1.0, 0.0, 0.0], [0.5, 0.8, 0.0], [0.3, 0.6, 0.7]];
    let product = |i: usize, j: usize| (0..3).map(|d| factor[i][d] * factor[j][d]).sum::<f64>();
    let covariance = (0..3).map(|i| (0..3).map(|j| product(i, j)).collect()).collect();
    let belief = Belief { mean: vec![0.1, 0.9, -0.2], covariance };
    // Nothing is known to be below the star 0 but 1, which is above it by the mean; 2 stays free.
    let found = propagate(&belief, 0, &[1]);
    let rng = &mut rng(7);
    let mut draw = || {
        let z: [f64; 3] = std::array::from_fn(|_| StandardNormal.sample(rng));
        [0, 1, 2].map(|i| belief.mean[i] + (0..3).map(|d| factor[i][d] * z[d]).sum::<f64>())
    };
    let kept: Vec<[f64; 3]> = (0..DRAWS).map(|_| draw()).filter(|f| f[0] >= f[1]).collect();
    let count = kept.len() as f64;
    for i in 0..3 {
        let mean = kept.iter().map(|f| f[i]).sum::<f64>() / count;
        let squares: Vec<f64> = kept.iter().map(|f| (f[i] - mean).powi(2)).collect();
        let variance = squares.iter().sum::<f64>() / count;
        let fourth = squares.iter().map(|square| square * square).sum::<f64>() / count;
        let (mean_error, variance_error) = ((variance / count).sqrt(), ((fourth - variance * variance) / count).sqrt());
        assert!((found.mean[i] - mean).abs() <= 5.0 * mean_error, "{} of {mean}", found.mean[i]);
        let off = (found.covariance[i][i] - variance).abs();
        assert!(off <= 5.0 * variance_error, "{} of {variance} +- {variance_error}", found.covariance[i][i]);
    }
}

const SAMPLES: usize = 50;
const TOLERANCE: f64 = 1e-6;

/// The ways in which 50 draws of the maximum can fall on three candidates.
fn splits() -> impl Iterator<Item = [f64; 3]> {
    let third = |a: usize, b: usize| [a, b, SAMPLES - a - b].map(|count| count as f64 / SAMPLES as f64);
    (0..=SAMPLES).flat_map(move |a| (0..=SAMPLES - a).map(move |b| third(a, b)))
}

/// The score is the average of the losses over some 50 draws of the maximum among three candidates, by which no candidate is
/// better.
fn check(before: &Study, s: &Suggestion, stars: [usize; 3]) {
    let dense = Dense::of(before);
    let losses = losses(&dense, &stars);
    let score = |split: &[f64; 3], x: usize| (0..3).map(|star| split[star] * losses[star][x]).sum::<f64>();
    let i = s.choice.candidate;
    let explains = |split: &[f64; 3]| {
        let found = score(split, i);
        let is_best = (0..dense.len()).all(|x| !dense.allowed[x] || score(split, x) <= found + 2.0 * TOLERANCE);
        (found - s.choice.score).abs() <= TOLERANCE && is_best
    };
    assert!(dense.allowed[i]);
    let found = s.choice.score;
    assert!(splits().any(|split| explains(&split)), "trial {}: no draws give {found} at {i}: {losses:?}", s.trial);
    dense.assert_moments(before, s);
    assert_eq!(s.choice.multiplier, 0.0);
}

/// Three correlated candidates.
fn three(rng: &mut impl Rng) -> Spec {
    let strategy = Strategy { rule: Rule::Pes, ..Strategy::auto() };
    let kernel = match rng.random_range(0..4) {
        0 => Kernel::squared_exponential(&[0.5]).unwrap(),
        1 => Kernel::matern(2.5, &[0.4]).unwrap(),
        2 => Kernel::matern(0.5, &[0.6]).unwrap(),
        _ => {
            let matrix = vec![1.0, 0.6, -0.2, 0.6, 1.3, 0.1, -0.2, 0.1, 0.7];
            let prior = Prior::new(Kernel::empirical(Covariance::new(3, matrix).unwrap()), 1.0, 0.05).unwrap();
            return Spec::new(Domain::Points(Points::indices(3)), prior, strategy).unwrap();
        }
    };
    let points = Points::from_flat(2, (0..6).map(|_| uniform(rng, 0.0, 1.0)).collect()).unwrap();
    let variance = [0.3, 5.0][rng.random_range(0..2)];
    let noise = variance * [0.01, 0.2][rng.random_range(0..2)];
    let prior = Prior::new(kernel.with_variance(variance).unwrap(), 2.0, noise).unwrap();
    let spec = Spec::new(Domain::Points(points), prior, strategy).unwrap();
    if rng.random_bool(0.5) { spec.with_direction(Direction::Minimize) } else { spec }
}

#[test]
fn pes_scores_are_averages_of_dense_expectation_propagation_over_draws_of_the_maximum() {
    for seed in 0..56 {
        let rng = &mut rng(1100 + seed);
        let spec = three(rng).with_seed(seed);
        let spread = spec.prior().kernel().variance().sqrt();
        let mut study = Study::new(spec.clone()).unwrap();
        let (observed, unfinished) = (rng.random_range(1..=12), rng.random_range(0..=3));
        // Often one candidate is never observed: there the last condition decides.
        let known = rng.random_range(1..=3);
        for i in 0..observed {
            let value = spec.prior().mean() + spread * uniform(rng, -1.0, 1.0);
            study.include_candidate((i + seed as usize) % known, Some(value)).unwrap();
        }
        for _ in 0..unfinished {
            let trial = study.include_candidate(rng.random_range(0..3), None).unwrap();
            if rng.random_bool(0.3) {
                study.fail(trial, "broke").unwrap();
            }
        }
        assert_eq!(Rows::of(&study).hallucinated.len(), unfinished);
        ask(&mut study, rng.random_range(1..=4), &mut |before, s| check(before, s, [0, 1, 2]));
        Study::verify(&spec, study.events()).unwrap();
    }
}

/// Three peaks above all else, of which any may be the highest: every draw of the maximum is one of them.
#[test]
fn pes_among_many_candidates_conditions_on_all_observed_points() {
    const PEAKS: [usize; 3] = [4, 11, 18];
    for seed in 0..12 {
        let rng = &mut rng(1200 + seed);
        let direction = [Direction::Maximize, Direction::Minimize][seed as usize % 2];
        let variance = [0.3, 5.0][rng.random_range(0..2)];
        let kernel = Kernel::squared_exponential(&[0.8]).unwrap().with_variance(variance).unwrap();
        let prior = Prior::new(kernel, 2.0, 0.1 * variance).unwrap();
        let points = Points::from_flat(1, (0..24).map(f64::from).collect()).unwrap();
        let spec = Spec::new(Domain::Points(points), prior, of(Rule::Pes)).unwrap();
        let mut study = Study::new(spec.with_direction(direction).with_seed(seed)).unwrap();
        let mut include = |candidate: usize, height: f64| {
            let value = 2.0 + direction.sign() * variance.sqrt() * height;
            study.include_candidate(candidate, Some(value)).unwrap();
        };
        PEAKS.into_iter().for_each(|peak| include(peak, 10.0 + uniform(rng, -0.2, 0.2)));
        let low = |candidate: &usize| !PEAKS.contains(candidate);
        let others: Vec<usize> = (0..rng.random_range(2..8)).map(|_| rng.random_range(0..24)).filter(low).collect();
        others.into_iter().for_each(|candidate| include(candidate, uniform(rng, -1.0, 1.0)));
        for _ in 0..rng.random_range(0..5) {
            study.include_candidate(rng.random_range(0..24), None).unwrap();
        }
        ask(&mut study, rng.random_range(1..=3), &mut |before, s| check(before, s, PEAKS));
    }
}
