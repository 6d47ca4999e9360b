//! What `auto` promises beside its widths: where it looks after it has converged, and what a second measurement is for.

use crate::common::landscape::{auto, hills, square, study};
use crate::common::{rng, uniform};
use manyhands_core::study::BestBy;
use manyhands_core::{
    Aim, Direction, Domain, Event, Parameter, Phase, Space, Spec, Strategy, Study, Suggestion, Tuning, Value,
};

fn cube(parameters: usize) -> Domain {
    let float = |j: usize| Parameter::float(&format!("x{j}"), 0.0, 1.0).unwrap();
    Domain::Space(Space::new((0..parameters).map(float).collect(), vec![]).unwrap())
}

/// A smooth bowl: every run converges soon.
fn bowl(x: &[f64]) -> f64 {
    -x.iter().map(|x| (x - 0.3).powi(2)).sum::<f64>()
}

/// Rounds of five, and all suggestions.
fn rounds(live: &mut Study, count: usize, mut f: impl FnMut(&[f64]) -> f64) -> Vec<Suggestion> {
    let mut all = vec![];
    for _ in 0..count {
        for s in live.ask(5).unwrap() {
            live.tell(s.trial, f(&s.point)).unwrap();
            all.push(s);
        }
    }
    all
}

fn exploring(all: &[Suggestion]) -> Vec<&Suggestion> {
    all.iter().filter(|s| s.choice.phase == Phase::Rule && s.choice.aim == Some(Aim::Exploring)).collect()
}

fn with(domain: Domain, change: impl FnOnce(&mut Tuning)) -> Spec {
    let mut tuning = Tuning::default();
    change(&mut tuning);
    auto(domain).with_tuning(tuning).unwrap()
}

#[test]
fn nearly_all_trials_of_a_converged_search_are_away_from_the_best_point() {
    let mut live = study(&auto(cube(3)));
    let all = rounds(&mut live, 24, bowl);
    let away: Vec<&Suggestion> = exploring(&all).into_iter().filter(|s| s.choice.multiplier > 0.0).collect();
    assert!(away.len() >= 20 && away.iter().all(|s| s.trial % 10 != 1), "{}", away.len());
    let mut lengthscales = vec![];
    for event in live.events() {
        match event {
            Event::Fitted(fitted) => lengthscales = fitted.hyperparameters.lengthscales.clone(),
            Event::Asked(asked) if away.iter().any(|s| s.trial == asked.trial) => {
                // By definition, from the best point at that time, which is all but the optimum; a lengthscale counts up to
                // twice the median of its prior.
                let longest = 2.0 * 0.13 * 3f64.sqrt();
                let far = |(x, l): (&f64, &f64)| ((x - 0.3) / l.min(longest)).powi(2);
                let square: f64 = all[asked.trial].point.iter().zip(&lengthscales).map(far).sum();
                assert!(square.sqrt() > 1.4, "{asked:?}");
            }
            _ => {}
        }
    }
    assert_eq!(Study::verify(live.spec(), live.events()).map(drop), Ok(()));
    let mut again = Study::replay(live.spec().clone(), live.events()).unwrap();
    assert_eq!(again.ask(5).unwrap(), live.ask(5).unwrap());
}

/// Two peaks: a run that has climbed the lower one finds the other when it has converged.
#[test]
fn a_search_that_has_converged_on_a_lower_peak_finds_the_higher_one() {
    let peak = |x: &[f64], at: f64, width: f64| (-x.iter().map(|x| ((x - at) / width).powi(2)).sum::<f64>()).exp();
    let f = move |x: &[f64]| peak(x, 0.2, 0.25) + 1.5 * peak(x, 0.8, 0.12);
    let found = |elsewhere: Option<f64>| {
        let ended = (0..10).filter(|seed| {
            let spec = with(cube(4), |tuning| tuning.elsewhere = elsewhere).with_seed(*seed);
            let mut live = study(&spec);
            // It begins at the lower peak.
            live.include(&vec![0.25.into(); 4], Some(f(&[0.25; 4]))).unwrap();
            rounds(&mut live, 20, f);
            live.best().unwrap().value > 1.4
        });
        ended.count()
    };
    let (with, without) = (found(Some(1.5)), found(None));
    assert!(with >= without + 2, "{with} against {without} of ten");
}

#[test]
fn with_few_parameters_or_without_the_setting_it_goes_where_the_sd_is_largest() {
    for spec in [auto(cube(2)), with(cube(3), |tuning| tuning.elsewhere = None)] {
        let all = rounds(&mut study(&spec), 24, bowl);
        let found = exploring(&all);
        assert!(found.len() >= 10 && found.iter().all(|s| s.choice.multiplier == 0.0));
    }
}

