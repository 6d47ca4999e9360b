//! Local penalization: the softened first term, the Lipschitz constant of the mean, a penalizer for each point without a value.
//!
//! | symbol | name | meaning |
//! |---|---|---|
//! | L | slope | the largest norm of the gradient of the mean, or the norm of the mean |
//! | M | tau | the highest mean at an observed point |
//! | \|\|x - x_j\|\| | distances | or the kernel's own metric, where there are no gradients |

use super::dense::{Dense, Rounded, highest, means, ranged, sds};
use super::special::{log_cdf, log_improvement};
use super::states::{KINDS, Kind, random_spec, visit};
use super::ucb::{in_place_of, random_width, ucb_width};
use crate::common::{dot, rng, solve, uniform};
use crate::oracle::definitions::{EPS, root_error_bound, solved};
use manyhands_core::gp::{Family, Kernel};
use manyhands_core::{BaseRule, Rule, Strategy, Study, Suggestion};
use rand_distr::{Distribution, StandardNormal};

/// The gradient of k(., y) at x, by the closed forms of the families that have one.
fn kernel_gradient(kernel: &Kernel, x: &[f64], y: &[f64]) -> Vec<f64> {
    let lengthscale = |d: usize| kernel.lengthscales()[d.min(kernel.lengthscales().len() - 1)];
    let scaled = |d: usize| (x[d] - y[d]) / lengthscale(d).powi(2);
    let r2: f64 = (0..x.len()).map(|d| (x[d] - y[d]) * scaled(d)).sum();
    let v = kernel.variance();
    let along = |factor: f64| (0..x.len()).map(|d| factor * scaled(d)).collect();
    match kernel.family() {
        Family::SquaredExponential => along(-v * (-0.5 * r2).exp()),
        Family::Matern { smoothness: 2.5 } => {
            let z = (5.0 * r2).sqrt();
            along(-v * 5.0 / 3.0 * (1.0 + z) * (-z).exp())
        }
        Family::Linear => (0..x.len()).map(|d| v * y[d] / lengthscale(d).powi(2)).collect(),
        other => panic!("{other:?} has no gradient here"),
    }
}

fn norm(u: &[f64]) -> f64 {
    dot(u, u).sqrt()
}

/// (K + noise I)^{-1} (y - prior mean), and n eps times the trace: how far a matrix may be off.
fn weights(dense: &Dense) -> (Vec<f64>, f64) {
    let (prior, rows) = (&dense.prior, &dense.rows);
    let w = solved(prior, &[], &rows.observed, Some(&rows.values)).remove(0);
    let trace: f64 = rows.observed.iter().map(|x| prior.kernel().variance_at(x) + prior.noise()).sum();
    (w, 16.0 * (rows.observed.len() as f64 + 1.0) * EPS * trace)
}

/// The largest norm of the gradient of the mean at a candidate. Each derivative is the inner product of w and a column of
/// derivatives of the kernel; it is off as a mean is, by the norms of both solutions times the change of the matrix.
fn steepest(dense: &Dense) -> Rounded {
    let ((w, change), rows) = (weights(dense), &dense.rows.observed);
    let kernel = dense.prior.kernel();
    let derivatives = |x: &Vec<f64>| -> Vec<Vec<f64>> {
        let gradients: Vec<Vec<f64>> = rows.iter().map(|row| kernel_gradient(kernel, x, row)).collect();
        (0..x.len()).map(|d| gradients.iter().map(|gradient| gradient[d]).collect()).collect()
    };
    let columns: Vec<Vec<f64>> = dense.points.iter().flat_map(derivatives).collect();
    let mut gram: Vec<Vec<f64>> = rows.iter().map(|a| rows.iter().map(|b| kernel.covariance(a, b)).collect()).collect();
    (0..rows.len()).for_each(|i| gram[i][i] += dense.prior.noise());
    let (solved, _) = solve(gram, columns.clone());
    let dimension = dense.points[0].len();
    let at = |i: usize| {
        let of = i * dimension..(i + 1) * dimension;
        let gradient: Vec<f64> = columns[of.clone()].iter().map(|column| dot(column, &w)).collect();
        let errors: Vec<f64> = solved[of].iter().map(|u| change * norm(u) * norm(&w)).collect();
        (norm(&gradient), norm(&errors) + 64.0 * EPS * norm(&gradient))
    };
    highest((0..dense.len()).map(at))
}

