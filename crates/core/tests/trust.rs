//! What a study says of itself: the best point, the record of its intervals, and what may still be gained.

use crate::common::landscape::{auto, hills, square};
use crate::common::{dot, f, line, on_one_and_two_threads, played, rng, se, solve, spec};
use manyhands_core::event::{ENGINE, Event, Included};
use manyhands_core::gp::{Given, Kernel, Prior};
use manyhands_core::study::{BestBy, Silence};
use manyhands_core::{
    Aim, Choice, Direction, Domain, Parameter, Phase, Rule, Space, Spec, Strategy, Study, Trial, Value,
};
use rand_distr::{Distribution, StandardNormal};

fn interval() -> Domain {
    Domain::Space(Space::new(vec![Parameter::float("x", 0.0, 1.0).unwrap()], vec![]).unwrap())
}

fn values(study: &Study) -> Vec<(usize, f64)> {
    study.trials().iter().filter_map(|trial| Some((trial.number(), trial.value()?))).collect()
}

#[test]
fn without_noise_the_best_point_has_the_best_value() {
    for direction in [Direction::Maximize, Direction::Minimize] {
        let spec = auto(square()).with_direction(direction);
        let mut study = played(&spec, 8, 0.0, |x| direction.sign() * hills(x));
        let best = study.best().unwrap();
        let extreme = values(&study).into_iter().reduce(|a, b| if direction.is_better(b.1, a.1) { b } else { a });
        assert_eq!((best.by, Some((best.trial, best.value))), (BestBy::Value, extreme));
        assert_eq!((best.reading.trial, best.reading.value, best.measured), (best.trial, best.value, 1));
        let incumbent = study.incumbent().unwrap();
        assert_eq!((incumbent.trial, incumbent.by, incumbent.value), (best.trial, best.by, best.value));
    }
}

#[test]
fn under_noise_the_best_point_has_the_best_mean_of_those_tried() {
    let mut study = played(&auto(square()), 12, 0.3, hills);
    let best = study.best().unwrap();
    let points: Vec<Vec<f64>> = (0..36).map(|trial| study.point(trial).unwrap().to_vec()).collect();
    let means: Vec<f64> = study.predict(&points).unwrap().iter().map(|there| there.mean).collect();
    let highest = means.iter().copied().fold(f64::MIN, f64::max);
    assert_eq!(best.by, BestBy::Mean);
    // The mean at a row is computed in two ways, which differ by rounding.
    assert!((means[best.trial] - highest).abs() < 1e-9 && (best.mean - highest).abs() < 1e-9, "{best:?} {highest}");
    let reading = values(&study).into_iter().reduce(|a, b| if b.1 > a.1 { b } else { a }).unwrap();
    assert_eq!((best.reading.trial, best.reading.value), reading);
    assert!(best.sd > 0.0 && best.lower < best.mean && best.mean < best.upper);
    let incumbent = study.incumbent().unwrap();
    assert_eq!((incumbent.trial, incumbent.by, incumbent.value), (best.trial, best.by, best.mean));
}

#[test]
fn the_cautious_choice_has_the_highest_lower_bound() {
    for spec in [auto(square()), spec(line(40), se(0.2), Strategy::new(Rule::IgpBucb, 2.0))] {
        let mut study = played(&spec, 8, 0.3, |x| if x.len() == 2 { hills(x) } else { f(x) });
        let cautious = study.best_cautious().unwrap();
        let points: Vec<Vec<f64>> = (0..24).map(|trial| study.point(trial).unwrap().to_vec()).collect();
        let lower = study.predict(&points).unwrap().iter().map(|there| there.lower).fold(f64::MIN, f64::max);
        assert_eq!((cautious.by, cautious.lower), (BestBy::Bound, lower));
        assert!(study.best().unwrap().lower <= cautious.lower);
    }
}

