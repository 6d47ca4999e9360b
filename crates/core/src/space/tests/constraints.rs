//! A space under linear constraints: nothing that it samples, repairs or steps to violates them.

use proptest::prelude::*;
use rand::{Rng, RngExt};
use rand_chacha::ChaCha8Rng;

use super::{config, rng, uniform};
use crate::{Constraint, Parameter, ParameterKind, Relation, Result, Space, Value};

fn constraint(terms: &[(&str, f64)], relation: Relation, bound: f64) -> Constraint {
    Constraint { terms: terms.iter().map(|(name, weight)| (name.to_string(), *weight)).collect(), relation, bound }
}

fn space(parameters: Vec<Result<Parameter>>, constraints: Vec<Constraint>) -> Result<Space> {
    Space::new(parameters.into_iter().map(Result::unwrap).collect(), constraints)
}

/// a + b + ... = 1, all from 0 to 1.
fn mixture(components: usize) -> Space {
    let names: Vec<String> = (0..components).map(|i| format!("c{i}")).collect();
    let terms: Vec<(&str, f64)> = names.iter().map(|name| (name.as_str(), 1.0)).collect();
    let parameters = names.iter().map(|name| Parameter::float(name, 0.0, 1.0)).collect();
    space(parameters, vec![constraint(&terms, Relation::Equals, 1.0)]).unwrap()
}

fn numbers(space: &Space, coordinates: &[f64]) -> Vec<f64> {
    space.params(coordinates).iter().filter_map(Value::number).collect()
}

fn random_parameter(rng: &mut impl Rng, index: usize) -> Parameter {
    let name = &format!("p{index}");
    let low = uniform(rng, -5.0, 5.0);
    let from = rng.random_range(-9..9);
    match rng.random_range(0..9) {
        0 | 1 => Parameter::float(name, low, low + uniform(rng, 0.01, 100.0)),
        2 => Parameter::log_float(name, low.exp(), (low + uniform(rng, 0.5, 9.0)).exp()),
        3 => Parameter::int(name, from, from + rng.random_range(0..30)),
        4 => Parameter::log_int(name, 1, rng.random_range(2..2000)),
        5 => Parameter::even(name, low, low + 3.0, rng.random_range(2..20)),
        6 => Parameter::levels(name, &[low, low + 0.5, low + 2.5]),
        7 => Parameter::float(name, 1e6 * low, 1e6 * low + uniform(rng, 0.01, 100.0)),
        _ => Parameter::constant(name, low),
    }
    .unwrap()
}

/// A random space with up to three constraints, all kept by a random point of it. At most one asks for equality, and that
/// one of integers alone or with a continuous parameter: what a search can be expected to find.
fn random_space(rng: &mut ChaCha8Rng) -> Space {
    let count = rng.random_range(2..7);
    let mut parameters: Vec<Parameter> = (0..count).map(|i| random_parameter(rng, i)).collect();
    parameters.push(Parameter::choice("kind", &["one", "two"]).unwrap());
    parameters.push(Parameter::float("free", 0.0, 1.0).unwrap());
    let unconstrained = Space::new(parameters.clone(), vec![]).unwrap();
    let witness = unconstrained.params(&unconstrained.sample(rng));
    let continuous = |i: usize| matches!(parameters[i].kind(), ParameterKind::Float { .. });
    let mut constraints: Vec<Constraint> = Vec::new();
    for _ in 0..rng.random_range(1..4) {
        let chosen: Vec<usize> = (0..count).filter(|&i| rng.random_range(0..3) > 0 || i + 1 == count).collect();
        let smooth = chosen.iter().any(|&i| continuous(i));
        let integral = chosen.iter().all(|&i| matches!(witness[i], Value::Int(_)));
        let equal = constraints.iter().any(|other| other.relation == Relation::Equals);
        let weights = [1.0, 1.0, -1.0, if smooth { uniform(rng, -3.0, 3.0) } else { 2.0 }];
        let terms: Vec<_> = chosen.iter().map(|&i| (i, weights[rng.random_range(0..4)])).collect();
        let sum: f64 = terms.iter().map(|&(i, weight)| weight * witness[i].number().unwrap()).sum();
        let slack = if rng.random_range(0..3) == 0 { 0.0 } else { uniform(rng, 0.0, 2.0) };
        let (relation, bound) = match rng.random_range(0..4) {
            0 | 1 if (smooth || integral) && !equal => (Relation::Equals, sum),
            0..=2 => (Relation::AtMost, sum + slack),
            _ => (Relation::AtLeast, sum - slack),
        };
        let terms = terms.into_iter().map(|(i, weight)| (format!("p{i}"), weight)).collect();
        constraints.push(Constraint { terms, relation, bound });
    }
    Space::new(parameters, constraints.clone()).unwrap_or_else(|error| panic!("{error}: {witness:?}, {constraints:?}"))
}