/// ||mean||_k = sqrt(w' K w).
fn mean_norm(dense: &Dense) -> Rounded {
    let ((w, change), rows) = (weights(dense), &dense.rows.observed);
    let section = |x: &Vec<f64>| rows.iter().zip(&w).map(|(row, w)| w * dense.prior.kernel().covariance(x, row)).sum();
    let kw: Vec<f64> = rows.iter().map(section).collect();
    let square = dot(&w, &kw).max(0.0);
    (square.sqrt(), root_error_bound(square, 2.0 * norm(&kw) * change * norm(&w) / dense.prior.noise()))
}

fn has_gradients(kernel: &Kernel) -> bool {
    match kernel.family() {
        Family::Empirical => false,
        Family::Matern { smoothness } => smoothness > 0.5,
        _ => true,
    }
}

/// L: 10 s0 where the mean is flat, 1 where its norm vanishes.
fn slope(dense: &Dense) -> Rounded {
    let (found, least, flat) = match has_gradients(dense.prior.kernel()) {
        _ if dense.is_empty() && has_gradients(dense.prior.kernel()) => ((0.0, 0.0), 1.0, 10.0 * dense.scale),
        _ if dense.is_empty() => ((0.0, 0.0), 1.0, 1.0),
        true => (steepest(dense), 1e-7 * dense.scale, 10.0 * dense.scale),
        false => (mean_norm(dense), 1e-7, 1.0),
    };
    if found.0 < least { (flat, EPS * flat) } else { found }
}

/// The distance of two points, or that of their kernel sections.
fn distance(kernel: &Kernel, x: &[f64], y: &[f64]) -> Rounded {
    if has_gradients(kernel) {
        let d = x.iter().zip(y).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
        return (d, 8.0 * EPS * d);
    }
    let (a, b) = (kernel.variance_at(x), kernel.variance_at(y));
    let square = (a - 2.0 * kernel.covariance(x, y) + b).max(0.0);
    (square.sqrt(), if x == y { 0.0 } else { root_error_bound(square, 8.0 * EPS * (a + b)) })
}

/// ln(ln(1 + e^a)).
fn log_softplus(a: f64) -> f64 {
    if a > 30.0 {
        (a + (-a).exp()).ln()
    } else if a < -30.0 {
        a - 0.5 * a.exp()
    } else {
        a.exp().ln_1p().ln()
    }
}

/// The score of every candidate.
fn scores(before: &Study, dense: &Dense, t: usize) -> Vec<Rounded> {
    let (spec, prior, rows) = (before.spec(), &dense.prior, &dense.rows);
    let (width, slope) = (ucb_width(spec, t).0, slope(dense));
    let centres = &rows.hallucinated;
    let (there, spread) = (means(prior, centres, rows), sds(prior, centres, &rows.observed));
    let term = |i: usize, j: usize| {
        let apart = distance(prior.kernel(), &dense.points[i], &centres[j]);
        if spread[j].0 == 0.0 {
            // f(x_j) is known: it is above or it is not.
            let is_above = slope.0 * apart.0 - dense.tau.0 + there[j].0 > 0.0;
            return (if is_above { 0.0 } else { f64::NEG_INFINITY }, 0.0);
        }
        ranged([slope, apart, dense.tau, there[j], spread[j]], |[slope, apart, tau, mean, sd]| {
            log_cdf((slope * apart - tau + mean) / sd)
        })
    };
    dense.scores(|i| {
        let first = match spec.strategy().base {
            BaseRule::GpUcb => ranged([dense.means[i], dense.sds_observed[i]], |[mean, sd]| {
                log_softplus((mean - prior.mean() + width * sd) / dense.scale)
            }),
            BaseRule::GpEi if dense.sds_observed[i].0 == 0.0 => (f64::NEG_INFINITY, 0.0),
            BaseRule::GpEi => ranged([dense.means[i], dense.sds_observed[i], dense.tau], |[mean, sd, tau]| {
                log_improvement(mean, sd, tau)
            }),
        };
        (0..centres.len()).map(|j| term(i, j)).fold(first, |(sum, error), (value, more)| (sum + value, error + more))
    })
}

fn check(before: &Study, s: &Suggestion) {
    let dense = Dense::of(before);
    let scores = scores(before, &dense, s.trial + 1);
    dense.assert_chosen(before, &scores, s);
}

#[test]
fn local_penalization_is_the_argmax_of_its_penalized_score_in_random_states() {
    let kinds = [KINDS[0], KINDS[1], KINDS[2], KINDS[3], Kind::Matrix];
    for seed in 0..60 {
        let rng = &mut rng(800 + seed);
        let base = [BaseRule::GpUcb, BaseRule::GpEi][usize::from(seed % 3 == 2)];
        let strategy = match base {
            BaseRule::GpUcb => random_width(Rule::LocalPenalization, rng),
            BaseRule::GpEi => Strategy { rule: Rule::LocalPenalization, ..Strategy::auto() },
        };
        let spec = random_spec(rng, kinds[seed as usize % 5], Strategy { base, ..strategy });
        visit(&spec, rng, check);
    }
}

