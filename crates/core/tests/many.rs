//! What a study promises where values are many: the same log, the same choices, and a best trial that costs no factor.

use manyhands_core::study::OUTLOOK_VALUES;
use manyhands_core::{Direction, Domain, Parameter, Space, Spec, Strategy, Study, Value};

fn bowl(x: &[f64]) -> f64 {
    (x[0] - 0.3).powi(2) + (x[1] - 0.6).powi(2) + 0.1 * (9.0 * x[0]).sin()
}

/// A study that begins with evaluations made elsewhere, spread evenly.
fn study(values: usize) -> Study {
    let parameter = |name| Parameter::float(name, 0.0, 1.0).unwrap();
    let space = Space::new(vec![parameter("x"), parameter("y")], vec![]).unwrap();
    let spec = Spec::learned(Domain::Space(space), Strategy::auto()).unwrap().with_direction(Direction::Minimize);
    let mut study = Study::new(spec).unwrap();
    for i in 0..values {
        let x = [0.754_877_666_246_7, 0.569_840_290_998].map(|step| (i as f64 * step).fract());
        study.include(&x.map(Value::Float), Some(bowl(&x))).unwrap();
    }
    study
}

#[test]
fn a_log_of_many_values_is_replayed_and_verified_bit_for_bit() {
    let mut live = study(OUTLOOK_VALUES + 60);
    let first = live.ask(3).unwrap();
    // Out of order, so that rows which the fit knew as pending move.
    for s in [&first[2], &first[0]] {
        live.tell(s.trial, bowl(&s.point)).unwrap();
    }
    live.ask(2).unwrap();
    live.tell(first[1].trial, bowl(&first[1].point)).unwrap();
    let mut replayed = Study::replay(live.spec().clone(), live.events()).unwrap();
    assert_eq!(replayed.propose(2).unwrap(), live.propose(2).unwrap());
    assert_eq!(replayed.best().unwrap(), live.best().unwrap());
    Study::verify(live.spec(), live.events()).unwrap();
}

#[test]
fn the_best_of_many_values_is_among_the_best_values() {
    let mut many = study(OUTLOOK_VALUES + 60);
    many.ask(1).unwrap();
    let best = many.best().unwrap();
    let lowest = many.trials().iter().filter_map(|trial| trial.value()).fold(f64::INFINITY, f64::min);
    assert!(best.value - lowest < 1e-3, "{best:?} {lowest}");
    assert!(best.lower <= best.mean && best.mean <= best.upper && best.regret_bound.is_none(), "{best:?}");
    // What values far away add is little.
    let exact = many.predict(std::slice::from_ref(&best.point)).unwrap()[0];
    assert!((best.mean - exact.mean).abs() < 1e-3, "{best:?} {exact:?}");
}