#[test]
fn a_setting_that_was_measured_often_is_one_point() {
    let given = Given { noise: Some(0.04), ..Given::default() };
    let family = Kernel::matern(2.5, &[1.0]).unwrap();
    let noisy = Spec::learned_given(&family, given, interval(), Strategy::auto()).unwrap();
    let mut study = Study::new(noisy).unwrap();
    for (x, value) in [(0.2, 0.3), (0.7, 0.9), (0.7, 1.1), (0.5, 1.2), (0.7, 1.0), (0.9, 0.1), (0.5, 0.1), (0.0, 0.0)] {
        study.include(&[Value::Float(x)], Some(value)).unwrap();
    }
    let best = study.best().unwrap();
    assert_eq!((best.trial, best.measured, best.by), (1, 3, BestBy::Mean), "{best:?}");
    assert_eq!((best.reading.trial, best.reading.value), (3, 1.2));
}

/// The posterior of a given model on a line, by elimination, sampled many times: max - value at the best point.
fn sampled_gains(prior: &Prior, domain: &Domain, study: &mut Study, draws: usize) -> Vec<f64> {
    let widened = study.outlook().unwrap().widened;
    let grid: Vec<f64> = match domain {
        Domain::Grid(grid) => (0..grid.len()).map(|i| grid.point(i)[0]).collect(),
        _ => (0..=300).map(|i| f64::from(i) / 300.0).collect(),
    };
    let best = study.best().unwrap().point[0];
    let grid: Vec<f64> = grid.into_iter().chain([best]).collect();
    let rows: Vec<f64> = study.trials().iter().map(|trial| study.point(trial.number()).unwrap()[0]).collect();
    let told: Vec<f64> = study.trials().iter().filter_map(Trial::value).collect();
    let k = |x: f64, y: f64| prior.kernel().covariance(&[x], &[y]);
    let (n, m) = (rows.len(), grid.len());
    let noise = |i: usize, j: usize| if i == j { prior.noise() } else { 0.0 };
    let gram = (0..n).map(|i| (0..n).map(|j| k(rows[i], rows[j]) + noise(i, j)).collect()).collect();
    let across: Vec<Vec<f64>> = grid.iter().map(|x| rows.iter().map(|r| k(*x, *r)).collect()).collect();
    let (solved, _) = solve(gram, across.clone());
    let mean: Vec<f64> = solved.iter().map(|v| dot(v, &told)).collect();
    let left = cholesky(m, |i, j| k(grid[i], grid[j]) - dot(&solved[i], &across[j]) + if i == j { 1e-9 } else { 0.0 });
    let mut rng = rng(5);
    let gain = |_| {
        let z: Vec<f64> = (0..m).map(|_| StandardNormal.sample(&mut rng)).collect();
        let draw: Vec<f64> = (0..m).map(|i| mean[i] + widened * dot(&left[i], &z)).collect();
        draw.iter().copied().fold(f64::MIN, f64::max) - draw[m - 1]
    };
    let mut gains: Vec<f64> = (0..draws).map(gain).collect();
    gains.sort_by(f64::total_cmp);
    gains
}

fn cholesky(n: usize, entry: impl Fn(usize, usize) -> f64) -> Vec<Vec<f64>> {
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for i in 0..n {
        let mut row: Vec<f64> = Vec::new();
        for j in 0..i {
            let rest = entry(i, j) - dot(&row, &rows[j][..j]);
            row.push(rest / rows[j][j]);
        }
        row.push((entry(i, i) - dot(&row, &row)).max(0.0).sqrt());
        rows.push(row);
    }
    rows
}

/// A given model is right by construction, but states no theorem without a norm bound: what it expects is the quantile of its
/// own samples, whose 0.9 quantile lies between the oracle's 0.78 and 0.98 quantiles unless an event of probability 1e-3 comes.
#[test]
fn a_gain_is_the_quantile_of_the_maxima_of_sampled_functions() {
    let prior = Prior::new(Kernel::matern(2.5, &[0.15]).unwrap(), 0.0, 0.01).unwrap();
    for domain in [line(60), interval()] {
        let spec = Spec::new(domain.clone(), prior.clone(), Strategy::auto()).unwrap();
        let mut study = played(&spec, 8, 0.1, |x| (5.0 * x[0]).sin());
        let outlook = study.outlook().unwrap();
        assert_eq!(outlook.record.trials, 24);
        let gains = sampled_gains(&prior, &domain, &mut study, 4000);
        let (low, high) = (gains[4000 * 78 / 100], gains[4000 * 98 / 100]);
        let gain = outlook.gain.unwrap();
        assert!(low < gain && gain < high, "{gain} is not between {low} and {high}");
    }
}

