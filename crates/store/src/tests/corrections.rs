//! What is said of a trial after its end: amended, taken back, attempted again; and points that are to be tried first.

use std::time::Duration;

use manyhands_core::{Error as Refusal, Phase, Study, TrialState, Value};

use super::common::study::{ALL, GRID, LEARNED, POOL, outside, session, value};
use super::common::{event, origin, places};
use super::tables::moved;
use crate::backend::NewStudy;
use crate::record::{Append, Appended};
use crate::{Amendment, Error, ExternalEvaluation, OnConflict, Reported, Session, TrialResult};
use manyhands_core::event::EventKind;

const TERM: Duration = Duration::from_secs(60);

fn outcome(outcome: Result<f64, &str>) -> Amendment {
    Amendment { outcome: Some(outcome.map_err(str::to_string)), params: vec![] }
}

/// Three trials, the first told 999, the second failed, the third pending.
fn begun(place: &super::common::Place, text: &str) -> Session {
    let mut session = session(place.open(), text);
    session.ask(3).unwrap();
    session.tell(0, 999.0).unwrap();
    session.fail(1, "broke").unwrap();
    session
}

#[test]
fn an_amended_value_is_the_value_and_the_old_one_stays_in_the_log() {
    for place in places() {
        for text in ALL {
            let mut session = begun(&place, text);
            assert!(session.amend(0, &outcome(Ok(9.99))).unwrap());
            assert!(!session.amend(0, &outcome(Ok(9.99))).unwrap(), "what is recorded is not recorded again");
            assert!(session.amend(1, &outcome(Ok(1.5))).unwrap());
            let mut again = Session::open(place.open().into(), session.name(), "it").unwrap();
            let values = |session: &Session| -> Vec<Option<f64>> {
                session.ledger().trials().iter().map(|trial| trial.value()).collect()
            };
            assert_eq!(values(&again), [Some(9.99), Some(1.5), None]);
            let told = |event: &&manyhands_core::Event| event.kind() == EventKind::Told;
            assert_eq!(again.ledger().events().iter().filter(told).count(), 1);
            again.restore(0).unwrap();
            again.restore(1).unwrap();
            assert_eq!(values(&again), [Some(999.0), None, None]);
            assert_eq!(again.ledger().trial(1).unwrap().reason(), Some("broke"));
            let refused = again.restore(1).unwrap_err();
            assert_eq!(refused, Error::Study(Refusal::NotAmended { trial: 1 }));
            again.ask(1).unwrap();
            Study::verify(again.spec(), again.ledger().events()).unwrap();
        }
    }
}

#[test]
fn the_actual_setting_on_a_finite_space_is_another_candidate() {
    for place in places() {
        let mut session = begun(&place, GRID);
        let named = outside(GRID, true);
        let candidate = session.spec().included(session.ledger(), &named, None).unwrap().candidate;
        for trial in 0..3 {
            session.amend(trial, &Amendment { params: named.clone(), outcome: None }).unwrap();
        }
        let mut again = Session::open(place.open().into(), session.name(), "it").unwrap();
        for trial in 0..3 {
            assert_eq!(again.trial(trial).unwrap().candidate(), candidate);
            let params = again.params(trial).unwrap();
            assert!(named.iter().all(|(name, value)| params.contains(&(name.as_str(), value.clone()))), "{params:?}");
        }
        again.tell(2, 0.25).unwrap();
        again.ask(1).unwrap();
        Study::verify(again.spec(), again.ledger().events()).unwrap();
        let study = again.study().unwrap();
        assert_eq!(study.point(0), study.point(2));
    }
}

#[test]
fn the_setting_that_a_trial_was_told_with_is_no_amendment() {
    for place in places() {
        let mut session = begun(&place, LEARNED);
        session.record(&[moved(2, Some(Ok(3.0)), 0.5)], OnConflict::Refuse).unwrap().unwrap();
        let told = session.params(2).unwrap().into_iter().map(|(_, value)| value).collect::<Vec<_>>();
        assert_eq!(session.restore(2).unwrap_err(), Error::Study(Refusal::NotAmended { trial: 2 }));
        session.amend(2, &outcome(Ok(4.0))).unwrap();
        session.restore(2).unwrap();
        assert_eq!(session.restore(2).unwrap_err(), Error::Study(Refusal::NotAmended { trial: 2 }));
        let record = session.trial(2).unwrap();
        assert_eq!((record.value(), record.logged_params()), (Some(3.0), &told[..]));
    }
}

