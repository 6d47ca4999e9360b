//! A study whose record was amended is the study that was told the truth; what was chosen before stays as it was chosen.

use crate::common::landscape::{auto, hills, lattice, square};
use crate::common::{Oracle, f, line, matern, prior, rng, se, spec, uniform};
use manyhands_core::event::{ActualSetting, Amended, Asked};
use manyhands_core::{Direction, Domain, Error, Event, Rule, Spec, Strategy, Study, TrialState, Value};

/// What is wrong in the log, and set right later.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Mistake {
    /// Another value.
    Value,
    /// A value, where there was a failure.
    NotFailed,
    /// A failure, where there was a value.
    Failed,
    /// Another setting.
    Setting,
    /// Another setting, and it failed.
    FailedElsewhere,
    /// Nothing: an amendment was a mistake, and is taken back.
    Amendment,
}

const ALL: [Mistake; 6] = [
    Mistake::Value,
    Mistake::NotFailed,
    Mistake::Failed,
    Mistake::Setting,
    Mistake::FailedElsewhere,
    Mistake::Amendment,
];

/// The trial with the mistake.
const WRONG: usize = 4;

fn truth(point: &[f64]) -> f64 {
    if point.len() == 2 { hills(point) } else { f(point) }
}

fn elsewhere() -> Vec<Value> {
    vec![0.625.into(), 0.125.into()]
}

/// Which point of the lattice that is: the eleventh of the first parameter, the third of the second.
const ELSEWHERE: usize = 10 * 17 + 2;

/// Twelve trials with one mistake, two of them pending; four rounds of three.
fn with_mistake(spec: &Spec, mistake: Mistake) -> Study {
    let mut study = Study::new(spec.clone()).unwrap();
    for round in 0..4 {
        for s in study.ask(3).unwrap().iter().take(if round < 3 { 3 } else { 1 }) {
            match mistake {
                Mistake::Value if s.trial == WRONG => study.tell(s.trial, 999.0).unwrap(),
                Mistake::Failed | Mistake::FailedElsewhere if s.trial == WRONG => study.fail(s.trial, "dry").unwrap(),
                _ => study.tell(s.trial, truth(&s.point)).unwrap(),
            }
        }
    }
    study
}

/// Sets the mistake right.
fn amend(study: &mut Study, mistake: Mistake) {
    match mistake {
        Mistake::Value | Mistake::Failed => study.amend(WRONG, Ok(0.5)).unwrap(),
        Mistake::NotFailed => study.amend(WRONG, Err("spilled".to_string())).unwrap(),
        Mistake::Setting | Mistake::FailedElsewhere => study.amend_params(WRONG, &elsewhere()).unwrap(),
        Mistake::Amendment => {
            study.amend(WRONG, Ok(-77.0)).unwrap();
            study.restore(WRONG).unwrap();
        }
    }
}

/// The same events without the mistake: choices are as they were. A value that comes with its setting or its failure amended
/// arrives when that is amended, which is at the end.
fn corrected(spec: &Spec, events: &[Event], mistake: Mistake) -> Vec<Event> {
    let is_moved = matches!(mistake, Mistake::Setting | Mistake::FailedElsewhere);
    let is_late = matches!(mistake, Mistake::Setting | Mistake::Failed);
    let (mut right, mut last) = (Vec::new(), None);
    for event in events {
        match event {
            Event::Asked(asked) => {
                // Fewer events are before it than it has seen, where one of them comes at the end.
                let mut asked = Asked { seen: asked.seen.min(right.len()), ..asked.clone() };
                if asked.trial == WRONG && is_moved {
                    asked.choice.params = elsewhere();
                    asked.choice.candidate = if spec.is_finite() { ELSEWHERE } else { WRONG };
                }
                right.push(Event::Asked(asked));
            }
            Event::Told { trial: WRONG, .. } if mistake == Mistake::NotFailed => {
                right.push(Event::Failed { trial: WRONG, reason: "spilled".to_string() });
            }
            Event::Told { trial: WRONG, .. } if mistake == Mistake::Value => {
                right.push(Event::Told { trial: WRONG, value: 0.5 });
            }
            Event::Failed { trial: WRONG, .. } if is_late => last = Some(Event::Told { trial: WRONG, value: 0.5 }),
            Event::Told { trial: WRONG, .. } if is_late => last = Some(event.clone()),
            other => right.push(other.clone()),
        }
    }
    right.extend(last);
    right
}

fn given(domain: Domain, rule: Rule) -> Spec {
    let strategy = Strategy { beta: Some(4.0), ..Strategy::new(rule, 2.0) };
    let kernel = if matches!(domain, Domain::Space(_)) { matern(0.3) } else { se(0.2) };
    spec(domain, kernel, strategy).with_nodes(50)
}

