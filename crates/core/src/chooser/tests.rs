//! Moments and covariances of listed points, by the state of a rule, equal dense formulas on both kinds of domain.

use manyhands_gp::{Among, ConfidenceBound, Kernel, Key, LevelSet, Points, Posterior, Prior, StandardDeviation};

use super::point_score::by_differences;
use super::{Chooser, PointScore, chooser};
use crate::elimination::{dot, solve};
use crate::ledger::Ledger;
use crate::rules::{Pick, RuleState, StudyState};
use crate::tuning::LISTED_POINTS;
use crate::{Choice, Domain, Error, Parameter, Result, Rule, Space, Spec, Strategy};

const NOISE: f64 = 0.01;

/// k(x, y) - k(x, X) (K + noise I)^{-1} k(X, y), and k(x, X) (K + noise I)^{-1} y of the observed rows.
struct Dense<'a> {
    kernel: &'a Kernel,
    posterior: &'a Posterior,
    values: &'a [f64],
}

impl Dense<'_> {
    fn column(&self, x: &[f64], rows: usize) -> Vec<f64> {
        self.posterior.points().iter().take(rows).map(|row| self.kernel.covariance(row, x)).collect()
    }

    fn solved(&self, side: Vec<f64>) -> Vec<f64> {
        let points: Vec<&[f64]> = self.posterior.points().iter().take(side.len()).collect();
        let noise = |i: usize, j: usize| if i == j { NOISE } else { 0.0 };
        let entry = |i: usize, j: usize| self.kernel.covariance(points[i], points[j]) + noise(i, j);
        let gram = (0..side.len()).map(|i| (0..side.len()).map(|j| entry(i, j)).collect()).collect();
        solve(gram, vec![side]).0.remove(0)
    }

    fn mean(&self, x: &[f64]) -> f64 {
        dot(&self.solved(self.values.to_vec()), &self.column(x, self.values.len()))
    }

    fn covariance(&self, x: &[f64], y: &[f64], rows: usize) -> f64 {
        self.kernel.covariance(x, y) - dot(&self.solved(self.column(x, rows)), &self.column(y, rows))
    }
}

fn check(domain: Domain, point: impl Fn(&Spec, &Posterior, usize) -> Vec<f64>, listed: usize) {
    let kernel = Kernel::matern(2.5, &[0.4]).unwrap();
    let prior = Prior::new(kernel.clone(), 0.0, NOISE).unwrap();
    let spec = Spec::new(domain, prior.clone(), Strategy { rule: Rule::GpEi, ..Strategy::auto() }).unwrap();
    let mut chooser = chooser(&spec, &prior).unwrap();
    let mut posterior = Posterior::new(prior, 2).unwrap();
    let values = [0.3, -0.2, 0.9, 0.1];
    for (id, value) in values.into_iter().enumerate() {
        let x = point(&spec, &posterior, 3 * id);
        posterior.observe(Key { id: id as u64, site: 3 * id }, &x, value).unwrap();
    }
    for id in [4, 5] {
        let x = point(&spec, &posterior, 3 * id);
        posterior.hallucinate(Key { id: id as u64, site: 3 * id }, &x).unwrap();
    }
    let ledger = Ledger::default();
    let known = StudyState { spec: &spec, ledger: &ledger, posterior: &posterior, warp: None };
    let mut state = RuleState::new(known, &mut *chooser, Pick { trial: 6, by_rule: 0 });
    let dense = Dense { kernel: &kernel, posterior: &posterior, values: &values };
    let all = state.moments(Among::All, &|_, _| true).unwrap();
    assert_eq!(all.iter().map(|(index, _)| *index).collect::<Vec<_>>(), (0..listed).collect::<Vec<_>>());
    for (index, there) in all.iter().step_by(listed / 20) {
        let x = point(&spec, &posterior, *index);
        assert!((there.mean - dense.mean(&x)).abs() < 1e-9);
        assert!((there.sd.powi(2) - dense.covariance(&x, &x, 6)).abs() < 1e-9);
        assert!((there.sd_observed.powi(2) - dense.covariance(&x, &x, 4)).abs() < 1e-9);
    }
    let reaches = |mean: f64, variance: f64| mean + variance.sqrt() >= 0.7;
    let some = state.moments(Among::Eligible, &reaches).unwrap();
    assert!(all.iter().all(|(i, m)| !reaches(m.mean, m.sd * m.sd) || some.contains(&(*i, *m))) && some.len() < listed);
    let chosen = [1, 0, 7, 11, listed - 1];
    let covariance = state.covariance(&chosen).unwrap();
    for (i, &a) in chosen.iter().enumerate() {
        for (j, &b) in chosen.iter().enumerate() {
            let (x, y) = (point(&spec, &posterior, a), point(&spec, &posterior, b));
            assert!((covariance[i * chosen.len() + j] - dense.covariance(&x, &y, 6)).abs() < 1e-9);
        }
    }
    let choice = state.choice_of(7, 0).unwrap();
    assert_eq!((choice.mean, choice.sd, choice.score), (all[7].1.mean, all[7].1.sd, 0.0));
}

