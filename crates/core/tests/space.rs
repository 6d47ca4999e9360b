//! The promises of a space: what it refuses, where values lie in the unit cube, what is returned is valid.

#[path = "common/all_kinds.rs"]
mod all_kinds;

use all_kinds::all_kinds;
use manyhands_core::{Error, Parameter, ParameterKind, Result, Scale, Space, Value};

fn message<T>(result: Result<T>) -> String {
    result.map(|_| "accepted".to_string()).unwrap_or_else(|error| error.to_string())
}

fn one(parameter: Result<Parameter>) -> Space {
    Space::new(vec![parameter.unwrap()], vec![]).unwrap()
}

#[test]
fn an_invalid_parameter_is_refused_with_its_value() {
    let levels = |levels: &[f64]| message(Parameter::levels("d", levels));
    let cases = [
        (message(Parameter::float("", 0.0, 1.0)), "a parameter's name must not be empty"),
        (
            message(Parameter::float("x", 2.0, 1.0)),
            "the bounds of parameter \"x\" must be [low, high] with low < high, got [2, 1]",
        ),
        (message(Parameter::float("x", 1.0, 1.0)), "with low < high, got [1, 1]"),
        (message(Parameter::float("x", f64::NAN, 1.0)), "must be finite, got [NaN, 1]"),
        (message(Parameter::float("x", -1e308, 1e308)), "less than 1.7e308 apart"),
        (
            message(Parameter::log_float("lr", 0.0, 1.0)),
            "the low end of parameter \"lr\" must be positive on a log scale, got 0",
        ),
        (message(Parameter::int("n", 3, 2)), "low <= high, got [3, 2]"),
        (message(Parameter::int("n", 0, i64::MAX)), "from -2^53 to 2^53"),
        (message(Parameter::int("n", 0, 1 << 52)), "at most 2^50 apart"),
        (message(Parameter::log_int("n", 0, 5)), "positive on a log scale, got 0"),
        (
            message(Parameter::even("u", 0.0, 1.0, 1)),
            "the number of points of parameter \"u\" must be from 2 to 2^32, got 1",
        ),
        (message(Parameter::even("u", 1e12, 1e12 + 1.0, 1_000_000)), "small enough to tell neighbours apart"),
        (levels(&[]), "at least one number long"),
        (levels(&[0.1, 1.0, 0.3]), "strictly increasing, got 1 before 0.3"),
        (levels(&[0.1, f64::INFINITY]), "a finite number, got inf"),
        (levels(&[-1e20, 1.0, 2.0]), "apart by more than rounding, got 1 and 2"),
        (message(Parameter::choice::<&str>("act", &[])), "at least one value long"),
        (message(Parameter::choice("act", &["a", "b", "a"])), "free of repeats, got \"a\" twice"),
        (message(Parameter::choice("act", &[Value::Int(3), Value::Float(3.0)])), "free of repeats, got 3 twice"),
        (message(Parameter::constant("k", f64::NAN)), "a finite number, a word or a boolean, got NaN"),
    ];
    for (told, expected) in cases {
        assert!(told.contains(expected), "{told:?} should say {expected:?}");
    }
}

#[test]
fn names_are_unique_and_something_varies() {
    let x = || Parameter::float("x", 0.0, 1.0).unwrap();
    assert_eq!(Space::new(vec![x(), x()], vec![]), Err(Error::RepeatedParameter { name: "x".to_string() }));
    let fixed = vec![
        Parameter::constant("k", 3).unwrap(),
        Parameter::int("n", 2, 2).unwrap(),
        Parameter::levels("d", &[0.5]).unwrap(),
        Parameter::choice("act", &["relu"]).unwrap(),
    ];
    assert_eq!(Space::new(fixed.clone(), vec![]), Err(Error::NothingVaries { parameters: 4 }));
    let space = Space::new([fixed, vec![x()]].concat(), vec![]).unwrap();
    assert_eq!((space.dimension(), space.varying().count()), (1, 1));
}

