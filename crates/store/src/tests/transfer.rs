//! A study goes from one store to another with all that it knows, or not at all.

use std::time::Duration;

use super::common::study::{ALL, GRID, POOL, bits, export, outside, session, value};
use super::common::{origin, places};
use manyhands_core::Study;

use crate::memory::Memory;
use crate::record::Record;
use crate::{Amendment, Error, ExternalEvaluation, Session, Store, StudyLog, TrialResult};

/// A study with an event of every kind, and trials pending.
fn lived(store: impl Into<Store>, text: &str) -> Session {
    let mut session = session(store, text);
    session.include(&ExternalEvaluation::new(outside(text, true), Some(-0.0))).unwrap();
    for suggestion in session.ask(6).unwrap() {
        session.tell(suggestion.trial, value(&suggestion)).unwrap();
    }
    let claimed = session.ask_for_worker(4, None, Duration::from_secs(60)).unwrap();
    session.fail(claimed[0].trial, "\0 ü \"\n").unwrap();
    session.cancel(claimed[1].trial).unwrap();
    session.report(&claimed[0], &origin(), Ok(1e-300.into())).unwrap();
    session.report(&claimed[1], &origin(), Err("late".to_string())).unwrap();
    correct(&mut session, text, claimed[0].trial);
    session
}

/// Everything that can be said of a trial after its end; `failed` is one that failed. And points for the queue.
fn correct(session: &mut Session, text: &str, failed: usize) {
    let outcome = |outcome| Amendment { outcome: Some(outcome), params: vec![] };
    session.amend(0, &outcome(Ok(1.0))).unwrap();
    session.restore(0).unwrap();
    session.amend(1, &outcome(Err("the well was empty".to_string()))).unwrap();
    session.amend(failed, &outcome(Err("diverged".to_string()))).unwrap();
    session.reopen(failed).unwrap();
    let metrics = vec![("time.train".to_string(), 3.25), ("ü".to_string(), -0.0)];
    session.tell(failed, TrialResult { value: 0.25, metrics }).unwrap();
    let point = if text == POOL { outside(text, false) } else { outside(text, true) };
    session.enqueue(std::slice::from_ref(&point)).unwrap();
    assert_eq!(session.clear_queue().unwrap(), 1);
    session.enqueue(&[point]).unwrap();
}

fn import(store: impl Into<Store>, text: &str) -> Result<Session, Error> {
    Session::import(store.into(), StudyLog::read(text)?)
}

fn records(session: &Session) -> Vec<Record> {
    session.store().backend.events(session.id(), 0).unwrap()
}

#[test]
fn a_study_goes_from_any_store_to_any_other_and_goes_on_as_it_would_have() {
    for text in ALL {
        for from in places() {
            let original = lived(from.open(), text);
            let log = export(&original);
            for to in places() {
                let mut moved = import(to.open(), &log).unwrap();
                assert_eq!(records(&moved), records(&original), "{} to {}", from.location, to.location);
                assert_eq!(moved.source().text(), text);
                assert_eq!(moved.source().files(), original.source().files());
                assert_eq!(export(&moved), log);
                Study::verify(moved.spec(), moved.ledger().events()).unwrap();
                let mut replayed = Study::replay(original.spec().clone(), original.ledger().events()).unwrap();
                assert_eq!(moved.ask(2).unwrap(), replayed.ask(2).unwrap());
                assert_eq!(bits(moved.ledger().events()), bits(replayed.events()));
                // It is a study like any other, and not a second time.
                assert_eq!(session(to.open(), text).ledger().events().len(), moved.ledger().events().len());
                let again = import(to.open(), &log).unwrap_err();
                assert_eq!(again, Error::StudyExists { name: moved.name().to_string() });
            }
        }
    }
}

/// Refused, and nothing of it is in the store.
fn is_refused(store: &Store, log: &str) -> Error {
    let error = import(store.clone(), log).unwrap_err();
    assert_eq!(store.studies().unwrap(), [], "{error}");
    error
}

#[test]
fn a_log_that_was_cut_off_anywhere_stores_nothing() {
    let log = export(&lived(Store::new(Memory::new()), POOL));
    for place in places() {
        let store = Store::from(place.open());
        let lines: Vec<&str> = log.lines().collect();
        for count in 0..lines.len() {
            is_refused(&store, &lines[..count].join("\n"));
        }
        for end in (0..log.len() - 1).step_by(37).filter(|end| log.is_char_boundary(*end)) {
            is_refused(&store, &log[..end]);
        }
        // Its line breaks are not part of it.
        import(store, &log.replace('\n', "\r\n\n")).unwrap();
    }
}

#[test]
fn a_log_in_which_anything_was_changed_stores_nothing_and_says_where() {
    let original = lived(Store::new(Memory::new()), POOL);
    let log = export(&original);
    let store = Store::new(Memory::new());
    // Every digit is another digit: values, numbers of trials, times, the seed of the text, the table, a checksum.
    let digits: Vec<usize> =
        log.bytes().enumerate().filter(|(_, byte)| byte.is_ascii_digit()).map(|(at, _)| at).collect();
    for at in digits.into_iter().step_by(11) {
        let mut changed = log.clone().into_bytes();
        changed[at] = b'0' + (changed[at] - b'0' + 1) % 10;
        is_refused(&store, &String::from_utf8(changed).unwrap());
    }
    let lines: Vec<&str> = log.lines().collect();
    let without = |index: usize| [&lines[..index], &lines[index + 1..]].concat().join("\n");
    let swapped = [&lines[..3], &[lines[4], lines[3]], &lines[5..]].concat().join("\n");
    for (changed, said) in [
        (without(0), "the study cannot be read"),
        (without(5), "event 5 is missing before it"),
        (swapped, "event 3 is missing before it"),
        (lines[..lines.len() - 1].join("\n"), "and had 31 events"),
        (log.replacen("\"kind\":\"told\"", "\"kind\":\"tolled\"", 1), "\"tolled\""),
        (log.replacen("\"manyhands_log\":1", "\"manyhands_log\":2", 1), "its format is 2"),
        (log.replacen("temp,conc", "temp,cone", 1), "pool.csv"),
        (format!("{log}{}\n", lines[lines.len() - 1]), "event"),
    ] {
        let error = is_refused(&store, &changed).to_string();
        assert!(error.contains(said), "{error}");
    }
    import(store, &log).unwrap();
}

#[test]
fn a_log_whose_sums_are_right_and_whose_events_are_not_stores_nothing() {
    // A log that was put together elsewhere: here, the log of one study under the file of another.
    let grid = lived(Store::new(Memory::new()), GRID);
    let store = Store::new(Memory::new());
    let fewer = GRID.replace("points = 9", "points = 2").replace("name = \"grid\"", "name = \"small\"");
    let mut other = session(store.clone(), &fewer);
    other.extend(grid.ledger().events()).unwrap();
    let log = export(&Session::open(store, "small", "it").unwrap());
    let empty = Store::new(Memory::new());
    assert!(matches!(is_refused(&empty, &log), Error::Study(_)));
    import(empty, &export(&grid)).unwrap();
}