#[test]
fn what_cannot_be_amended_is_refused_and_nothing_is_logged() {
    for place in places() {
        let mut session = begun(&place, POOL);
        let before = session.ledger().events().len();
        let pending = session.amend(2, &outcome(Ok(1.0))).unwrap_err();
        assert_eq!(pending, Error::Study(Refusal::NotAmendable { trial: 2, state: TrialState::Pending }));
        assert!(session.amend(7, &outcome(Ok(1.0))).is_err());
        assert!(session.amend(0, &outcome(Ok(f64::NAN))).is_err());
        let moved = Amendment { params: outside(POOL, true), outcome: None };
        let fixed = session.amend(0, &moved).unwrap_err();
        assert!(matches!(fixed, Error::Study(Refusal::FixedParameters { trial: 0, .. })), "{fixed}");
        let observed = session.reopen(0).unwrap_err();
        assert_eq!(observed, Error::Study(Refusal::NotFailed { trial: 0, state: TrialState::Observed }));
        session.sync().unwrap();
        assert_eq!(session.ledger().events().len(), before);
    }
}

#[test]
fn a_reopened_trial_ends_once_more_and_a_result_of_the_earlier_attempt_is_late() {
    for place in places() {
        let mut session = session(place.open(), LEARNED);
        let first = session.ask_for_worker(1, None, TERM).unwrap().remove(0);
        session.fail(0, "the machine was rebooted").unwrap();
        session.reopen(0).unwrap();
        assert_eq!(session.ledger().trial(0).unwrap().state(), TrialState::Pending);
        assert_eq!(session.times()[0].told_at, None);
        let second = session.take(0, TERM).unwrap();
        assert_eq!((first.attempt, second.attempt), (0, 1));
        assert_eq!(session.report(&first, &origin(), Ok(1.0.into())).unwrap(), Reported::TooLate);
        assert_eq!(session.report(&second, &origin(), Ok(2.0.into())).unwrap(), Reported::Recorded);
        assert_eq!(session.report(&second, &origin(), Ok(3.0.into())).unwrap(), Reported::TooLate);
        let again = Session::open(place.open().into(), session.name(), "it").unwrap();
        assert_eq!((again.ledger().trial(0).unwrap().value(), again.ledger().late()), (Some(2.0), 2));
        assert!(session.take(0, TERM).is_err(), "it has ended");
    }
}

#[test]
fn whoever_reopens_a_trial_at_the_same_time_it_is_reopened_once() {
    for place in places() {
        let mut first = begun(&place, GRID);
        let mut second = Session::open(place.open().into(), first.name(), "it").unwrap();
        first.reopen(1).unwrap();
        let refused = second.reopen(1).unwrap_err();
        assert_eq!(refused, Error::Study(Refusal::NotFailed { trial: 1, state: TrialState::Pending }));
        second.tell(1, 0.5).unwrap();
        // The first session does not know that yet.
        let refused = first.amend(1, &outcome(Ok(0.5)));
        assert!(!refused.unwrap(), "it has this value already");
        Study::verify(first.spec(), first.ledger().events()).unwrap();
    }
}

#[test]
fn an_append_that_was_decided_on_without_the_last_events_stores_nothing() {
    for place in places() {
        let store = place.open();
        let (name, text) = ("s".to_string(), String::new());
        let id = store.create(&NewStudy { name, text, files: vec![], events: vec![] }).unwrap().id;
        let (asked, measured) =
            ([event(EventKind::Asked, Some(0), "{}".into())], [event(EventKind::Measured, Some(0), "{}".into())]);
        let append = |events, after| {
            let append = Append { origin: &origin(), events, after, ..Append::default() };
            matches!(store.append(id, &append).unwrap(), Appended::Stored { .. })
        };
        assert!(append(&asked, Some(0)));
        assert!(!append(&measured, Some(0)));
        assert!(append(&measured, Some(1)) && append(&measured, None) && append(&measured, Some(9)));
        assert_eq!(store.events(id, 0).unwrap().len(), 4);
    }
}

