//! GP-UCB: the highest upper confidence bound with the width of Srinivas et al., and the rules that are it in special cases.

use super::dense::{Dense, Rounded, all_candidates};
use super::states::{KINDS, random_spec, visit};
use crate::common::{f, matern, rng, spec, study, uniform};
use crate::oracle::definitions::EPS;
use manyhands_core::gp::Points;
use manyhands_core::{Domain, Hallucination, Rule, Spec, Strategy, Study, Suggestion};
use rand::{Rng, RngExt};

/// sqrt(beta_t) of GP-UCB times `width`: beta_t = 2 ln(|D| t^2 pi^2/(6 delta)) unless `beta` gives it.
pub fn ucb_width(spec: &Spec, t: usize) -> Rounded {
    let Strategy { beta, delta, width, .. } = *spec.strategy();
    let candidates = all_candidates(spec).len() as f64;
    let theorem = 2.0 * (candidates * (t as f64 * std::f64::consts::PI).powi(2) / (6.0 * delta)).ln();
    let found = width * beta.unwrap_or(theorem).sqrt();
    (found, 16.0 * EPS * found)
}

/// mean + sqrt(beta_t) sd with the sd given pending and failed points too.
pub fn check_upper_bound(before: &Study, dense: &Dense, t: usize, s: &Suggestion) {
    check_width(before, dense, ucb_width(before.spec(), t), s);
}

fn check_width(before: &Study, dense: &Dense, (width, error): Rounded, s: &Suggestion) {
    let scores = dense.scores(|i| {
        let ((mean, mean_error), (sd, sd_error)) = (dense.means[i], dense.sds[i]);
        (mean + width * sd, mean_error + (width + error) * sd_error + error * sd + 4.0 * f64::EPSILON * mean.abs())
    });
    dense.assert_chosen(before, &scores, s);
    dense.assert_multiplier(s, (width, error));
}

/// Random constants of the width, some of them in place of the theorem's.
pub fn random_width(rule: Rule, rng: &mut impl Rng) -> Strategy {
    let beta = rng.random_bool(0.3).then(|| uniform(rng, 0.2, 9.0));
    let (delta, width) = (uniform(rng, 0.01, 0.5), uniform(rng, 0.1, 1.5));
    Strategy { rule, beta, delta, width, ..Strategy::auto() }
}

#[test]
fn gp_ucb_is_the_argmax_of_the_upper_bound_in_random_states() {
    for seed in 0..56 {
        let rng = &mut rng(200 + seed);
        let strategy = random_width(Rule::GpUcb, rng);
        let spec = random_spec(rng, KINDS[seed as usize % 4], strategy);
        visit(&spec, rng, |before, s| check_upper_bound(before, &Dense::of(before), s.trial + 1, s));
    }
}

/// The same log in a study of another rule: what it would choose in that state.
pub fn in_place_of(study: &Study, strategy: Strategy) -> Study {
    let given = study.spec();
    let spec = Spec::new(given.domain().clone(), given.prior().clone(), strategy).unwrap();
    let spec = spec.with_direction(given.direction()).with_seed(given.seed());
    let spec = if given.repeats() { spec } else { spec.without_repeats().unwrap() };
    Study::replay(spec, study.events()).unwrap()
}

#[test]
fn gp_ucb_is_gp_bucb_bayesian_without_a_factor_for_hallucination() {
    for seed in 0..12 {
        let rng = &mut rng(300 + seed);
        let strategy = Strategy { beta: None, ..random_width(Rule::GpUcb, rng) };
        let hallucination = Hallucination::Number(1.0);
        let other = Strategy { rule: Rule::GpBucbBayesian, hallucination, ..strategy.clone() };
        let spec = random_spec(rng, KINDS[seed as usize % 4], strategy);
        visit(&spec, rng, |before, s| {
            assert_eq!(&in_place_of(before, other.clone()).ask(1).unwrap()[0], s);
        });
    }
}

#[test]
fn gp_ucb_pe_of_one_worker_is_gp_ucb() {
    for seed in 0..8 {
        let rng = &mut rng(400 + seed);
        let strategy = random_width(Rule::GpUcb, rng);
        let explores = Strategy { rule: Rule::GpUcbPe, ..strategy.clone() };
        let mut study = Study::new(random_spec(rng, KINDS[seed as usize % 4], strategy)).unwrap();
        for _ in 0..20 {
            let mut other = in_place_of(&study, explores.clone());
            let s = study.ask(1).unwrap().remove(0);
            assert_eq!(other.ask(1).unwrap()[0], s);
            let value = study.spec().prior().mean() + uniform(rng, -1.0, 1.0);
            study.tell(s.trial, value).unwrap();
        }
    }
}

/// Two candidates with the same coordinates have the same score, and the first is taken.
#[test]
fn of_candidates_that_tie_the_lowest_is_chosen() {
    let points: Vec<Vec<f64>> = (0..40).map(|i| vec![f64::from(i / 2) / 20.0]).collect();
    for rule in Rule::all() {
        let domain = Domain::Points(Points::from_rows(&points).unwrap());
        let mut study = study(&spec(domain, matern(0.2), Strategy { rule, norm_bound: Some(1.0), ..Strategy::auto() }));
        for _ in 0..4 {
            for s in study.ask(3).unwrap() {
                assert_eq!(s.choice.candidate % 2, 0, "{rule}");
                study.tell(s.trial, f(&s.point)).unwrap();
            }
        }
    }
}

/// The paper's rules with a fixed multiplier: the highest mean + multiplier sd, whatever the theorem says.
#[test]
fn a_fixed_multiplier_takes_the_place_of_the_theorems() {
    for seed in 0..12 {
        let rng = &mut rng(450 + seed);
        let rule = [Rule::IgpBucb, Rule::GpBucb, Rule::GpBucbBayesian][seed as usize % 3];
        let fixed = uniform(rng, 0.2, 4.0);
        let strategy = Strategy { multiplier: Some(fixed), ..Strategy::new(rule, 1.0) };
        visit(&random_spec(rng, KINDS[seed as usize % 4], strategy), rng, |before, s| {
            check_width(before, &Dense::of(before), (fixed, 0.0), s);
        });
    }
}