#[test]
fn the_same_log_has_the_same_outlook_on_any_number_of_threads() {
    let [one, two] = on_one_and_two_threads(|| {
        let mut study = played(&auto(square()), 12, 0.0, hills);
        (study.outlook().unwrap(), study.best().unwrap())
    });
    assert_eq!(one, two);
    assert!(one.0.gain.is_some_and(|gain| gain >= 0.0), "{one:?}");
    let mut study = played(&auto(square()), 12, 0.0, hills);
    assert_eq!(study.outlook().unwrap(), one.0);
    let mut again = Study::replay(study.spec().clone(), study.events()).unwrap();
    assert_eq!(again.outlook().unwrap(), one.0);
}

#[test]
fn asking_for_an_outlook_changes_no_choice() {
    let spec = auto(square());
    let (mut asked, mut plain) = (played(&spec, 12, 0.0, hills), played(&spec, 12, 0.0, hills));
    asked.outlook().unwrap();
    asked.best_cautious().unwrap();
    assert_eq!(asked.propose(3).unwrap(), plain.propose(3).unwrap());
}

#[test]
fn intervals_pass_through_the_warp_by_quantiles() {
    let study = played(&auto(square()).with_direction(Direction::Minimize), 10, 0.0, |x| 200.0 * (-hills(x)).exp());
    let warp = study.fitted().unwrap().warp;
    assert!(warp.bend() > 0.0, "the values are skewed, so that the warp matters");
    let sds = 1.644_853_626_951_472_2 * study.record().widened;
    let points = [vec![0.1, 0.9], vec![0.5, 0.5], vec![0.95, 0.05]];
    for (point, there) in points.iter().zip(study.predict(&points).unwrap()) {
        let inside = study.posterior().predict(point).unwrap();
        let [lower, upper] = [-1.0, 1.0].map(|side| -warp.inverse(inside.mean - side * sds * inside.sd_observed));
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * b.abs().max(1.0);
        assert!(close(there.lower, lower) && close(there.upper, upper), "{there:?} {lower} {upper}");
    }
}

/// A log in which trial 0 is told first and each further trial has an interval of half length 1 around 0.
fn log_of(values: &[f64]) -> Vec<Event> {
    let first = Event::Included(Included { trial: 0, candidate: 0, params: vec![], value: Some(0.0) });
    let asked = |(i, _): (usize, &f64)| {
        let mut study = Study::new(plain()).unwrap();
        let Some(Event::Asked(asked)) = study.propose(1).unwrap().pop() else { panic!() };
        let (candidate, interval) = (i % 20, Some([-1.0, 1.0]));
        let choice = Choice { candidate, interval, sd_observed: Some(0.6), ..asked.choice };
        Event::Asked(manyhands_core::event::Asked { trial: i + 1, choice, seen: 0, engine: ENGINE })
    };
    let told = |(i, value): (usize, &f64)| Event::Told { trial: i + 1, value: *value };
    let (asks, tells) = (values.iter().enumerate().map(asked), values.iter().enumerate().map(told));
    [first].into_iter().chain(asks).chain(tells).collect()
}

fn plain() -> Spec {
    spec(line(20), se(0.2), Strategy { norm_bound: None, ..Strategy::auto() })
}

