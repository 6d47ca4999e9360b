//! Whatever happens to a study, in whatever order: its log verifies, and the log is the study.

use crate::common::{config, rng};
use manyhands_core::gp::{Kernel, Points, Prior};
use manyhands_core::{
    Constraint, Direction, Domain, Parameter, Relation, Rule, Space, Spec, Strategy, Study, TrialState,
};
use proptest::prelude::*;
use rand::{Rng, RngExt};

fn random_domain(rng: &mut impl Rng) -> Domain {
    let (x, n) = (Parameter::float("x", 0.0, 2.0).unwrap(), Parameter::int("n", 1, 9).unwrap());
    let kind = Parameter::choice("kind", &["a", "b"]).unwrap();
    let terms = vec![("x".to_string(), 1.0), ("n".to_string(), 0.25)];
    let limit = Constraint { terms, relation: Relation::AtMost, bound: 2.0 };
    match rng.random_range(0..5) {
        0 => Domain::Space(Space::new(vec![x], vec![]).unwrap()),
        1 => Domain::Space(Space::new(vec![x, n, kind], vec![]).unwrap()),
        2 => Domain::Space(Space::new(vec![x, n], vec![limit]).unwrap()),
        3 => Domain::Space(Space::new(vec![n, kind], vec![]).unwrap()),
        _ => Domain::Points(
            Points::from_rows(&(0..60).map(|i| vec![f64::from(i * i), 3.0]).collect::<Vec<_>>()).unwrap(),
        ),
    }
}

fn random_spec(rng: &mut impl Rng) -> Spec {
    let domain = random_domain(rng);
    let rule = [Rule::Auto, Rule::Auto, Rule::IgpBucb, Rule::GpBts, Rule::GpBucb][rng.random_range(0..5)];
    let strategy = Strategy::new(rule, 1.0);
    let repeats = !matches!(domain, Domain::Points(_)) || rng.random_bool(0.5);
    let spec = if rng.random_bool(0.7) {
        let (design, norm_bound) = (Some(rng.random_range(0..5)), rng.random_bool(0.5).then_some(1.0));
        Spec::learned(domain, Strategy { design, norm_bound, ..strategy })
    } else {
        let prior = Prior::new(Kernel::matern(2.5, &[0.5]).unwrap(), 0.0, 0.01).unwrap();
        Spec::new(domain, prior, strategy)
    };
    let direction = if rng.random_bool(0.5) { Direction::Minimize } else { Direction::Maximize };
    let spec = spec.unwrap().with_seed(rng.next_u64()).with_direction(direction).with_nodes(20);
    if repeats { spec } else { spec.without_repeats().unwrap() }
}

fn value(point: &[f64], rng: &mut impl Rng) -> f64 {
    let scale = if rng.random_bool(0.05) { 1e4 } else { 1.0 };
    scale * point.iter().map(|x| (3.0 * x).sin()).sum::<f64>()
}

/// Tells, fails or cancels a random pending trial.
fn settle(live: &mut Study, rng: &mut impl Rng) {
    let pending: Vec<usize> =
        live.trials().iter().filter(|t| t.state() == TrialState::Pending).map(|t| t.number()).collect();
    if pending.is_empty() {
        return;
    }
    let trial = pending[rng.random_range(0..pending.len())];
    match rng.random_range(0..10) {
        0 => live.fail(trial, "broke").unwrap(),
        1 => live.cancel(trial).unwrap(),
        _ => {
            let value = value(live.point(trial).unwrap(), rng);
            live.tell(trial, value).unwrap();
        }
    }
}

/// Adds a trial from elsewhere, running or finished.
fn include(live: &mut Study, rng: &mut impl Rng) {
    let told = rng.random_bool(0.5).then(|| rng.random_range(-2.0..2.0));
    match live.spec().domain().space().cloned() {
        Some(space) => {
            let point = space.sample(rng);
            live.include(&space.params(&point), told).unwrap();
        }
        // A candidate may be taken already.
        None => drop(live.include_candidate(rng.random_range(0..60), told)),
    }
}

/// Amends, restores or reopens a random trial, or says where it was really made; refused where its state does not allow it.
fn revise(live: &mut Study, rng: &mut impl Rng) {
    if live.trials().is_empty() {
        return;
    }
    let trial = rng.random_range(0..live.trials().len());
    let _ = match rng.random_range(0..6) {
        0 | 1 => live.amend(trial, Ok(rng.random_range(-2.0..2.0))),
        2 => live.amend(trial, Err("the well was empty".to_string())),
        3 => live.restore(trial),
        4 => live.reopen(trial),
        _ => match live.spec().domain().space().cloned() {
            Some(space) => live.amend_params(trial, &space.params(&space.sample(rng))),
            None => Ok(()),
        },
    };
}

/// Has a random point tried next, or forgets those that are to be tried.
fn enqueue(live: &mut Study, rng: &mut impl Rng) {
    let _ = match live.spec().domain().space().cloned() {
        _ if rng.random_bool(0.2) => live.clear_queue(),
        Some(space) => live.enqueue(&space.params(&space.sample(rng))),
        None => Ok(()),
    };
}

fn step(live: &mut Study, rng: &mut impl Rng) {
    match rng.random_range(0..16) {
        0 | 1 => drop(live.ask(rng.random_range(1..4)).unwrap()),
        2 => drop(live.ask_adaptive(3, rng.random_range(1.0..4.0)).unwrap()),
        3 => drop(live.propose(2).unwrap()),
        4 => {
            // Results arrive while a proposal is on its way into the log.
            let proposed = live.propose(2).unwrap();
            for event in proposed {
                if rng.random_bool(0.3) {
                    settle(live, rng);
                }
                if rng.random_bool(0.2) {
                    revise(live, rng);
                }
                live.apply(event).unwrap();
            }
        }
        5 => include(live, rng),
        12 | 13 => revise(live, rng),
        14 => enqueue(live, rng),
        6 => {
            let _ = (live.certificate(), live.best());
            live.predict(&[vec![0.5; live.spec().domain().dimension()]]).unwrap();
        }
        _ => settle(live, rng),
    }
}

fn walk(seed: u64) {
    let rng = &mut rng(seed);
    let spec = random_spec(rng);
    let mut live = Study::new(spec.clone()).unwrap();
    for _ in 0..25 {
        step(&mut live, rng);
    }
    assert_eq!(Study::verify(&spec, live.events()).map(drop), Ok(()), "seed {seed}");
    let at_once = Study::replay(spec.clone(), live.events()).unwrap();
    // Another process knew the log up to somewhere, had proposed events, and caught up.
    let known = rng.random_range(0..=live.events().len());
    let mut late = Study::replay(spec, &live.events()[..known]).unwrap();
    let _ = late.propose(2);
    late.extend(&live.events()[known..]).unwrap();
    let (before, asked) = (live.clone(), live.ask(2));
    let point = [vec![0.4; live.spec().domain().dimension()]];
    for mut again in [at_once, late] {
        assert_eq!(again.trials(), before.trials());
        assert_eq!(again.events(), before.events());
        assert_eq!(again.ask(2), asked, "seed {seed}");
        assert_eq!(again.predict(&point).unwrap(), live.predict(&point).unwrap(), "seed {seed}");
        assert_eq!(again.certificate(), live.certificate(), "seed {seed}");
    }
}

proptest! {
    #![proptest_config(config(40))]

    #[test]
    fn every_log_verifies_and_is_the_study(seed in 0u64..1_000_000) {
        walk(seed);
    }
}
