//! What a study promises where its model is learned: valid points, a log that says all, and any units.

use crate::common::landscape::{auto, hills, square, study};
use crate::common::{config, on_one_and_two_threads, rng, uniform};
use manyhands_core::gp::{Hyperparameters, Kernel, Prior};
use manyhands_core::{
    Constraint, Direction, Domain, Error, Event, Parameter, Phase, Relation, Rule, Space, Spec, Strategy, Study,
    Suggestion, TrialState, Value,
};
use proptest::prelude::*;
use rand::{Rng, RngExt};

/// Random parameters of every kind, with a constraint or two that leave something.
fn random_space(rng: &mut impl Rng) -> Space {
    let mut parameters = vec![
        Parameter::float("x", -2.0, 3.0).unwrap(),
        Parameter::int("n", -3, 9).unwrap(),
        Parameter::float("y", 0.0, 1e3).unwrap(),
    ];
    let others = [
        Parameter::log_float("rate", 1e-6, 10.0).unwrap(),
        Parameter::log_int("width", 1, 5000).unwrap(),
        Parameter::levels("level", &[0.1, 0.5, 7.0]).unwrap(),
        Parameter::choice("kind", &["p", "q", "r"]).unwrap(),
        Parameter::choice("flag", &[true, false]).unwrap(),
        Parameter::constant("fixed", 4).unwrap(),
    ];
    parameters.extend(others.into_iter().filter(|_| rng.random_bool(0.5)));
    let sum = |terms: &[(&str, f64)], relation, bound| Constraint {
        terms: terms.iter().map(|(name, weight)| (name.to_string(), *weight)).collect(),
        relation,
        bound,
    };
    let constraints = match rng.random_range(0..4) {
        0 => vec![],
        1 => vec![sum(&[("x", 1.0), ("n", 0.5)], Relation::AtMost, 2.25)],
        2 => vec![sum(&[("x", 100.0), ("y", 1.0)], Relation::Equals, 600.0)],
        _ => vec![
            sum(&[("x", 1.0), ("n", 1.0)], Relation::AtLeast, 1.0),
            sum(&[("y", 1.0), ("n", 50.0)], Relation::AtMost, 500.0),
        ],
    };
    Space::new(parameters, constraints).unwrap()
}

fn check_valid(space: &Space, s: &Suggestion) {
    assert_eq!(space.embed(&s.choice.params).unwrap(), s.point, "the params are exactly the point");
    assert_eq!(space.params(&s.point), s.choice.params);
    assert!(s.point.iter().all(|u| (0.0..=1.0).contains(u)));
    assert!(
        [s.choice.mean, s.choice.sd, s.choice.score, s.choice.multiplier].iter().all(|number| number.is_finite())
            && s.choice.sd >= 0.0
    );
}

proptest! {
    #![proptest_config(config(4))]

    #[test]
    fn every_suggestion_is_valid_whatever_the_rule(seed in 0u64..1_000_000) {
        let rng = &mut rng(seed);
        let space = random_space(rng);
        let domain = Domain::Space(space.clone());
        let given = Prior::new(Kernel::matern(2.5, &vec![0.4; space.dimension()]).unwrap(), 0.0, 0.01).unwrap();
        let specs = [
            auto(domain.clone()).with_seed(seed),
            Spec::new(domain.clone(), given.clone(), Strategy::new(Rule::IgpBucb, 1.0)).unwrap().with_nodes(50),
            Spec::new(domain.clone(), given, Strategy::new(Rule::GpBts, 1.0)).unwrap().with_seed(seed),
            Spec::learned(domain.clone(), Strategy { design: Some(3), ..Strategy::new(Rule::IgpBucb, 1.0) }).unwrap(),
        ];
        let is_slow = |rule| rule == Rule::Pes;
        let design = |rule| is_slow(rule).then_some(2);
        let of = |rule| Strategy { beta: Some(4.0), design: design(rule), ..Strategy::new(rule, 1.0) };
        let by_rule = Rule::all().filter_map(|rule| match Spec::learned(domain.clone(), of(rule)) {
            // It counts the candidates of a finite domain.
            Err(Error::Incompatible { .. }) if rule == Rule::GpBucbBayesian => None,
            // It draws functions over all candidates of a finite domain.
            Err(Error::TooManyCandidates { .. }) if rule == Rule::Pes => None,
            spec => Some(spec.unwrap()),
        });
        for spec in specs.into_iter().chain(by_rule) {
            let mut live = study(&spec);
            let most = if is_slow(spec.strategy().rule) { 3 } else { 20 };
            for _ in 0..2 {
                for s in live.ask(rng.random_range(1..=most)).unwrap() {
                    check_valid(&space, &s);
                    live.tell(s.trial, s.point.iter().sum::<f64>().sin() + uniform(rng, 0.0, 0.01)).unwrap();
                }
            }
        }
    }
}

