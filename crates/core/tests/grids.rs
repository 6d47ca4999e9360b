//! Grids of more than 16,384 points, given as spaces: which of them are computed exactly, and that choices there are those of
//! computing every point.

use std::sync::Arc;

use crate::common::{argmax, on_one_and_two_threads};
use manyhands_core::gp::{self, Given, Kernel, Points, Prior};
use manyhands_core::study::Verification;
use manyhands_core::{
    Constraint, Domain, Error, Event, Parameter, Relation, Rule, Space, Spec, Strategy, Study, Value,
};
use manyhands_gp::{Restricted, Sampler};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// One more point than a space may list: 16,900.
const SIDE: usize = 130;

fn even(points: usize, parameters: usize) -> Space {
    let axis = |i: usize| Parameter::even(&format!("x{i}"), -1.0, 2.0, points).unwrap();
    Space::new((0..parameters).map(axis).collect(), vec![]).unwrap()
}

fn se() -> Kernel {
    Kernel::squared_exponential(&[1.0]).unwrap()
}

fn matern() -> Kernel {
    Kernel::matern(2.5, &[1.0]).unwrap()
}

fn strategy(rule: Rule) -> Strategy {
    Strategy { rule, beta: Some(4.0).filter(|_| rule == Rule::GpUcbPe), norm_bound: Some(1.0), ..Strategy::auto() }
}

fn learned(family: &Kernel, domain: Domain, rule: Rule) -> Spec {
    // A list of candidates would have a shorter design than a grid.
    let strategy = Strategy { norm_bound: None, design: Some(8), ..strategy(rule) };
    Spec::learned_from(family, domain, strategy).unwrap().with_seed(9)
}

fn given(kernel: Kernel, space: Space, rule: Rule) -> Spec {
    Spec::new(Domain::Space(space), Prior::new(kernel, 0.0, 1e-3).unwrap(), strategy(rule)).unwrap().with_seed(4)
}

fn f(x: &[f64]) -> f64 {
    x.iter().map(|x| (5.0 * x).sin() - (x - 0.3).powi(2)).sum()
}

/// Batches of three, with one trial that fails, one that is cancelled and one that stays pending.
fn go_on(study: &mut Study, rounds: usize) {
    for _ in 0..rounds {
        for s in study.ask(3).unwrap() {
            match s.trial {
                7 => study.fail(7, "broke").unwrap(),
                10 => study.cancel(10).unwrap(),
                13 => {}
                _ => study.tell(s.trial, f(&s.point)).unwrap(),
            }
        }
    }
}

/// The grid of a spec.
fn grid(spec: &Spec) -> &gp::Grid {
    match spec.finite() {
        Some(gp::Domain::Grid(grid)) => grid,
        other => panic!("{other:?}"),
    }
}

/// Events without what only a space has: the values of parameters.
fn without_params(events: &[Event]) -> Vec<Event> {
    let strip = |event: &Event| match event.clone() {
        Event::Asked(mut asked) => {
            asked.choice.params.clear();
            Event::Asked(asked)
        }
        other => other,
    };
    events.iter().map(strip).collect()
}

/// The list of all points is computed without any structure, and is tested against dense solves.
#[test]
fn a_learned_model_chooses_on_a_large_grid_as_on_the_list_of_its_points() {
    for family in [matern(), se()] {
        for rule in [Rule::IgpBucb, Rule::GpEi, Rule::GpUcbPe, Rule::GpBucbBayesian] {
            let on_grid = learned(&family, Domain::Space(even(SIDE, 2)), rule);
            let rows: Vec<Vec<f64>> = (0..grid(&on_grid).len()).map(|i| grid(&on_grid).point(i)).collect();
            let on_list = learned(&family, Domain::Points(Points::from_rows(&rows).unwrap()), rule);
            let [structured, plain] = [on_grid, on_list].map(|spec| {
                let mut study = Study::new(spec).unwrap();
                go_on(&mut study, 6);
                without_params(study.events())
            });
            assert_eq!(structured, plain, "{rule:?}, {:?}", family.family());
        }
    }
}

#[test]
fn the_first_pick_of_an_upper_bound_is_the_argmax_over_all_points() {
    for (family, side) in [(matern(), SIDE), (se(), SIDE)] {
        let mut study = Study::new(learned(&family, Domain::Space(even(side, 2)), Rule::IgpBucb)).unwrap();
        go_on(&mut study, 4);
        let pick = study.ask(1).unwrap().remove(0);
        // Without the pick itself: as the pick saw it.
        study.cancel(pick.trial).unwrap();
        let (grid, multiplier) = (grid(study.spec()), pick.choice.multiplier);
        let score = |i: usize| {
            let there = study.posterior().predict(&grid.point(i)).unwrap();
            there.mean + multiplier * there.sd
        };
        let scores: Vec<f64> = (0..grid.len()).map(score).collect();
        assert_eq!(pick.choice.candidate, argmax(&scores));
        assert_eq!((pick.choice.score, pick.choice.gap), (scores[pick.choice.candidate], Some(0.0)));
        assert_eq!(pick.point, grid.point(pick.choice.candidate));
    }
}