#[test]
fn listed_candidates_of_a_finite_domain_have_dense_moments_and_covariances() {
    let rows: Vec<Vec<f64>> = (0..60u32).map(|i| vec![f64::from(i * 37 % 60) / 60.0, f64::from(i) / 60.0]).collect();
    let points = Points::from_rows(&rows).unwrap();
    check(Domain::Points(points), |_, _, index| rows[index].clone(), 60);
}

#[test]
fn listed_points_of_a_space_have_dense_moments_and_covariances() {
    let float = |name: &str| Parameter::float(name, 0.0, 1.0).unwrap();
    let space = Space::new(vec![float("x"), float("y")], vec![]).unwrap();
    let point = |spec: &Spec, posterior: &Posterior, index: usize| {
        let Domain::Space(space) = spec.domain() else { return vec![] };
        super::listed::quasirandom_points(spec, space)
            .nth(index)
            .unwrap_or_else(|| posterior.points().get(index - LISTED_POINTS).to_vec())
    };
    check(Domain::Space(space), point, LISTED_POINTS + 4);
}

/// A score with its lengthscale, which counts the points that it is asked for.
struct Counted<F> {
    score: F,
    asked: usize,
}

impl<F: Fn(&[f64]) -> f64> PointScore for Counted<F> {
    fn value(&mut self, point: &[f64]) -> Result<f64> {
        self.asked += 1;
        Ok((self.score)(point))
    }

    fn value_and_slopes(&mut self, point: &[f64], along: &[usize], slopes: &mut [f64]) -> Result<f64> {
        by_differences(self, (point, along), |_| 0.4, slopes)
    }
}

/// The choice by this score on a domain with two rows, and how many points were scored.
fn chosen(spec: &Spec, chooser: &mut dyn Chooser, score: impl Fn(&[f64]) -> f64) -> Result<(Choice, usize)> {
    let mut posterior = Posterior::new(spec.prior().clone(), 2).unwrap();
    posterior.observe(Key { id: 0, site: 0 }, &[0.1, 0.2], 0.3).unwrap();
    posterior.hallucinate(Key { id: 1, site: 1 }, &[0.8, 0.4]).unwrap();
    let (ledger, mut score) = (Ledger::default(), Counted { score, asked: 0 });
    let known = StudyState { spec, ledger: &ledger, posterior: &posterior, warp: None };
    let mut state = RuleState::new(known, chooser, Pick { trial: 2, by_rule: 0 });
    let choice = state.argmax_by_point(&mut score)?;
    Ok((choice, score.asked))
}

fn spec_of(domain: Domain) -> Spec {
    let prior = Prior::new(Kernel::matern(2.5, &[0.4]).unwrap(), 0.0, NOISE).unwrap();
    Spec::new(domain, prior, Strategy { rule: Rule::GpEi, ..Strategy::auto() }).unwrap()
}

#[test]
fn a_score_of_points_is_asked_for_every_candidate_that_may_be_chosen_and_the_first_of_the_best_is() {
    let rows: Vec<Vec<f64>> = (0..60u32).map(|i| vec![f64::from(i * 37 % 60) / 60.0, f64::from(i) / 60.0]).collect();
    let spec = spec_of(Domain::Points(Points::from_rows(&rows).unwrap())).without_repeats().unwrap();
    let mut chooser = chooser(&spec, spec.prior()).unwrap();
    // Far from the tied ones, and equal within rounding on the second half.
    let score = |x: &[f64]| if x[1] < 0.5 { -x[0] } else { 3.0 - 1e-13 * x[1] };
    let (choice, asked) = chosen(&spec, &mut *chooser, score).unwrap();
    assert_eq!((choice.candidate, asked, choice.gap), (30, 60, Some(0.0)));
    assert_eq!(choice.score, score(&rows[30]));
    for taken in [30, 31] {
        chooser.set_taken(taken, true);
    }
    let (choice, asked) = chosen(&spec, &mut *chooser, score).unwrap();
    assert_eq!((choice.candidate, asked), (32, 58));
    // Nowhere finite: the point of largest sd.
    for nothing in [f64::NAN, f64::NEG_INFINITY] {
        let (choice, _) = chosen(&spec, &mut *chooser, |_| nothing).unwrap();
        assert_eq!(choice.score, choice.sd);
    }
    (0..60).filter(|i| ![30, 31].contains(i)).for_each(|i| chooser.set_taken(i, true));
    assert!(matches!(chosen(&spec, &mut *chooser, score), Err(Error::PoolExhausted { .. })));
}