#[test]
fn the_first_design_has_no_point_twice_even_where_all_points_must_be_drawn() {
    let part = |name: &str| Parameter::float(name, 0.0, 1.0).unwrap();
    let terms = ["a", "b", "c"].map(|name| (name.to_string(), 1.0)).to_vec();
    let sum = Constraint { terms, relation: Relation::Equals, bound: 1.0 };
    let mixture = Space::new(vec![part("a"), part("b"), part("c")], vec![sum]).unwrap();
    let many = Space::new((0..120).map(|i| part(&format!("x{i}"))).collect(), vec![]).unwrap();
    for space in [mixture, many] {
        let batch = study(&auto(Domain::Space(space))).ask(8).unwrap();
        assert!(batch.iter().all(|s| s.choice.phase == Phase::Design));
        assert_distinct(&batch);
    }
}

fn assert_distinct(batch: &[Suggestion]) {
    for (i, a) in batch.iter().enumerate() {
        assert!(batch[..i].iter().all(|b| a.point != b.point), "{:?} twice", a.choice.params);
    }
}

/// A log of everything that can happen: batches, late and lost results, trials from elsewhere.
fn eventful(spec: &Spec) -> Study {
    let mut live = study(spec);
    live.include(&[0.9.into(), 0.9.into()], Some(hills(&[0.9, 0.9]))).unwrap();
    let elsewhere = live.include(&[0.1.into(), 0.2.into()], None).unwrap();
    for s in live.ask(6).unwrap() {
        live.tell(s.trial, hills(&s.point)).unwrap();
    }
    let late = live.ask(3).unwrap();
    live.fail(late[1].trial, "broke").unwrap();
    let more = live.ask(2).unwrap();
    live.tell(late[2].trial, hills(&late[2].point)).unwrap();
    live.cancel(more[0].trial).unwrap();
    live.tell(elsewhere, hills(&[0.1, 0.2])).unwrap();
    live.ask(1).unwrap();
    live.tell(more[1].trial, hills(&more[1].point)).unwrap();
    live.include(&[0.25.into(), 0.5.into()], None).unwrap();
    live.ask_adaptive(3, 10.0).unwrap();
    live.tell(late[0].trial, hills(&late[0].point)).unwrap();
    live
}

#[test]
fn replaying_a_log_gives_the_same_suggestions_and_predictions_and_verifies() {
    for spec in [auto(square()).with_seed(5), auto(square()).with_direction(Direction::Minimize)] {
        let mut live = eventful(&spec);
        assert!(live.events().iter().filter(|event| matches!(event, Event::Fitted(_))).count() >= 4);
        let mut again = Study::replay(spec.clone(), live.events()).unwrap();
        let points = vec![vec![0.2, 0.7], vec![0.9, 0.9], vec![0.0, 1.0]];
        assert_eq!(again.predict(&points).unwrap(), live.predict(&points).unwrap());
        assert_eq!(again.best().unwrap(), live.best().unwrap());
        assert_eq!(again.ask(3).unwrap(), live.ask(3).unwrap());
        assert_eq!(again.predict(&points).unwrap(), live.predict(&points).unwrap());
        assert_eq!(Study::verify(&spec, live.events()).map(drop), Ok(()));
    }
}

