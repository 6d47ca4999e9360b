//! What the tests of promises share: studies to run, a dense oracle, and a fixed configuration of proptest.

#[path = "../../../gp/tests/common/elimination.rs"]
mod elimination;
pub mod landscape;
pub mod mutation;
#[path = "../../../gp/tests/common/seeded.rs"]
mod seeded;

use manyhands_core::event::{Asked, ENGINE};
use manyhands_core::gp::{Grid, Kernel, Points, Prior};
use manyhands_core::{Choice, Domain, Event, Phase, Rule, Spec, Strategy, Study, Suggestion};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

pub use elimination::{dot, solve};
pub use seeded::config;

pub const RULES: [Rule; 4] = [Rule::IgpBucb, Rule::GpBts, Rule::GpBucb, Rule::GpBucbBayesian];
pub const NOISE: f64 = 0.01;

pub fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

pub fn uniform(rng: &mut impl Rng, low: f64, high: f64) -> f64 {
    rng.random_range(low..high)
}

pub fn se(lengthscale: f64) -> Kernel {
    Kernel::squared_exponential(&[lengthscale]).unwrap()
}

pub fn matern(lengthscale: f64) -> Kernel {
    Kernel::matern(2.5, &[lengthscale]).unwrap()
}

pub fn prior(kernel: Kernel) -> Prior {
    Prior::new(kernel, 0.0, NOISE).unwrap()
}

pub fn line(points: usize) -> Domain {
    Domain::Grid(Grid::even(&[(0.0, 1.0, points)]).unwrap())
}

pub fn scattered(rng: &mut impl Rng, points: usize, dimension: usize) -> Domain {
    let flat = (0..points * dimension).map(|_| uniform(rng, 0.0, 1.0)).collect();
    Domain::Points(Points::from_flat(dimension, flat).unwrap())
}

/// A black box with several local optima.
pub fn f(x: &[f64]) -> f64 {
    x.iter().map(|x| (3.0 * x).sin() + 0.5 * (9.0 * x).cos() - 0.3 * x).sum()
}

pub fn spec(domain: Domain, kernel: Kernel, strategy: Strategy) -> Spec {
    Spec::new(domain, prior(kernel), strategy).unwrap()
}

pub fn study(spec: &Spec) -> Study {
    Study::new(spec.clone()).unwrap()
}

/// S(t): the number of values that are known when trial t (from 1) is chosen.
pub type Mapping = fn(usize) -> usize;

/// Asks for `rounds` trials one at a time and tells their values in order, as the mapping says.
pub fn play(
    study: &mut Study,
    observed_before: Mapping,
    rounds: usize,
    value: impl Fn(&Suggestion) -> f64,
) -> Vec<Suggestion> {
    let mut suggestions: Vec<Suggestion> = Vec::new();
    let mut told = 0;
    for t in 1..=rounds + 1 {
        let known = if t <= rounds { observed_before(t) } else { rounds };
        suggestions[told..known].iter().for_each(|s| study.tell(s.trial, value(s)).unwrap());
        told = known;
        if t <= rounds {
            suggestions.extend(study.ask(1).unwrap());
        }
    }
    suggestions
}

/// S(t) of batches of M; batches of 1 are the sequential algorithm.
pub fn in_batches<const M: usize>(t: usize) -> usize {
    M * ((t - 1) / M)
}

/// S(t) where every value arrives M rounds late.
pub fn with_delay<const M: usize>(t: usize) -> usize {
    t.saturating_sub(M)
}

/// Mean and variance at every candidate, and G = (1/2) ln det(I + K/noise), from scratch.
pub struct Oracle {
    pub means: Vec<f64>,
    pub variances: Vec<f64>,
    pub information: f64,
}

