//! The promises of linear constraints: what is no constraint and what violates one is refused.

use manyhands_core::{Constraint, Parameter, Relation, Result, Space};

fn constraint(terms: &[(&str, f64)], relation: Relation, bound: f64) -> Constraint {
    Constraint { terms: terms.iter().map(|(name, weight)| (name.to_string(), *weight)).collect(), relation, bound }
}

fn space(parameters: Vec<Result<Parameter>>, constraints: Vec<Constraint>) -> Result<Space> {
    Space::new(parameters.into_iter().map(Result::unwrap).collect(), constraints)
}

fn message<T>(result: Result<T>) -> String {
    result.map(|_| "accepted".to_string()).unwrap_or_else(|error| error.to_string())
}

#[test]
fn an_invalid_or_infeasible_constraint_is_refused() {
    let parameters = || {
        vec![
            Parameter::float("a", 0.0, 1.0),
            Parameter::float("b", 0.0, 1.0),
            Parameter::int("n", 0, 9),
            Parameter::choice("act", &["relu", "gelu"]),
            Parameter::constant("k", 3),
        ]
    };
    let told = |constraints: Vec<Constraint>| message(space(parameters(), constraints));
    let at_most = |terms: &[(&str, f64)], bound| constraint(terms, Relation::AtMost, bound);
    let equals = |terms: &[(&str, f64)], bound| constraint(terms, Relation::Equals, bound);
    let cases = [
        (told(vec![at_most(&[], 1.0)]), "all its weights are 0"),
        (told(vec![at_most(&[("a", 0.0)], 1.0)]), "the constraint 0 a <= 1 is not valid: all its weights are 0"),
        (told(vec![at_most(&[("a", f64::NAN)], 1.0)]), "weights and bound must be finite and at most 1e100, got NaN"),
        (told(vec![at_most(&[("a", 1e-200)], 1.0)]), "its term of parameter \"a\" is too large or too small"),
        (told(vec![at_most(&[("c", 1.0)], 1.0)]), "there is no parameter \"c\"; the nearest name is \"a\""),
        (told(vec![at_most(&[("act", 1.0)], 1.0)]), "parameter \"act\" is not a number"),
        (told(vec![at_most(&[("a", 1.0), ("a", 1.0)], 1.0)]), "parameter \"a\" is in it twice"),
        (
            told(vec![constraint(&[("a", 1.0), ("b", 2.0)], Relation::AtLeast, 5.0)]),
            "nothing satisfies the constraint a + 2 b >= 5: within the parameters' bounds the sum is from 0 to 3",
        ),
        (told(vec![equals(&[("n", 2.0)], 3.0)]), "2 n = 3: no values that the parameters step through keep it"),
        (told(vec![at_most(&[("k", 1.0)], 2.0)]), "k <= 2: within the parameters' bounds the sum is from 3 to 3"),
        (
            told(vec![equals(&[("a", 1.0), ("b", 1.0)], 1.0), equals(&[("a", 1.0), ("b", 1.0)], 1.5)]),
            "a + b = 1.5: no values keep it together with the constraints before it",
        ),
        (told(vec![at_most(&[("a", 1.0), ("k", 1.0)], 3.5)]), "accepted"),
    ];
    for (told, expected) in cases {
        assert!(told.contains(expected), "{told:?} should say {expected:?}");
    }
}

#[test]
fn values_that_violate_a_constraint_are_refused_by_how_much() {
    let parameters = vec![Parameter::float("a", 0.0, 1.0), Parameter::float("b", 0.0, 1.0)];
    let space = space(parameters, vec![constraint(&[("a", 1.0), ("b", 1.0)], Relation::AtMost, 1.0)]).unwrap();
    assert_eq!(message(space.embed(&[0.75.into(), 0.5.into()])), "the constraint a + b <= 1 is violated by 0.25");
    assert!(space.embed(&[0.5.into(), (0.5 + 1e-12).into()]).is_ok());
}