#[test]
fn a_value_outside_the_space_is_refused_with_what_is_allowed() {
    let space = all_kinds();
    let good: Vec<Value> =
        vec![0.0.into(), 0.01.into(), 3.into(), 7.into(), 0.01.into(), 0.3.into(), "gelu".into(), 3.into()];
    assert!(space.embed(&good).is_ok());
    let with = |index: usize, value: Value| {
        let mut params = good.clone();
        params[index] = value;
        message(space.embed(&params))
    };
    let cases = [
        (with(0, 11.0.into()), "parameter \"x\" must be a number from -5 to 10, got 11"),
        (with(0, f64::NAN.into()), "got NaN"),
        (with(0, "wide".into()), "a number from -5 to 10, got \"wide\""),
        (with(2, 2.5.into()), "an integer from 1 to 8 (the nearest is 2), got 2.5"),
        (with(2, 9.into()), "an integer from 1 to 8 (the nearest is 8), got 9"),
        (with(2, true.into()), "an integer from 1 to 8, got true"),
        (with(4, 0.02.into()), "one of 7 evenly spaced numbers from 0.001 to 1 (the nearest is"),
        (with(5, 0.25.into()), "one of 0.1, 0.3, 1 (the nearest is 0.3), got 0.25"),
        (with(6, "elu".into()), "one of \"relu\", \"gelu\", \"tanh\", got \"elu\""),
        (with(7, 4.into()), "3, its constant value, got 4"),
        (message(space.embed(&good[1..])), "got 7 values for 8 parameters"),
    ];
    for (told, expected) in cases {
        assert!(told.contains(expected), "{told:?} should say {expected:?}");
    }
}

#[test]
fn integers_and_floats_stand_in_for_each_other_where_they_mean_the_same() {
    let space = all_kinds();
    let floats: Vec<Value> =
        vec![2.0.into(), 0.1.into(), 3.0.into(), 7.0.into(), 1.0.into(), 1.0.into(), "relu".into(), 3.0.into()];
    let ints: Vec<Value> = vec![2.into(), 0.1.into(), 3.into(), 7.into(), 1.into(), 1.into(), "relu".into(), 3.into()];
    assert_eq!(space.embed(&floats), space.embed(&ints));
}

#[test]
fn a_float_on_a_log_scale_is_even_in_its_logarithm() {
    let space = one(Parameter::log_float("lr", 1e-4, 1.0));
    for (value, coordinate) in [(1e-4, 0.0), (1e-3, 0.25), (1e-2, 0.5), (0.1, 0.75), (1.0, 1.0)] {
        assert!((space.embed(&[value.into()]).unwrap()[0] - coordinate).abs() < 1e-12);
    }
}

#[test]
fn the_ends_of_the_unit_interval_are_exactly_the_bounds() {
    for (low, high) in [(0.1, 0.3), (-5.0, 10.0), (1e-5, 0.1), (0.7, 1e9)] {
        let mut spaces = vec![one(Parameter::float("x", low, high))];
        spaces.extend((low > 0.0).then(|| one(Parameter::log_float("x", low, high))));
        for space in spaces {
            assert_eq!(space.params(&[0.0]), [low.into()]);
            assert_eq!(space.params(&[1.0]), [high.into()]);
            assert_eq!([space.embed(&[low.into()]), space.embed(&[high.into()])], [Ok(vec![0.0]), Ok(vec![1.0])]);
        }
    }
}

#[test]
fn named_values_are_put_in_order_and_constants_filled_in() {
    let space = all_kinds();
    let given: Vec<(String, Value)> = space
        .named(&space.params(&[0.5; 9]))
        .filter(|(name, _)| *name != "k")
        .map(|(name, value)| (name.to_string(), value.clone()))
        .collect();
    let reversed: Vec<_> = given.iter().cloned().rev().collect();
    assert_eq!(space.from_named(&reversed).unwrap(), space.params(&[0.5; 9]));
    assert_eq!(message(space.from_named(&given[1..])), "parameter \"x\" has no value");
    let typo = [given.clone(), vec![("layer".to_string(), 2.into())]].concat();
    assert_eq!(message(space.from_named(&typo)), "there is no parameter \"layer\"; the nearest name is \"layers\"");
    let twice = [given.clone(), given[..1].to_vec()].concat();
    assert_eq!(message(space.from_named(&twice)), "parameter \"x\" is named twice");
}

#[test]
fn a_choice_of_more_than_a_thousand_categories_is_refused_with_a_way_out() {
    let names = |count: usize| (0..count).map(|i| format!("c{i}")).collect::<Vec<_>>();
    assert!(Parameter::choice("c", &names(1000)).is_ok());
    let error = Parameter::choice("c", &names(1001)).unwrap_err();
    assert_eq!(error.to_string(), "the number of choices of parameter \"c\" must be at most 1000, got 1001");
    assert!(error.hint().unwrap().contains("[candidates]"));
}
