//! Data that no one plans for: a learned study answers, in finite numbers, or refuses and is as it was.

use crate::common::{config, rng, uniform};
use manyhands_core::gp::{Given, Kernel, Points};
use manyhands_core::study::Silence;
use manyhands_core::{
    Constraint, Direction, Domain, Error, Parameter, Relation, Rule, Space, Spec, Strategy, Study, Suggestion,
};
use proptest::prelude::*;

fn cube(dimension: usize) -> Domain {
    let axis = |i| Parameter::float(&format!("x{i}"), 0.0, 1.0).unwrap();
    Domain::Space(Space::new((0..dimension).map(axis).collect(), vec![]).unwrap())
}

fn pool(points: usize) -> Domain {
    let row = |i| vec![i as f64, (i * i % 7) as f64];
    Domain::Points(Points::from_rows(&(0..points).map(row).collect::<Vec<_>>()).unwrap())
}

fn learned(domain: Domain) -> Spec {
    Spec::learned(domain, Strategy::auto()).unwrap()
}

fn study(spec: &Spec) -> Study {
    Study::new(spec.clone()).unwrap()
}

fn check(s: &Suggestion) {
    let numbers = [s.choice.mean, s.choice.sd, s.choice.multiplier, s.choice.score];
    assert!(numbers.iter().chain(&s.point).all(|n| n.is_finite()) && s.choice.sd >= 0.0, "{s:?}");
}

/// Everything that a study says is finite.
fn check_all(live: &mut Study) {
    let point = live.point(0).unwrap().to_vec();
    let corner = vec![0.0; point.len()];
    for p in live.predict(&[point, corner]).unwrap() {
        assert!([p.mean, p.sd, p.sd_pending, p.lower, p.upper].iter().all(|n| n.is_finite()), "{p:?}");
        assert!(p.sd >= 0.0 && p.sd_pending >= 0.0 && p.lower <= p.upper, "{p:?}");
    }
    let best = live.best().unwrap();
    assert!(best.mean.is_finite() && best.lower.is_finite() && best.upper.is_finite());
    match live.certificate() {
        Ok(c) => assert!(c.upper.is_finite() && c.lower.is_finite() && c.upper >= c.lower && c.gap >= 0.0, "{c:?}"),
        Err(Error::NoTheorem) => assert!(!live.spec().states_theorems()),
        Err(error) => assert!(matches!(error, Error::Contradiction { .. }), "{error}"),
    }
    let outlook = live.outlook().unwrap();
    assert_eq!(outlook.gain.is_none(), outlook.silence.is_some());
    assert!(outlook.gain.is_none_or(|gain| gain.is_finite() && gain >= 0.0), "{outlook:?}");
    assert!(outlook.record.widened.is_finite() && outlook.record.widened >= 1.0, "{outlook:?}");
}

/// Rounds of asking and telling these values in turn, on a box and on a pool, by several rules, both ways.
fn survive(values: &[f64]) {
    let settings = [
        (Strategy::auto(), cube(2), Direction::Maximize),
        (Strategy::auto(), pool(40), Direction::Minimize),
        (Strategy::new(Rule::IgpBucb, 1.0), pool(40), Direction::Maximize),
        (Strategy::new(Rule::GpBts, 1.0), cube(2), Direction::Minimize),
    ];
    for (strategy, domain, direction) in settings {
        let spec = Spec::learned(domain, strategy).unwrap().with_direction(direction);
        let (mut live, mut told) = (study(&spec), 0);
        for count in [8, 1, 3, 3] {
            for s in live.ask(count).unwrap() {
                check(&s);
                live.tell(s.trial, values[told % values.len()]).unwrap();
                told += 1;
            }
            check_all(&mut live);
        }
        let batch = live.ask_adaptive(2, 5.0).unwrap();
        batch.suggestions.iter().for_each(check);
        let numbers = batch.worths.iter().chain(&batch.next).map(|o| o.improvement);
        assert!(numbers.into_iter().all(f64::is_finite), "{:?}", batch.worths);
        assert_eq!(Study::verify(&spec, live.events()).map(drop), Ok(()));
    }
}

#[test]
fn equal_values_give_finite_results() {
    survive(&[0.0]);
    survive(&[-3.7]);
    survive(&[1e-300]);
}

