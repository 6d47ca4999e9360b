//! A session is the study in memory, kept: same events, same refusals, whoever else uses the store.

use std::sync::Arc;
use std::time::Duration;

use super::common::interceptor::{Interceptor, Point, away};
use super::common::places;
use super::common::study::{
    ALL, GRID, LEARNED, POOL, bits, export, outside, pool, session, source, source_with, value,
};
use manyhands_core::{Error as Refusal, Study, TrialState};

use crate::backend::Backend;
use crate::memory::Memory;
use crate::record::Record;
use crate::{Error, ExternalEvaluation, Session, Store, StudyLog};

const TERM: Duration = Duration::from_secs(60);

fn records(session: &Session) -> Vec<Record> {
    session.store().backend.events(session.id(), 0).unwrap()
}

/// A session driven like a study in memory, both compared at every step.
struct Twins {
    session: Session,
    study: Study,
}

impl Twins {
    fn ask(&mut self, count: usize) -> Vec<(usize, f64)> {
        let (kept, live) = (self.session.ask(count).unwrap(), self.study.ask(count).unwrap());
        assert_eq!(format!("{kept:?}"), format!("{live:?}"));
        live.iter().map(|suggestion| (suggestion.trial, value(suggestion))).collect()
    }

    fn tell(&mut self, trial: usize, value: f64) {
        self.session.tell(trial, value).unwrap();
        self.study.tell(trial, value).unwrap();
    }

    fn end(&mut self, trial: usize, reason: Option<&str>) {
        let (session, study) = (&mut self.session, &mut self.study);
        match reason {
            Some(reason) => session.fail(trial, reason).and_then(|()| Ok(study.fail(trial, reason)?)).unwrap(),
            None => session.cancel(trial).and_then(|()| Ok(study.cancel(trial)?)).unwrap(),
        }
    }

    fn include(&mut self, outside: &ExternalEvaluation) -> usize {
        let trial = self.study.include_named(&outside.params, outside.outcome.clone().and_then(Result::ok)).unwrap();
        assert_eq!(self.session.include(outside).unwrap(), trial);
        trial
    }
}

#[test]
fn sessions_log_what_a_study_in_memory_does() {
    for place in places() {
        for text in ALL {
            let mut twins = Twins {
                session: session(place.open(), text),
                study: Study::new(source(text).study().spec.clone()).unwrap(),
            };
            twins.include(&ExternalEvaluation::new(outside(text, false), Some(-0.0)));
            let running = twins.include(&ExternalEvaluation::new(outside(text, true), None));
            for round in 0..4 {
                let asked = twins.ask(3);
                // The last first, and one in three gives nothing.
                for (index, (trial, value)) in asked.into_iter().enumerate().rev() {
                    match (round + index) % 6 {
                        3 => twins.end(trial, Some("broke: \0 \"ü\"\n")),
                        5 => twins.end(trial, None),
                        _ => twins.tell(trial, value),
                    }
                }
                if round == 1 {
                    twins.tell(running, 0.1 + 0.2);
                }
            }
            let Twins { session, study } = &mut twins;
            assert_eq!(bits(session.ledger().events()), bits(study.events()), "{}", place.location);
            // Another process finds the same, and the log says itself how it came about.
            let again = Session::open(place.open().into(), session.name(), "it").unwrap();
            assert_eq!(bits(again.ledger().events()), bits(study.events()));
            assert_eq!(again.ledger().count(TrialState::Observed), study.count(TrialState::Observed));
            Study::verify(again.spec(), again.ledger().events()).unwrap();
        }
    }
}

