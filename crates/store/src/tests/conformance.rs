//! What every store must do, asked of all three.

use std::sync::Arc;
use std::time::Duration;

use manyhands_core::event::EventKind;

use super::common::{self, origin, places};
use crate::backend::{Backend, NewStudy};
use crate::lease::{Acquired, Claim, Fence};
use crate::record::{Append, Appended, NewEvent};
use crate::store::{StoredFile, StudyId};
use crate::{Error, Holder, Time};

const TERM: Duration = Duration::from_secs(60);

fn each(claim: impl Fn(Arc<dyn Backend>)) {
    for place in places() {
        println!("on {}", place.location);
        claim(place.open());
    }
}

fn study(name: &str) -> NewStudy {
    let content = b"a,b\n1,2\n".to_vec();
    let file = |role: &str| StoredFile {
        role: role.to_string(),
        name: format!("{role}.csv"),
        sha256: "00".to_string(),
        content: content.clone(),
    };
    NewStudy {
        name: name.to_string(),
        text: "name = \"ü\"\n".to_string(),
        files: vec![file("candidates"), file("covariance")],
        events: vec![],
    }
}

fn event(kind: &str, trial: Option<usize>) -> NewEvent {
    let named = EventKind::ALL.into_iter().find(|known| known.name() == kind).unwrap();
    common::event(named, trial, format!("{{\"kind\":\"{kind}\",\"z\":1,\"a\":0.1}}"))
}

/// What became of an append: the tokens of its claims, if it was stored.
fn outcome(appended: Appended) -> Result<Vec<u64>, Appended> {
    match appended {
        Appended::Stored { tokens, .. } => Ok(tokens),
        refused => Err(refused),
    }
}

fn append(store: &dyn Backend, id: StudyId, events: &[NewEvent]) -> Result<Vec<u64>, Appended> {
    outcome(store.append(id, &Append { origin: &origin(), events, ..Append::default() }).unwrap())
}

fn holder() -> Holder {
    Holder { host: "h".to_string(), boot: "b/n".to_string(), pid: 7, started: u64::MAX >> 1 }
}

fn claim<'a>(resource: &'a str, holder: &'a Holder) -> Claim<'a> {
    Claim { resource, holder, term: TERM, instead_of: None }
}

#[test]
fn a_study_is_found_as_it_was_created_and_its_name_is_its_own() {
    each(|store| {
        let before = Time::now();
        let row = store.create(&study("one")).unwrap();
        assert_eq!((row.name.as_str(), row.text.as_str()), ("one", "name = \"ü\"\n"));
        assert!(row.created.micros() > before.micros() - 1_000_000);
        assert_eq!(store.find("one").unwrap(), Some(row.clone()));
        assert_eq!(store.find("two").unwrap(), None);
        assert_eq!(store.files(row.id).unwrap(), study("one").files);
        assert_eq!(store.create(&study("one")), Err(Error::StudyExists { name: "one".to_string() }));
        store.create(&study("Zwei")).unwrap();
        let names: Vec<String> = store.studies().unwrap().into_iter().map(|row| row.name).collect();
        assert_eq!(names, ["Zwei", "one"]);
        store.set_text(row.id, "other").unwrap();
        assert_eq!(store.find("one").unwrap().unwrap().text, "other");
    });
}

#[test]
fn deleting_a_study_leaves_nothing_of_it_and_all_of_the_others() {
    each(|store| {
        let (one, two) = (store.create(&study("one")).unwrap().id, store.create(&study("two")).unwrap().id);
        for id in [one, two] {
            append(&*store, id, &[event("asked", Some(0))]).unwrap();
            store.acquire(id, &claim("ask", &holder())).unwrap();
        }
        store.delete(one).unwrap();
        assert_eq!(store.find("one").unwrap(), None);
        assert_eq!(store.events(two, 0).unwrap().len(), 1);
        assert_eq!(store.leases(two).unwrap().len(), 1);
        let again = store.create(&study("one")).unwrap().id;
        assert_ne!(again, one, "a key is never used again");
        assert_eq!(store.events(again, 0).unwrap(), []);
        assert_eq!(store.leases(again).unwrap(), []);
    });
}

#[test]
fn every_call_on_a_deleted_study_says_that_it_is_deleted() {
    each(|store| {
        let id = store.create(&study("s")).unwrap().id;
        store.acquire(id, &claim("ask", &holder())).unwrap();
        store.delete(id).unwrap();
        let events = [event("asked", Some(0))];
        assert_eq!(
            store.append(id, &Append { origin: "o", events: &events, ..Append::default() }),
            Err(Error::Deleted)
        );
        assert_eq!(store.events(id, 0), Err(Error::Deleted));
        assert_eq!(store.acquire(id, &claim("ask", &holder())), Err(Error::Deleted));
        assert_eq!(store.set_text(id, "x"), Err(Error::Deleted));
        assert_eq!(store.delete(id), Err(Error::Deleted));
    });
}