#[test]
fn telling_logs_one_value_and_never_a_fit() {
    let mut live = study(&auto(square()).with_seed(5));
    for s in live.ask(12).unwrap() {
        let before = live.events().len();
        live.tell(s.trial, hills(&s.point)).unwrap();
        assert!(matches!(live.events()[before..], [Event::Told { .. }]));
    }
    live.ask(1).unwrap();
    assert!(live.events().iter().any(|event| matches!(event, Event::Fitted(_))));
}

#[test]
fn a_log_with_a_fit_or_a_parameter_changed_is_not_verified() {
    let spec = auto(square());
    let events = eventful(&spec).events().to_vec();
    for (index, event) in events.iter().enumerate() {
        let mut changed = events.clone();
        match &mut changed[index] {
            Event::Fitted(fitted) => {
                let Hyperparameters { noise, .. } = &mut fitted.hyperparameters;
                *noise *= 1.0 + 1e-12;
            }
            Event::Asked(asked) => asked.choice.params[1] = Value::Float(0.123),
            _ => continue,
        }
        assert!(Study::verify(&spec, &changed).is_err(), "{event:?}");
    }
    let fit = events.iter().position(|event| matches!(event, Event::Fitted(_))).unwrap();
    let mut later = events.clone();
    if let Event::Fitted(fitted) = &mut later[fit] {
        fitted.seen += 2;
    }
    assert!(Study::verify(&spec, &later).is_err());
}

#[test]
fn proposing_without_applying_changes_nothing() {
    let spec = auto(square()).with_seed(3);
    let mut live = eventful(&spec);
    let mut proposing = live.clone();
    let point = [vec![0.4, 0.4]];
    let before = live.predict(&point).unwrap();
    assert!(matches!(proposing.propose(4).unwrap()[0], Event::Fitted(_)));
    proposing.fail(live.trials().iter().find(|t| t.state() == TrialState::Pending).unwrap().number(), "x").unwrap();
    live.fail(live.trials().iter().find(|t| t.state() == TrialState::Pending).unwrap().number(), "x").unwrap();
    assert_eq!(live.predict(&point).unwrap(), before);
    assert_eq!(proposing.ask(2).unwrap(), live.ask(2).unwrap());
    assert_eq!(proposing.events(), live.events());
}

#[test]
fn a_value_may_come_between_proposing_and_applying() {
    let spec = auto(square()).with_seed(4);
    let pending = |live: &Study| live.trials().iter().find(|t| t.state() == TrialState::Pending).unwrap().number();
    for applied in 0..3 {
        let mut live = eventful(&spec);
        let proposed = live.propose(2).unwrap();
        proposed[..applied].iter().for_each(|event| live.apply(event.clone()).unwrap());
        live.tell(pending(&live), 0.5).unwrap();
        proposed[applied..].iter().for_each(|event| live.apply(event.clone()).unwrap());
        assert_eq!(Study::verify(&spec, live.events()).map(drop), Ok(()), "{applied} applied before");
        let mut again = Study::replay(spec.clone(), live.events()).unwrap();
        // The fit did not know the value, so the next ask fits again.
        assert!(matches!(live.propose(1).unwrap()[0], Event::Fitted(_)), "{applied} applied before");
        assert_eq!(again.ask(2).unwrap(), live.ask(2).unwrap());
    }
}

#[test]
fn suggestions_do_not_depend_on_the_number_of_threads() {
    let [one, two] = on_one_and_two_threads(|| eventful(&auto(square())).events().to_vec());
    assert_eq!(one, two);
}