#[test]
fn the_record_counts_the_intervals_that_held_and_asks_for_what_they_lacked() {
    // 30 deviations 0.1, 0.2, ..., 3.0 in some order: 10 intervals held.
    let values: Vec<f64> =
        (0..30).map(|i| 0.1 * f64::from((i * 7 % 30) + 1) * if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
    let study = Study::replay(plain(), &log_of(&values)).unwrap();
    let record = study.record();
    assert_eq!((record.held, record.trials, record.share()), (10, 30, Some(10.0 / 30.0)));
    // The rank is ceil(0.9 x 31) = 28, and ceil(0.9 x 31 + 0.5 sqrt(0.09 x 30)) = 29 for a gain.
    assert!((record.widened - 2.8f64.cbrt()).abs() < 1e-12, "{record:?}");
    let mut study = study;
    let outlook = study.outlook().unwrap();
    assert!((outlook.widened - 2.9).abs() < 1e-12, "{outlook:?}");
    assert_eq!((outlook.gain, outlook.silence), (None, Some(Silence::PoorRecord { wanted: 0.75 })));
}

#[test]
fn events_of_older_engines_do_not_count_in_the_record() {
    let mut events = log_of(&[0.5; 25]);
    for event in events.iter_mut().take(11) {
        if let Event::Asked(asked) = event {
            asked.choice = Choice { aim: None, sd_observed: None, interval: None, ..asked.choice.clone() };
            asked.engine = 3;
        }
    }
    let mut study = Study::replay(plain(), &events).unwrap();
    assert_eq!((study.record().trials, study.record().widened), (15, 1.0));
    assert_eq!(study.outlook().unwrap().silence, Some(Silence::TooEarly { wanted: 20 }));
}

#[test]
fn the_record_grows_by_the_trials_after_the_first_design() {
    let mut study = Study::new(auto(square())).unwrap();
    for told in 0..30 {
        let designs = study.trials().iter().filter(|trial| trial.phase() == Some(Phase::Design)).count();
        assert_eq!(study.record().trials, told - designs);
        let s = study.ask(1).unwrap().remove(0);
        let is_design = s.choice.phase == Phase::Design;
        assert_eq!(s.choice.aim == Some(Aim::Design), is_design);
        assert_eq!(s.choice.interval.is_none(), told == 0, "nothing is expected before the first value");
        study.tell(s.trial, hills(&s.point)).unwrap();
    }
}

#[test]
fn a_choice_says_what_it_expects_of_its_value() {
    let mut study = played(&spec(line(30), se(0.2), Strategy::new(Rule::IgpBucb, 2.0)), 4, 0.0, f);
    study.ask(2).unwrap();
    let s = study.ask(1).unwrap().remove(0);
    let there = study.predict(std::slice::from_ref(&s.point)).unwrap()[0];
    assert_eq!(s.choice.sd_observed, Some(there.sd));
    // Noise is part of a value.
    let width = 1.644_853_626_951_472_2 * there.sd.hypot(study.spec().prior().noise().sqrt());
    let [lower, upper] = s.choice.interval.unwrap();
    assert!((lower - there.mean + width).abs() < 1e-12 && (upper - there.mean - width).abs() < 1e-12);
    assert!(s.choice.sd < there.sd, "pending points enter the sd it was chosen with");
}

#[test]
fn aims_say_what_trials_are_for() {
    let study = played(&auto(square()), 16, 0.0, |x| -(x[0] - 0.3).powi(2) - (x[1] - 0.6).powi(2));
    let aims: Vec<Aim> = study.trials().iter().filter_map(Trial::aim).collect();
    assert_eq!(aims.len(), 48);
    for aim in [Aim::Design, Aim::Greedy, Aim::Wide, Aim::Exploring] {
        assert!(aims.contains(&aim), "{aim:?} is missing");
    }
    for trial in study.trials() {
        let choice = trial.choice().unwrap();
        let expected = match (choice.phase, choice.multiplier) {
            (Phase::Design, _) => Aim::Design,
            (_, 0.0) => Aim::Exploring,
            (_, width) if width < 1.0 => Aim::Greedy,
            _ => Aim::Wide,
        };
        assert_eq!(trial.aim(), Some(expected), "{choice:?}");
    }
}

#[test]
fn a_pool_without_repeats_expects_no_gain_from_what_failed() {
    let spec = Spec::learned(line(40), Strategy::auto()).unwrap().without_repeats().unwrap();
    let mut study = Study::new(spec).unwrap();
    let truth = |x: f64| (3.0 * x).sin();
    for _ in 0..40 {
        let s = study.ask(1).unwrap().remove(0);
        let x = s.point[0];
        // Around the maximum at pi/6 every candidate fails.
        match (x - 0.52).abs() < 0.1 {
            true => study.fail(s.trial, "burnt").unwrap(),
            false => study.tell(s.trial, truth(x)).unwrap(),
        }
    }
    let (best, outlook) = (study.best().unwrap(), study.outlook().unwrap());
    let better = study.predict(&[vec![0.52]]).unwrap()[0].mean - best.value;
    assert!(better > 0.01, "the model knows that failed candidates are better: {better}");
    assert!(outlook.gain.is_some_and(|gain| gain < 1e-6) && outlook.is_exhausted, "{outlook:?}");
}
