//! Choices, multipliers, the law of GP-BTS and certificates, each against its definition computed from scratch.
#![allow(clippy::unwrap_used)]

mod common;

use std::sync::Arc;

use common::{
    Mapping, Oracle, RULES, candidates, config, dot, f, in_batches, largest_eigenvalue, play, rng, scattered, solve,
    uniform, with_delay,
};
use manyhands_core::event::{Asked, ENGINE};
use manyhands_core::gp::{self, Grid, Kernel, Points, Prior};
use manyhands_core::theory::closed_form;
use manyhands_core::{
    Choice, Direction, Domain, Event, Hallucination, Information, Phase, Rule, Spec, Strategy, Study, Suggestion,
    TrialState,
};
use manyhands_gp::{GreedyInformation, Restricted, TIE};
use proptest::prelude::*;
use rand::{Rng, RngExt};

const EPS: f64 = f64::EPSILON;

/// The pages' formulas: beta_t of Algorithm 1, v_t of Algorithm 2, and Theorem 2 of Desautels et al.
fn multiplier(spec: &Spec, t: usize, information: f64, xi: f64) -> f64 {
    let Strategy { rule, norm_bound, noise_bound, delta, .. } = *spec.strategy();
    let b = norm_bound.unwrap();
    let ratio = noise_bound.map_or(1.0, |r| r / spec.prior().noise().sqrt());
    let theorem = |level: f64| xi.sqrt() * (b + ratio * (2.0 * (information + level.ln())).sqrt());
    match rule {
        Rule::IgpBucb => theorem(1.0 / delta),
        Rule::GpBts => theorem(2.0 / delta),
        Rule::GpBucbBayesian => {
            let spread = candidates(spec.domain()).len() as f64 * (t as f64 * std::f64::consts::PI).powi(2);
            (2.0 * xi * (spread / (6.0 * delta)).ln()).sqrt()
        }
        Rule::GpBucb => (xi * (2.0 * b * b + 300.0 * information * (t as f64 / delta).ln().powi(3))).sqrt(),
        other => unreachable!("{other} is not one of the paper's rules"),
    }
}

fn sign(spec: &Spec) -> f64 {
    if spec.direction() == Direction::Minimize { -1.0 } else { 1.0 }
}

/// The prior of the function that is maximized.
fn maximized(spec: &Spec) -> Prior {
    Prior::new(spec.prior().kernel().clone(), sign(spec) * spec.prior().mean(), spec.prior().noise()).unwrap()
}

/// The points of rows, and the values of those that have one, to be maximized.
#[derive(Default, Clone)]
struct Rows {
    observed: Vec<Vec<f64>>,
    values: Vec<f64>,
    hallucinated: Vec<Vec<f64>>,
}

impl Rows {
    fn of(study: &Study) -> Self {
        let mut rows = Self::default();
        for trial in study.trials() {
            let point = study.point(trial.number()).unwrap().to_vec();
            match (trial.state(), trial.value()) {
                (TrialState::Cancelled, _) => {}
                (_, Some(value)) => {
                    rows.observed.push(point);
                    rows.values.push(sign(study.spec()) * value);
                }
                _ => rows.hallucinated.push(point),
            }
        }
        rows
    }

    fn all(&self) -> Vec<Vec<f64>> {
        self.observed.iter().chain(&self.hallucinated).cloned().collect()
    }
}

/// (K + noise I)^{-1} applied to the column of every point, and to `values`.
fn solved(prior: &Prior, points: &[Vec<f64>], rows: &[Vec<f64>], values: Option<&[f64]>) -> Vec<Vec<f64>> {
    let k = |a: &Vec<f64>, b: &Vec<f64>| prior.kernel().covariance(a, b);
    let mut gram: Vec<Vec<f64>> = rows.iter().map(|a| rows.iter().map(|b| k(a, b)).collect()).collect();
    (0..rows.len()).for_each(|i| gram[i][i] += prior.noise());
    let mut sides: Vec<Vec<f64>> = points.iter().map(|x| rows.iter().map(|row| k(row, x)).collect()).collect();
    sides.extend(values.map(|values| values.iter().map(|y| y - prior.mean()).collect()));
    solve(gram, sides).0
}

