//! Random states of studies: what rules are asked in, and every pick of theirs shown to a check.

use crate::common::{f, line, rng, scattered, uniform};
use crate::oracle::definitions::Rows;
use manyhands_core::gp::{Covariance, Grid, Kernel, Points, Prior};
use manyhands_core::{Direction, Domain, Rule, Spec, Strategy, Study, Suggestion, TrialState};
use rand::{Rng, RngExt};

/// The kernels of the tests, by name: a number of them per rule.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    SquaredExponential,
    Matern(f64),
    Linear,
    /// A covariance matrix over the domain: candidates have no coordinates.
    Matrix,
}

/// What most rules are tested with: smooth, less smooth, of low rank, rough.
pub const KINDS: [Kind; 4] = [Kind::SquaredExponential, Kind::Matern(2.5), Kind::Linear, Kind::Matern(0.5)];

/// Enough for 40 observed trials, 8 others and a batch, without repeats.
const CANDIDATES: usize = 64;

fn random_domain(rng: &mut impl Rng) -> Domain {
    match rng.random_range(0..4) {
        0 => line(CANDIDATES),
        1 => scattered(rng, CANDIDATES, 2),
        2 => Domain::Grid(Grid::even(&[(0.0, 1.0, 8), (-0.5, 0.7, 8)]).unwrap()),
        _ => {
            let axis = vec![-0.4, 0.0, 0.1, 0.5, 0.9];
            Domain::Grid(Grid::new(vec![axis.clone(), vec![0.0, 0.3, 0.35, 0.8], vec![0.1, 0.2, 0.6, 1.0]]).unwrap())
        }
    }
}

/// A positive definite matrix: inner products of random features, and a little of their own for all.
fn random_matrix(rng: &mut impl Rng) -> Kernel {
    let features: Vec<Vec<f64>> = (0..CANDIDATES).map(|_| (0..6).map(|_| uniform(rng, -1.0, 1.0)).collect()).collect();
    let entry = |i: usize, j: usize| {
        let common: f64 = features[i].iter().zip(&features[j]).map(|(a, b)| a * b).sum();
        if i == j { common + 0.2 } else { common }
    };
    let entries = (0..CANDIDATES * CANDIDATES).map(|at| entry(at / CANDIDATES, at % CANDIDATES)).collect();
    Kernel::empirical(Covariance::new(CANDIDATES, entries).unwrap())
}

/// A kernel of this kind over a random domain, a prior mean other than 0, a variance other than 1, either direction, with
/// and without repeats.
pub fn random_spec(rng: &mut impl Rng, kind: Kind, strategy: Strategy) -> Spec {
    let lengthscale = [uniform(rng, 0.1, 0.6)];
    let (domain, kernel) = match kind {
        Kind::Matrix => (Domain::Points(Points::indices(CANDIDATES)), random_matrix(rng)),
        Kind::SquaredExponential => (random_domain(rng), Kernel::squared_exponential(&lengthscale).unwrap()),
        Kind::Matern(smoothness) => (random_domain(rng), Kernel::matern(smoothness, &lengthscale).unwrap()),
        Kind::Linear => (random_domain(rng), Kernel::linear(&lengthscale).unwrap()),
    };
    let variance = [0.05, 1.7, 40.0][rng.random_range(0..3)];
    let mean = [-3.0, 0.4, 12.0][rng.random_range(0..3)];
    let noise = variance * [1e-3, 0.02, 0.2][rng.random_range(0..3)];
    let prior = Prior::new(kernel.with_variance(variance).unwrap(), mean, noise).unwrap();
    let direction = [Direction::Maximize, Direction::Minimize][rng.random_range(0..2)];
    let spec = Spec::new(domain, prior, strategy).unwrap().with_direction(direction).with_seed(rng.next_u64());
    if rng.random_bool(0.5) { spec.without_repeats().unwrap() } else { spec }
}

/// A noisy value in the scale of the prior.
fn value(spec: &Spec, point: &[f64], rng: &mut impl Rng) -> f64 {
    let scale = spec.prior().kernel().variance().sqrt();
    spec.prior().mean() + scale * (f(point) + uniform(rng, -0.3, 0.3))
}

/// A rule, the rest at its defaults.
pub fn of(rule: Rule) -> Strategy {
    Strategy { rule, ..Strategy::auto() }
}