#[test]
fn enormous_and_minute_values_give_finite_results() {
    survive(&[1e300, -1e300, 0.5]);
    survive(&[1e300, 2e300]);
    survive(&[1e-300, -2e-300, 3e-300]);
    survive(&[1e300, 1e-300, -1.0, 0.0, -1e300, 7.0]);
    survive(&[f64::MIN_POSITIVE / 8.0, 0.0]);
}

#[test]
fn the_largest_floats_give_finite_results() {
    survive(&[f64::MAX]);
    survive(&[f64::MAX, -f64::MAX]);
    survive(&[f64::MAX, 1.0, 2.0]);
    survive(&[-f64::MAX, 1.0, 2.0, 1.5]);
}

#[test]
fn one_outlier_among_tame_values_gives_finite_results() {
    let mut values: Vec<f64> = (0..15).map(|i| f64::from(i).sin()).collect();
    for outlier in [1e9, -1e9, 1e40] {
        values[9] = outlier;
        survive(&values);
    }
}

/// No bound is finer than the floats that the values are.
fn check_bounds(live: &mut Study, largest: f64) {
    let least = 4.0 * f64::EPSILON * largest;
    let best = live.best().unwrap().regret_bound;
    assert!(best.is_none_or(|bound| bound.is_finite() && bound >= least), "{best:?}");
    if let Ok(certificate) = live.certificate() {
        assert!(certificate.regret_bound.is_finite() && certificate.regret_bound >= least, "{certificate}");
    }
}

#[test]
fn a_bound_is_never_finer_than_the_values() {
    for (values, count) in [(vec![1e17], 1), (vec![1e17], 9), (vec![1e17, 1e17 + 32.0], 9), (vec![f64::MAX], 9)] {
        for (domain, direction) in [(cube(2), Direction::Maximize), (pool(40), Direction::Minimize)] {
            let mut live = study(&learned(domain).with_direction(direction));
            for (i, s) in live.ask(count).unwrap().iter().enumerate() {
                live.tell(s.trial, values[i % values.len()]).unwrap();
            }
            live.ask(1).unwrap();
            check_bounds(&mut live, values[0]);
        }
    }
}

/// Models of which nothing or a part is given; what is given is in units of the values.
fn partly_given(mask: usize, domain: Domain) -> Spec {
    let some = |bit: usize, number: f64| (mask == bit).then_some(number);
    let given = Given { lengthscales: None, noise: some(1, 0.01), variance: some(2, 1.0), mean: some(3, 0.0) };
    Spec::learned_given(&Kernel::matern(2.5, &[1.0]).unwrap(), given, domain, Strategy::auto()).unwrap()
}

#[test]
fn given_noise_that_is_negligible_beside_an_extreme_value_gives_finite_results() {
    for (extreme, mask) in
        [2e220, -2e220, 1e300, f64::MAX, -1e308, 5e-324].into_iter().flat_map(|v| (1..4).map(move |m| (v, m)))
    {
        let mut live = study(&partly_given(mask, pool(40)));
        let value = |i: usize| if i == 9 { extreme } else { (i as f64).sin() };
        for count in [8, 3, 3, 1] {
            for s in live.ask(count).unwrap() {
                live.tell(s.trial, value(s.trial)).unwrap();
            }
        }
        live.ask(1).unwrap().iter().for_each(check);
        check_all(&mut live);
    }
}

proptest! {
    #![proptest_config(config(48))]

    #[test]
    fn a_study_with_values_of_any_magnitude_always_asks(
        values in prop::collection::vec((-323i32..=308, any::<bool>(), 1.0f64..1.79), 3..14),
        tame in 0usize..12,
        mask in 0usize..4,
        finite: bool,
    ) {
        let number = |&(exponent, negative, digits): &(i32, bool, f64)| {
            let size = digits * 10f64.powi(exponent / 2) * 10f64.powi(exponent - exponent / 2);
            if negative { -size } else { size }
        };
        let extreme = values.iter().map(number);
        let values: Vec<f64> = (0..tame).map(|i| (i as f64).cos()).chain(extreme).collect();
        let domain = if finite { pool(40) } else { cube(2) };
        let mut live = study(&partly_given(mask, domain));
        let mut left = values.as_slice();
        while !left.is_empty() {
            let (now, rest) = left.split_at(left.len().min(4));
            for (s, value) in live.ask(now.len()).unwrap().iter().zip(now) {
                check(s);
                live.tell(s.trial, *value).unwrap();
            }
            left = rest;
        }
        live.ask(2).unwrap().iter().for_each(check);
        check_all(&mut live);
        check_bounds(&mut live, values.iter().fold(0.0, |most: f64, v| most.max(v.abs())));
    }
}