fn given_specs() -> Vec<Spec> {
    vec![
        given(line(40), Rule::IgpBucb),
        given(line(40), Rule::GpBts).with_direction(Direction::Minimize),
        given(square(), Rule::IgpBucb),
        given(square(), Rule::GpBts),
        given(lattice(), Rule::IgpBucb),
        given(lattice(), Rule::GpBts),
    ]
}

fn specs() -> Vec<Spec> {
    given_specs().into_iter().chain([auto(square()), auto(lattice())]).collect()
}

/// The mistakes that can be made on a domain: settings of a list are fixed.
fn mistakes(spec: &Spec) -> impl Iterator<Item = Mistake> + use<> {
    let is_list = spec.domain().space().is_none();
    let is_setting = |mistake: &Mistake| matches!(mistake, Mistake::Setting | Mistake::FailedElsewhere);
    ALL.into_iter().filter(move |mistake| !(is_list && is_setting(mistake)))
}

fn anywhere(spec: &Spec) -> Vec<Vec<f64>> {
    let (dimension, rng) = (spec.domain().dimension(), &mut rng(3));
    (0..25).map(|_| (0..dimension).map(|_| uniform(rng, 0.0, 1.0)).collect()).collect()
}

#[track_caller]
fn close(a: f64, b: f64, what: &str) {
    // Twelve rows, noise 0.01: the condition is at most 1200, and each step rounds once.
    assert!((a - b).abs() <= 1e-10 * a.abs().max(1.0), "{what}: {a} and {b}");
}

#[test]
fn the_model_of_an_amended_study_is_that_of_one_told_the_truth() {
    for spec in given_specs() {
        for mistake in mistakes(&spec) {
            let mut amended = with_mistake(&spec, mistake);
            amend(&mut amended, mistake);
            let right = Study::replay(spec.clone(), &corrected(&spec, with_mistake(&spec, mistake).events(), mistake));
            let mut right = right.unwrap();
            let points = anywhere(&spec);
            for (a, b) in amended.predict(&points).unwrap().iter().zip(right.predict(&points).unwrap()) {
                for (a, b) in [
                    (a.mean, b.mean),
                    (a.sd, b.sd),
                    (a.sd_pending, b.sd_pending),
                    (a.lower, b.lower),
                    (a.upper, b.upper),
                ] {
                    close(a, b, &format!("{mistake:?}"));
                }
            }
            let (a, b) = (amended.certificate().unwrap(), right.certificate().unwrap());
            for (a, b) in [(a.upper, b.upper), (a.lower, b.lower), (a.regret_bound, b.regret_bound)] {
                close(a, b, &format!("certificate, {mistake:?}"));
            }
            let (a, b) = (amended.ask(1).unwrap().remove(0), right.ask(1).unwrap().remove(0));
            close(a.choice.multiplier, b.choice.multiplier, &format!("multiplier, {mistake:?}"));
            // GP-BTS draws other numbers after more events. On a space picks are searched for: they are equally good.
            if spec.strategy().rule == Rule::IgpBucb {
                let (a_score, b_score) = (a.choice.score, b.choice.score);
                assert!((a_score - b_score).abs() <= 1e-3 * b_score.abs(), "{mistake:?}: {a:?} and {b:?}");
                assert!(!spec.is_finite() || a.point == b.point, "{mistake:?}: {a:?} and {b:?}");
            }
        }
    }
}

#[test]
fn predictions_after_an_amendment_are_those_of_the_dense_formula() {
    let spec = given(line(40), Rule::IgpBucb);
    for mistake in mistakes(&spec) {
        let mut study = with_mistake(&spec, mistake);
        amend(&mut study, mistake);
        let told = study
            .trials()
            .iter()
            .filter_map(|trial| Some((study.point(trial.number()).unwrap().to_vec(), trial.value()?)));
        let (rows, values): (Vec<Vec<f64>>, Vec<f64>) = told.unzip();
        let points = anywhere(&spec);
        let oracle = Oracle::new(&prior(se(0.2)), &points, &rows, &values);
        for (index, there) in study.predict(&points).unwrap().iter().enumerate() {
            close(there.mean, oracle.means[index], "mean");
            close(there.sd.powi(2), oracle.variances[index], "variance");
        }
    }
}