impl Oracle {
    /// Given `rows`; the means from the `values` of the same rows (none: the prior's).
    pub fn new(prior: &Prior, candidates: &[Vec<f64>], rows: &[Vec<f64>], values: &[f64]) -> Self {
        let k = |a: &Vec<f64>, b: &Vec<f64>| prior.kernel().covariance(a, b);
        let mut gram: Vec<Vec<f64>> = rows.iter().map(|a| rows.iter().map(|b| k(a, b)).collect()).collect();
        (0..rows.len()).for_each(|i| gram[i][i] += prior.noise());
        let columns: Vec<Vec<f64>> = candidates.iter().map(|x| rows.iter().map(|row| k(row, x)).collect()).collect();
        let mut sides = columns.clone();
        sides.push(values.iter().map(|y| y - prior.mean()).collect());
        if values.is_empty() {
            sides.last_mut().unwrap().resize(rows.len(), 0.0);
        }
        let (solved, log_det) = solve(gram, sides);
        let weights = solved.last().unwrap();
        Self {
            means: columns.iter().map(|column| prior.mean() + dot(column, weights)).collect(),
            variances: candidates
                .iter()
                .zip(columns.iter().zip(&solved))
                .map(|(x, (column, solved))| (k(x, x) - dot(column, solved)).max(0.0))
                .collect(),
            information: 0.5 * (log_det - rows.len() as f64 * prior.noise().ln()),
        }
    }
}

pub fn candidates(domain: &Domain) -> Vec<Vec<f64>> {
    match domain {
        Domain::Points(points) => points.iter().map(<[f64]>::to_vec).collect(),
        Domain::Pool(pool) => pool.points().iter().map(<[f64]>::to_vec).collect(),
        Domain::Grid(grid) => (0..grid.len()).map(|i| grid.point(i)).collect(),
        Domain::Discretized { .. } | Domain::Space(_) => vec![],
    }
}

/// The lowest index within the tie of the highest value.
pub fn argmax(values: &[f64]) -> usize {
    let highest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    values.iter().position(|v| *v >= highest - 1e-12 * highest.abs().max(1.0)).unwrap()
}

/// What `work` gives on one thread and on two.
pub fn on_one_and_two_threads<T: Send>(work: impl Fn() -> T + Sync) -> [T; 2] {
    [1, 2].map(|threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(&work))
}

/// The largest eigenvalue of a symmetric matrix, by Jacobi's rotations.
pub fn largest_eigenvalue(mut a: Vec<Vec<f64>>) -> f64 {
    let n = a.len();
    for _ in 0..30 {
        for (p, q) in (0..n).flat_map(|p| (p + 1..n).map(move |q| (p, q))) {
            let angle = 0.5 * (2.0 * a[p][q]).atan2(a[q][q] - a[p][p]);
            let (sin, cos) = angle.sin_cos();
            for row in &mut a {
                (row[p], row[q]) = (cos * row[p] - sin * row[q], sin * row[p] + cos * row[q]);
            }
            for i in 0..n {
                (a[p][i], a[q][i]) = (cos * a[p][i] - sin * a[q][i], sin * a[p][i] + cos * a[q][i]);
            }
        }
    }
    (0..n).map(|i| a[i][i]).fold(0.0, f64::max)
}

/// A suggested trial as a log has it, with a posterior that nothing reads.
pub fn asked(trial: usize, candidate: usize) -> Event {
    let (params, mean, sd, multiplier, score, gap) = (vec![], 0.0, 0.0, 0.0, 0.0, None);
    let (phase, aim, sd_observed, interval) = (Phase::Rule, None, None, None);
    let choice = Choice { candidate, params, mean, sd, multiplier, score, gap, phase, aim, sd_observed, interval };
    Event::Asked(Asked { trial, choice, seen: 0, engine: ENGINE })
}

/// Rounds of three, with noise of this sd.
pub fn played(spec: &Spec, rounds: usize, noise: f64, truth: impl Fn(&[f64]) -> f64) -> Study {
    let (mut study, mut rng) = (Study::new(spec.clone()).unwrap(), rng(9));
    for _ in 0..rounds {
        for s in study.ask(3).unwrap() {
            let z: f64 = StandardNormal.sample(&mut rng);
            study.tell(s.trial, truth(&s.point) + noise * z).unwrap();
        }
    }
    study
}