#[test]
fn events_come_back_in_order_and_letter_for_letter() {
    each(|store| {
        let id = store.create(&study("s")).unwrap().id;
        let kept = NewEvent { time: Some(Time::from_micros(1_700_000_000_123_456)), ..event("told", Some(0)) };
        let mut stored = Vec::new();
        for events in [&[event("fitted", None), event("asked", Some(0))][..], &[kept]] {
            let append = Append { origin: &origin(), events, ..Append::default() };
            let Appended::Stored { records, .. } = store.append(id, &append).unwrap() else { panic!("refused") };
            stored.extend(records);
        }
        let records = store.events(id, 0).unwrap();
        assert_eq!(stored, records, "an append answers with what it has stored");
        let seen: Vec<(usize, &str)> = records.iter().map(|r| (r.sequence, r.kind.as_str())).collect();
        assert_eq!(seen, [(1, "fitted"), (2, "asked"), (3, "told")]);
        assert_eq!(records[1].body, "{\"kind\":\"asked\",\"z\":1,\"a\":0.1}");
        assert_eq!(records[2].time.micros(), 1_700_000_000_123_456);
        assert_eq!(store.events(id, 2).unwrap(), records[2..]);
        assert_eq!(store.events(id, 9).unwrap(), []);
    });
}

#[test]
fn a_trial_begins_once_and_ends_once_and_a_refused_append_stores_nothing() {
    each(|store| {
        let id = store.create(&study("s")).unwrap().id;
        assert_eq!(append(&*store, id, &[event("asked", Some(0)), event("asked", Some(1))]), Ok(vec![]));
        let clash = [event("asked", Some(2)), event("included", Some(1))];
        assert_eq!(append(&*store, id, &clash), Err(Appended::Taken { trial: 1 }));
        for (kind, expected) in [
            ("told", Ok(vec![])),
            ("told", Err(Appended::Taken { trial: 0 })),
            ("failed", Err(Appended::Taken { trial: 0 })),
            ("cancelled", Err(Appended::Taken { trial: 0 })),
            ("late", Ok(vec![])),
        ] {
            assert_eq!(append(&*store, id, &[event(kind, Some(0))]), expected, "{kind}");
        }
        assert_eq!(store.events(id, 0).unwrap().len(), 4);
    });
}

#[test]
fn a_lease_is_held_by_one_and_its_token_only_grows() {
    each(|store| {
        let id = store.create(&study("s")).unwrap().id;
        let (me, other) = (holder(), Holder { pid: 8, ..holder() });
        assert_eq!(store.acquire(id, &claim("ask", &me)).unwrap(), Acquired::Granted(1));
        let Acquired::Held(lease) = store.acquire(id, &claim("ask", &other)).unwrap() else { panic!("it is held") };
        assert_eq!((lease.holder.clone(), lease.token, lease.has_lapsed()), (me.clone(), 1, false));
        assert_eq!(store.acquire(id, &claim("trial:0", &other)).unwrap(), Acquired::Granted(1));
        // Its holder is known to be dead.
        let instead = |of| Claim { instead_of: Some(of), ..claim("ask", &other) };
        assert!(matches!(store.acquire(id, &instead(9)).unwrap(), Acquired::Held(_)));
        assert_eq!(store.acquire(id, &instead(1)).unwrap(), Acquired::Granted(2));
        let old = Fence { resource: "ask", token: 1 };
        assert!(!store.renew(id, old, TERM).unwrap());
        store.release(id, old).unwrap();
        assert!(matches!(store.acquire(id, &claim("ask", &me)).unwrap(), Acquired::Held(_)));
        let current = Fence { resource: "ask", token: 2 };
        assert!(store.renew(id, current, TERM).unwrap());
        store.release(id, current).unwrap();
        let lapsed: Vec<bool> =
            store.leases(id).unwrap().iter().filter(|l| l.resource == "ask").map(|l| l.has_lapsed()).collect();
        assert_eq!(lapsed, [true]);
        assert_eq!(store.acquire(id, &claim("ask", &me)).unwrap(), Acquired::Granted(3));
    });
}

#[test]
fn a_lease_lapses_by_itself_and_not_while_it_is_renewed() {
    each(|store| {
        let id = store.create(&study("s")).unwrap().id;
        let (me, short) = (holder(), Duration::from_millis(150));
        let brief = |instead_of| Claim { resource: "ask", holder: &me, term: short, instead_of };
        assert_eq!(store.acquire(id, &brief(None)).unwrap(), Acquired::Granted(1));
        let fence = Fence { resource: "ask", token: 1 };
        let renewer = crate::LeaseRenewer::start(store.clone(), id, fence, short);
        std::thread::sleep(5 * short);
        drop(renewer);
        assert!(store.renew(id, fence, short).unwrap(), "nobody could take it");
        std::thread::sleep(2 * short);
        assert_eq!(store.acquire(id, &brief(None)).unwrap(), Acquired::Granted(2));
    });
}

