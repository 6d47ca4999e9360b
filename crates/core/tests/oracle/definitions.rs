//! The definitions that choices and certificates are compared with, computed by dense solves from scratch.

use manyhands_core::gp::Prior;
use manyhands_core::{Direction, Rule, Spec, Strategy, Study, TrialState};

use crate::common::{candidates, dot, solve};

pub const EPS: f64 = f64::EPSILON;

/// The pages' formulas: beta_t of Algorithm 1, v_t of Algorithm 2, and Theorem 2 of Desautels et al.
pub fn multiplier(spec: &Spec, t: usize, information: f64, xi: f64) -> f64 {
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

pub fn sign(spec: &Spec) -> f64 {
    if spec.direction() == Direction::Minimize { -1.0 } else { 1.0 }
}

/// The prior of the function that is maximized.
pub fn maximized(spec: &Spec) -> Prior {
    Prior::new(spec.prior().kernel().clone(), sign(spec) * spec.prior().mean(), spec.prior().noise()).unwrap()
}

/// The points of rows, and the values of those that have one, to be maximized.
#[derive(Default, Clone)]
pub struct Rows {
    pub observed: Vec<Vec<f64>>,
    pub values: Vec<f64>,
    pub hallucinated: Vec<Vec<f64>>,
}

impl Rows {
    pub fn of(study: &Study) -> Self {
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

    pub fn all(&self) -> Vec<Vec<f64>> {
        self.observed.iter().chain(&self.hallucinated).cloned().collect()
    }
}

/// (K + noise I)^{-1} applied to the column of every point, and to `values`.
pub fn solved(prior: &Prior, points: &[Vec<f64>], rows: &[Vec<f64>], values: Option<&[f64]>) -> Vec<Vec<f64>> {
    let k = |a: &Vec<f64>, b: &Vec<f64>| prior.kernel().covariance(a, b);
    let mut gram: Vec<Vec<f64>> = rows.iter().map(|a| rows.iter().map(|b| k(a, b)).collect()).collect();
    (0..rows.len()).for_each(|i| gram[i][i] += prior.noise());
    let mut sides: Vec<Vec<f64>> = points.iter().map(|x| rows.iter().map(|row| k(row, x)).collect()).collect();
    sides.extend(values.map(|values| values.iter().map(|y| y - prior.mean()).collect()));
    solve(gram, sides).0
}

/// The covariance of points given rows.
pub fn covariance(prior: &Prior, points: &[Vec<f64>], rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let k = |a: &Vec<f64>, b: &Vec<f64>| prior.kernel().covariance(a, b);
    let solved = solved(prior, points, rows, None);
    let given = |x: &Vec<f64>, u: &Vec<f64>, y: &Vec<f64>| {
        k(x, y) - dot(u, &rows.iter().map(|row| k(row, y)).collect::<Vec<_>>())
    };
    points.iter().zip(&solved).map(|(x, u)| points.iter().map(|y| given(x, u, y)).collect()).collect()
}

/// How far apart rounding may take two backward stable computations: each solves with a matrix off by n eps |K|, with |K|
/// at most the trace, so a bilinear form of solutions u and w moves by n eps |K| |u| |w|; sixteen times that, for two
/// solves and their constants.
pub struct ErrorBounds {
    pub means: Vec<f64>,
    pub variances: Vec<f64>,
    pub information: f64,
}

impl ErrorBounds {
    pub fn new(prior: &Prior, points: &[Vec<f64>], rows: &[Vec<f64>], values: &[f64]) -> Self {
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

/// How far off the root of a number is that is known to `error_bound`.
pub fn root_error_bound(variance: f64, error_bound: f64) -> f64 {
    error_bound.sqrt().min(error_bound / variance.sqrt().max(f64::MIN_POSITIVE))
}