/// The covariance of points given rows.
fn covariance(prior: &Prior, points: &[Vec<f64>], rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let k = |a: &Vec<f64>, b: &Vec<f64>| prior.kernel().covariance(a, b);
    let solved = solved(prior, points, rows, None);
    let given = |x: &Vec<f64>, u: &Vec<f64>, y: &Vec<f64>| {
        k(x, y) - dot(u, &rows.iter().map(|row| k(row, y)).collect::<Vec<_>>())
    };
    points.iter().zip(&solved).map(|(x, u)| points.iter().map(|y| given(x, u, y)).collect()).collect()
}

/// How far apart rounding may take two backward stable computations: each answers for a matrix off by n eps |K|, with |K|
/// at most the trace, so a bilinear form of solutions u and w moves by n eps |K| |u| |w|; sixteen times that, for two
/// solves and their constants.
struct Slips {
    means: Vec<f64>,
    variances: Vec<f64>,
    information: f64,
}

impl Slips {
    fn new(prior: &Prior, points: &[Vec<f64>], rows: &[Vec<f64>], values: &[f64]) -> Self {
        let mut solved = solved(prior, points, rows, Some(values));
        let norm = |u: &Vec<f64>| dot(u, u).sqrt();
        let weights = norm(&solved.pop().unwrap());
        let n = rows.len() as f64;
        let trace: f64 = rows.iter().map(|x| prior.kernel().variance_at(x) + prior.noise()).sum();
        let unit = 16.0 * (n + 1.0) * EPS;
        let largest = points.iter().map(|x| prior.kernel().variance_at(x)).fold(0.0, f64::max);
        Self {
            means: solved.iter().map(|u| unit * (trace * norm(u) * weights + prior.mean().abs() + largest)).collect(),
            variances: solved.iter().map(|u| unit * (trace * norm(u).powi(2) + largest)).collect(),
            // ln det moves by the trace of the inverse, at most n/noise, times the change of the matrix.
            information: unit * (n * trace / prior.noise() + 1.0),
        }
    }
}

/// A root of a number known to `slip`.
fn root_slip(variance: f64, slip: f64) -> f64 {
    slip.sqrt().min(slip / variance.sqrt().max(f64::MIN_POSITIVE))
}