#[test]
fn minimizing_is_maximizing_the_negative() {
    let spec = auto(square()).with_seed(6);
    let (mut up, mut down) = (study(&spec), study(&spec.clone().with_direction(Direction::Minimize)));
    for _ in 0..3 {
        for (a, b) in up.ask(5).unwrap().iter().zip(down.ask(5).unwrap()) {
            assert_eq!(
                (&a.choice.params, a.choice.mean, a.choice.sd, a.choice.score),
                (&b.choice.params, -b.choice.mean, b.choice.sd, b.choice.score)
            );
            up.tell(a.trial, hills(&a.point)).unwrap();
            down.tell(b.trial, -hills(&a.point)).unwrap();
        }
    }
    let points = [vec![0.5, 0.5], vec![0.3, 0.6]];
    for (a, b) in up.predict(&points).unwrap().iter().zip(down.predict(&points).unwrap()) {
        assert_eq!((a.mean, a.sd, a.lower, a.upper), (-b.mean, b.sd, -b.upper, -b.lower));
    }
    let (a, b) = (up.best().unwrap(), down.best().unwrap());
    assert_eq!((a.trial, a.lower, a.upper, a.sd), (b.trial, -b.upper, -b.lower, b.sd));
    assert_eq!(up.best_cautious().unwrap().trial, down.best_cautious().unwrap().trial);
    assert_eq!(up.outlook().unwrap(), down.outlook().unwrap());
    for (a, b) in up.suggestions().iter().zip(down.suggestions()) {
        assert_eq!(a.choice.interval, b.choice.interval.map(|[lower, upper]| [-upper, -lower]));
    }
}

#[test]
fn pending_points_count_wherever_they_run() {
    let spec = auto(square()).with_seed(7);
    let mut live = study(&spec);
    for s in live.ask(10).unwrap() {
        live.tell(s.trial, hills(&s.point)).unwrap();
    }
    let mut elsewhere = live.clone();
    let favourite = live.ask(1).unwrap().remove(0);
    elsewhere.include(&favourite.choice.params, None).unwrap();
    let moved = elsewhere.ask(1).unwrap().remove(0);
    assert_ne!(moved.point, favourite.point);
    let batch = live.ask(15).unwrap();
    assert_distinct(&batch);
    for s in batch {
        live.tell(s.trial, hills(&s.point)).unwrap();
    }
    for _ in 0..15 {
        let s = live.ask(1).unwrap().remove(0);
        assert!((0..s.trial).all(|trial| live.point(trial).unwrap() != s.point), "{:?} twice", s.choice.params);
        live.tell(s.trial, hills(&s.point)).unwrap();
    }
}

#[test]
fn what_is_known_already_is_used_before_any_ask() {
    let mut live = study(&auto(square()));
    let grid: Vec<[f64; 2]> = (0..16).map(|i| [f64::from(i % 4) / 3.0, f64::from(i / 4) / 3.0]).collect();
    for x in &grid {
        live.include(&[x[0].into(), x[1].into()], Some(hills(x))).unwrap();
    }
    let best = (0..16).max_by(|&a, &b| hills(&grid[a]).total_cmp(&hills(&grid[b]))).unwrap();
    assert_eq!(live.best().unwrap().trial, best);
    assert_eq!(live.best().unwrap().value, hills(&grid[best]));
    let told = live.predict(&[grid[best].to_vec()]).unwrap()[0];
    assert!((told.mean - hills(&grid[best])).abs() <= 4.0 * told.sd + 0.02, "{told:?}");
    let next = live.ask(1).unwrap().remove(0);
    assert_eq!(next.choice.phase, Phase::Rule, "the design is made of what is known");
}

/// Tells `scale f + shift` at fixed points, then asks.
fn rescaled(scale: f64, shift: f64) -> (Vec<Suggestion>, Study) {
    let mut live = study(&auto(square()));
    let rng = &mut rng(11);
    for _ in 0..14 {
        let x = [uniform(rng, 0.0, 1.0), uniform(rng, 0.0, 1.0)];
        live.include(&[x[0].into(), x[1].into()], Some(scale * hills(&x) + shift)).unwrap();
    }
    (live.ask(3).unwrap(), live)
}

