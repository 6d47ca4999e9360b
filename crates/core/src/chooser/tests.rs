//! Moments and covariances of listed points, by the state of a rule, equal dense formulas on both kinds of domain.

#[path = "../../../gp/tests/common/elimination.rs"]
mod elimination;

use elimination::{dot, solve};
use manyhands_gp::{Among, Kernel, Key, Points, Posterior, Prior};

use super::chooser;
use crate::ledger::Ledger;
use crate::rules::{Pick, RuleState, StudyState};
use crate::tuning::LISTED_POINTS;
use crate::{Domain, Parameter, Rule, Space, Spec, Strategy};

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
    let choice = state.choice_of(7, 1.5).unwrap();
    assert_eq!((choice.mean, choice.sd, choice.score), (all[7].1.mean, all[7].1.sd, 1.5));
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
        super::continuous::quasirandom_points(spec, space)
            .nth(index)
            .unwrap_or_else(|| posterior.points().get(index - LISTED_POINTS).to_vec())
    };
    check(Domain::Space(space), point, LISTED_POINTS + 4);
}
