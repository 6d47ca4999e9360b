//! Expected improvement and its probability: gp-ei, gp-pi.

use super::dense::{Dense, Rounded, ranged};
use super::special::log_improvement;
use super::states::{KINDS, of, random_spec, visit};
use crate::common::{rng, se, study, uniform};
use manyhands_core::gp::{Points, Prior};
use manyhands_core::{Domain, Parameter, Phase, Rule, Space, Spec, Strategy, Study, Suggestion};

/// ln EI of every candidate: it grows with mean and sd and falls with tau.
fn expected_improvements(dense: &Dense) -> Vec<Rounded> {
    let score = |i: usize| match dense.sds[i] {
        (0.0, _) => (f64::NEG_INFINITY, 0.0),
        sd => ranged([dense.means[i], sd, dense.tau], |[mean, sd, tau]| log_improvement(mean, sd, tau)),
    };
    dense.scores(score)
}

#[test]
fn gp_ei_is_the_argmax_of_expected_improvement_in_random_states() {
    for seed in 0..56 {
        let rng = &mut rng(seed);
        let spec = random_spec(rng, KINDS[seed as usize % 4], of(Rule::GpEi));
        visit(&spec, rng, |before, s| {
            let dense = Dense::of(before);
            dense.assert_chosen(before, &expected_improvements(&dense), s);
            if dense.is_empty() {
                dense.assert_highest(&dense.sds, &dense.allowed, s);
            }
            assert_eq!(s.choice.multiplier, 0.0);
        });
    }
}

/// (mean - tau - zeta s0)/sd of every candidate.
fn standardized_improvements(dense: &Dense, zeta: f64) -> Vec<Rounded> {
    let score = |i: usize| match dense.sds[i] {
        (0.0, _) => (f64::NEG_INFINITY, 0.0),
        sd => ranged([dense.means[i], sd, dense.tau], |[mean, sd, tau]| (mean - tau - zeta * dense.scale) / sd),
    };
    dense.scores(score)
}

#[test]
fn gp_pi_is_the_argmax_of_the_standardized_improvement_in_random_states() {
    for seed in 0..56 {
        let rng = &mut rng(700 + seed);
        let zeta = [0.0, 0.01, uniform(rng, 0.0, 0.5)][seed as usize % 3];
        let spec = random_spec(rng, KINDS[seed as usize % 4], Strategy { zeta, ..of(Rule::GpPi) });
        visit(&spec, rng, |before, s| {
            let dense = Dense::of(before);
            // Nothing is known and nothing is asked for: the most uncertain candidate, by its sd.
            let is_all_the_same = dense.is_empty() && zeta == 0.0;
            let improvements = standardized_improvements(&dense, zeta);
            dense.assert_chosen(before, if is_all_the_same { &dense.sds } else { &improvements }, s);
            assert_eq!(s.choice.multiplier, 0.0);
        });
    }
}

#[test]
fn gp_ei_where_no_variance_is_left_takes_the_largest_sd() {
    // Independent candidates, all of them known; and a space over which the function is constant.
    let points: Vec<Vec<f64>> = (0..4).map(|i| vec![100.0 * f64::from(i)]).collect();
    let space = Space::new(vec![Parameter::float("x", 0.0, 1.0).unwrap()], vec![]).unwrap();
    let known = [(Domain::Points(Points::from_rows(&points).unwrap()), 1.0, 4), (Domain::Space(space), 1e9, 1)];
    for (domain, lengthscale, observed) in known {
        let prior = Prior::new(se(lengthscale), 0.0, 1e-20).unwrap();
        let mut study = study(&Spec::new(domain, prior, of(Rule::GpEi)).unwrap());
        for i in 0..observed {
            match study.spec().domain() {
                Domain::Space(_) => study.include(&[0.3.into()], Some(0.5)).unwrap(),
                _ => study.include_candidate(i, Some(0.5)).unwrap(),
            };
        }
        for suggestion in study.ask(3).unwrap() {
            assert_eq!((suggestion.choice.sd, suggestion.choice.score), (0.0, 0.0));
        }
        Study::verify(study.spec(), study.events()).unwrap();
    }
}

/// On a space: finds the maximum of a smooth function, with learned and given models.
#[test]
fn gp_ei_finds_the_optimum_on_a_space() {
    let space = Space::new(vec![Parameter::float("x", 0.0, 1.0).unwrap(), Parameter::int("n", 0, 3).unwrap()], vec![]);
    let domain = Domain::Space(space.unwrap());
    let value = |s: &Suggestion| -(s.point[0] - 0.62).powi(2) - 0.1 * (s.point[1] - 2.0 / 3.0).powi(2);
    let kernel = manyhands_core::gp::Kernel::matern(2.5, &[0.4, 0.8]).unwrap().with_variance(0.02).unwrap();
    let given = Spec::new(domain.clone(), Prior::new(kernel, 0.0, 1e-8).unwrap(), of(Rule::GpEi)).unwrap();
    for spec in [Spec::learned(domain, of(Rule::GpEi)).unwrap(), given] {
        let mut study = study(&spec);
        let mut best = f64::NEG_INFINITY;
        for _ in 0..8 {
            for s in study.ask(3).unwrap() {
                assert_eq!(s.choice.gap, None, "nothing is proven of expected improvement");
                best = best.max(value(&s));
                study.tell(s.trial, value(&s)).unwrap();
            }
        }
        assert!(best > -1e-4, "{best}, learned: {}", spec.learns());
        assert!(study.trials().iter().any(|trial| trial.phase() == Some(Phase::Rule)));
        Study::verify(study.spec(), study.events()).unwrap();
    }
}
