//! Events survive being written and read, bit for bit; what was not written by `encode` never does harm.

use manyhands_core::event::{ActualSetting, Amended, Asked, ENGINE, Enqueued, EventKind, Fitted, Included};
use manyhands_core::gp::{Hyperparameters, KernelStructure, Warp};
use manyhands_core::{
    Aim, Choice, Direction, Domain, Event, Parameter, Phase, Space, Spec, Strategy as Rule, Study, Value,
};
use proptest::prelude::*;

use super::common::runner;
use crate::codec::{decode, encode};
use crate::error::Damage;
use crate::record::Record;
use crate::{Error, Time};

const KINDS: [&str; 7] = ["asked", "fitted", "included", "told", "failed", "cancelled", "late"];

/// Any finite number: half of them from any bits, half of them where writing numbers goes wrong.
fn number() -> impl Strategy<Value = f64> {
    let hard = [0.0, -0.0, 1.0, -3.0, 1e16, 1e22, f64::MAX, f64::MIN, f64::MIN_POSITIVE, f64::EPSILON, 5e-324, -5e-324];
    let near = (prop::sample::select(hard.to_vec()), -3i64..=3)
        .prop_map(|(x, step)| f64::from_bits(x.to_bits().wrapping_add_signed(step)));
    prop_oneof![any::<u64>().prop_map(f64::from_bits), near].prop_filter("finite", |x| x.is_finite())
}

/// Any text, with what JSON and databases trip over.
fn text() -> impl Strategy<Value = String> {
    let hard = [
        "",
        "\0",
        "\"\\/\n\r\t\u{b}\u{1f}",
        "NaN",
        "null",
        "1.0",
        "\u{2028}\u{feff}\u{10ffff}",
        "'; DROP TABLE events; --",
    ];
    let any = prop::collection::vec(any::<char>(), 0..12).prop_map(String::from_iter);
    prop_oneof![any, prop::sample::select(hard.to_vec()).prop_map(str::to_string)]
}

fn count() -> impl Strategy<Value = usize> {
    prop_oneof![0usize..1000, Just(usize::MAX >> 1), any::<u32>().prop_map(|n| n as usize)]
}

fn params() -> impl Strategy<Value = Vec<Value>> {
    let int = prop_oneof![any::<i64>(), Just(i64::MIN), Just(i64::MAX)];
    let value = prop_oneof![
        number().prop_map(Value::Float),
        int.prop_map(Value::Int),
        text().prop_map(Value::Text),
        any::<bool>().prop_map(Value::Bool),
    ];
    prop::collection::vec(value, 0..6)
}

fn warp() -> impl Strategy<Value = Warp> {
    prop::collection::vec(number(), 5).prop_filter_map("a warp", |n| Warp::from_numbers([n[0], n[1], n[2], n[3], n[4]]))
}

