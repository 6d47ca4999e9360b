//! What a study says of itself: the best point, the record of its intervals, what may still be gained, and when to stop.

use crate::common::landscape::{auto, hills, square};
use crate::common::{f, line, on_one_and_two_threads, rng, se, spec};
use manyhands_core::event::{ENGINE, Event, Included};
use manyhands_core::gp::{Given, Kernel, Prior};
use manyhands_core::study::{BestBy, Silence, StopReason, StopRule};
use manyhands_core::{
    Aim, BoundKind, Choice, Direction, Domain, Error, Parameter, Phase, Rule, Space, Spec, Strategy, Study, Trial,
    Value,
};
use rand_distr::{Distribution, StandardNormal};

fn interval() -> Domain {
    Domain::Space(Space::new(vec![Parameter::float("x", 0.0, 1.0).unwrap()], vec![]).unwrap())
}

/// Rounds of three, with noise of this sd.
fn played(spec: &Spec, rounds: usize, noise: f64, truth: impl Fn(&[f64]) -> f64) -> Study {
    let (mut study, mut rng) = (Study::new(spec.clone()).unwrap(), rng(9));
    for _ in 0..rounds {
        for s in study.ask(3).unwrap() {
            let z: f64 = StandardNormal.sample(&mut rng);
            study.tell(s.trial, truth(&s.point) + noise * z).unwrap();
        }
    }
    study
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
    // Cholesky of K + noise, written out.
    let factor = cholesky(n, |i, j| k(rows[i], rows[j]) + if i == j { prior.noise() } else { 0.0 });
    let solved: Vec<Vec<f64>> =
        grid.iter().map(|x| forward(&factor, rows.iter().map(|r| k(*x, *r)).collect())).collect();
    let whitened = forward(&factor, told);
    let mean: Vec<f64> = solved.iter().map(|v| dot(v, &whitened)).collect();
    let left = cholesky(m, |i, j| k(grid[i], grid[j]) - dot(&solved[i], &solved[j]) + if i == j { 1e-9 } else { 0.0 });
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

fn forward(factor: &[Vec<f64>], mut side: Vec<f64>) -> Vec<f64> {
    for i in 0..side.len() {
        side[i] = (side[i] - dot(&factor[i][..i], &side[..i])) / factor[i][i];
    }
    side
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
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
fn a_study_stops_when_nothing_much_is_left_to_gain() {
    let rule = StopRule { gain: Some(1e-3), ..StopRule::default() };
    let mut study = Study::new(auto(square())).unwrap();
    let reason = loop {
        for s in study.ask(4).unwrap() {
            study.tell(s.trial, hills(&s.point)).unwrap();
        }
        match study.stop_reason(&rule).unwrap() {
            Some(reason) => break reason,
            None => assert!(study.outlook().unwrap().gain.is_none_or(|gain| gain > 1e-3)),
        }
        assert!(study.trials().len() < 100);
    };
    let gain = study.outlook().unwrap().gain.unwrap();
    assert_eq!(reason, StopReason::Gain { gain, limit: 1e-3, kind: BoundKind::Model });
    assert!(gain <= 1e-3 && study.trials().len() >= 20);
    assert_eq!(study.stop_reason(&StopRule::default()).unwrap(), None);
}

#[test]
fn trials_without_a_gain_are_those_told_after_the_best_point() {
    let rule = StopRule { trials_without_gain: Some(6), ..StopRule::default() };
    let prior = Prior::new(Kernel::matern(2.5, &[0.2]).unwrap(), 0.0, 1e-6).unwrap();
    let mut study = Study::new(Spec::new(line(30), prior, Strategy::auto()).unwrap()).unwrap();
    assert_eq!(study.best(), Err(Error::NothingObserved));
    for told in 0..16 {
        assert_eq!(study.stop_reason(&rule).unwrap(), None, "after {told}");
        let s = study.ask(1).unwrap().remove(0);
        study.tell(s.trial, if told == 9 { 5.0 } else { -f64::from(told) }).unwrap();
        let best = study.best().unwrap().trial;
        if told == 15 {
            let reason = study.stop_reason(&rule).unwrap();
            assert_eq!((best, reason), (9, Some(StopReason::TrialsWithoutGain { trials: 6 })));
        }
    }
}

/// Under noise the best estimate moves between settings that are alike; that is no gain.
#[test]
fn an_estimate_that_is_better_by_less_than_its_sd_is_no_gain() {
    let rule = StopRule { trials_without_gain: Some(10), ..StopRule::default() };
    let prior = Prior::new(Kernel::matern(2.5, &[0.3]).unwrap(), 0.0, 0.09).unwrap();
    let spec = Spec::new(line(30), prior, Strategy::auto()).unwrap();
    let (mut study, mut rng, mut stops) = (Study::new(spec).unwrap(), rng(4), Vec::new());
    for _ in 0..60 {
        let s = study.ask(1).unwrap().remove(0);
        let z: f64 = StandardNormal.sample(&mut rng);
        study.tell(s.trial, (3.0 * s.point[0]).sin() + 0.3 * z).unwrap();
        stops.push(study.stop_reason(&rule).unwrap().is_some());
    }
    let first = stops.iter().position(|stop| *stop).unwrap();
    assert!(stops[first..].iter().all(|stop| *stop), "it stays stopped: {stops:?}");
    // Which trial is best has changed meanwhile.
    let mut then = Study::replay(study.spec().clone(), &study.events()[..2 * (first + 1)]).unwrap();
    assert_ne!(then.best().unwrap().trial, study.best().unwrap().trial);
}

#[test]
fn a_theorem_stops_by_the_bound_of_the_best_point() {
    let strategy = Strategy::new(Rule::IgpBucb, 1.0);
    let mut study = played(&spec(line(20), se(0.3), strategy), 10, 0.0, |x| 0.5 * x[0]);
    let bound = study.best().unwrap().regret_bound.unwrap();
    let at = |gain: f64| StopRule { gain: Some(gain), ..StopRule::default() };
    assert_eq!(study.stop_reason(&at(0.99 * bound)).unwrap(), None);
    let limit = 1.01 * bound;
    assert_eq!(
        study.stop_reason(&at(limit)).unwrap(),
        Some(StopReason::Gain { gain: bound, limit, kind: BoundKind::Theorem })
    );
}

#[test]
fn a_value_as_good_as_an_earlier_one_is_no_gain_whatever_its_trial() {
    let rule = StopRule { trials_without_gain: Some(6), ..StopRule::default() };
    let prior = Prior::new(Kernel::matern(2.5, &[0.2]).unwrap(), 0.0, 1e-6).unwrap();
    let mut study = Study::new(Spec::new(line(30), prior, Strategy::auto()).unwrap()).unwrap();
    // Trial 0 is told last, with the value that trial 1 had long before.
    let trials: Vec<usize> = study.ask(12).unwrap().iter().map(|s| s.trial).collect();
    for &trial in trials[1..].iter().chain(&trials[..1]) {
        study.tell(trial, if trial < 2 { 1.0 } else { 0.0 }).unwrap();
    }
    assert_eq!(study.best().unwrap().trial, 0);
    assert_eq!(study.stop_reason(&rule).unwrap(), Some(StopReason::TrialsWithoutGain { trials: 6 }));
}

#[test]
fn no_rule_stops_the_first_design_of_a_given_model() {
    let rule = StopRule { trials_without_gain: Some(3), ..StopRule::default() };
    let strategy = Strategy { design: Some(15), ..Strategy::auto() };
    let mut study = Study::new(spec(line(30), se(0.2), strategy)).unwrap();
    for told in 0..16 {
        assert_eq!(study.stop_reason(&rule).unwrap(), None, "after {told}");
        let s = study.ask(1).unwrap().remove(0);
        assert_eq!(s.choice.phase == Phase::Design, told < 15);
        study.tell(s.trial, -f64::from(told)).unwrap();
    }
    assert_eq!(study.stop_reason(&rule).unwrap(), Some(StopReason::TrialsWithoutGain { trials: 3 }));
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