/// The same draw by the sampler, whose law is tested in its own crate.
fn check_sampled(study: &mut Study, memory: usize) -> Option<f64> {
    let spec = study.spec().clone();
    let posterior = study.posterior().clone();
    let pick = study.ask(1).unwrap().remove(0);
    let posterior = if spec.learns() {
        study.cancel(pick.trial).unwrap();
        study.posterior().clone()
    } else {
        posterior
    };
    let kernel = posterior.prior().kernel().clone();
    let restricted = Restricted::new(kernel, gp::Domain::Grid(grid(&spec).clone()), memory).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(spec.seed());
    rng.set_stream(pick.trial as u64);
    let sampler = Sampler::new(Arc::new(restricted)).unwrap();
    let sample = sampler.draw(posterior.view(), pick.choice.multiplier, &mut rng);
    assert_eq!(pick.choice.candidate, argmax(&sample));
    assert_eq!(pick.choice.score, sample[pick.choice.candidate]);
    assert_eq!(pick.choice.gap, Some(0.0).filter(|_| sampler.excess() == 0.0));
    pick.choice.gap
}

#[test]
fn samples_over_a_large_grid_are_drawn_at_every_point_of_it() {
    const MEMORY: usize = 256 << 20;
    let kernels = [Kernel::matern(2.5, &[0.2]).unwrap(), Kernel::squared_exponential(&[0.3]).unwrap()];
    for kernel in kernels {
        let mut study = Study::new(given(kernel, even(SIDE, 2), Rule::GpBts)).unwrap();
        go_on(&mut study, 4);
        assert_eq!(check_sampled(&mut study, MEMORY), Some(0.0));
    }
    for family in [matern(), se()] {
        let mut study = Study::new(learned(&family, Domain::Space(even(SIDE, 2)), Rule::GpBts)).unwrap();
        go_on(&mut study, 6);
        check_sampled(&mut study, MEMORY);
    }
}

#[test]
fn a_sample_that_no_embedding_within_the_memory_makes_exact_claims_no_gap() {
    let memory = 4 << 20;
    let spec = given(Kernel::matern(2.5, &[2.0]).unwrap(), even(SIDE, 2), Rule::GpBts).with_memory(memory);
    let mut study = Study::new(spec).unwrap();
    go_on(&mut study, 2);
    assert_eq!(check_sampled(&mut study, memory), None);
}

#[test]
fn one_and_two_threads_choose_the_same_on_large_grids() {
    for rule in [Rule::GpEi, Rule::GpBts] {
        let [one, two] = on_one_and_two_threads(|| {
            let mut study = Study::new(learned(&matern(), Domain::Space(even(SIDE, 2)), rule)).unwrap();
            go_on(&mut study, 5);
            study.events().to_vec()
        });
        assert_eq!(one, two);
    }
}

#[test]
fn replaying_goes_on_as_the_live_study_and_every_choice_is_verified() {
    for rule in [Rule::GpEi, Rule::GpBts] {
        let spec = learned(&matern(), Domain::Space(even(SIDE, 2)), rule);
        let mut live = Study::new(spec.clone()).unwrap();
        live.include(&[(-1.0).into(), 2.0.into()], Some(0.3)).unwrap();
        live.enqueue(&[2.0.into(), 2.0.into()]).unwrap();
        go_on(&mut live, 5);
        live.amend_params(4, &[2.0.into(), (-1.0).into()]).unwrap();
        let queued = live.trials().iter().find(|trial| trial.logged_params() == [2.0.into(), 2.0.into()]).unwrap();
        assert_eq!(queued.candidate(), SIDE * SIDE - 1);
        assert_eq!([0, 4].map(|trial| live.trials()[trial].candidate()), [SIDE - 1, SIDE * (SIDE - 1)]);
        let mut replayed = Study::replay(spec.clone(), live.events()).unwrap();
        assert_eq!(replayed.ask(3).unwrap(), live.ask(3).unwrap());
        let Verification { checked, older, newer } = Study::verify(&spec, live.events()).unwrap();
        assert_eq!((checked.choices, older.choices + newer.choices), (18, 0));
    }
}