fn event() -> impl Strategy<Value = Event> {
    let phase = prop::sample::select(vec![Phase::Design, Phase::Initial, Phase::Rule]);
    let numbers = (number(), number(), number(), number(), prop::option::of(number()));
    let aim = prop::option::of(prop::sample::select(vec![Aim::Design, Aim::Greedy, Aim::Wide, Aim::Exploring]));
    let expected = (aim, prop::option::of(number()), prop::option::of([number(), number()]));
    let asked = (count(), count(), params(), numbers, (phase, expected), count(), 1..=u32::MAX).prop_map(
        |(trial, candidate, params, (mean, sd, multiplier, score, gap), (phase, expected), seen, engine)| {
            let (aim, sd_observed, interval) = expected;
            let choice =
                Choice { candidate, params, mean, sd, multiplier, score, gap, phase, aim, sd_observed, interval };
            Event::Asked(Asked { trial, choice, seen, engine })
        },
    );
    let hyperparameters =
        (prop::collection::vec(number(), 0..4), number(), number(), number(), number(), any::<bool>()).prop_map(
            |(lengthscales, noise, variance, mean, density, sum)| Hyperparameters {
                lengthscales,
                noise,
                variance,
                mean,
                density,
                structure: if sum { KernelStructure::PartlyAdditive } else { KernelStructure::Joint },
            },
        );
    let fitted = (hyperparameters, warp(), count(), 1..=u32::MAX).prop_map(|(hyperparameters, warp, seen, engine)| {
        Event::Fitted(Fitted { hyperparameters, warp, seen, engine })
    });
    let included = (count(), count(), params(), prop::option::of(number()))
        .prop_map(|(trial, candidate, params, value)| Event::Included(Included { trial, candidate, params, value }));
    let outcome = prop_oneof![number().prop_map(Ok), text().prop_map(Err)];
    prop_oneof![
        asked,
        fitted,
        included,
        (count(), number()).prop_map(|(trial, value)| Event::Told { trial, value }),
        (count(), text()).prop_map(|(trial, reason)| Event::Failed { trial, reason }),
        count().prop_map(|trial| Event::Cancelled { trial }),
        (count(), outcome.clone()).prop_map(|(trial, outcome)| Event::LateResult { trial, outcome }),
        (count(), prop::option::of((prop::option::of(count()), params())), prop::option::of(outcome)).prop_map(
            |(trial, setting, outcome)| {
                let setting = setting.map(|(candidate, params)| ActualSetting { candidate, params });
                Event::Amended(Amended { trial, setting, outcome })
            }
        ),
        count().prop_map(|trial| Event::Restored { trial }),
        count().prop_map(|trial| Event::Reopened { trial }),
        (count(), prop::collection::btree_map(text(), number(), 0..4))
            .prop_map(|(trial, metrics)| { Event::Measured { trial, metrics: metrics.into_iter().rev().collect() } }),
        (prop::option::of(count()), params())
            .prop_map(|(candidate, params)| Event::Enqueued(Enqueued { candidate, params })),
        Just(Event::Cleared),
    ]
}

fn record(kind: &str, body: &str, version: i64) -> Record {
    let (kind, body) = (kind.to_string(), body.to_string());
    Record { sequence: 41, time: Time::default(), kind, trial: Some(3), body, version, key: None, hash: None }
}

/// What `==` does not see: the sign of zero. `Debug` writes every number so that it reads back as itself.
fn bits(event: &Event) -> String {
    format!("{event:?}")
}

#[test]
fn every_event_survives_bit_for_bit() {
    let claim = |event: Event| {
        let stored = encode(&event, 0).unwrap();
        prop_assert!(!stored.body.contains(['\0', '\n']), "fit for any database and for lines: {}", stored.body);
        let read = decode(&record(stored.kind.name(), &stored.body, 1)).unwrap();
        prop_assert_eq!(bits(&read), bits(&event));
        prop_assert_eq!(encode(&read, 0).unwrap(), stored);
        Ok(())
    };
    runner(4000).run(&event(), claim).unwrap();
}

#[test]
fn a_number_that_is_not_finite_is_refused_wherever_it_stands() {
    let asked = Asked {
        trial: 0,
        choice: Choice {
            candidate: 0,
            params: vec![],
            mean: 0.0,
            sd: 1.0,
            multiplier: 1.0,
            score: 1.0,
            gap: None,
            phase: Phase::Rule,
            aim: None,
            sd_observed: None,
            interval: None,
        },
        seen: 0,
        engine: ENGINE,
    };
    let fitted = |lengthscales, noise| {
        let hyperparameters = Hyperparameters {
            lengthscales,
            noise,
            variance: 1.0,
            mean: 0.0,
            density: 0.0,
            structure: KernelStructure::Joint,
        };
        let warp = Warp::from_numbers([0.0, 1.0, 0.0, 0.0, 1.0]).unwrap();
        Event::Fitted(Fitted { hyperparameters, warp, seen: 0, engine: ENGINE })
    };
    assert!(encode(&Event::Asked(asked.clone()), 0).is_ok() && encode(&fitted(vec![1.0], 1.0), 0).is_ok());
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let asked = |change: fn(&mut Asked, f64)| {
            let mut asked = asked.clone();
            change(&mut asked, bad);
            Event::Asked(asked)
        };
        let events = [
            asked(|a, bad| a.choice.mean = bad),
            asked(|a, bad| a.choice.sd = bad),
            asked(|a, bad| a.choice.multiplier = bad),
            asked(|a, bad| a.choice.score = bad),
            asked(|a, bad| a.choice.gap = Some(bad)),
            asked(|a, bad| a.choice.params = vec![Value::Float(bad)]),
            Event::Included(Included { trial: 0, candidate: 0, params: vec![], value: Some(bad) }),
            Event::Told { trial: 0, value: bad },
            Event::LateResult { trial: 0, outcome: Ok(bad) },
            Event::Amended(Amended { trial: 0, setting: None, outcome: Some(Ok(bad)) }),
            Event::Measured { trial: 0, metrics: vec![("epochs".to_string(), bad)] },
            Event::Enqueued(Enqueued { candidate: None, params: vec![Value::Float(bad)] }),
            fitted(vec![1.0, bad], 1.0),
            fitted(vec![1.0], bad),
        ];
        for event in events {
            assert!(matches!(encode(&event, 0), Err(Error::Encode { .. })), "{event:?}");
        }
    }
}

