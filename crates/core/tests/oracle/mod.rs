//! Choices, multipliers, the law of GP-BTS and certificates, each against its definition computed from scratch.

pub mod definitions;
pub mod law;

use std::sync::Arc;

use crate::common::{
    Mapping, Oracle, RULES, candidates, config, f, in_batches, largest_eigenvalue, play, rng, scattered, uniform,
    with_delay,
};
use definitions::{EPS, ErrorBounds, Rows, covariance, maximized, multiplier, root_error_bound, sign};
use manyhands_core::gp::{self, Grid, Kernel, Prior};
use manyhands_core::theory::closed_form;
use manyhands_core::{
    Choice, Direction, Domain, Event, Hallucination, Information, Rule, Spec, Strategy, Study, Suggestion, TrialState,
};
use manyhands_gp::{GreedyInformation, Restricted, TIE};
use proptest::prelude::*;
use rand::{Rng, RngExt};

/// Checks a suggestion against the rule's definition, given the rows it knew and the candidates it could have had.
fn check(spec: &Spec, points: &[Vec<f64>], rows: &Rows, allowed: &[bool], s: &Suggestion) {
    let prior = maximized(spec);
    let seen = Oracle::new(&prior, points, &rows.observed, &rows.values);
    let all = Oracle::new(&prior, points, &rows.all(), &[]);
    let mean_bounds = ErrorBounds::new(&prior, points, &rows.observed, &rows.values);
    let bounds = ErrorBounds::new(&prior, points, &rows.all(), &vec![prior.mean(); rows.all().len()]);
    let information = if spec.strategy().rule == Rule::GpBucb { all.information } else { seen.information };
    let pending = rows.hallucinated.len() as f64;
    let xi = 1.0 + largest_eigenvalue(covariance(&prior, &rows.hallucinated, &rows.observed)) / prior.noise();
    let xi_bound = pending * mean_bounds.variances.iter().copied().fold(0.0, f64::max) / prior.noise();

    let expected = multiplier(spec, s.trial + 1, information, xi);
    let moved = multiplier(spec, s.trial + 1, information + bounds.information, xi + xi_bound);
    let multiplier_bound = moved - expected + 16.0 * EPS * expected;
    let Choice { candidate: i, sd, score, multiplier, .. } = s.choice;
    assert!((multiplier - expected).abs() <= multiplier_bound, "{multiplier} of {expected} +- {multiplier_bound:e}");

    let sds: Vec<f64> = all.variances.iter().map(|variance| variance.sqrt()).collect();
    let scores: Vec<f64> = seen.means.iter().zip(&sds).map(|(mean, sd)| mean + expected * sd).collect();
    let sd_bound = |i: usize| root_error_bound(all.variances[i], bounds.variances[i]);
    let score_bound = |i: usize| {
        let tie = TIE * scores[i].abs().max(1.0);
        mean_bounds.means[i] + moved * sd_bound(i) + multiplier_bound * sds[i] + tie
    };
    let mean = sign(spec) * s.choice.mean;
    assert!(allowed[i] && s.point == points[i]);
    assert!((mean - seen.means[i]).abs() <= mean_bounds.means[i], "mean {mean} of {}", seen.means[i]);
    assert!((sd - sds[i]).abs() <= sd_bound(i), "sd {sd} of {}", sds[i]);
    assert!((score - scores[i]).abs() <= score_bound(i), "score {score} of {}", scores[i]);
    for j in (0..points.len()).filter(|&j| allowed[j]) {
        let is_best = scores[i] + score_bound(i) >= scores[j] - score_bound(j);
        assert!(is_best, "{i} has {}, but {j} has {}", scores[i], scores[j]);
    }
    if rows.all().is_empty() && prior.kernel().is_stationary() {
        assert_eq!(i, 0, "all candidates tie, and the lowest index wins");
    }
}

fn random_spec(rng: &mut impl Rng, rule: Rule) -> Spec {
    let domain = match rng.random_range(0..3) {
        0 => scattered(rng, 30, 2),
        1 => Domain::Grid(Grid::even(&[(0.0, 1.0, 6), (0.0, 1.0, 5)]).unwrap()),
        _ => Domain::Grid(Grid::new(vec![vec![-0.4, 0.0, 0.1, 0.5, 0.9], vec![0.0, 0.3, 0.35, 0.8, 1.1]]).unwrap()),
    };
    let kernel = match rng.random_range(0..4) {
        0 => Kernel::squared_exponential(&[0.3, 0.5]),
        1 => Kernel::matern(2.5, &[0.4]),
        2 => Kernel::matern(1.3, &[0.4, 0.3]),
        _ => Kernel::linear(&[0.8]),
    };
    let kernel = kernel.unwrap().with_variance([1e-2, 1.0, 50.0][rng.random_range(0..3)]).unwrap();
    let (mean, noise) = ([0.0, 3.0][rng.random_range(0..2)], [1e-3, 0.1][rng.random_range(0..2)]);
    let noise_bound = [None, Some(0.2)][rng.random_range(0..2)];
    let strategy = Strategy { noise_bound, delta: uniform(rng, 0.01, 0.5), ..Strategy::new(rule, 1.5) };
    let direction = [Direction::Maximize, Direction::Minimize][rng.random_range(0..2)];
    let spec = Spec::new(domain, Prior::new(kernel, mean, noise).unwrap(), strategy).unwrap().with_direction(direction);
    if rng.random_bool(0.5) { spec.without_repeats().unwrap() } else { spec }
}

