//! What every rule promises, whatever it maximizes: batches, pending points, replay.

use super::states::{Kind, ask, random_spec};
use crate::common::{config, line, rng, se, spec, study, uniform};
use manyhands_core::gp::{Kernel, Prior};
use manyhands_core::{
    Constraint, Domain, DppKind, Hallucination, Information, Parameter, Relation, Rule, Space, Spec, Strategy, Study,
    TrialState,
};
use proptest::prelude::*;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// What the rules need, none of them with a setting that it does not read.
fn strategies() -> impl Iterator<Item = Strategy> {
    let of = |rule: Rule| {
        let reads_beta = matches!(rule, Rule::GpUcb | Rule::GpUcbPe | Rule::Dpp | Rule::LocalPenalization);
        let needs_norm = matches!(rule, Rule::IgpBucb | Rule::GpBts | Rule::GpBucb | Rule::GpBucbBayesian);
        let (beta, norm_bound) = (reads_beta.then_some(4.0), needs_norm.then_some(1.0));
        Strategy { rule, beta, norm_bound, ..Strategy::auto() }
    };
    Rule::all().map(of)
}

/// A batch is one draw, by an eigendecomposition: too much work for many of them on spaces.
fn drawing() -> Strategy {
    Strategy { rule: Rule::Dpp, dpp: DppKind::Sample, beta: Some(4.0), ..Strategy::auto() }
}

/// A float, an integer and a choice under a constraint.
fn mixed() -> Domain {
    let parameters = vec![
        Parameter::float("x", 0.0, 2.0).unwrap(),
        Parameter::int("n", 1, 9).unwrap(),
        Parameter::choice("kind", &["a", "b", "c"]).unwrap(),
    ];
    let terms = vec![("x".to_string(), 1.0), ("n".to_string(), 0.25)];
    let limit = Constraint { terms, relation: Relation::AtMost, bound: 2.0 };
    Domain::Space(Space::new(parameters, vec![limit]).unwrap())
}

/// Specs with this strategy: given models over scattered points and over a mixed space, and a learned one.
fn specs(strategy: &Strategy, rng: &mut impl Rng) -> Vec<Spec> {
    let kernel = Kernel::matern(2.5, &vec![0.4; mixed().dimension()]).unwrap();
    let given = Spec::new(mixed(), Prior::new(kernel, 0.3, 0.01).unwrap(), strategy.clone());
    let learned = Spec::learned(mixed(), Strategy { design: Some(3), ..strategy.clone() });
    let on_spaces = [given, learned].into_iter().filter_map(|spec| match spec {
        // It counts the candidates of a finite domain.
        Err(_) if strategy.rule == Rule::GpBucbBayesian => None,
        spec => Some(spec.unwrap().with_nodes(20)),
    });
    on_spaces.chain([random_spec(rng, Kind::Matern(2.5), strategy.clone())]).collect()
}

fn settle(study: &mut Study, trial: usize, rng: &mut impl Rng) {
    match rng.random_range(0..8) {
        0 => study.fail(trial, "broke").unwrap(),
        1 => study.cancel(trial).unwrap(),
        _ => {
            let value = study.point(trial).unwrap().iter().map(|x| (3.0 * x).sin()).sum::<f64>();
            study.tell(trial, value + uniform(rng, 0.0, 0.1)).unwrap();
        }
    }
}

/// A few batches, of which something is left pending.
fn started(spec: &Spec, rng: &mut impl Rng) -> Study {
    let mut study = Study::new(spec.clone()).unwrap();
    for _ in 0..3 {
        for s in study.ask(rng.random_range(1..4)).unwrap() {
            if rng.random_bool(0.8) {
                settle(&mut study, s.trial, rng);
            }
        }
    }
    study
}

proptest! {
    #![proptest_config(config(1))]

    #[test]
    fn any_batch_of_any_rule_verifies_and_replays_bit_for_bit(seed: u64) {
        let rng = &mut rng(seed);
        for strategy in strategies() {
            let mut specs = specs(&strategy, rng);
            specs.push(random_spec(rng, Kind::SquaredExponential, drawing()));
            for spec in specs {
                let mut study = started(&spec.with_seed(seed), rng);
                let verified = Study::verify(study.spec(), study.events());
                prop_assert!(verified.is_ok(), "{}: {verified:?}", strategy.rule);
                let mut again = Study::replay(study.spec().clone(), study.events()).unwrap();
                prop_assert_eq!(again.ask(3).unwrap(), study.ask(3).unwrap());
            }
        }
    }

    #[test]
    fn asking_any_rule_for_five_is_asking_five_times(seed: u64) {
        let rng = &mut rng(seed);
        for strategy in strategies() {
            for spec in specs(&strategy, rng).into_iter().filter(Spec::is_finite) {
                let mut together = started(&spec.with_seed(seed), rng);
                let mut one_by_one = together.clone();
                let five: Vec<_> = (0..5).flat_map(|_| one_by_one.ask(1).unwrap()).collect();
                prop_assert_eq!(together.ask(5).unwrap(), five, "{}", strategy.rule);
            }
        }
    }

    #[test]
    fn asking_moves_no_mean(seed: u64) {
        let rng = &mut rng(seed);
        for strategy in strategies() {
            for spec in specs(&strategy, rng) {
                let mut study = started(&spec.with_seed(seed), rng);
                let places: Vec<Vec<f64>> = study.trials().iter().map(|t| study.point(t.number()).unwrap().to_vec()).collect();
                let values = study.count(TrialState::Observed);
                let means = |study: &Study| -> Vec<f64> {
                    study.predict(&places).unwrap().into_iter().map(|p| p.mean).collect()
                };
                // A learned model may be fitted when it is asked; after that it is the same model.
                study.ask(1).unwrap();
                let before = means(&study);
                ask(&mut study, 4, &mut |_, _| {});
                prop_assert_eq!((means(&study), study.count(TrialState::Observed)), (before, values), "{}", strategy.rule);
            }
        }
    }
}