#[test]
fn two_sessions_are_one_study() {
    for place in places() {
        let (mut one, mut two) = (session(place.open(), GRID), session(place.open(), GRID));
        let mut alone = Study::new(one.spec().clone()).unwrap();
        for round in 0..6 {
            let (asker, teller) = if round % 2 == 0 { (&mut one, &mut two) } else { (&mut two, &mut one) };
            let asked = asker.ask(2).unwrap();
            assert_eq!(asked, alone.ask(2).unwrap(), "each knows what the other was told");
            for suggestion in asked {
                teller.tell(suggestion.trial, value(&suggestion)).unwrap();
                alone.tell(suggestion.trial, value(&suggestion)).unwrap();
            }
        }
        one.sync().unwrap();
        two.sync().unwrap();
        assert_eq!(bits(one.ledger().events()), bits(alone.events()));
        assert_eq!(bits(two.ledger().events()), bits(alone.events()));
    }
}

#[test]
fn what_cannot_be_told_is_refused_and_the_log_stays() {
    for place in places() {
        let (mut mine, mut other) = (session(place.open(), GRID), session(place.open(), GRID));
        mine.ask(4).unwrap();
        other.tell(0, 1.0).unwrap();
        other.fail(1, "x").unwrap();
        other.cancel(2).unwrap();
        let before = records(&mine);
        let refused = |error: Error, expected: Refusal| assert_eq!(error, Error::Study(expected));
        for (trial, state) in [(0, TrialState::Observed), (1, TrialState::Failed), (2, TrialState::Cancelled)] {
            let expected = || Refusal::NotPending { trial, state };
            match state {
                TrialState::Observed => {
                    assert_eq!(mine.tell(trial, 2.0), Err(Error::OtherValue { trial, before: 1.0, now: 2.0 }));
                }
                _ => refused(mine.tell(trial, 2.0).unwrap_err(), expected()),
            }
            refused(other.fail(trial, "again").unwrap_err(), expected());
            if state != TrialState::Cancelled {
                refused(mine.cancel(trial).unwrap_err(), expected());
            }
        }
        // What is so already is no mistake.
        mine.tell(0, 1.0).unwrap();
        mine.fail(1, "x").unwrap();
        mine.cancel(2).unwrap();
        refused(mine.tell(4, 2.0).unwrap_err(), Refusal::UnknownTrial { trial: 4, trials: 4 });
        assert!(mine.tell(3, f64::NAN).is_err() && mine.tell(3, f64::INFINITY).is_err());
        assert!(mine.ask(0).is_err());
        assert_eq!(records(&mine), before);
        mine.tell(3, 2.0).unwrap();
    }
}

#[test]
fn a_file_of_another_study_is_refused_by_the_keys_that_differ() {
    for place in places() {
        let mut first = session(place.open(), GRID);
        first.ask(1).unwrap();
        for (from, to, key) in [
            ("seed = 5", "seed = 6", "seed"),
            ("name = \"grid\"", "name = \"grid\"\ndirection = \"minimize\"", "direction"),
            ("u = { float = [0.0, 1.0]", "u = { float = [0.0, 1.5]", "space.u"),
            ("lengthscale = 0.3", "lengthscale = 0.4", "model.lengthscale"),
            ("norm_bound = 1.0", "norm_bound = 1.0\ndelta = 0.2", "strategy.delta"),
        ] {
            let changed = source(&GRID.replace(from, to));
            let error = Session::open_or_create(place.open().into(), changed).unwrap_err();
            let Error::Differs { differences, .. } = &error else { panic!("{error}") };
            let keys: Vec<&str> = differences.iter().map(|difference| difference.key.as_str()).collect();
            assert_eq!(keys, [key], "{error}");
        }
        assert_eq!(place.open().find("grid").unwrap().unwrap().text, GRID);
        // How trials are run is not what the study is, nor are comments.
        let changed = format!("# mine\n{GRID}[run]\ncommand = [\"true\"]\nworkers = 3\n");
        let changed = session(place.open(), &changed);
        assert_eq!(place.open().find("grid").unwrap().unwrap().text, GRID, "looking changes nothing");
        changed.store_text().unwrap();
        let stored = Session::open(place.open().into(), "grid", "it").unwrap();
        assert!(stored.source().study().run().is_some());
        assert_eq!(records(&stored).len(), 1);
    }
}