/// A value that no fit expected, and then a value as usual: the study goes on with what is usual.
#[test]
fn values_of_another_size_than_all_before_are_learned() {
    let mut live = study(&learned(cube(1)));
    for s in live.ask(30).unwrap() {
        live.tell(s.trial, 1e-3 * (6.0 * s.point[0]).sin()).unwrap();
    }
    for s in live.ask(1).unwrap() {
        live.tell(s.trial, 1e3).unwrap();
    }
    check(&live.ask(1).unwrap()[0]);
    assert_eq!(live.best().unwrap().value, 1e3);
}

#[test]
fn one_observation_is_enough_to_go_on() {
    for domain in [cube(3), pool(9)] {
        let mut live = study(&Spec::learned(domain, Strategy { design: Some(0), ..Strategy::auto() }).unwrap());
        assert_eq!(live.best().map(|best| best.trial), Err(Error::NothingObserved));
        let first = live.ask(1).unwrap().remove(0);
        check(&first);
        live.tell(first.trial, 3.0).unwrap();
        check_all(&mut live);
        live.ask(4).unwrap().iter().for_each(check);
    }
}

#[test]
fn hundreds_of_repeats_of_one_point_give_finite_results() {
    for noise in [0.0, 0.5] {
        let (mut live, rng) = (study(&learned(cube(2))), &mut rng(1));
        for _ in 0..300 {
            live.include(&[0.5.into(), 0.25.into()], Some(1.0 + noise * uniform(rng, -1.0, 1.0))).unwrap();
        }
        let batch = live.ask(5).unwrap();
        batch.iter().for_each(check);
        assert!(batch.iter().all(|s| s.point != [0.5, 0.25]));
        check_all(&mut live);
    }
}

#[test]
fn two_parameters_that_are_always_equal_give_finite_results() {
    let (mut live, rng) = (study(&learned(cube(2))), &mut rng(2));
    for _ in 0..20 {
        let x = uniform(rng, 0.0, 1.0);
        live.include(&[x.into(), x.into()], Some((4.0 * x).sin())).unwrap();
    }
    live.ask(3).unwrap().iter().for_each(check);
    check_all(&mut live);
}

#[test]
fn fifty_parameters_and_a_batch_of_a_hundred_give_finite_results() {
    let mut live = study(&learned(cube(50)));
    for count in [12, 3] {
        for s in live.ask(count).unwrap() {
            check(&s);
            live.tell(s.trial, s.point.iter().sum()).unwrap();
        }
    }
    let mut live = study(&learned(cube(2)));
    for s in live.ask(30).unwrap() {
        live.tell(s.trial, s.point[0] * s.point[1]).unwrap();
    }
    let batch = live.ask(100).unwrap();
    assert_eq!(batch.len(), 100);
    batch.iter().for_each(check);
    check_all(&mut live);
}

#[test]
fn where_everything_was_tried_there_is_still_an_answer() {
    let coin = Space::new(vec![Parameter::choice("side", &["heads", "tails"]).unwrap()], vec![]).unwrap();
    let sum = Constraint { terms: vec![("a".into(), 1.0), ("b".into(), 1.0)], relation: Relation::AtLeast, bound: 2.0 };
    let axis = |name| Parameter::float(name, 0.0, 1.0).unwrap();
    let corner = Space::new(vec![axis("a"), axis("b")], vec![sum.clone()]).unwrap();
    let count = |name| Parameter::int(name, 0, 1).unwrap();
    let one = Space::new(vec![count("a"), count("b")], vec![sum]).unwrap();
    for space in [coin, corner, one] {
        let mut live = study(&learned(Domain::Space(space.clone())));
        for round in 0..6 {
            for s in live.ask(3).unwrap() {
                check(&s);
                assert_eq!(space.embed(&s.choice.params).unwrap(), s.point);
                live.tell(s.trial, s.point[0] + f64::from(round % 2)).unwrap();
            }
        }
        check_all(&mut live);
    }
}

#[test]
fn an_adaptive_batch_may_take_all_that_is_left_of_a_pool() {
    let mut live = study(&learned(pool(7)).without_repeats().unwrap());
    let batch = live.ask_adaptive(9, 1e300).unwrap();
    assert_eq!((batch.suggestions.len(), batch.next), (7, None));
}

