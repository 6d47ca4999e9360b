//! When a study has enough trials.

use crate::common::landscape::{auto, hills, square};
use crate::common::{line, played, rng, se, spec};
use manyhands_core::gp::{Kernel, Prior};
use manyhands_core::study::{StopReason, StopRule};
use manyhands_core::{BoundKind, Error, Phase, Rule, Spec, Strategy, Study};
use rand_distr::{Distribution, StandardNormal};

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
