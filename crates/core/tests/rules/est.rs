//! EST: the estimated maximum m, and the candidate that reaches it with the fewest sd.

use super::dense::{Dense, Rounded, ranged};
use super::special::{gauss_legendre, log_cdf};
use super::states::{KINDS, ask, random_spec, visit};
use crate::common::{f, line, matern, rng, se};
use crate::oracle::definitions::EPS;
use manyhands_core::gp::Prior;
use manyhands_core::{Rule, Spec, Strategy, Study, Suggestion};
use rand_distr::{Distribution, StandardNormal};

/// What is promised of m, in units of the largest prior sd.
const PROMISE: f64 = 1e-10;

/// ln of the probability that independent normals all stay below w.
fn log_below(dense: &Dense, w: f64) -> f64 {
    let one = |(&(mean, _), &(sd, _)): (&Rounded, &Rounded)| match sd {
        0.0 if w < mean => f64::NEG_INFINITY,
        0.0 => 0.0,
        sd => log_cdf((w - mean) / sd),
    };
    dense.means.iter().zip(&dense.sds).map(one).sum()
}

/// The integral of what is above, by halving until two halves agree with the whole to a tolerance.
fn integral_above(dense: &Dense, nodes: &[(f64, f64)], (a, b): (f64, f64), tolerance: f64) -> f64 {
    let gauss = |a: f64, b: f64| {
        let (middle, half) = (0.5 * (a + b), 0.5 * (b - a));
        nodes.iter().map(|(x, weight)| -half * weight * log_below(dense, middle + half * x).exp_m1()).sum::<f64>()
    };
    let middle = 0.5 * (a + b);
    let halves = gauss(a, middle) + gauss(middle, b);
    if (halves - gauss(a, b)).abs() <= tolerance {
        return halves;
    }
    [(a, middle), (middle, b)].map(|half| integral_above(dense, nodes, half, tolerance)).iter().sum()
}

/// m = m0 + integral from m0 of 1 - prod Phi((w - mean)/sd), in pieces between the means.
fn estimated_maximum(dense: &Dense) -> Rounded {
    let (m0, m0_error) = dense.tau;
    let top = dense.means.iter().zip(&dense.sds).map(|(mean, sd)| mean.0 + 10.0 * sd.0).fold(m0, f64::max);
    let mut places: Vec<f64> = dense.means.iter().map(|mean| mean.0).chain([m0, top]).collect();
    places.retain(|place| *place >= m0);
    places.sort_by(f64::total_cmp);
    let nodes = gauss_legendre(10);
    let piece = |pair: &[f64]| integral_above(dense, &nodes, (pair[0], pair[1]), 1e-13 * dense.scale);
    let m = m0 + places.windows(2).map(piece).sum::<f64>();
    // m is an expected maximum: it moves by at most the largest error of a mean, and of an sd times E max |z|.
    let largest = |of: &[Rounded]| of.iter().map(|(_, error)| *error).fold(0.0, f64::max);
    let spread = (2.0 * (2.0 * dense.len() as f64).ln()).sqrt();
    let moments = m0_error.max(largest(&dense.means)) + spread * largest(&dense.sds);
    (m, moments + PROMISE * dense.scale + 64.0 * EPS * m.abs())
}

fn est() -> Strategy {
    Strategy { rule: Rule::Est, ..Strategy::auto() }
}

/// The scores by the definition.
fn scores(dense: &Dense) -> Vec<Rounded> {
    let m = estimated_maximum(dense);
    dense.scores(|i| match dense.sds[i] {
        (0.0, _) => (f64::NEG_INFINITY, 0.0),
        sd => ranged([dense.means[i], sd, m], |[mean, sd, m]| (mean - m) / sd),
    })
}

/// A pick against its definition.
fn check(before: &Study, s: &Suggestion) {
    let dense = Dense::of(before);
    let scores = scores(&dense);
    dense.assert_chosen(before, &scores, s);
    let (score, error) = scores[s.choice.candidate];
    dense.assert_multiplier(s, (-score, error));
    // UCB with the multiplier chooses it too.
    let width = s.choice.multiplier;
    let bound = |i: usize| {
        let ((mean, mean_error), (sd, sd_error)) = (dense.means[i], dense.sds[i]);
        (mean + width * sd, mean_error + width * sd_error + error * sd + 8.0 * EPS * mean.abs())
    };
    dense.assert_highest(&dense.scores(bound), &dense.allowed, s);
    if dense.is_empty() {
        dense.assert_highest(&dense.sds, &dense.allowed, s);
    }
}

#[test]
fn est_is_the_argmax_of_its_score_in_random_states() {
    for seed in 0..56 {
        let rng = &mut rng(500 + seed);
        let spec = random_spec(rng, KINDS[seed as usize % 4], est());
        visit(&spec, rng, check);
    }
}

#[test]
fn est_is_the_argmax_of_its_score_where_the_sd_of_observed_points_is_next_to_nothing() {
    for (seed, kernel) in [se(0.2), matern(0.2), se(0.1), matern(0.1)].into_iter().enumerate() {
        for noise in [1e-6, 1e-7, 1e-8] {
            let spec = Spec::new(line(80), Prior::new(kernel.clone(), 0.0, noise).unwrap(), est()).unwrap();
            let mut study = Study::new(spec.with_seed(seed as u64)).unwrap();
            let shift = 0.37 * seed as f64;
            // What rounding leaves open is too much for equal numbers, and far less than what tells these candidates apart.
            let mut is_highest = |before: &Study, s: &Suggestion| {
                let dense = Dense::of(before);
                dense.assert_highest(&scores(&dense), &dense.allowed, s);
            };
            for _ in 0..16 {
                let s = ask(&mut study, 1, &mut is_highest).remove(0);
                study.tell(s.trial, f(&[s.point[0] + shift])).unwrap();
            }
        }
    }
}

#[test]
fn the_estimated_maximum_of_est_is_that_of_independent_normals() {
    const DRAWS: usize = 40_000;
    for seed in 0..6 {
        let rng = &mut rng(600 + seed);
        let spec = random_spec(rng, KINDS[seed as usize % 4], est());
        let mut study = visit(&spec, rng, |_, _| {});
        let (dense, s) = (Dense::of(&study), study.ask(1).unwrap().remove(0));
        let (mean, _) = dense.means[s.choice.candidate];
        let m = mean + s.choice.multiplier * s.choice.sd;
        let normals = dense.means.iter().zip(&dense.sds);
        let mut maximum = || {
            let draws = normals.clone().map(|(mean, sd)| {
                let z: f64 = StandardNormal.sample(rng);
                mean.0 + sd.0 * z
            });
            draws.fold(dense.tau.0, f64::max)
        };
        let maxima: Vec<f64> = (0..DRAWS).map(|_| maximum()).collect();
        let average = maxima.iter().sum::<f64>() / DRAWS as f64;
        let variance = maxima.iter().map(|x| (x - average).powi(2)).sum::<f64>() / DRAWS as f64;
        let error = (variance / DRAWS as f64).sqrt();
        assert!((m - average).abs() <= 5.0 * error, "m is {m}, draws give {average} +- {error}");
    }
}
