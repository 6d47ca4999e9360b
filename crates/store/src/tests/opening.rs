//! A process parses its study, builds its spec and reads its log once.

use std::sync::Arc;

use manyhands_core::TrialState;

use super::common::interceptor::{Interceptor, Point, away};
use super::common::study::{GRID, POOL, outside, session, source, source_with};
use crate::backend::Backend;
use crate::memory::Memory;
use crate::source::Stored;
use crate::{Error, ExternalEvaluation, Session, Store};

/// A store that counts how often a log is read, and what is in it.
fn counted(text: &str, trials: usize) -> Arc<Interceptor> {
    let store = Interceptor::new(Arc::new(Memory::new()));
    let mut session = session(store.clone(), text);
    if trials > 0 {
        session.ask(trials).unwrap();
    }
    store
}

#[test]
fn a_tell_reads_the_log_once_and_an_ask_once_more_in_its_turn() {
    let store = counted(GRID, 3);
    assert_eq!(store.reads(), 1, "a new study has nothing to be read before its first ask");
    let mut mine = Session::open_described(store.clone().into(), source(GRID), "it").unwrap();
    mine.tell(0, 1.0).unwrap();
    assert_eq!(store.reads(), 2);
    mine.fail(1, "broke").unwrap();
    mine.include(&ExternalEvaluation::new(outside(GRID, true), Some(2.0))).unwrap();
    assert_eq!(store.reads(), 2, "what this session logs it knows");
    mine.ask(2).unwrap();
    assert_eq!(store.reads(), 3);
    let twin = mine.another_session();
    assert_eq!((store.reads(), twin.ledger().trials().len()), (3, 6));
    let mut reader = Session::open_frozen(store.clone().into(), "grid", "it").unwrap();
    assert_eq!((reader.study().unwrap().trials().len(), reader.study().unwrap().trials().len()), (6, 6));
    assert_eq!(store.reads(), 4);
}

#[test]
fn a_frozen_session_has_its_leases_of_the_same_moment_as_its_log() {
    let (store, term) = (counted(GRID, 0), std::time::Duration::from_secs(60));
    let mut mine = session(store.clone(), GRID);
    mine.ask_for_worker(2, None, term).unwrap();
    let mut frozen = Session::open_frozen(store.clone().into(), "grid", "it").unwrap();
    mine.tell(0, 1.0).unwrap();
    mine.ask_for_worker(1, None, term).unwrap();
    let held = |session: &Session| -> Vec<usize> {
        let mut held: Vec<usize> = session.pending_leases().unwrap().into_iter().map(|(trial, _)| trial).collect();
        held.sort_unstable();
        held
    };
    assert_eq!((held(&frozen), frozen.study().unwrap().trials().len()), (vec![0, 1], 2));
    assert_eq!(held(&mine), [1, 2]);
    assert_eq!(held(&frozen.frozen().unwrap()), [1, 2], "frozen again, later");
}

#[test]
fn what_others_have_logged_in_between_is_read() {
    let store = counted(GRID, 3);
    let (mut mine, mut other) = (session(store.clone(), GRID), session(store.clone(), GRID));
    other.tell(0, 1.0).unwrap();
    mine.tell(1, 2.0).unwrap();
    assert_eq!(mine.ledger().count(TrialState::Observed), 2);
    // A trial that this session has not heard of, and one that has ended since.
    let asked = other.ask(1).unwrap()[0].trial;
    mine.tell(asked, 3.0).unwrap();
    mine.tell(2, 4.0).unwrap();
    assert_eq!(other.tell(2, 5.0), Err(Error::OtherValue { trial: 2, before: 4.0, now: 5.0 }));
    assert_eq!(other.ledger().events().len(), mine.ledger().events().len());
}

#[test]
fn the_stored_text_is_parsed_only_if_it_is_another() {
    for text in [GRID, POOL] {
        let store = Store::new(Memory::new());
        session(store.clone(), text);
        let row = store.studies().unwrap().remove(0);
        let stored = Stored::read(&store, &row, Some(source(text))).unwrap();
        assert!(stored.own.is_none(), "the user's own file takes its place");
        let commented = format!("# mine\n{text}");
        let stored = Stored::read_checked(&store, &row, Some(source(&commented))).unwrap();
        assert_eq!((stored.source.text(), stored.own.unwrap().text()), (text, commented.as_str()));
    }
    let store = Store::new(Memory::new());
    session(store.clone(), POOL);
    let row = store.studies().unwrap().remove(0);
    let changed = source_with(POOL, "temp,conc\n1,2\n3,4\n");
    assert!(
        matches!(Stored::read_checked(&store, &row, Some(changed)), Err(Error::Differs { .. })),
        "the same text alone"
    );
}

#[test]
fn the_stored_file_is_written_only_if_it_is_another() {
    let store = Interceptor::new(Arc::new(Memory::new()));
    session(store.clone(), GRID).store_text().unwrap();
    let commented = format!("# mine\n{GRID}");
    session(store.clone(), &commented).store_text().unwrap();
    assert_eq!(store.find("grid").unwrap().unwrap().text, commented);
}

#[test]
fn what_is_in_the_log_was_told_even_if_the_store_goes_away_right_after() {
    let inner: Arc<dyn Backend> = Arc::new(Memory::new());
    let store = Interceptor::new(inner.clone());
    let mut mine = session(store.clone(), GRID);
    mine.ask(8).unwrap();
    let claimed = mine.ask_for_worker(1, None, std::time::Duration::from_secs(60)).unwrap();
    // Another process has logged something in between, so that the log is read again, which fails.
    let goes_away = |trial: usize| {
        let mut other = session(inner.clone(), GRID);
        store.plan(Point::BeforeAppend, move || other.cancel(trial));
        store.plan(Point::AfterEvents, || Err(away()));
    };
    goes_away(5);
    mine.tell(0, 1.0).unwrap();
    goes_away(6);
    mine.report(&claimed[0], "report", Ok(2.0.into())).unwrap();
    // An evaluation from elsewhere is decided on from the whole log: nothing is stored without having read it.
    goes_away(7);
    let outside = ExternalEvaluation::new(outside(GRID, true), Some(3.0));
    assert_eq!(mine.include(&outside).unwrap_err(), away());
    assert_eq!(mine.include(&outside).unwrap(), 9);
    mine.sync().unwrap();
    assert_eq!(mine.ledger().count(TrialState::Observed), 3);
    assert_eq!((mine.ledger().count(TrialState::Cancelled), mine.ledger().trials().len()), (3, 10));
}