#[test]
fn the_setting_that_a_trial_was_made_with_replaces_the_requested_one() {
    for place in places() {
        let mut session = begun(&place, LEARNED);
        let moved = Amendment { params: vec![("x".to_string(), Value::Float(1.75))], outcome: None };
        for trial in [0, 1, 2] {
            let requested = session.params(trial).unwrap()[1].1.clone();
            assert!(session.amend(trial, &moved).unwrap());
            let params = session.params(trial).unwrap();
            assert_eq!((&params[0].1, &params[1].1), (&Value::Float(1.75), &requested));
        }
        session.tell(2, 0.5).unwrap();
        let coordinate = session.study().unwrap().point(2).unwrap()[0];
        assert!((coordinate - 2.75 / 3.0).abs() < 1e-12, "{coordinate}");
        session.restore(0).unwrap();
        assert_eq!(session.ledger().trial(0).unwrap().value(), Some(999.0), "what was told stays");
        assert!(!session.ledger().trial(0).unwrap().is_moved());
        let outside_of_it = Amendment { params: vec![("x".to_string(), Value::Float(2.5))], outcome: None };
        assert!(session.amend(2, &outside_of_it).is_err());
        session.ask(2).unwrap();
        Study::verify(session.spec(), session.ledger().events()).unwrap();
    }
}

#[test]
fn enqueued_points_come_first_in_their_order_and_once() {
    for place in places() {
        for text in ALL {
            let mut session = session(place.open(), text);
            session.enqueue(&[outside(text, true), outside(text, false)]).unwrap();
            let asked = session.ask(3).unwrap();
            let phases: Vec<Phase> = asked.iter().map(|suggestion| suggestion.choice.phase).collect();
            assert_eq!(phases[..2], [Phase::Queued, Phase::Queued]);
            assert_ne!(phases[2], Phase::Queued);
            let first = session.params(0).unwrap();
            for (name, wanted) in outside(text, true) {
                let (_, found) = first.iter().find(|(own, _)| *own == name).unwrap();
                assert_eq!(found.number(), wanted.number(), "{name}");
            }
            for suggestion in asked {
                session.tell(suggestion.trial, value(&suggestion)).unwrap();
            }
            assert_eq!(session.begun(), 3, "they are trials of the study's budget");
            session.ask(1).unwrap();
            Study::verify(session.spec(), session.ledger().events()).unwrap();
        }
    }
}

#[test]
fn a_candidate_that_may_be_tried_once_is_enqueued_once() {
    for place in places() {
        let mut session = session(place.open(), POOL);
        session.enqueue(&[outside(POOL, true)]).unwrap();
        let taken = |error: &Error| matches!(error, Error::Study(Refusal::CandidateTaken { .. }));
        let queued = |error: &Error| matches!(error, Error::Study(Refusal::CandidateQueued { .. }));
        assert!(queued(&session.enqueue(&[outside(POOL, true)]).unwrap_err()));
        assert!(queued(&session.enqueue(&[outside(POOL, false), outside(POOL, false)]).unwrap_err()));
        let included = ExternalEvaluation::new(outside(POOL, true), Some(1.0));
        assert!(queued(&session.include(&included).unwrap_err()));
        assert_eq!(session.ledger().queue().len(), 1, "nothing of what was refused is in the queue");
        assert_eq!(session.clear_queue().unwrap(), 1);
        session.include(&included).unwrap();
        assert!(taken(&session.enqueue(&[outside(POOL, true)]).unwrap_err()));
    }
}

#[test]
fn metrics_are_kept_with_the_value_and_added_to_by_name() {
    for place in places() {
        let mut session = session(place.open(), LEARNED);
        session.ask(2).unwrap();
        let metrics = |pairs: &[(&str, f64)]| -> Vec<(String, f64)> {
            pairs.iter().map(|(name, number)| (name.to_string(), *number)).collect()
        };
        let told = |pairs| TrialResult { value: 0.5, metrics: metrics(pairs) };
        session.tell(0, told(&[("epochs", 3.0), ("loss", 0.1)])).unwrap();
        let logged = session.ledger().events().len();
        session.tell(0, told(&[("epochs", 3.0)])).unwrap();
        assert_eq!(session.ledger().events().len(), logged, "told again it changes nothing");
        session.tell(0, told(&[("loss", 0.2), ("time", 7.0)])).unwrap();
        let mut again = Session::open(place.open().into(), session.name(), "it").unwrap();
        let kept = metrics(&[("epochs", 3.0), ("loss", 0.2), ("time", 7.0)]);
        assert_eq!(again.ledger().trial(0).unwrap().metrics(), kept);
        for bad in [&[("", 1.0)][..], &[("a", f64::NAN)], &[("a", 1.0), ("a", 2.0)], &[("a\n", 1.0)]] {
            let refused = again.tell(1, told(bad)).unwrap_err();
            assert!(matches!(refused, Error::BadMetric { .. }), "{refused}");
        }
        assert_eq!(again.ledger().trial(1).unwrap().state(), TrialState::Pending);
    }
}