#[test]
fn local_penalization_with_nothing_pending_is_gp_ucb() {
    let mut agreed = 0;
    for seed in 0..10 {
        let rng = &mut rng(900 + seed);
        let strategy = random_width(Rule::LocalPenalization, rng);
        let spec = random_spec(rng, KINDS[seed as usize % 4], strategy);
        let mut study = Study::new(spec.clone()).unwrap();
        let other = Strategy { rule: Rule::GpUcb, ..spec.strategy().clone() };
        for _ in 0..15 {
            let (dense, before) = (Dense::of(&study), study.clone());
            let s = study.ask(1).unwrap().remove(0);
            let (width, _) = ucb_width(&spec, s.trial + 1);
            let prior_mean = dense.prior.mean();
            // Candidates whose scores tie after the softening may be apart before it, by the reciprocal of its slope.
            let bound = |i: usize| {
                let ((mean, mean_error), (sd, sd_error)) = (dense.means[i], dense.sds[i]);
                let a = (mean - prior_mean + width * sd) / dense.scale;
                let tie = 1e-12 * dense.scale * (1.0 + log_softplus(a).abs()) * (1.0 + a.abs());
                (mean + width * sd, mean_error + width * sd_error + tie)
            };
            dense.assert_highest(&dense.scores(bound), &dense.allowed, &s);
            let upper_bounds = in_place_of(&before, other.clone()).ask(1).unwrap().remove(0);
            agreed += usize::from(s.choice.candidate == upper_bounds.choice.candidate);
            study.tell(s.trial, spec.prior().mean() + uniform(rng, -1.0, 1.0)).unwrap();
        }
    }
    assert!(agreed >= 145, "{agreed} of 150 choices are those of gp-ucb");
}

/// The penalizer is the probability that f(x_j) > M - L |x - x_j|.
#[test]
fn what_a_pending_point_takes_from_the_score_is_a_probability_by_simulation() {
    const DRAWS: usize = 100_000;
    for seed in 0..4 {
        let rng = &mut rng(950 + seed);
        let strategy = Strategy { rule: Rule::LocalPenalization, beta: Some(2.0), ..Strategy::auto() };
        let mut study = Study::new(random_spec(rng, KINDS[seed as usize % 2], strategy)).unwrap();
        for i in 0..6 {
            let value = study.spec().prior().mean() + uniform(rng, -1.0, 1.0);
            study.include_candidate(9 * i, Some(value)).unwrap();
        }
        let before = study.clone();
        let alone = study.ask(1).unwrap().remove(0);
        let without = scores(&before, &Dense::of(&before), 0);
        let (dense, s) = (Dense::of(&study), study.ask(1).unwrap().remove(0));
        // With beta given the width, and with it the first term, is the same for every trial.
        let (i, j) = (s.choice.candidate, alone.choice.candidate);
        let first = without[i].0;
        let reach = slope(&dense).0 * distance(dense.prior.kernel(), &dense.points[i], &dense.points[j]).0;
        let ((mean, _), (sd, _)) = (dense.means[j], dense.sds_observed[j]);
        let mut is_above = || {
            let z: f64 = StandardNormal.sample(rng);
            mean + sd * z > dense.tau.0 - reach
        };
        let share = (0..DRAWS).filter(|_| is_above()).count() as f64 / DRAWS as f64;
        let error = 5.0 * (share.max(1e-4) / DRAWS as f64).sqrt();
        let found = (s.choice.score - first).exp();
        assert!((found - share).abs() <= error, "a factor {found}, of draws {share} +- {error}");
    }
}

#[test]
fn the_gradients_of_kernels_here_are_those_of_finite_differences() {
    let (x, y) = ([0.3, -0.2], [0.45, 0.6]);
    let kernels = [Kernel::squared_exponential(&[0.4, 0.7]), Kernel::matern(2.5, &[0.5]), Kernel::linear(&[0.8])];
    for kernel in kernels.map(|kernel| kernel.unwrap().with_variance(3.0).unwrap()) {
        let gradient = kernel_gradient(&kernel, &x, &y);
        for d in 0..2 {
            let h = 1e-5;
            let at = |step: f64| {
                let mut moved = x;
                moved[d] += step;
                kernel.covariance(&moved, &y)
            };
            // Third derivatives are below 3/0.4^3 times 3, and a rounding is divided by h.
            let error = h * h * 150.0 / 6.0 + 8.0 * EPS * 3.0 / h;
            assert!(((at(h) - at(-h)) / (2.0 * h) - gradient[d]).abs() <= error);
        }
    }
}