/// Logs of engines that searched these grids have the trial's number for a candidate, or none.
#[test]
fn points_of_older_logs_are_found_from_their_parameters() {
    let spec = learned(&matern(), Domain::Space(even(SIDE, 2)), Rule::GpEi);
    let mut live = Study::new(spec.clone()).unwrap();
    live.include(&[(-1.0).into(), 2.0.into()], Some(0.3)).unwrap();
    live.enqueue(&[2.0.into(), 2.0.into()]).unwrap();
    go_on(&mut live, 3);
    live.amend_params(4, &[2.0.into(), (-1.0).into()]).unwrap();
    live.enqueue(&[(-1.0).into(), (-1.0).into()]).unwrap();
    let mut older = live.events().to_vec();
    for event in &mut older {
        match event {
            Event::Asked(asked) => (asked.choice.candidate, asked.engine) = (asked.trial, 4),
            Event::Fitted(fitted) => fitted.engine = 4,
            Event::Included(included) => included.candidate = included.trial,
            Event::Enqueued(enqueued) => enqueued.candidate = None,
            Event::Amended(amended) => amended.setting.as_mut().unwrap().candidate = None,
            _ => {}
        }
    }
    let mut replayed = Study::replay(spec.clone(), &older).unwrap();
    let candidates = |study: &Study| study.trials().iter().map(|trial| trial.candidate()).collect::<Vec<_>>();
    assert_eq!(candidates(&replayed), candidates(&live));
    assert_eq!(replayed.suggestions(), live.suggestions());
    assert_eq!(replayed.ask(3).unwrap(), live.ask(3).unwrap());
    assert_eq!(replayed.best(), live.best());
    older.extend_from_slice(&replayed.events()[older.len()..]);
    let found = Study::verify(&spec, &older).unwrap();
    assert_eq!((found.older.choices, found.checked.choices), (9, 3));
    // A point that the grid does not have is damage, not another trial.
    let Some(Event::Asked(asked)) = older.iter_mut().find(|event| matches!(event, Event::Asked(_))) else { panic!() };
    asked.choice.params[1] = Value::Float(0.123);
    assert!(matches!(Study::replay(spec, &older), Err(Error::BadLog { .. })));
}

#[test]
fn which_spaces_are_computed_point_by_point_follows_from_the_description() {
    let learned = |family: &Kernel, space: Space, rule| learned(family, Domain::Space(space), rule).is_finite();
    let with = |others: Vec<Parameter>| {
        Space::new(even(SIDE, 2).parameters().iter().cloned().chain(others).collect(), vec![]).unwrap()
    };
    let uneven = || with(vec![Parameter::levels("level", &[0.1, 0.5, 7.0]).unwrap()]);
    let choice = || with(vec![Parameter::choice("kind", &["p", "q"]).unwrap()]);
    let even_levels = || with(vec![Parameter::levels("even", &[1.0, 2.0, 3.0]).unwrap()]);
    let terms = vec![("x0".to_string(), 1.0), ("x1".to_string(), 1.0)];
    let constraint = Constraint { terms, relation: Relation::AtMost, bound: 1.0 };
    let constrained = || Space::new(even(SIDE, 2).parameters().to_vec(), vec![constraint.clone()]).unwrap();
    for family in [matern(), se()] {
        for rule in [Rule::IgpBucb, Rule::GpBts, Rule::GpBucb, Rule::GpEi] {
            let is_product = family == se();
            assert!(learned(&family, even(SIDE, 2), rule) && learned(&family, even(362, 2), rule));
            assert!(!learned(&family, even(363, 2), rule), "131,769 points");
            assert!(learned(&family, even(50, 3), rule) && learned(&family, even(16, 4), rule));
            assert!(!learned(&family, even(17, 4), rule) && !learned(&family, even(6, 6), rule));
            assert!(learned(&family, even(5, 6), rule), "15,625 points");
            assert!(learned(&family, even_levels(), rule));
            assert_eq!(learned(&family, uneven(), rule), is_product);
            assert!(!learned(&family, choice(), rule) && !learned(&family, constrained(), rule));
        }
        // Searched as well there, and better.
        assert!(!learned(&family, even(SIDE, 2), Rule::Auto) && learned(&family, even(128, 2), Rule::Auto));
    }
    let given = |kernel: &Kernel, space, rule| given(kernel.clone(), space, rule).is_finite();
    for kernel in [matern(), se()] {
        let is_product = kernel == se();
        assert!(given(&kernel, even(1000, 2), Rule::GpBts) && given(&kernel, even(100, 3), Rule::GpBts));
        assert!(!given(&kernel, even(1025, 2), Rule::GpBts) && !given(&kernel, even(1025, 2), Rule::IgpBucb));
        assert_eq!(given(&kernel, uneven(), Rule::GpBts), is_product);
        assert!(given(&kernel, uneven(), Rule::IgpBucb), "nothing is sampled");
    }
    // The padding of a grid of many short axes does not fit.
    assert!(!given(&matern(), even(4, 10), Rule::GpBts) && given(&se(), even(4, 10), Rule::GpBts));
    let half = Given { noise: Some(0.01), ..Given::default() };
    let spec = Spec::learned_given(&matern(), half, Domain::Space(even(SIDE, 2)), strategy(Rule::GpEi)).unwrap();
    assert!(spec.is_finite());
}

#[test]
fn a_point_between_those_of_a_large_grid_is_refused_and_each_can_be_had_once() {
    let spec = learned(&matern(), Domain::Space(even(SIDE, 2)), Rule::GpEi).without_repeats().unwrap();
    let mut study = Study::new(spec).unwrap();
    assert!(study.include(&[0.123.into(), 2.0.into()], Some(1.0)).is_err());
    study.include(&[2.0.into(), 2.0.into()], Some(1.0)).unwrap();
    let again = study.include(&[2.0.into(), 2.0.into()], Some(1.0));
    assert_eq!(again, Err(Error::CandidateTaken { candidate: SIDE * SIDE - 1, trial: 0 }));
}