#[test]
fn an_exhausted_pool_without_repeats_refuses() {
    let mut live = study(&learned(pool(3)).without_repeats().unwrap());
    assert_eq!(live.ask(4), Err(Error::PoolExhausted { asked: 4, left: 3 }));
    let mut seen = vec![];
    for _ in 0..3 {
        let s = live.ask(1).unwrap().remove(0);
        live.tell(s.trial, s.point[1]).unwrap();
        seen.push(s.choice.candidate);
    }
    seen.sort_unstable();
    assert_eq!(seen, [0, 1, 2]);
    assert_eq!(live.ask(1), Err(Error::PoolExhausted { asked: 1, left: 0 }));
    assert_eq!(live.ask_adaptive(2, 9.0).map(|_| ()), Err(Error::PoolExhausted { asked: 1, left: 0 }));
    let trial = live.trials().iter().position(|trial| trial.candidate() == 1).unwrap();
    assert_eq!(live.include_candidate(1, Some(2.0)), Err(Error::CandidateTaken { candidate: 1, trial }));
    check_all(&mut live);
}

#[test]
fn what_is_refused_changes_nothing() {
    let mut live = study(&learned(cube(2)));
    let s = live.ask(2).unwrap().remove(0);
    live.tell(s.trial, 0.3).unwrap();
    let mut untouched = live.clone();
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(matches!(live.tell(1, value), Err(Error::Value { trial: 1, .. })));
        assert!(matches!(live.include(&[0.5.into(), 0.5.into()], Some(value)), Err(Error::Value { .. })));
    }
    assert_eq!(live.ask(0), Err(Error::AskedForNone));
    assert!(live.include(&[0.5.into()], Some(1.0)).is_err() && live.include(&[2.0.into(), 0.5.into()], None).is_err());
    assert!(live.tell(0, 0.4).is_err() && live.tell(9, 0.4).is_err() && live.include_candidate(0, None).is_err());
    assert_eq!(live.events(), untouched.events());
    assert_eq!(live.ask(3).unwrap(), untouched.ask(3).unwrap());
}

#[test]
fn a_learned_model_gives_no_certificate_and_no_gain_without_a_scale() {
    let mut live = study(&learned(cube(2)));
    for _ in 0..30 {
        let s = live.ask(1).unwrap().remove(0);
        live.tell(s.trial, 1e17).unwrap();
        assert_eq!(live.certificate(), Err(Error::NoTheorem));
        assert_eq!(live.best().unwrap().regret_bound, None);
    }
    let outlook = live.outlook().unwrap();
    assert_eq!((outlook.gain, outlook.silence), (None, Some(Silence::NoScale)), "nothing says how much values vary");
}

#[test]
fn an_outlook_is_finite_or_silent_whatever_the_values() {
    let wild: [fn(usize, f64) -> f64; 6] = [
        |_, x| 1e300 * x,
        |_, x| 1e-300 * x,
        |i, x| if i == 25 { 1e308 } else { x },
        |i, x| if i % 7 == 0 { -1e12 } else { x },
        |i, _| f64::from((i * 7919 % 101) as u32),
        |_, x| 1e17 + 64.0 * x.round(),
    ];
    for value in wild {
        for (domain, direction) in [(cube(2), Direction::Minimize), (pool(40), Direction::Maximize)] {
            let mut live = study(&learned(domain).with_direction(direction));
            for _ in 0..10 {
                for s in live.ask(4).unwrap() {
                    live.tell(s.trial, value(s.trial, (3.0 * s.point[0]).sin())).unwrap();
                }
            }
            check_all(&mut live);
        }
    }
}

#[test]
fn studies_of_nothing_but_failures_or_noise_go_on() {
    for domain in [cube(2), pool(40)] {
        let (mut live, rng) = (study(&learned(domain.clone())), &mut rng(3));
        for s in (0..20).map(|_| live.ask(1).unwrap().remove(0)).collect::<Vec<_>>() {
            check(&s);
            live.fail(s.trial, "always").unwrap();
        }
        assert_eq!(live.best(), Err(Error::NothingObserved));
        let silence = live.outlook().unwrap().silence;
        assert!(matches!(silence, Some(Silence::TooEarly { .. })), "the units of the values are not known");
        let mut live = study(&learned(domain));
        for _ in 0..10 {
            for s in live.ask(3).unwrap() {
                check(&s);
                live.tell(s.trial, uniform(rng, -1.0, 1.0)).unwrap();
            }
        }
        check_all(&mut live);
    }
}