/// An event, or a refusal that says where.
fn is_read_or_refused(record: &Record) -> Result<(), TestCaseError> {
    match decode(record) {
        // What was read is an event like any other.
        Ok(event) => prop_assert!(encode(&event, 0).is_ok(), "{event:?}"),
        Err(Damage { sequence, reason }) => prop_assert!(sequence == 41 && !reason.is_empty()),
    }
    Ok(())
}

#[test]
fn whatever_a_body_holds_it_is_an_event_or_refused_by_its_number() {
    let kind = || prop_oneof![prop::sample::select(KINDS.to_vec()).prop_map(str::to_string), text()];
    runner(4000).run(&(kind(), text()), |(kind, body)| is_read_or_refused(&record(&kind, &body, 1))).unwrap();
    // Bodies that were right: a character replaced, removed, doubled, or all after it cut off; or another kind's.
    let mutated = (event(), any::<prop::sample::Index>(), any::<char>(), 0..4usize, kind());
    let claim = |(event, place, character, change, kind): (Event, prop::sample::Index, char, usize, String)| {
        let stored = encode(&event, 0).unwrap();
        let mut body: Vec<char> = stored.body.chars().collect();
        let place = place.index(body.len());
        match change {
            0 => body[place] = character,
            1 => drop(body.remove(place)),
            2 => body.insert(place, body[place]),
            _ => body.truncate(place),
        }
        is_read_or_refused(&record(stored.kind.name(), &String::from_iter(body), 1))?;
        is_read_or_refused(&record(&kind, &stored.body, 1))
    };
    runner(4000).run(&mutated, claim).unwrap();
    let deep = "[".repeat(100_000);
    assert!(matches!(decode(&record("asked", &deep, 1)), Err(Damage { sequence: 41, .. })));
}