#[test]
fn a_score_of_points_is_climbed_on_a_space_and_discrete_parameters_are_exchanged() {
    let parameters = vec![Parameter::float("x", 0.0, 1.0).unwrap(), Parameter::int("n", 0, 4).unwrap()];
    let spec = spec_of(Domain::Space(Space::new(parameters, vec![]).unwrap()));
    let score = |x: &[f64]| 2.0 - (x[0] - 0.37).powi(2) - (x[1] - 0.7).powi(2);
    let (choice, _) = chosen(&spec, &mut *chooser(&spec, spec.prior()).unwrap(), score).unwrap();
    assert_eq!((choice.params[1].clone(), choice.gap), (3.into(), None));
    // Differences err by 1e-16/6e-6, and the climb ends where a step gains less than 1e-15: 1e-7 off.
    assert!((choice.params[0].number().unwrap() - 0.37).abs() < 1e-6, "{choice:?}");
}

#[test]
fn the_largest_prior_variance_on_a_space_is_that_of_brute_force() {
    let parameters = vec![
        Parameter::float("x", 0.0, 2.0).unwrap(),
        Parameter::int("n", 1, 900).unwrap(),
        Parameter::choice("kind", &["a", "b", "c", "d", "e", "f", "g"]).unwrap(),
    ];
    let space = Space::new(parameters, vec![]).unwrap();
    let kernel = Kernel::linear(&vec![0.7; space.dimension()]).unwrap();
    let prior = Prior::new(kernel.clone(), 0.0, NOISE).unwrap();
    let spec =
        Spec::new(Domain::Space(space.clone()), prior.clone(), Strategy { rule: Rule::GpPi, ..Strategy::auto() });
    let chooser = chooser(&spec.unwrap(), &prior).unwrap();
    let kinds = ["a", "b", "c", "d", "e", "f", "g"].into_iter();
    let corners = kinds.flat_map(|kind| [0.0, 2.0].map(|x| [1i64, 900].map(|n| (x, n, kind)))).flatten();
    let variance =
        |(x, n, kind): (f64, i64, &str)| kernel.variance_at(&space.embed(&[x.into(), n.into(), kind.into()]).unwrap());
    let brute = corners.map(variance).fold(0.0, f64::max);
    assert_eq!(chooser.largest_variance(&prior), brute);
}

#[test]
fn a_region_that_no_candidate_is_in_is_found() {
    let parameters = ["x", "y"].map(|name| Parameter::float(name, 0.0, 1.0).unwrap()).to_vec();
    let spec = spec_of(Domain::Space(Space::new(parameters, vec![]).unwrap()));
    let mut chooser = chooser(&spec, spec.prior()).unwrap();
    let mut posterior = Posterior::new(spec.prior().clone(), 2).unwrap();
    for (id, (x, y)) in [([0.1, 0.2], 0.3), ([0.7, 0.6], 0.9), ([0.4, 0.9], -0.2)].into_iter().enumerate() {
        posterior.observe(Key { id: id as u64, site: id }, &x, y).unwrap();
    }
    let (ledger, upper) = (Ledger::default(), ConfidenceBound(0.5));
    let known = StudyState { spec: &spec, ledger: &ledger, posterior: &posterior, warp: None };
    let mut state = RuleState::new(known, &mut *chooser, Pick { trial: 3, by_rule: 0 });
    let top = state.argmax(&upper).unwrap().score;
    // A disc of some 1e-5 around the maximum.
    let region = LevelSet { acquisition: &upper, threshold: top - 1e-9 };
    let found = state.argmax_within(&StandardDeviation, &region).unwrap().expect("the region is not empty");
    assert!(found.mean + 0.5 * found.sd >= region.threshold && found.score == found.sd);
    let nowhere = LevelSet { acquisition: &upper, threshold: top + 1e-3 };
    assert!(state.argmax_within(&StandardDeviation, &nowhere).unwrap().is_none());
}