/// Checks a suggestion against the rule's definition, given the rows it knew and the candidates it could have had.
fn check(spec: &Spec, points: &[Vec<f64>], rows: &Rows, allowed: &[bool], s: &Suggestion) {
    let prior = maximized(spec);
    let seen = Oracle::new(&prior, points, &rows.observed, &rows.values);
    let all = Oracle::new(&prior, points, &rows.all(), &[]);
    let mean_slips = Slips::new(&prior, points, &rows.observed, &rows.values);
    let slips = Slips::new(&prior, points, &rows.all(), &vec![prior.mean(); rows.all().len()]);
    let information = if spec.strategy().rule == Rule::GpBucb { all.information } else { seen.information };
    let pending = rows.hallucinated.len() as f64;
    let xi = 1.0 + largest_eigenvalue(covariance(&prior, &rows.hallucinated, &rows.observed)) / prior.noise();
    let xi_slip = pending * mean_slips.variances.iter().copied().fold(0.0, f64::max) / prior.noise();

    let expected = multiplier(spec, s.trial + 1, information, xi);
    let moved = multiplier(spec, s.trial + 1, information + slips.information, xi + xi_slip);
    let multiplier_slip = moved - expected + 16.0 * EPS * expected;
    assert!(
        (s.choice.multiplier - expected).abs() <= multiplier_slip,
        "{} of {expected} +- {multiplier_slip:e}",
        s.choice.multiplier
    );

    let scores: Vec<f64> = seen.means.iter().zip(&all.variances).map(|(m, v)| m + expected * v.sqrt()).collect();
    let sd_slip = |i: usize| root_slip(all.variances[i], slips.variances[i]);
    let slip = |i: usize| {
        mean_slips.means[i]
            + moved * sd_slip(i)
            + multiplier_slip * all.variances[i].sqrt()
            + TIE * scores[i].abs().max(1.0)
    };
    let (i, mean) = (s.choice.candidate, sign(spec) * s.choice.mean);
    assert!(allowed[i] && s.point == points[i]);
    assert!((mean - seen.means[i]).abs() <= mean_slips.means[i], "mean {mean} of {}", seen.means[i]);
    assert!(
        (s.choice.sd - all.variances[i].sqrt()).abs() <= sd_slip(i),
        "sd {} of {}",
        s.choice.sd,
        all.variances[i].sqrt()
    );
    assert!((s.choice.score - scores[i]).abs() <= slip(i), "score {} of {}", s.choice.score, scores[i]);
    for j in (0..points.len()).filter(|&j| allowed[j]) {
        assert!(scores[i] + slip(i) >= scores[j] - slip(j), "{i} has {}, but {j} has {}", scores[i], scores[j]);
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
    fn a_certificate_is_the_best_lower_bound_over_all_checkpoints(seed: u64, steps in 0usize..14, early: bool) {
        let rng = &mut rng(seed);
        let spec = random_spec(rng, Rule::IgpBucb);
        let (prior, points) = (maximized(&spec), candidates(spec.domain()));
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
        let (mut upper, mut upper_slip) = (f64::INFINITY, 0.0);
        // Every (lower bound, its slip, candidate) of every moment.
        let mut lowers: Vec<(f64, f64, usize)> = vec![];
        let band = Spec::new(spec.domain().clone(), prior.clone(), spec.strategy().clone()).unwrap();
        for n in 0..=rows.len() {
            let then = Oracle::new(&prior, &points, &rows[..n], &values[..n]);
            let slips = Slips::new(&prior, &points, &rows[..n], &values[..n]);
            let alpha = multiplier(&band, 0, then.information, 1.0);
            let alpha_slip = multiplier(&band, 0, then.information + slips.information, 1.0) - alpha + 16.0 * EPS * alpha;
            let at = |i: usize| {
                let sd = then.variances[i].sqrt();
                let slip = slips.means[i] + alpha * root_slip(then.variances[i], slips.variances[i]) + alpha_slip * sd;
                (then.means[i], alpha * sd, slip)
            };
            let highest = (0..points.len()).map(|i| (at(i).0 + at(i).1, at(i).2)).max_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
            if highest.0 < upper {
                (upper, upper_slip) = highest;
            }
            lowers.extend((0..points.len()).map(|i| (at(i).0 - at(i).1, at(i).2, i)));
        }
        let &(lower, lower_slip, _) = lowers.iter().max_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
        prop_assert!(lower <= upper, "the black box keeps its assumptions");
        let tie = TIE * lower.abs().max(upper.abs()).max(1.0);
        let found = study.certificate().unwrap();
        let (low, high) = if sign(&spec) > 0.0 { (found.lower, found.upper) } else { (-found.upper, -found.lower) };
        prop_assert!((high - upper).abs() <= upper_slip + tie, "{high} of {upper} +- {upper_slip:e}");
        prop_assert!((low - lower).abs() <= lower_slip + tie, "{low} of {lower} +- {lower_slip:e}");
        prop_assert!((found.regret_bound - (upper - lower)).abs() <= upper_slip + lower_slip + 2.0 * tie);
        let has_bound = lowers.iter().any(|&(l, slip, i)| Some(i) == found.candidate && l + slip >= lower - lower_slip - tie);
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

/// Frequencies of the argmax of mean + factor z, z standard normal by Box and Muller.
fn argmax_frequencies(means: &[f64], covariance: &[Vec<f64>], draws: usize) -> Vec<f64> {
    let n = means.len();
    let mut factor = vec![vec![0.0; n]; n];
    for i in 0..n {
        for j in 0..=i {
            let rest = covariance[i][j] - dot(&factor[i][..j], &factor[j][..j]);
            factor[i][j] = if i == j { rest.sqrt() } else { rest / factor[j][j] };
        }
    }
    let (mut counts, rng) = (vec![0usize; n], &mut rng(11));
    let mut normal = || {
        let radius = (-2.0 * (1.0 - uniform(rng, 0.0, 1.0)).ln()).sqrt();
        radius * (std::f64::consts::TAU * uniform(rng, 0.0, 1.0)).cos()
    };
    for _ in 0..draws {
        let z: Vec<f64> = (0..n).map(|_| normal()).collect();
        let sample = |i: usize| means[i] + dot(&factor[i], &z);
        let best = (0..n).max_by(|&i, &j| sample(i).total_cmp(&sample(j))).unwrap();
        counts[best] += 1;
    }
    counts.into_iter().map(|count| count as f64 / draws as f64).collect()
}

#[test]
fn gp_bts_chooses_by_the_law_of_dense_cholesky_draws() {
    const SEEDS: usize = 20_000;
    const DRAWS: usize = 400_000;
    let axis = vec![0.0, 0.17, 0.4, 0.62, 1.0];
    let points: Vec<Vec<f64>> = axis.iter().map(|&x| vec![x]).collect();
    let kernel = Kernel::squared_exponential(&[0.3]).unwrap().with_variance(3.0).unwrap();
    let prior = Prior::new(kernel, 2.0, 0.1).unwrap();
    let asked = |trial, candidate| {
        let (params, mean, sd, multiplier, score, gap) = (vec![], 0.0, 0.0, 0.0, 0.0, None);
        let (phase, seen, engine) = (Phase::Rule, 0, ENGINE);
        Event::Asked(Asked {
            trial,
            choice: Choice { candidate, params, mean, sd, multiplier, score, gap, phase },
            seen,
            engine,
        })
    };
    // One failed and one pending beside two observed; their points stay hallucinated.
    let log = [
        asked(0, 1),
        asked(1, 3),
        asked(2, 0),
        asked(3, 4),
        Event::Told { trial: 1, value: 3.1 },
        Event::Failed { trial: 2, reason: "it broke".into() },
        Event::Told { trial: 0, value: 0.9 },
    ];
    let spec = |domain| {
        // Narrow, so that the means matter beside the spread.
        let strategy = Strategy { width: 0.1, ..Strategy::new(Rule::GpBts, 0.5) };
        let spec = Spec::new(domain, prior.clone(), strategy).unwrap();
        spec.with_direction(Direction::Minimize)
    };
    let scattered = spec(Domain::Points(Points::from_flat(1, axis.clone()).unwrap()));
    let rows = Rows::of(&Study::replay(scattered.clone(), &log).unwrap());
    let negated = maximized(&scattered);
    let seen = Oracle::new(&negated, &points, &rows.observed, &rows.values);
    let xi = 1.0 + largest_eigenvalue(covariance(&negated, &rows.hallucinated, &rows.observed)) / prior.noise();
    let v = 0.1 * multiplier(&scattered, 5, seen.information, xi);
    let mut scaled = covariance(&negated, &points, &rows.all());
    scaled.iter_mut().flatten().for_each(|c| *c *= v * v);
    let law = argmax_frequencies(&seen.means, &scaled, DRAWS);
    for spec in [scattered, spec(Domain::Grid(Grid::new(vec![axis]).unwrap()))] {
        let mut counts = [0usize; 5];
        for seed in 0..SEEDS {
            let mut study = Study::replay(spec.clone().with_seed(seed as u64), &log).unwrap();
            counts[study.ask(1).unwrap()[0].choice.candidate] += 1;
        }
        for (i, &p) in law.iter().enumerate() {
            let found = counts[i] as f64 / SEEDS as f64;
            let error = (p * (1.0 - p) * (1.0 / SEEDS as f64 + 1.0 / DRAWS as f64)).sqrt();
            assert!((found - p).abs() <= 5.0 * error, "candidate {i}: {found}, the law says {p} +- {error}");
        }
    }
}