#[test]
fn a_changed_table_of_candidates_is_named() {
    for place in places() {
        session(place.open(), POOL);
        let error = Session::open_or_create(place.open().into(), source_with(POOL, &pool().replace("20,0", "20,3")))
            .unwrap_err();
        let Error::Differs { differences, .. } = &error else { panic!("{error}") };
        assert_eq!(differences.len(), 1);
        assert_eq!(differences[0].key, "candidates.file");
        assert!(error.to_string().contains("SHA-256"), "{error}");
        // The same content under another name is the same study, and its own copy is enough.
        session(place.open(), &POOL.replace("pool.csv", "moved.csv"));
        assert_eq!(Session::open(place.open().into(), "pool", "it").unwrap().ask(1).unwrap().len(), 1);
    }
}

#[test]
fn no_more_trials_are_pending_than_may_be() {
    for place in places() {
        let mut bounded = session(place.open(), &GRID.replace("norm_bound", "max_pending = 3\nnorm_bound"));
        bounded.set_workers(Some(9));
        bounded.ask(2).unwrap();
        let error = bounded.ask(2).unwrap_err();
        assert_eq!(error, Refusal::TooManyPending { asked: 2, pending: 2, max_pending: 3 }.into());
        assert_eq!(bounded.ask_for_worker(5, None, TERM).unwrap().len(), 1);
        assert_eq!(bounded.ask_for_worker(5, None, TERM).unwrap(), []);
        bounded.delete().unwrap();

        let mut by_workers = session(place.open(), GRID);
        by_workers.set_workers(Some(2));
        by_workers.ask(1).unwrap();
        assert_eq!(by_workers.ask(2).unwrap_err(), Error::TooManyPending { asked: 2, pending: 1, workers: 2 });
        by_workers.set_workers(Some(8));
        assert_eq!(by_workers.ask_for_worker(5, Some(4), TERM).unwrap().len(), 3, "four in all");
        by_workers.cancel(0).unwrap();
        assert_eq!(by_workers.ask_for_worker(5, Some(4), TERM).unwrap().len(), 1, "a cancelled one does not count");
        assert_eq!(records(&by_workers).len(), 6);
        by_workers.ask(4).unwrap();
        by_workers.set_workers(Some(5));
        assert_eq!(
            by_workers.ask_for_worker(5, None, TERM).unwrap().len(),
            1,
            "workers have four, and others are by hand"
        );
    }
}

#[test]
fn workers_get_what_is_left_of_a_pool() {
    for place in places() {
        let mut session = session(place.open(), POOL);
        session.ask(28).unwrap();
        assert_eq!(session.ask(3).unwrap_err(), Refusal::PoolExhausted { asked: 3, left: 2 }.into());
        let claimed = session.ask_for_worker(5, None, TERM).unwrap();
        assert_eq!(claimed.iter().map(|claimed| claimed.trial).collect::<Vec<_>>(), [28, 29]);
        assert_eq!(
            session.ask_for_worker(5, None, TERM).unwrap_err(),
            Refusal::PoolExhausted { asked: 5, left: 0 }.into()
        );
    }
}

#[test]
fn a_deleted_study_is_said_to_be_deleted_whatever_is_tried() {
    for place in places() {
        let (mut mine, other) = (session(place.open(), GRID), session(place.open(), GRID));
        mine.ask(1).unwrap();
        other.delete().unwrap();
        session(place.open(), GRID).ask(3).unwrap();
        assert_eq!(mine.tell(0, 1.0), Err(Error::Deleted));
        assert_eq!(mine.ask(1), Err(Error::Deleted));
        assert_eq!(mine.sync(), Err(Error::Deleted));
    }
}