#[test]
fn every_amended_log_verifies_and_replays_and_the_choices_before_stay() {
    for spec in specs() {
        for mistake in mistakes(&spec) {
            let mut study = with_mistake(&spec, mistake);
            let before = study.events().to_vec();
            amend(&mut study, mistake);
            assert_eq!(study.events()[..before.len()], before[..], "what was chosen before stays as it was chosen");
            study.ask(1).unwrap();
            amend_again(&mut study);
            study.ask(1).unwrap();
            let found = Study::verify(&spec, study.events());
            assert!(found.is_ok(), "{mistake:?}: {:?}", found.map(drop));
            let mut again = Study::replay(spec.clone(), study.events()).unwrap();
            assert_eq!(again.ask(2).unwrap(), study.ask(2).unwrap(), "{mistake:?}");
        }
    }
}

/// Another amendment of the same trial, and the first attempt at a failed one repeated.
fn amend_again(study: &mut Study) {
    if study.trials()[WRONG].state() == TrialState::Failed {
        study.reopen(WRONG).unwrap();
        study.tell(WRONG, 0.25).unwrap();
    }
    study.amend(WRONG, Ok(0.75)).unwrap();
    study.amend(0, Err("dry".to_string())).unwrap();
}

#[test]
fn a_typing_error_does_not_matter_to_a_learned_model_once_it_is_amended() {
    let spec = auto(square());
    let mut wrong = with_mistake(&spec, Mistake::Value);
    let mut right =
        Study::replay(spec.clone(), &without_fits(&corrected(&spec, wrong.events(), Mistake::Value))).unwrap();
    let before = wrong.predict(&anywhere(&spec)).unwrap();
    wrong.ask(1).unwrap();
    right.ask(1).unwrap();
    assert!(wrong.predict(&anywhere(&spec)).unwrap().iter().chain(&before).any(|there| there.upper > 10.0));
    wrong.amend(WRONG, Ok(0.5)).unwrap();
    let (wrong_next, right_next) = (wrong.ask(1).unwrap().remove(0), right.ask(1).unwrap().remove(0));
    let (a, b) = (wrong.fitted().unwrap(), right.fitted().unwrap());
    assert!(wrong.events().iter().filter(|event| matches!(event, Event::Fitted(_))).count() > 1);
    // Fits start from the one before, and end within their tolerance of each other.
    for (a, b) in a.hyperparameters.lengthscales.iter().zip(&b.hyperparameters.lengthscales) {
        assert!((a / b).ln().abs() < 0.7, "{a} and {b}");
    }
    let largest = |study: &Study| {
        study.predict(&anywhere(&spec)).unwrap().iter().map(|there| there.upper).fold(f64::MIN, f64::max)
    };
    assert!(largest(&wrong) < 5.0 && largest(&right) < 5.0, "{} and {}", largest(&wrong), largest(&right));
    assert!(wrong_next.choice.mean.abs() < 5.0 && right_next.choice.mean.abs() < 5.0);
    assert_eq!(Study::verify(&spec, wrong.events()).map(drop), Ok(()));
}

#[test]
fn a_learned_study_suggests_after_an_amendment_what_it_would_suggest_had_it_been_told_the_truth() {
    let spec = auto(square());
    let wrong = with_mistake(&spec, Mistake::Value);
    let right = without_fits(&corrected(&spec, wrong.events(), Mistake::Value));
    let mut right = Study::replay(spec.clone(), &right).unwrap();
    let mut wrong = Study::replay(spec.clone(), &without_fits(wrong.events())).unwrap();
    wrong.amend(WRONG, Ok(0.5)).unwrap();
    let (a, b) = (wrong.ask(3).unwrap(), right.ask(3).unwrap());
    let fitted = |study: &Study| study.fitted().map(|fitted| (fitted.hyperparameters.clone(), fitted.warp));
    assert!(fitted(&wrong).is_some());
    assert_eq!(fitted(&wrong), fitted(&right));
    assert_eq!(a, b);
}

/// A log as it would be if only the user had written it: fits are made at the next ask.
fn without_fits(events: &[Event]) -> Vec<Event> {
    let kept = events.iter().filter(|event| !matches!(event, Event::Fitted(_))).cloned();
    let unseen = |event| match event {
        Event::Asked(asked) => Event::Asked(Asked { seen: 0, ..asked }),
        other => other,
    };
    kept.map(unseen).collect()
}

/// A learned study after eight rounds of three.
fn learned() -> Study {
    let mut study = Study::new(auto(square())).unwrap();
    for _ in 0..8 {
        for s in study.ask(3).unwrap() {
            study.tell(s.trial, hills(&s.point)).unwrap();
        }
    }
    study
}

