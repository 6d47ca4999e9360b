//! What a study promises of kernels that are partly sums over parameters: when one is learned, and that everything works with it.

use crate::common::landscape::study;
use crate::common::{rng, uniform};
use manyhands_core::gp::{Kernel, KernelStructure};
use manyhands_core::{Direction, Domain, Parameter, Rule, Space, Spec, Strategy, Study, Tuning};

fn space(parameters: usize) -> Domain {
    let float = |j: usize| Parameter::float(&format!("x{j}"), -5.0, 5.0).unwrap();
    Domain::Space(Space::new((0..parameters).map(float).collect(), vec![]).unwrap())
}

/// A sum of functions with many hills each.
fn sum(x: &[f64]) -> f64 {
    x.iter().map(|x| x.powi(4) - 16.0 * x * x + 5.0 * x).sum()
}

/// A function of two parameters together: a ridge across the square.
fn ridge(x: &[f64]) -> f64 {
    (1.3 * (x[0] - x[1])).sin() * (0.4 * (x[0] + x[1])).cos()
}

/// With values at random points.
fn told(spec: &Spec, values: usize, f: fn(&[f64]) -> f64) -> Study {
    let (mut live, rng) = (study(spec), &mut rng(4));
    let parameters = spec.domain().dimension();
    for _ in 0..values {
        let x: Vec<f64> = (0..parameters).map(|_| uniform(rng, -5.0, 5.0)).collect();
        live.include(&x.iter().map(|x| (*x).into()).collect::<Vec<_>>(), Some(f(&x))).unwrap();
    }
    live
}

fn learned(mut live: Study) -> (KernelStructure, Study) {
    live.ask(1).unwrap();
    (live.fitted().unwrap().hyperparameters.structure, live)
}

#[test]
fn a_sum_over_parameters_is_recognized_and_other_functions_are_not_taken_for_one() {
    let spec =
        |parameters| Spec::learned(space(parameters), Strategy::auto()).unwrap().with_direction(Direction::Minimize);
    assert_eq!(learned(told(&spec(4), 60, sum)).0, KernelStructure::PartlyAdditive);
    assert_eq!(learned(told(&spec(2), 60, ridge)).0, KernelStructure::Joint);
    // With one parameter there is nothing to add.
    assert_eq!(learned(told(&spec(1), 30, sum)).0, KernelStructure::Joint);
}

#[test]
fn a_kernel_that_is_named_is_not_replaced_by_a_sum() {
    let matern = Kernel::matern(2.5, &[1.0]).unwrap();
    let named = Spec::learned_from(&matern, space(4), Strategy::auto()).unwrap().with_direction(Direction::Minimize);
    assert_eq!(learned(told(&named, 60, sum)).0, KernelStructure::Joint);
    let compared = named.with_tuning(Tuning::default()).unwrap();
    assert_eq!(learned(told(&compared, 60, sum)).0, KernelStructure::PartlyAdditive);
}

#[test]
fn a_learned_sum_predicts_better_where_parameters_were_never_combined() {
    let spec = |margin| {
        let tuning = Tuning { additive_margin: margin, ..Tuning::default() };
        Spec::learned(space(4), Strategy::auto()).unwrap().with_tuning(tuning).unwrap()
    };
    let error = |margin| {
        let (_, live) = learned(told(&spec(margin), 60, sum));
        let rng = &mut rng(9);
        let each = (0..100).map(|_| {
            let x: Vec<f64> = (0..4).map(|_| uniform(rng, -5.0, 5.0)).collect();
            let params: Vec<_> = x.iter().map(|x| (*x).into()).collect();
            (live.predict_params(&[params]).unwrap()[0].mean - sum(&x)).powi(2)
        });
        each.sum::<f64>().sqrt()
    };
    let (with, without) = (error(Some(2.0)), error(None));
    assert!(with < 0.5 * without, "{with} against {without}");
}

#[test]
fn every_rule_chooses_with_a_learned_sum_and_its_log_replays_and_verifies() {
    let rules = [
        Rule::Auto,
        Rule::GpBts,
        Rule::GpEi,
        Rule::AsyTs,
        Rule::Est,
        Rule::Pes,
        Rule::LocalPenalization,
        Rule::GpUcbPe,
    ];
    for rule in rules {
        let strategy = Strategy { rule, beta: Some(4.0), ..Strategy::auto() };
        let spec = Spec::learned(space(3), strategy).unwrap().with_direction(Direction::Minimize).with_seed(3);
        let mut live = told(&spec, 40, sum);
        for _ in 0..2 {
            for s in live.ask(3).unwrap() {
                assert!(s.point.iter().all(|x| (0.0..=1.0).contains(x)) && s.choice.sd > 0.0, "{rule:?}: {s:?}");
                live.tell(s.trial, sum(&s.params().iter().map(|p| p.number().unwrap()).collect::<Vec<_>>())).unwrap();
            }
        }
        assert_eq!(live.fitted().unwrap().hyperparameters.structure, KernelStructure::PartlyAdditive, "{rule:?}");
        assert_eq!(Study::verify(&spec, live.events()).map(drop), Ok(()), "{rule:?}");
        let mut again = Study::replay(spec, live.events()).unwrap();
        assert_eq!(again.ask(2).unwrap(), live.ask(2).unwrap(), "{rule:?}");
    }
}

#[test]
fn an_even_grid_is_chosen_from_exactly_with_a_learned_sum() {
    let even = |j: usize| Parameter::even(&format!("x{j}"), -5.0, 5.0, 21).unwrap();
    let domain = Domain::Space(Space::new((0..3).map(even).collect(), vec![]).unwrap());
    let spec = Spec::learned(domain, Strategy::auto()).unwrap().with_direction(Direction::Minimize);
    let mut live = study(&spec);
    for _ in 0..8 {
        for s in live.ask(5).unwrap() {
            live.tell(s.trial, sum(&s.params().iter().map(|p| p.number().unwrap()).collect::<Vec<_>>())).unwrap();
        }
    }
    assert_eq!(live.fitted().unwrap().hyperparameters.structure, KernelStructure::PartlyAdditive);
    let best = (0..21).map(|i| sum(&[-5.0 + 0.5 * f64::from(i)])).fold(f64::INFINITY, f64::min);
    assert!((live.best().unwrap().value - 3.0 * best).abs() < 1e-9);
}