#[test]
fn a_trial_from_elsewhere_that_slips_into_an_ask_gets_its_own_number() {
    for point in [Point::AfterEvents, Point::BeforeAppend] {
        let inner: Arc<dyn Backend> = Arc::new(Memory::new());
        let store = Interceptor::new(inner.clone());
        let mut mine = session(store.clone(), GRID);
        mine.ask(1).unwrap();
        let mut other = session(inner, GRID);
        store.plan(point, move || {
            let included = other.include(&ExternalEvaluation::new(outside(GRID, true), None))?;
            assert_eq!(included, 1);
            Ok(())
        });
        let claimed = mine.ask_for_worker(2, None, TERM).unwrap();
        assert!(store.is_done());
        assert_eq!(claimed.iter().map(|claimed| claimed.trial).collect::<Vec<_>>(), [2, 3], "{point:?}");
        let mut leased: Vec<String> = store.leases(mine.id()).unwrap().into_iter().map(|l| l.resource).collect();
        leased.sort();
        assert_eq!(leased, ["ask", "trial:2", "trial:3"]);
        Study::verify(mine.spec(), mine.ledger().events()).unwrap();
    }
}

#[test]
fn what_was_asked_and_not_logged_is_not_pending() {
    let store = Interceptor::new(Arc::new(Memory::new()));
    for text in [LEARNED, GRID] {
        let mut session = session(store.clone(), text);
        for suggestion in session.ask(6).unwrap() {
            session.tell(suggestion.trial, value(&suggestion)).unwrap();
        }
        session.ask(1).unwrap();
        let params = vec![outside(text, true)];
        let before = session.study().unwrap().predict_named(&params).unwrap();
        store.plan(Point::BeforeAppend, || Err(away()));
        assert_eq!(session.ask(2), Err(away()));
        assert_eq!(session.study().unwrap().predict_named(&params).unwrap(), before);
        // And the next ask is what it would have been.
        let expected = Study::replay(session.spec().clone(), session.ledger().events()).unwrap().ask(2).unwrap();
        assert_eq!(session.ask(2).unwrap(), expected);
    }
}

#[test]
fn an_ask_that_is_repeated_with_its_key_gives_the_same_suggestions() {
    for place in places() {
        for text in ALL {
            let (mut mine, mut other) = (session(place.open(), text), session(place.open(), text));
            let asked = mine.ask_with_key(3, "plate 1").unwrap();
            mine.ask(1).unwrap();
            mine.tell(asked[0].trial, 1.0).unwrap();
            mine.cancel(asked[1].trial).unwrap();
            assert_eq!(other.ask_with_key(3, "plate 1").unwrap(), asked, "also by another, and later");
            let before = records(&mine);
            let used = Error::KeyUsed { key: "plate 1".to_string(), before: 3, asked: 2 };
            assert_eq!(other.ask_with_key(2, "plate 1").unwrap_err(), used);
            for key in ["", "a\nb", &"x".repeat(201)] {
                assert_eq!(mine.ask_with_key(1, key).unwrap_err(), Error::BadKey { key: key.to_string() });
            }
            assert_eq!(records(&mine), before);
            // Another store knows it too.
            let log = StudyLog::read(&export(&mine)).unwrap();
            let mut moved = Session::import(Store::new(Memory::new()), log).unwrap();
            assert_eq!(moved.ask_with_key(3, "plate 1").unwrap(), asked);
            assert_ne!(moved.ask_with_key(3, "plate 2").unwrap(), asked);
        }
    }
}

#[test]
fn two_who_ask_with_one_key_at_once_get_the_same() {
    for place in places() {
        session(place.open(), GRID);
        let asked: Vec<_> = std::thread::scope(|scope| {
            let ask = || session(place.open(), GRID).ask_with_key(2, "k").unwrap();
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(ask)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(asked.iter().all(|suggestions| *suggestions == asked[0]), "{}", place.location);
        assert_eq!(session(place.open(), GRID).ledger().trials().len(), 2);
    }
}