#[test]
fn settings_that_a_rule_does_not_read_change_no_choice() {
    let unread = |strategy: &Strategy| {
        let changed = Strategy {
            norm_bound: Some(7.0),
            noise_bound: Some(0.7),
            information: Information::Log,
            hallucination: Hallucination::Number(9.0),
            ..strategy.clone()
        };
        let reads_width = matches!(strategy.rule, Rule::GpUcb | Rule::GpUcbPe | Rule::Dpp | Rule::LocalPenalization);
        if reads_width { changed } else { Strategy { width: 0.3, delta: 0.01, beta: Some(0.5), ..changed } }
    };
    let names = ["gp-ucb", "gp-ei", "gp-pi", "est", "pes", "asy-ts", "gp-ucb-pe", "dpp", "local-penalization"];
    let rules: Vec<Strategy> = strategies().filter(|strategy| names.contains(&strategy.rule.name())).collect();
    assert_eq!(rules.len(), names.len());
    for strategy in rules {
        let rng = &mut rng(17);
        for kind in [Kind::SquaredExponential, Kind::Matern(2.5)] {
            let seed = rng.next_u64();
            let spec = |strategy| random_spec(&mut ChaCha8Rng::seed_from_u64(seed), kind, strategy);
            let study = started(&spec(strategy.clone()), rng);
            let mut changed = Study::replay(spec(unread(&strategy)), study.events()).unwrap();
            let mut study = study;
            for _ in 0..2 {
                assert_eq!(study.ask(3).unwrap(), changed.ask(3).unwrap(), "{}", strategy.rule);
            }
        }
    }
}

#[test]
fn with_beta_0_the_first_batch_is_of_largest_sd() {
    for rule in [Rule::GpUcb, Rule::GpUcbPe, Rule::Dpp] {
        let strategy = Strategy { rule, beta: Some(0.0), ..Strategy::auto() };
        let mut study = study(&spec(line(40), se(0.2), strategy));
        let mut sd = f64::INFINITY;
        let mut chosen = vec![];
        for s in study.ask(4).unwrap() {
            assert!(s.choice.sd <= sd + 1e-12 && !chosen.contains(&s.choice.candidate), "{rule}");
            sd = s.choice.sd;
            chosen.push(s.choice.candidate);
        }
    }
}

#[test]
fn a_batch_drawn_on_a_space_has_valid_points_in_its_region_and_verifies() {
    let kernel = Kernel::matern(2.5, &vec![0.4; mixed().dimension()]).unwrap();
    let spec = Spec::new(mixed(), Prior::new(kernel, 0.3, 0.01).unwrap(), drawing()).unwrap();
    let space = mixed().space().unwrap().clone();
    let mut study = Study::new(spec.clone()).unwrap();
    for i in 1..6 {
        let params = [(0.1 * f64::from(i)).into(), (i64::from(i)).into(), "b".into()];
        study.include(&params, Some(f64::from(i % 3))).unwrap();
    }
    let before = study.clone();
    let tried: Vec<Vec<f64>> = (0..5).map(|trial| before.point(trial).unwrap().to_vec()).collect();
    // With beta 4: the best lower end that is known bounds that of the region from below.
    let floor = before.predict(&tried).unwrap().iter().map(|p| p.mean - 2.0 * p.sd).fold(f64::NEG_INFINITY, f64::max);
    for s in &study.ask(4).unwrap()[1..] {
        assert_eq!(space.embed(&s.choice.params).unwrap(), s.point);
        let there = before.predict(std::slice::from_ref(&s.point)).unwrap()[0];
        assert!(there.mean + 4.0 * there.sd >= floor - 1e-8, "{there:?}, {floor}");
        assert_eq!(s.choice.gap, None);
    }
    Study::verify(&spec, study.events()).unwrap();
    // A study that is opened again has the log alone.
    assert_eq!(Study::replay(spec, study.events()).unwrap().trials(), study.trials());
}
