//! Which engine made a choice or a fit, and what can be recomputed.

use manyhands_core::event::ENGINE;
use manyhands_core::study::{Tally, Verification};
use manyhands_core::{Domain, Error, Event, Parameter, Space, Spec, Strategy, Study, Value};

fn spec() -> Spec {
    let axis = |name| Parameter::float(name, 0.0, 1.0).unwrap();
    let space = Space::new(vec![axis("a"), axis("b")], vec![]).unwrap();
    Spec::learned(Domain::Space(space), Strategy::auto()).unwrap().with_seed(11)
}

fn go_on(live: &mut Study, rounds: usize) {
    for _ in 0..rounds {
        for s in live.ask(3).unwrap() {
            live.tell(s.trial, (3.0 * s.point[0]).sin() - s.point[1]).unwrap();
        }
    }
}

fn engine(event: &mut Event) -> Option<&mut u32> {
    match event {
        Event::Asked(asked) => Some(&mut asked.engine),
        Event::Fitted(fitted) => Some(&mut fitted.engine),
        _ => None,
    }
}

fn tally(events: &[Event]) -> Tally {
    let choices = events.iter().filter(|event| matches!(event, Event::Asked(_))).count();
    let fits = events.iter().filter(|event| matches!(event, Event::Fitted(_))).count();
    Tally { choices, fits }
}

/// A log that another engine would have made: other parameters, other fits.
fn foreign(number: u32) -> Vec<Event> {
    let mut live = Study::new(spec()).unwrap();
    go_on(&mut live, 4);
    let mut events = live.events().to_vec();
    for event in &mut events {
        match event {
            Event::Asked(asked) => asked.choice.params[1] = Value::Float(0.5 + 0.01 * asked.trial as f64),
            Event::Fitted(fitted) => fitted.hyperparameters.noise *= 1.5,
            _ => (),
        }
        if let Some(engine) = engine(event) {
            *engine = number;
        }
    }
    events
}

#[test]
fn every_choice_and_every_fit_says_which_engine_made_it_and_is_checked() {
    let mut live = Study::new(spec()).unwrap();
    go_on(&mut live, 4);
    let mut events = live.events().to_vec();
    assert!(events.iter_mut().filter_map(engine).all(|number| *number == ENGINE));
    let found = Study::verify(&spec(), live.events()).unwrap();
    assert_eq!(found, Verification { checked: tally(live.events()), ..Verification::default() });
    assert!(found.checked.choices == 12 && found.checked.fits >= 2, "{found}");
    assert!(found.to_string().starts_with("12 choices and ") && !found.to_string().contains("engine"), "{found}");
}

#[test]
fn choices_of_another_engine_are_not_checked_and_later_ones_are() {
    for number in [1, ENGINE + 1] {
        let events = foreign(number);
        let mut live = Study::replay(spec(), &events).unwrap();
        go_on(&mut live, 2);
        let found = Study::verify(&spec(), live.events()).unwrap();
        let (taken, checked) = (tally(&events), tally(&live.events()[events.len()..]));
        let other = |which: &str| format!("{taken} of {which} engine not checked");
        if number < ENGINE {
            assert_eq!(found, Verification { checked, older: taken, newer: Tally::default() });
            assert!(found.to_string().ends_with(&other("an older")), "{found}");
        } else {
            assert_eq!(found, Verification { checked, older: Tally::default(), newer: taken });
            assert!(found.to_string().ends_with(&other("a newer")), "{found}");
        }
        assert!(checked.fits > 0 && checked.choices == 6);
    }
    // The same log, said to be of this engine, is not what this engine makes.
    let mut claimed = foreign(1);
    claimed.iter_mut().filter_map(engine).for_each(|number| *number = ENGINE);
    assert!(matches!(Study::verify(&spec(), &claimed), Err(Error::NotReproduced { .. })));
}

#[test]
fn a_choice_that_differs_is_reported_with_its_trial_and_the_field() {
    let mut live = Study::new(spec()).unwrap();
    go_on(&mut live, 4);
    let verify = |position: usize, change: &dyn Fn(&mut Event)| {
        let mut events = live.events().to_vec();
        change(&mut events[position]);
        match Study::verify(&spec(), &events) {
            Err(Error::NotReproduced { what, field, .. }) => (what, field),
            other => panic!("{other:?}"),
        }
    };
    let of_trial = |number: usize| {
        live.events().iter().position(|event| matches!(event, Event::Asked(asked) if asked.trial == number)).unwrap()
    };
    let mean = |event: &mut Event| {
        if let Event::Asked(asked) = event {
            asked.choice.mean = asked.choice.mean.next_up();
        }
    };
    assert_eq!(verify(of_trial(9), &mean), ("trial 9".to_string(), "mean".to_string()));
    let fit = live.events().iter().rposition(|event| matches!(event, Event::Fitted(_))).unwrap();
    let noise = |event: &mut Event| {
        if let Event::Fitted(fitted) = event {
            fitted.hyperparameters.noise *= 2.0;
        }
    };
    assert_eq!(verify(fit, &noise), (format!("the fit of event {}", fit + 1), "noise".to_string()));
    // Equal as numbers, and not the same: the sign of zero.
    let score =
        live.events().iter().position(|event| matches!(event, Event::Asked(a) if a.choice.multiplier == 0.0)).unwrap();
    let sign = |event: &mut Event| {
        if let Event::Asked(asked) = event {
            asked.choice.multiplier = -0.0;
        }
    };
    assert_eq!(verify(score, &sign).1, "multiplier");
}

#[test]
fn rows_that_are_factored_together_later_have_the_same_bits_live_and_replayed() {
    let mut live = Study::new(spec()).unwrap();
    let value = |x: &[f64]| (9.0 * x[0]).sin() - x[1] * x[1];
    let axis = |i: usize, step: f64| (0.5 + step * i as f64).fract();
    for i in 0..1018 {
        let x = [axis(i, 0.754_877_666_2), axis(i, 0.569_840_290_9)];
        live.include(&[x[0].into(), x[1].into()], Some(value(&x))).unwrap();
    }
    // Results out of order, across the 1,024th value.
    let mut running = live.ask(4).unwrap();
    for turn in 0..10 {
        let done = running.remove(turn * 3 % running.len());
        live.tell(done.trial, value(&done.point)).unwrap();
        running.extend(live.ask(1).unwrap());
    }
    let checked = tally(live.events());
    let found = Study::verify(&spec(), live.events()).unwrap();
    assert_eq!(found, Verification { checked, ..Verification::default() });
    let mut replayed = Study::replay(spec(), live.events()).unwrap();
    assert_eq!(replayed.ask(2).unwrap(), live.ask(2).unwrap());
}