#[test]
fn an_append_under_an_old_token_stores_nothing() {
    each(|store| {
        let id = store.create(&study("s")).unwrap().id;
        let me = holder();
        store.acquire(id, &claim("ask", &me)).unwrap();
        let append = |token, trial| {
            let fence = Fence { resource: "ask", token };
            let (claims, releases) = ([claim("trial:5", &me)], [fence]);
            let events = [event("asked", Some(trial))];
            let (origin, fence) = (origin(), Some(fence));
            let append =
                Append { origin: &origin, events: &events, fence, after: None, claims: &claims, releases: &releases };
            outcome(store.append(id, &append).unwrap())
        };
        assert_eq!(append(1, 0), Ok(vec![1]));
        let mut leases = store.leases(id).unwrap();
        leases.sort_by(|a, b| a.resource.cmp(&b.resource));
        let seen: Vec<(&str, u64, bool)> =
            leases.iter().map(|l| (l.resource.as_str(), l.token, l.has_lapsed())).collect();
        assert_eq!(seen, [("ask", 1, true), ("trial:5", 1, false)]);
        store.acquire(id, &claim("ask", &me)).unwrap();
        assert_eq!(append(1, 1), Err(Appended::Fenced { current: 2 }));
        assert_eq!(store.events(id, 0).unwrap().len(), 1);
        assert_eq!(append(2, 1), Ok(vec![2]), "the token is the one that was granted");
    });
}

#[test]
fn many_threads_append_with_no_number_twice_and_none_lost() {
    for place in places() {
        let store = place.open();
        let id = store.create(&study("s")).unwrap().id;
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let place = &place;
                scope.spawn(move || {
                    let store = place.open();
                    for i in 0..25 {
                        let (trial, origin) = (thread * 25 + i, format!("{thread}/{i}"));
                        let events = [event("asked", Some(trial)), event("told", Some(trial))];
                        let append = Append { origin: &origin, events: &events, ..Append::default() };
                        assert_eq!(outcome(store.append(id, &append).unwrap()), Ok(vec![]));
                    }
                });
            }
        });
        let sequences: Vec<usize> = store.events(id, 0).unwrap().iter().map(|record| record.sequence).collect();
        assert_eq!(sequences, (1..=400).collect::<Vec<_>>(), "{}", place.location);
    }
}

#[test]
fn an_append_that_is_repeated_under_its_origin_is_stored_once() {
    each(|store| {
        let id = store.create(&study("s")).unwrap().id;
        let me = holder();
        let (asked, claims) = ([event("fitted", None), event("asked", Some(0))], [claim("trial:0", &me)]);
        let ask = Append { origin: "ask", events: &asked, claims: &claims, ..Append::default() };
        let told = [event("told", Some(0))];
        let fence = Some(Fence { resource: "trial:0", token: 1 });
        let tell = Append { origin: "tell", events: &told, fence, ..Append::default() };
        for _ in 0..3 {
            assert_eq!(outcome(store.append(id, &ask).unwrap()), Ok(vec![1]));
        }
        for _ in 0..3 {
            assert_eq!(outcome(store.append(id, &tell).unwrap()), Ok(vec![]));
        }
        assert_eq!(store.events(id, 0).unwrap().len(), 3);
    });
}

#[test]
fn a_trial_that_has_ended_has_no_lease_and_is_never_granted_again() {
    each(|store| {
        let id = store.create(&study("s")).unwrap().id;
        for (trial, end) in ["told", "failed", "cancelled"].into_iter().enumerate() {
            let (me, resource) = (holder(), format!("trial:{trial}"));
            append(&*store, id, &[event("asked", Some(trial))]).unwrap();
            assert_eq!(store.acquire(id, &claim(&resource, &me)).unwrap(), Acquired::Granted(1));
            append(&*store, id, &[event(end, Some(trial))]).unwrap();
            assert_eq!(store.acquire(id, &claim(&resource, &me)).unwrap(), Acquired::Ended);
            let taking = Claim { instead_of: Some(1), ..claim(&resource, &me) };
            assert_eq!(store.acquire(id, &taking).unwrap(), Acquired::Ended);
            assert!(!store.renew(id, Fence { resource: &resource, token: 1 }, TERM).unwrap());
        }
        assert_eq!(store.leases(id).unwrap(), []);
    });
}