#[test]
fn the_units_of_values_do_not_matter() {
    let (base, live) = rescaled(1.0, 0.0);
    let point = [vec![0.35, 0.5], vec![0.9, 0.9]];
    for (scale, shift) in [(1e6, -3e7), (1e-6, 2e-5), (1024.0, 0.0)] {
        let (same, scaled) = rescaled(scale, shift);
        for (a, b) in base.iter().zip(&same) {
            // Shifts cost digits, which the climbs feel.
            let apart = a.point.iter().zip(&b.point).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(apart <= if shift == 0.0 { 0.0 } else { 1e-6 }, "{scale}: {apart}");
        }
        for (a, b) in live.predict(&point).unwrap().iter().zip(scaled.predict(&point).unwrap()) {
            let near = |a: f64, b: f64| (a - b).abs() <= 1e-5 * scale;
            assert!(near(scale * a.mean + shift, b.mean) && near(scale * a.sd, b.sd), "{a:?} {b:?}");
            assert!(near(scale * a.lower + shift, b.lower) && near(scale * a.upper + shift, b.upper));
        }
    }
}

#[test]
fn told_values_are_predicted_where_they_were_told_however_heavy_the_tail() {
    let steep: [fn(f64) -> f64; 3] = [|x| (10.0 * x).exp(), |x| -(10.0 * x).exp(), |x| (6.0 * x).sin()];
    for f in steep {
        let line = Space::new(vec![Parameter::float("x", 0.0, 1.0).unwrap()], vec![]).unwrap();
        let mut live = study(&auto(Domain::Space(line)));
        for _ in 0..12 {
            let s = live.ask(1).unwrap().remove(0);
            live.tell(s.trial, f(s.point[0])).unwrap();
        }
        live.ask(1).unwrap();
        let values: Vec<f64> = live.trials().iter().filter_map(|t| t.value()).collect();
        let range = values.iter().fold(f64::NEG_INFINITY, |m, v| m.max(*v))
            - values.iter().fold(f64::INFINITY, |m, v| m.min(*v));
        for trial in live.trials().iter().filter(|t| t.value().is_some()) {
            let there = live.predict(&[live.point(trial.number()).unwrap().to_vec()]).unwrap()[0];
            let off = (there.mean - trial.value().unwrap()).abs();
            assert!(off <= 5.0 * there.sd + 1e-3 * range, "{off}, sd {}", there.sd);
        }
    }
}

#[test]
fn a_fit_that_does_not_suit_the_space_is_refused_and_changes_nothing() {
    let mut live = study(&auto(square()));
    for s in live.ask(5).unwrap() {
        live.tell(s.trial, hills(&s.point)).unwrap();
    }
    live.ask(1).unwrap();
    let before = live.predict(&[vec![0.3, 0.6]]).unwrap();
    let mut fitted = live.fitted().unwrap().clone();
    fitted.hyperparameters.lengthscales.pop();
    assert!(matches!(live.apply(Event::Fitted(fitted.clone())), Err(Error::BadLog { .. })));
    fitted.hyperparameters.lengthscales = vec![0.3, f64::NAN];
    assert!(live.apply(Event::Fitted(fitted)).is_err());
    assert_eq!(live.predict(&[vec![0.3, 0.6]]).unwrap(), before);
}

#[test]
fn an_evaluation_from_elsewhere_keeps_the_numbers_it_was_given() {
    let parameters = vec![Parameter::float("x", -5.0, 10.0).unwrap(), Parameter::log_float("lr", 1e-5, 0.1).unwrap()];
    let space = Space::new(parameters, vec![]).unwrap();
    let spec = Spec::learned(Domain::Space(space), Strategy::auto()).unwrap();
    let mut live = Study::new(spec.clone()).unwrap();
    live.include(&[1.into(), 0.001.into()], Some(2.0)).unwrap();
    assert_eq!(live.trials()[0].logged_params(), [Value::Float(1.0), Value::Float(0.001)]);
    live.ask(3).unwrap();
    let replayed = Study::replay(spec.clone(), live.events()).unwrap();
    assert_eq!(replayed.point(0).unwrap(), live.point(0).unwrap());
    Study::verify(&spec, live.events()).unwrap();
}