#[test]
fn a_trial_that_was_made_elsewhere_is_judged_by_what_was_expected_there() {
    let mut study = learned();
    let before = study.record();
    let last = study.trials().len() - 1;
    assert!(before.trials > 3);
    // The model that suggested it, as if it had suggested the actual setting.
    let asked = |event: &Event| matches!(event, Event::Asked(asked) if asked.trial == last);
    let at = study.events().iter().position(asked).unwrap();
    let past = Study::replay(study.spec().clone(), &study.events()[..at]).unwrap();
    let there = past.predict_params(&[elsewhere()]).unwrap()[0];
    let fitted = past.fitted().unwrap();
    let noise = fitted.hyperparameters.noise.sqrt() / fitted.warp.log_slope(there.mean).exp();
    study.amend_params(last, &elsewhere()).unwrap();
    let share = |study: &mut Study, value: f64| {
        study.amend(last, Ok(value)).unwrap();
        (study.record().trials, study.record().held)
    };
    let (most, sd) = (before.held + 1, there.sd.hypot(noise));
    let inside = share(&mut study, there.mean + 1.6 * sd);
    let outside = share(&mut study, there.mean + 1.7 * sd);
    assert_eq!((inside.0, outside.0, outside.1 + 1), (before.trials, before.trials, inside.1));
    assert!(inside.1 <= most);
    // Judged where it was suggested again.
    (0..3).for_each(|_| study.restore(last).unwrap());
    assert_eq!(study.record(), before);
    study.amend(last, Err("dry".to_string())).unwrap();
    assert_eq!(study.record().trials, before.trials - 1);
}

#[test]
fn what_was_expected_of_moved_trials_is_the_same_after_a_replay() {
    let mut study = learned();
    for trial in 12..study.trials().len() {
        let moved =
            study.params(trial).unwrap().iter().map(|v| (0.9 * v.number().unwrap() + 0.05).into()).collect::<Vec<_>>();
        study.amend_params(trial, &moved).unwrap();
        study.amend(trial, Ok(hills(study.point(trial).unwrap()))).unwrap();
    }
    let again = Study::replay(study.spec().clone(), study.events()).unwrap();
    assert_eq!(again.record(), study.record());
    assert!(study.record().trials > 10);
}

#[test]
fn a_pending_trial_moves_and_its_value_counts_where_it_was_made() {
    for spec in [given(square(), Rule::IgpBucb), auto(square())] {
        let mut study = with_mistake(&spec, Mistake::Amendment);
        let pending = study.trials().iter().find(|trial| trial.state() == TrialState::Pending).unwrap().number();
        study.amend_params(pending, &elsewhere()).unwrap();
        assert_eq!(study.point(pending).unwrap(), [0.625, 0.125]);
        study.restore(pending).unwrap();
        assert_ne!(study.point(pending).unwrap(), [0.625, 0.125]);
        study.amend_params(pending, &elsewhere()).unwrap();
        study.tell(pending, 3.0).unwrap();
        let there = study.predict(&[vec![0.625, 0.125]]).unwrap()[0];
        assert!((there.mean - 3.0).abs() < 0.5, "{there:?}");
        // Where it was made is part of its result, and no amendment of that.
        assert_eq!(study.restore(pending), Err(Error::NotAmended { trial: pending }));
        study.ask(1).unwrap();
        assert_eq!(Study::verify(&spec, study.events()).map(drop), Ok(()));
    }
}

fn moved(candidate: Option<usize>, params: Vec<Value>) -> Event {
    Event::Amended(Amended { trial: 0, setting: Some(ActualSetting { candidate, params }), outcome: None })
}

#[test]
fn what_cannot_be_amended_is_refused_and_leaves_the_study_as_it_was() {
    for spec in specs() {
        let mut study = with_mistake(&spec, Mistake::Failed);
        let (events, points) = (study.events().to_vec(), anywhere(&spec));
        let before = study.predict(&points).unwrap();
        let pending = study.trials().len() - 1;
        let refused = [
            study.amend(pending, Ok(1.0)),
            study.amend(99, Ok(1.0)),
            study.amend(0, Ok(f64::INFINITY)),
            study.restore(0),
            study.reopen(0),
            study.reopen(pending),
            study.amend_params(0, &[2.0.into(), 0.5.into()]),
            study.apply(Event::Amended(Amended { trial: 0, setting: None, outcome: None })),
            study.apply(moved(None, vec![])),
            study.apply(moved(Some(3), vec![])),
            // On the lattice another candidate, and elsewhere none.
            study.apply(moved(Some(ELSEWHERE + 1), elsewhere())),
        ];
        assert!(refused.iter().all(Result::is_err), "{refused:?}");
        assert_eq!(refused[3], Err(Error::NotAmended { trial: 0 }));
        assert_eq!((study.events(), study.predict(&points).unwrap()), (&events[..], before));
    }
}