#[test]
fn one_width_in_five_is_wider_where_there_are_categories() {
    let kind = Parameter::choice("kind", &["p", "q", "r"]).unwrap();
    let x = Parameter::float("x", 0.0, 1.0).unwrap();
    let mixed = Domain::Space(Space::new(vec![kind, x], vec![]).unwrap());
    let widths = |domain: Domain| {
        let mut live = study(&auto(domain));
        let all = rounds(&mut live, 4, |x| (5.0 * x[0]).sin() - x[1]);
        let by_rule = all.iter().filter(|s| s.choice.phase == Phase::Rule && s.choice.aim == Some(Aim::Wide));
        let mut widths: Vec<f64> = by_rule.map(|s| s.choice.multiplier).collect();
        widths.sort_by(f64::total_cmp);
        widths.dedup();
        widths
    };
    assert_eq!(widths(mixed), [2.0, 4.0]);
    assert_eq!(widths(square()), [2.0]);
}

#[test]
fn a_list_of_candidates_has_a_shorter_design() {
    let rows: Vec<Vec<f64>> = (0..100).map(|i| vec![f64::from(i % 10), f64::from(i / 10)]).collect();
    let list = Domain::Points(manyhands_core::gp::Points::from_rows(&rows).unwrap());
    let design = |domain| {
        let all = rounds(&mut study(&auto(domain)), 3, hills);
        all.iter().filter(|s| s.choice.phase == Phase::Design).count()
    };
    assert_eq!((design(list), design(square())), (5, 8));
}

/// Rough at a scale that forty values do not resolve.
fn rough(x: &[f64]) -> f64 {
    bowl(x) + 0.1 * x.iter().map(|x| (95.0 * x).sin()).sum::<f64>()
}

fn repeated(live: &Study) -> Vec<Vec<usize>> {
    let mut settings: Vec<(Vec<Value>, Vec<usize>)> = vec![];
    for trial in live.trials() {
        match settings.iter_mut().find(|(params, _)| params == trial.logged_params()) {
            Some((_, trials)) => trials.push(trial.number()),
            None => settings.push((trial.logged_params().to_vec(), vec![trial.number()])),
        }
    }
    settings.into_iter().map(|(_, trials)| trials).filter(|trials| trials.len() > 1).collect()
}

#[test]
fn what_looks_like_noise_is_measured_twice_and_equal_values_show_that_there_is_none() {
    let mut live = study(&auto(cube(2)));
    let all = rounds(&mut live, 8, rough);
    assert_eq!(repeated(&live).len(), 1, "one setting, tried twice");
    let again = repeated(&live)[0][1];
    assert!(all[again].choice.aim == Some(Aim::Greedy) && again >= 20);
    let best = live.best().unwrap();
    assert_eq!((best.by, best.is_noisy), (BestBy::Value, false));
    assert_eq!(best.value, live.trials().iter().filter_map(|trial| trial.value()).fold(f64::MIN, f64::max));
    assert_eq!(Study::verify(live.spec(), live.events()).map(drop), Ok(()));

    let never = with(cube(2), |tuning| tuning.repeat_from = None);
    let mut without = study(&never);
    rounds(&mut without, 8, rough);
    assert_eq!((repeated(&without), without.best().unwrap().by), (vec![], BestBy::Mean));
}

#[test]
fn under_noise_the_second_value_differs_and_the_best_point_stays_an_estimate() {
    let (mut live, rng) = (study(&auto(cube(2))), &mut rng(2));
    rounds(&mut live, 8, |x| bowl(x) + uniform(rng, -0.3, 0.3));
    assert!(!repeated(&live).is_empty());
    let best = live.best().unwrap();
    assert_eq!((best.by, best.is_noisy), (BestBy::Mean, true));
}

#[test]
fn a_smooth_function_is_never_measured_twice() {
    let mut live = study(&auto(cube(3)));
    rounds(&mut live, 8, bowl);
    assert_eq!(repeated(&live), Vec::<Vec<usize>>::new());
}

#[test]
fn values_told_twice_by_the_user_are_no_proof() {
    let (mut live, rng) = (study(&auto(cube(2)).with_direction(Direction::Maximize)), &mut rng(5));
    for i in 0..120 {
        let x = [uniform(rng, 0.0, 1.0), uniform(rng, 0.0, 1.0)];
        let value = bowl(&x) + uniform(rng, -0.5, 0.5);
        for _ in 0..if i == 0 { 2 } else { 1 } {
            live.include(&x.map(Value::from), Some(value)).unwrap();
        }
    }
    live.ask(1).unwrap();
    assert!(live.events().iter().any(|event| matches!(event, Event::Fitted(_))));
    assert_eq!(live.best().unwrap().by, BestBy::Mean);
}

#[test]
fn a_given_noise_is_believed() {
    let given = manyhands_core::gp::Given { noise: Some(0.05), ..Default::default() };
    let matern = manyhands_core::gp::Kernel::matern(2.5, &[1.0]).unwrap();
    let spec = Spec::learned_given(&matern, given, cube(2), Strategy::auto()).unwrap();
    let mut live = study(&spec);
    rounds(&mut live, 8, rough);
    assert_eq!(live.best().unwrap().by, BestBy::Mean);
}