/// A function whose distance from the prior mean has norm B: the bands hold, with the stated probability.
fn black_box(spec: &Spec, x: &[f64]) -> f64 {
    let (kernel, bump) = (spec.prior().kernel(), [0.7, 0.4]);
    spec.prior().mean()
        + spec.strategy().norm_bound.unwrap() * kernel.covariance(x, &bump) / kernel.variance_at(&bump).sqrt()
}

/// The outcome of a random pending trial, in any order: mostly a value, or a failure, or a cancellation.
fn settle(study: &mut Study, rng: &mut impl Rng) {
    let pending = study.trials().iter().filter(|trial| trial.state() == TrialState::Pending);
    let pending: Vec<usize> = pending.map(|trial| trial.number()).collect();
    if pending.is_empty() {
        return;
    }
    let trial = pending[rng.random_range(0..pending.len())];
    match rng.random_range(0..6) {
        0 => study.fail(trial, "it broke").unwrap(),
        1 => study.cancel(trial).unwrap(),
        _ => {
            let (prior, x) = (study.spec().prior(), study.point(trial).unwrap());
            let noise = prior.noise().sqrt() * uniform(rng, -1.0, 1.0);
            let value = black_box(study.spec(), x) + noise;
            study.tell(trial, value).unwrap();
        }
    }
}

/// A bound of a band, and how far rounding may move it.
type Bound = (f64, f64);

/// The bands of every moment of a log: the lowest upper bound of the optimum, and every candidate's lower bounds.
fn bands(spec: &Spec, rows: &[Vec<f64>], values: &[f64]) -> (Bound, Vec<(Bound, usize)>) {
    let (prior, points) = (maximized(spec), candidates(spec.domain()));
    let band = Spec::new(spec.domain().clone(), prior.clone(), spec.strategy().clone()).unwrap();
    let (mut upper, mut lowers) = ((f64::INFINITY, 0.0), vec![]);
    for n in 0..=rows.len() {
        let then = Oracle::new(&prior, &points, &rows[..n], &values[..n]);
        let bounds = ErrorBounds::new(&prior, &points, &rows[..n], &values[..n]);
        let alpha = multiplier(&band, 0, then.information, 1.0);
        let moved = multiplier(&band, 0, then.information + bounds.information, 1.0);
        let alpha_bound = moved - alpha + 16.0 * EPS * alpha;
        // One end of the band at a candidate: the upper one for 1, the lower one for -1.
        let end = |i: usize, side: f64| {
            let (variance, sd) = (then.variances[i], then.variances[i].sqrt());
            let error_bound =
                bounds.means[i] + alpha * root_error_bound(variance, bounds.variances[i]) + alpha_bound * sd;
            (then.means[i] + side * alpha * sd, error_bound)
        };
        let highest = (0..points.len()).map(|i| end(i, 1.0)).max_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
        if highest.0 < upper.0 {
            upper = highest;
        }
        lowers.extend((0..points.len()).map(|i| (end(i, -1.0), i)));
    }
    (upper, lowers)
}

