//! What the gap of a choice claims under constraints and where none is claimed: dense grids are the oracle.

use crate::common::{matern, rng, se, uniform};
use manyhands_core::gp::{Kernel, Prior};
use manyhands_core::{Constraint, Domain, Parameter, Relation, Result, Rule, Space, Spec, Strategy, Study, Value};

const NOISE: f64 = 0.01;
const STEPS: i64 = 160;

/// A space of two parameters under one constraint, and a dense set of its values that satisfy it.
struct Constrained {
    space: Space,
    feasible: Vec<Vec<Value>>,
}

fn space(parameters: [Result<Parameter>; 2], weight: f64, relation: Relation, bound: f64) -> Space {
    let terms = vec![("a".to_string(), weight), ("b".to_string(), 1.0)];
    Space::new(parameters.map(Result::unwrap).to_vec(), vec![Constraint { terms, relation, bound }]).unwrap()
}

fn share(step: i64) -> f64 {
    step as f64 / STEPS as f64
}

/// The pairs of values that satisfy a condition.
fn pairs(a: impl Fn(i64) -> Value, b: impl Fn(i64) -> Value, keeps: impl Fn(f64, f64) -> bool) -> Vec<Vec<Value>> {
    let all = (0..=STEPS).flat_map(|i| (0..=STEPS).map(move |j| (i, j)));
    let number = |value: &Value| value.number().unwrap();
    all.map(|(i, j)| vec![a(i), b(j)]).filter(|pair| keeps(number(&pair[0]), number(&pair[1]))).collect()
}

/// Halfspaces on plain, log-scaled and integer parameters, and a line.
fn cases() -> [Constrained; 4] {
    let plain = |step: i64| Value::Float(share(step));
    let (unit, log) = (|name| Parameter::float(name, 0.0, 1.0), Parameter::log_float("a", 0.01, 1.0));
    let at_most = |a: f64, b: f64| a + b <= 1.0;
    [
        Constrained {
            space: space([unit("a"), unit("b")], 1.0, Relation::AtMost, 1.0),
            feasible: pairs(plain, plain, at_most),
        },
        Constrained {
            space: space([log, unit("b")], 1.0, Relation::AtMost, 1.0),
            feasible: pairs(|step| Value::Float(0.01 * 100f64.powf(share(step)).min(100.0)), plain, at_most),
        },
        Constrained {
            space: space([Parameter::int("a", 0, 1600), unit("b")], -1e-3, Relation::AtLeast, 0.2),
            feasible: pairs(|step| Value::Int(10 * step), plain, |a, b| b - 1e-3 * a >= 0.2),
        },
        Constrained {
            space: space([unit("a"), unit("b")], 1.0, Relation::Equals, 1.0),
            feasible: (0..=STEPS).map(|step| vec![plain(step), plain(STEPS - step)]).collect(),
        },
    ]
}

/// Higher towards large parameters, so that maxima lie at constraints.
fn wavy(x: &[f64]) -> f64 {
    x.iter().map(|x| (6.0 * x).sin() + x).sum()
}

fn check(case: &Constrained, kernel: &Kernel, seed: u64) {
    let Constrained { space, feasible } = case;
    let prior = Prior::new(kernel.clone(), 0.0, NOISE).unwrap();
    let spec = Spec::new(Domain::Space(space.clone()), prior, Strategy::new(Rule::IgpBucb, 2.0)).unwrap();
    let mut live = Study::new(spec.with_seed(seed)).unwrap();
    let grid: Vec<Vec<f64>> = feasible.iter().map(|params| space.embed(params).unwrap()).collect();
    for _ in 0..8 {
        let posterior = live.posterior().clone();
        let s = live.ask(1).unwrap().remove(0);
        assert!(space.embed(s.params()).is_ok());
        let score = |x: &Vec<f64>| posterior.predict(x).map(|p| p.mean + s.choice.multiplier * p.sd).unwrap();
        let most = grid.iter().map(score).fold(f64::NEG_INFINITY, f64::max);
        let (chosen, gap) = (s.choice.score, s.choice.gap.unwrap());
        assert!((score(&s.point) - chosen).abs() <= 1e-12 * chosen.abs());
        assert!(most <= chosen + gap, "{:?}: {most} above {chosen} + {gap}", space.constraints());
        // The search stops at a thousandth of the score; integers too many to list are bounded as numbers of any kind,
        // which leaves as much again.
        assert!(gap <= 2e-3 * chosen.abs(), "{:?}: gap {gap} of {chosen}", space.constraints());
        live.tell(s.trial, wavy(&s.point)).unwrap();
        for s in live.ask(2).unwrap() {
            live.tell(s.trial, wavy(&s.point)).unwrap();
        }
    }
}

#[test]
fn under_a_constraint_the_gap_is_small_and_no_feasible_point_exceeds_it() {
    for case in &cases() {
        for (kernel, seed) in [(matern(0.3), 1), (se(0.4), 2)] {
            check(case, &kernel, seed);
        }
    }
}

#[test]
fn where_the_noise_is_lost_in_rounding_no_gap_is_claimed_and_the_certificate_holds() {
    let axis = |name| Parameter::float(name, 0.0, 1.0).unwrap();
    let space = Space::new(vec![axis("a"), axis("b")], vec![]).unwrap();
    let (kernel, centre) = (matern(0.3), [0.35, 0.62]);
    // Its norm is 1 and its maximum too, at the centre.
    let f = |x: &[f64]| kernel.covariance(&centre, x);
    for (noise, claims) in [(1e-2, true), (1e-10, false)] {
        let prior = Prior::new(kernel.clone(), 0.0, noise).unwrap();
        let strategy = Strategy::new(Rule::IgpBucb, 1.0);
        let mut live = Study::new(Spec::new(Domain::Space(space.clone()), prior, strategy).unwrap()).unwrap();
        let rng = &mut rng(5);
        for _ in 0..300 {
            let x = [uniform(rng, 0.0, 1.0), uniform(rng, 0.0, 1.0)];
            live.include(&x.map(Value::from), Some(f(&x))).unwrap();
        }
        let certificate = live.certificate().unwrap();
        assert!(certificate.upper >= 1.0 && certificate.lower <= f(&certificate.point) + 1e-9, "{certificate}");
        let s = live.ask(1).unwrap().remove(0);
        assert_eq!(s.choice.gap.is_some(), claims, "noise {noise}: {s:?}");
        assert_eq!(Study::verify(live.spec(), live.events()).map(drop), Ok(()));
    }
}