#[test]
fn the_pulse_changes_with_whatever_another_process_does() {
    for place in places() {
        let (mine, other) = (place.open(), place.open());
        let id = mine.create(&study("s")).unwrap().id;
        let me = holder();
        // PostgreSQL cannot tell without a transaction.
        let Some(mut seen) = mine.change_counter(id).unwrap() else { continue };
        let mut changed = || {
            let before = std::mem::replace(&mut seen, mine.change_counter(id).unwrap().unwrap());
            seen != before
        };
        assert!(!changed());
        append(&*other, id, &[event("asked", Some(0))]).unwrap();
        assert!(changed(), "an append");
        other.acquire(id, &claim("trial:0", &me)).unwrap();
        changed();
        other.release(id, Fence { resource: "trial:0", token: 1 }).unwrap();
        assert!(changed(), "a release");
        append(&*mine, id, &[event("told", Some(0))]).unwrap();
        assert!(changed(), "an end, by itself");
        assert!(!changed());
    }
}

#[test]
fn one_who_has_given_up_waiting_holds_up_nobody() {
    for place in places() {
        let (store, me) = (place.open(), holder());
        let id = store.create(&study("s")).unwrap().id;
        let Acquired::Granted(token) = store.acquire(id, &claim("ask", &me)).unwrap() else { panic!("free") };
        let waited = std::thread::scope(|scope| {
            let wait = || place.open().acquire_in_turn(id, &claim("ask", &me), Duration::from_millis(50)).unwrap();
            scope.spawn(wait).join().unwrap()
        });
        assert!(matches!(waited, Acquired::Held(_)), "{waited:?}");
        store.release(id, Fence { resource: "ask", token }).unwrap();
        let acquired = store.acquire_in_turn(id, &claim("ask", &me), TERM).unwrap();
        assert_eq!(acquired, Acquired::Granted(token + 1), "{}", place.location);
    }
}

#[test]
fn who_waits_for_a_lease_has_it_soon_after_it_is_released() {
    for place in places() {
        let id = place.open().create(&study("s")).unwrap().id;
        let turns = std::sync::atomic::AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for worker in 0..6 {
                let (place, turns) = (&place, &turns);
                scope.spawn(move || {
                    let (store, me) = (place.open(), Holder { pid: worker, ..holder() });
                    for _ in 0..5 {
                        let acquired = store.acquire_in_turn(id, &claim("ask", &me), 2 * TERM).unwrap();
                        let Acquired::Granted(token) = acquired else { panic!("{acquired:?}") };
                        assert_eq!(turns.fetch_add(1, std::sync::atomic::Ordering::SeqCst) % 2, 0, "one at a time");
                        std::thread::sleep(Duration::from_millis(2));
                        turns.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                        store.release(id, Fence { resource: "ask", token }).unwrap();
                    }
                });
            }
        });
        assert_eq!(turns.into_inner(), 60, "{}", place.location);
        let me = holder();
        let Acquired::Granted(token) = place.open().acquire(id, &claim("ask", &me)).unwrap() else { panic!("free") };
        let acquired = place.open().acquire_in_turn(id, &claim("ask", &me), Duration::from_millis(100)).unwrap();
        assert!(matches!(acquired, Acquired::Held(lease) if lease.token == token));
    }
}

#[test]
fn events_and_leases_are_read_as_of_one_moment() {
    for place in places() {
        println!("on {}", place.location);
        let (writer, reader) = (place.open(), place.open());
        let id = writer.create(&study("s")).unwrap().id;
        let write = |trial: usize| {
            let (resource, holder, begin, end) = (format!("trial:{trial}"), holder(), origin(), origin());
            let (asked, told) = ([event("asked", Some(trial))], [event("told", Some(trial))]);
            let claims = [claim(&resource, &holder)];
            writer
                .append(id, &Append { origin: &begin, events: &asked, claims: &claims, ..Append::default() })
                .unwrap();
            writer.append(id, &Append { origin: &end, events: &told, ..Append::default() }).unwrap();
        };
        std::thread::scope(|scope| {
            let writes = scope.spawn(|| (0..150).for_each(write));
            while !writes.is_finished() {
                let (records, leases) = reader.events_and_leases(id, 0).unwrap();
                // Every second event ends a trial: a trial is held exactly if its end is not there yet.
                let held: Vec<String> = leases.into_iter().map(|lease| lease.resource).collect();
                let pending = (records.len() % 2 == 1).then(|| format!("trial:{}", records.len() / 2));
                assert_eq!(held, pending.into_iter().collect::<Vec<_>>());
            }
        });
        let (records, leases) = reader.events_and_leases(id, 298).unwrap();
        assert_eq!((records.len(), records[0].sequence, leases.len()), (2, 299, 0));
        assert_eq!(reader.events_and_leases(StudyId(-1), 0), Err(Error::Deleted));
    }
}