/// Valid, feasible, and exactly where it says it is.
fn assert_kept(space: &Space, coordinates: &[f64]) {
    let params = space.params(coordinates);
    let embedded = space.embed(&params);
    assert_eq!(embedded.as_deref(), Ok(coordinates), "{params:?} under {:?}", space.constraints());
    assert!(space.satisfies(&params) && space.feasible(coordinates) && space.violated(&params).is_none());
}

fn anywhere(space: &Space, rng: &mut impl Rng) -> Vec<f64> {
    (0..space.dimension()).map(|_| uniform(rng, 0.0, 1.0)).collect()
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn whatever_is_sampled_keeps_every_constraint(seed: u64) {
        let rng = &mut rng(seed);
        let space = random_space(rng);
        for _ in 0..5 {
            assert_kept(&space, &space.sample(rng));
        }
    }

    #[test]
    fn whatever_is_repaired_keeps_every_constraint(seed: u64) {
        let rng = &mut rng(seed);
        let space = random_space(rng);
        let target = anywhere(&space, rng);
        prop_assert_eq!(space.feasible(&target), space.satisfies(&space.params(&target)));
        let repaired = space.repair(&target);
        assert_kept(&space, &repaired);
        prop_assert_eq!(&space.repair(&repaired), &repaired);
        for (index, block) in space.blocks().iter().enumerate() {
            for option in block.neighbours(&repaired[block.coordinates()]) {
                let mut exchanged = repaired.clone();
                exchanged[block.coordinates()].copy_from_slice(&option);
                if let Some(around) = space.repair_around(&exchanged, &[index]) {
                    assert_kept(&space, &around);
                    prop_assert_eq!(&around[block.coordinates()], &option[..]);
                }
                for (other, second) in space.blocks().iter().enumerate().filter(|(other, _)| *other != index) {
                    if let Some(around) = space.repair_around(&exchanged, &[index, other]) {
                        assert_kept(&space, &around);
                        prop_assert_eq!(&around[block.coordinates()], &option[..]);
                        prop_assert_eq!(&around[second.coordinates()], &exchanged[second.coordinates()]);
                    }
                }
            }
        }
    }

    #[test]
    fn whatever_is_stepped_to_keeps_every_constraint_and_lies_uphill(seed: u64) {
        let rng = &mut rng(seed);
        let space = random_space(rng);
        let mut at = space.sample(rng);
        for _ in 0..10 {
            let gradient: Vec<f64> = (0..space.dimension()).map(|_| uniform(rng, -1.0, 1.0)).collect();
            let uphill = space.uphill(&at, &gradient);
            let gain: f64 = uphill.iter().zip(&gradient).map(|(d, g)| d * g).sum();
            prop_assert!(gain >= 0.0);
            let length = space.segment(&at, &uphill);
            prop_assert!(length >= 0.0 && length.is_finite());
            at = space.step(&at, &uphill, length * [0.5, 1.0, 2.0][rng.random_range(0..3)]);
            assert_kept(&space, &at);
        }
    }
}

#[test]
fn the_same_generator_gives_the_same_samples() {
    for seed in 0..20 {
        let space = random_space(&mut rng(seed));
        assert_eq!(space.sample(&mut rng(7)), space.sample(&mut rng(7)));
    }
}

#[test]
fn mixtures_of_two_to_ten_components_are_sampled_evenly() {
    let rng = &mut rng(1);
    for components in 2..=10 {
        let space = mixture(components);
        let draws: Vec<Vec<f64>> = (0..500).map(|_| numbers(&space, &space.sample(rng))).collect();
        let n = components as f64;
        let sd = ((n - 1.0) / (n * n * (n + 1.0))).sqrt();
        for c in 0..components {
            let mean = draws.iter().map(|draw| draw[c]).sum::<f64>() / 500.0;
            assert!((mean - 1.0 / n).abs() < 5.0 * sd / 500f64.sqrt(), "{components} components: {mean}");
        }
        assert!(draws.iter().all(|draw| (draw.iter().sum::<f64>() - 1.0).abs() < 1e-12));
    }
}