proptest! {
    #![proptest_config(config(160))]

    #[test]
    fn every_suggestion_is_the_rules_argmax_of_dense_solves_from_scratch(seed: u64, rule in 0..3, steps in 1usize..14) {
        let rng = &mut rng(seed);
        let spec = random_spec(rng, [Rule::GpBucb, Rule::IgpBucb, Rule::GpBucbBayesian][rule as usize]);
        let points = candidates(spec.domain());
        let mut study = Study::new(spec.clone()).unwrap();
        for _ in 0..steps {
            let mut rows = Rows::of(&study);
            let left = if spec.repeats() { 4 } else { points.len() - rows.all().len() };
            let mut allowed: Vec<bool> = points.iter().map(|x| spec.repeats() || !rows.all().contains(x)).collect();
            if left > 0 {
                for s in study.ask(rng.random_range(1..=left.min(4))).unwrap() {
                    check(&spec, &points, &rows, &allowed, &s);
                    allowed[s.choice.candidate] = spec.repeats();
                    rows.hallucinated.push(s.point);
                }
            }
            (0..rng.random_range(0..6)).for_each(|_| settle(&mut study, rng));
        }
    }

    #[test]
    fn a_certificate_names_the_highest_lower_bound_of_all_moments(seed: u64, steps in 0usize..14, early: bool) {
        let rng = &mut rng(seed);
        let spec = random_spec(rng, Rule::IgpBucb);
        let points = candidates(spec.domain());
        let mut study = Study::new(spec.clone()).unwrap();
        for _ in 0..steps {
            if study.count(TrialState::Pending) < 6 && study.trials().len() < points.len() - 3 {
                study.ask(rng.random_range(1..=3)).unwrap();
            }
            (0..rng.random_range(0..6)).for_each(|_| settle(&mut study, rng));
            if early && rng.random_bool(0.3) {
                study.certificate().unwrap();
            }
        }
        let told = study.events().iter().filter_map(|event| match event {
            Event::Told { trial, value } => Some((study.point(*trial).unwrap().to_vec(), sign(&spec) * value)),
            _ => None,
        });
        let (rows, values): (Vec<Vec<f64>>, Vec<f64>) = told.unzip();
        prop_assert!(rows.len() <= 40);
        let ((upper, upper_bound), lowers) = bands(&spec, &rows, &values);
        let &((lower, lower_bound), _) = lowers.iter().max_by(|a, b| a.0.0.total_cmp(&b.0.0)).unwrap();
        prop_assert!(lower <= upper, "the black box keeps its assumptions");
        let tie = TIE * lower.abs().max(upper.abs()).max(1.0);
        let found = study.certificate().unwrap();
        let (low, high) = if sign(&spec) > 0.0 { (found.lower, found.upper) } else { (-found.upper, -found.lower) };
        prop_assert!((high - upper).abs() <= upper_bound + tie, "{high} of {upper} +- {upper_bound:e}");
        prop_assert!((low - lower).abs() <= lower_bound + tie, "{low} of {lower} +- {lower_bound:e}");
        prop_assert!((found.regret_bound - (upper - lower)).abs() <= upper_bound + lower_bound + 2.0 * tie);
        let reaches = |(low, error_bound): Bound| low + error_bound >= lower - lower_bound - tie;
        let has_bound = lowers.iter().any(|&(low, i)| Some(i) == found.candidate && reaches(low));
        prop_assert!(has_bound, "{:?} never had the lower bound {lower}", found.candidate);
        prop_assert_eq!(&found.point, &points[found.candidate.unwrap()]);
    }
}

#[test]
fn a_multiplier_holds_gamma_of_the_observed_count_and_gp_bucb_gamma_of_t() {
    let grid = Grid::even(&[(0.0, 1.0, 6), (0.0, 1.0, 5)]).unwrap();
    let kernels = [Kernel::squared_exponential(&[0.3]), Kernel::matern(1.5, &[0.4]), Kernel::linear(&[1.0])];
    for prior in kernels.map(|kernel| Prior::new(kernel.unwrap(), 0.0, 0.01).unwrap()) {
        let restricted = Restricted::new(prior.kernel().clone(), gp::Domain::Grid(grid.clone()), 1 << 20).unwrap();
        let mut greedy = GreedyInformation::new(prior.clone(), Arc::new(restricted)).unwrap();
        let kinds = [Information::ClosedForm, Information::Log, Information::Greedy, Information::GreedyUpper];
        for (rule, information) in RULES.into_iter().flat_map(|rule| kinds.map(|kind| (rule, kind))) {
            let mappings: [(&str, Mapping); 2] = [("batches", in_batches::<4>), ("delays", with_delay::<3>)];
            for (arrival, observed_before) in mappings {
                let xi = Hallucination::Number(2.0);
                let strategy = Strategy { information, hallucination: xi, ..Strategy::new(rule, 1.5) };
                let spec = Spec::new(Domain::Grid(grid.clone()), prior.clone(), strategy).unwrap();
                let mut study = Study::new(spec.clone()).unwrap();
                for s in play(&mut study, observed_before, 13, |s| f(&s.point)) {
                    let t = s.trial + 1;
                    let points = if rule == Rule::GpBucb { t } else { observed_before(t) };
                    let gamma = match information {
                        Information::ClosedForm => closed_form(prior.kernel(), points, 2).unwrap(),
                        Information::Log => (points.max(1) as f64).ln(),
                        Information::Greedy => greedy.gain(points).unwrap(),
                        _ => greedy.upper(points).unwrap(),
                    };
                    let expected = multiplier(&spec, t, gamma, 2.0);
                    let off = (s.choice.multiplier - expected).abs();
                    // The same formula of the same gamma, in another order.
                    assert!(off <= 16.0 * EPS * expected, "{rule:?} {information:?} {arrival} at {t}: {off:e}");
                }
            }
        }
    }
}