/// Workers whose trials fail or are cancelled now and then; `check` sees the study before every ask, and what was chosen.
pub fn walk(study: &mut Study, seed: u64, asks: usize, mut check: impl FnMut(&Study, &Suggestion)) {
    let rng = &mut rng(seed);
    let mut running: Vec<Suggestion> = vec![];
    for _ in 0..asks {
        let before = study.clone();
        let next = study.ask(1).unwrap().remove(0);
        check(&before, &next);
        running.push(next);
        while running.len() > rng.random_range(0..5) {
            let done = running.remove(rng.random_range(0..running.len()));
            match rng.random_range(0..12) {
                0 => study.fail(done.trial, "broke").unwrap(),
                1 => study.cancel(done.trial).unwrap(),
                _ => study.tell(done.trial, f(&done.point) + uniform(rng, -0.1, 0.1)).unwrap(),
            }
        }
    }
    Study::verify(study.spec(), study.events()).unwrap();
}

/// Asks, and shows every pick to `check` with the study that the pick was made in.
pub fn ask(study: &mut Study, count: usize, check: &mut impl FnMut(&Study, &Suggestion)) -> Vec<Suggestion> {
    let mut before = study.clone();
    let batch = study.ask(count).unwrap();
    for s in &batch {
        check(&before, s);
        let event = study.events()[before.events().len()].clone();
        before.apply(event).unwrap();
    }
    assert_eq!(before.events(), study.events());
    batch
}

/// A candidate that may be tried; with repeats it may be known already.
fn free_candidate(study: &Study, points: &[Vec<f64>], rng: &mut impl Rng) -> usize {
    let taken = Rows::of(study).all();
    loop {
        let candidate = rng.random_range(0..points.len());
        if study.spec().repeats() || !taken.contains(&points[candidate]) {
            return candidate;
        }
    }
}

fn tell(study: &mut Study, trial: usize, rng: &mut impl Rng) {
    let value = value(study.spec(), study.point(trial).unwrap(), rng);
    study.tell(trial, value).unwrap();
}

/// Observes at least this many, most of them elsewhere, some by the rule, whose picks may fail or be cancelled.
fn observe(study: &mut Study, observed: usize, rng: &mut impl Rng, check: &mut impl FnMut(&Study, &Suggestion)) {
    let points = super::dense::all_candidates(study.spec());
    while study.count(TrialState::Observed) < observed {
        if rng.random_bool(0.85) {
            let candidate = free_candidate(study, &points, rng);
            let value = value(study.spec(), &points[candidate], rng);
            study.include_candidate(candidate, Some(value)).unwrap();
            continue;
        }
        for s in ask(study, rng.random_range(1..=2), check) {
            match rng.random_range(0..8) {
                0 => study.cancel(s.trial).unwrap(),
                _ => tell(study, s.trial, rng),
            }
        }
    }
}

/// Leaves this many trials without a value: pending here or elsewhere, or failed; cancels some others.
fn leave(study: &mut Study, unfinished: usize, rng: &mut impl Rng, check: &mut impl FnMut(&Study, &Suggestion)) {
    let points = super::dense::all_candidates(study.spec());
    while Rows::of(study).hallucinated.len() < unfinished {
        let trial = if rng.random_bool(0.5) {
            let candidate = free_candidate(study, &points, rng);
            study.include_candidate(candidate, None).unwrap()
        } else {
            ask(study, 1, check).remove(0).trial
        };
        match rng.random_range(0..5) {
            0 => study.fail(trial, "broke").unwrap(),
            1 => study.cancel(trial).unwrap(),
            _ => {}
        }
    }
}

/// A state with 5 to 40 observed trials and up to 8 pending or failed ones, asked for 1 to 4 picks. The picks on the way
/// there are shown to `check` too, and sometimes a batch before the first value.
pub fn visit(spec: &Spec, rng: &mut impl Rng, mut check: impl FnMut(&Study, &Suggestion)) -> Study {
    let mut study = Study::new(spec.clone()).unwrap();
    if rng.random_bool(0.3) {
        for s in ask(&mut study, 3, &mut check) {
            tell(&mut study, s.trial, rng);
        }
    }
    observe(&mut study, rng.random_range(5..=38), rng, &mut check);
    leave(&mut study, rng.random_range(0..=8), rng, &mut check);
    ask(&mut study, rng.random_range(1..=4), &mut check);
    Study::verify(spec, study.events()).unwrap();
    study
}