#[test]
fn integers_under_an_equality_are_all_found() {
    // 3 a + 5 b = 31 with a, b from 0 to 12: (2, 5) and (7, 2).
    let parameters = vec![Parameter::int("a", 0, 12), Parameter::int("b", 0, 12)];
    let space = space(parameters, vec![constraint(&[("a", 3.0), ("b", 5.0)], Relation::Equals, 31.0)]).unwrap();
    let rng = &mut rng(3);
    let draws: Vec<Vec<f64>> = (0..100).map(|_| numbers(&space, &space.sample(rng))).collect();
    for solution in [[2.0, 5.0], [7.0, 2.0]] {
        assert!(draws.iter().filter(|draw| **draw == solution).count() > 20, "{draws:?}");
    }
    assert_eq!(space.candidates(1000).unwrap().len(), 2);
    assert_eq!((space.size(), space.axes()), (Some(169), None));
}

#[test]
fn an_exchange_under_an_equality_is_compensated_by_the_others() {
    let parameters = vec![Parameter::int("a", 0, 10), Parameter::int("b", 0, 10), Parameter::float("c", 0.0, 1.0)];
    let space = space(parameters, vec![constraint(&[("a", 1.0), ("b", 1.0)], Relation::Equals, 10.0)]).unwrap();
    let around = space.repair_around(&[0.3, 0.2, 0.5], &[0]).unwrap();
    assert_eq!(numbers(&space, &around), [3.0, 7.0, 0.5]);
    let around = space.repair_around(&[0.3, 0.2, 0.5], &[1]).unwrap();
    assert_eq!(numbers(&space, &around), [8.0, 2.0, 0.5]);
}

#[test]
fn log_scaled_parts_of_a_mixture_are_drawn_on_their_scale() {
    let parameters = vec![
        Parameter::log_float("trace", 1e-6, 1e-1),
        Parameter::float("main", 0.0, 1.0),
        Parameter::float("rest", 0.0, 1.0),
    ];
    let terms = [("trace", 1.0), ("main", 1.0), ("rest", 1.0)];
    let space = space(parameters, vec![constraint(&terms, Relation::Equals, 1.0)]).unwrap();
    let rng = &mut rng(3);
    let small = (0..400).filter(|_| numbers(&space, &space.sample(rng))[0] < 1e-4).count();
    assert!((130..=190).contains(&small), "{small} of 400 below 1e-4, two fifths of the logarithm");
}

#[test]
fn a_repair_of_a_mixture_is_its_projection() {
    let space = mixture(3);
    let repaired = numbers(&space, &space.repair(&[0.9, 0.5, 0.0]));
    for (value, exact) in repaired.iter().zip([0.7, 0.3, 0.0]) {
        assert!((value - exact).abs() < 1e-6, "{repaired:?}");
    }
}

#[test]
fn no_sample_lies_nearer_than_the_repair() {
    let rng = &mut rng(8);
    for components in 2..=6 {
        let space = mixture(components);
        for _ in 0..20 {
            let target = anywhere(&space, rng);
            let distance = |to: &[f64]| target.iter().zip(to).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
            let nearest = (0..100).map(|_| distance(&space.sample(rng))).fold(f64::INFINITY, f64::min);
            assert!(distance(&space.repair(&target)) <= nearest + 1e-9);
        }
    }
}

#[test]
fn samples_satisfy_two_equalities() {
    let parameters = ["a", "b", "c", "d"].map(|name| Parameter::float(name, 0.0, 1.0)).into_iter().collect();
    let sum = constraint(&[("a", 1.0), ("b", 1.0), ("c", 1.0), ("d", 1.0)], Relation::Equals, 1.0);
    let same = constraint(&[("a", 1.0), ("b", -2.0)], Relation::Equals, 0.0);
    let space = space(parameters, vec![sum, same]).unwrap();
    let rng = &mut rng(2);
    let draws: Vec<Vec<f64>> = (0..200).map(|_| numbers(&space, &space.sample(rng))).collect();
    assert!(draws.iter().all(|x| (x[0] - 2.0 * x[1]).abs() < 1e-12 && (x.iter().sum::<f64>() - 1.0).abs() < 1e-12));
    assert!(draws.iter().any(|x| x[0] > 0.4) && draws.iter().any(|x| x[0] < 0.1));
}

#[test]
fn climbing_a_mixture_ends_at_its_best_corner() {
    let space = mixture(4);
    let gradient = [0.1, 0.9, -0.3, 0.4];
    let mut at = space.sample(&mut rng(5));
    for _ in 0..20 {
        let uphill = space.uphill(&at, &gradient);
        at = space.step(&at, &uphill, f64::INFINITY);
    }
    let corner = numbers(&space, &at);
    assert!((corner[1] - 1.0).abs() < 1e-9, "{corner:?}");
    assert_eq!(space.uphill(&at, &gradient), [0.0; 4]);
}