#[test]
fn bodies_that_say_too_much_or_too_little_are_refused() {
    for (kind, body) in [
        ("told", r#"{"trial":1}"#),
        ("told", r#"{"trial":1,"value":null}"#),
        ("told", r#"{"trial":1,"value":1e999}"#),
        ("told", r#"{"trial":-1,"value":1.0}"#),
        ("told", r#"{"trial":1,"value":1.0,"reason":"x"}"#),
        ("told", r#"{"trial":1,"value":1.0,"values":2.0}"#),
        ("told", r#"{"trial":1,"trial":2,"value":1.0}"#),
        ("told", r#"{"trial":1,"value":1.0} {"#),
        ("failed", r#"{"trial":1}"#),
        ("cancelled", r#"{"trial":1,"value":1.0}"#),
        ("late", r#"{"trial":1}"#),
        ("amended", r#"{"trial":1,"value":1.0,"reason":"x"}"#),
        ("amended", r#"{"value":1.0}"#),
        ("restored", r#"{"trial":1,"value":1.0}"#),
        ("reopened", r#"{}"#),
        ("measured", r#"{"trial":1,"metrics":{"a":"1"}}"#),
        ("measured", r#"{"trial":1}"#),
        ("enqueued", r#"{"candidate":1}"#),
        ("cleared", r#"{"trial":1}"#),
        ("late", r#"{"trial":1,"value":1.0,"reason":"x"}"#),
        ("included", r#"{"trial":1,"candidate":1,"params":[null],"value":1.0}"#),
        (
            "fitted",
            r#"{"lengthscales":[1.0],"noise":1.0,"variance":1.0,"mean":0.0,"density":0.0,"warp":[0,0],"seen":1}"#,
        ),
        (
            "fitted",
            r#"{"lengthscales":[1.0],"noise":1.0,"variance":1.0,"mean":0.0,"density":0.0,"warp":[0.0,1.0,0.0,0.0,1.0],"seen":1,"engine":0}"#,
        ),
        ("Told", r#"{"trial":1,"value":1.0}"#),
    ] {
        assert!(matches!(decode(&record(kind, body, 1)), Err(Damage { sequence: 41, .. })), "{kind} {body}");
    }
}

#[test]
fn only_formats_that_are_known_are_read() {
    let body = r#"{"trial":1,"value":1.0}"#;
    for version in [1, 2, 3, 4] {
        assert_eq!(decode(&record("told", body, version)), Ok(Event::Told { trial: 1, value: 1.0 }));
    }
    for version in [5, 0, -1, i64::MIN, i64::MAX] {
        let error = decode(&record("told", body, version)).unwrap_err();
        assert!(error.to_string().contains(&format!("its format is {version}")), "{error}");
    }
}

/// A log as it was written before choices and fits said which engine made them.
const OLD: [(&str, &str); 5] = [
    (
        "asked",
        r#"{"trial":0,"candidate":0,"params":[0.25],"mean":0.0,"sd":1.0,"multiplier":0.0,"score":1.0,"gap":null,"phase":"design","seen":0}"#,
    ),
    ("told", r#"{"trial":0,"value":3.0}"#),
    (
        "fitted",
        r#"{"lengthscales":[0.5],"noise":0.01,"variance":1.0,"mean":0.0,"density":-1.0,"warp":[3.0,1.0,0.0,0.0,1.0],"seen":2}"#,
    ),
    (
        "asked",
        r#"{"trial":1,"candidate":1,"params":[0.75],"mean":-0.5,"sd":0.5,"multiplier":2.0,"score":0.5,"gap":null,"phase":"rule","seen":2}"#,
    ),
    ("told", r#"{"trial":1,"value":2.5}"#),
];

#[test]
fn a_log_from_before_the_engine_had_a_number_is_of_engine_1_and_goes_on() {
    let old: Vec<Event> = OLD.iter().map(|(kind, body)| decode(&record(kind, body, 1)).unwrap()).collect();
    let engines = |events: &[Event]| -> Vec<u32> {
        let engine = |event: &Event| match event {
            Event::Asked(asked) => Some(asked.engine),
            Event::Fitted(fitted) => Some(fitted.engine),
            _ => None,
        };
        events.iter().filter_map(engine).collect()
    };
    assert_eq!(engines(&old), [1, 1, 1]);
    let space = Space::new(vec![Parameter::float("x", 0.0, 1.0).unwrap()], vec![]).unwrap();
    let spec = Spec::learned(Domain::Space(space), Rule::auto()).unwrap().with_direction(Direction::Minimize);
    let mut study = Study::replay(spec.clone(), &old).unwrap();
    study.ask(1).unwrap();
    assert!(engines(&study.events()[old.len()..]).iter().all(|engine| *engine == ENGINE));
    let found = Study::verify(&spec, study.events()).unwrap();
    assert_eq!((found.older.choices, found.older.fits, found.checked.choices, found.checked.fits), (2, 1, 1, 1));
    for event in study.events() {
        let stored = encode(event, 0).unwrap();
        let says = |kind: EventKind| stored.kind == kind && stored.body.contains(r#""engine":"#);
        assert!(says(EventKind::Asked) || says(EventKind::Fitted) || stored.kind == EventKind::Told, "{}", stored.body);
        assert_eq!(decode(&record(stored.kind.name(), &stored.body, 2)).as_ref(), Ok(event));
    }
}
