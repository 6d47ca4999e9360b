//! Who holds a trial, who may take it over, and what becomes of a result that comes too late.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::io::{BufRead, BufReader};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use common::meddler::{Meddler, Moment, away};
use common::study::{GRID, LEARNED, outside, session, value};
use common::{again, places, role};
use manyhands_core::{Error as Refusal, Event, Study, TrialState};
use manyhands_store::{Access, Acquired, Claim, Claimed, Error, Holder, Location, Memory, Reported, Session, Store};

/// A lease of this length does not lapse in a test, one of this moment does.
const LONG: Duration = Duration::from_secs(3600);
const MOMENT: Duration = Duration::from_millis(1);

fn acquire(session: &Session, resource: &str, holder: &Holder, instead_of: Option<u64>) -> Acquired {
    session.store().acquire(session.id(), &Claim { resource, holder, term: LONG, instead_of }).unwrap()
}

/// A process that is gone.
fn dead() -> Holder {
    let mut child = std::process::Command::new("true").spawn().unwrap();
    let pid = child.id();
    child.wait().unwrap();
    Holder { pid, started: 1, ..Holder::this_process() }
}

/// Takes over a trial whose lease is about to lapse.
fn take_over_soon(session: &mut Session) -> Claimed {
    for _ in 0..1000 {
        if let Some(claimed) = session.take_over(LONG, &[]).unwrap() {
            return claimed;
        }
        std::thread::sleep(MOMENT);
    }
    panic!("its lease never lapsed");
}

#[test]
fn a_held_trial_is_taken_over_only_from_a_process_that_is_known_to_be_dead() {
    for place in places() {
        let (mut mine, mut other) = (session(place.open(), GRID), session(place.open(), GRID));
        let claimed = mine.ask_for_worker(2, None, LONG).unwrap();
        assert_eq!(claimed.iter().map(|c| (c.trial, c.token)).collect::<Vec<_>>(), [(0, 1), (1, 1)]);
        mine.ask(1).unwrap();
        assert_eq!(other.take_over(LONG, &[]).unwrap(), None, "held, or asked for by hand");
        let elsewhere = Holder { host: "elsewhere".to_string(), ..dead() };
        let rebooted = Holder { boot: "another/boot".to_string(), ..dead() };
        for (token, holder) in [(1, elsewhere), (2, rebooted)] {
            assert_eq!(acquire(&mine, "trial:1", &holder, Some(token)), Acquired::Granted(token + 1));
            assert_eq!(other.take_over(LONG, &[]).unwrap(), None, "nothing is known of {holder:?}");
            assert_eq!(other.held_by_others().unwrap(), 1);
        }
        acquire(&mine, "trial:1", &dead(), Some(3));
        let taken = other.take_over(LONG, &[]).unwrap().unwrap();
        assert_eq!((taken.trial, taken.token), (1, 5));
        assert_eq!(mine.take_over(LONG, &[]).unwrap(), None, "and only once");
        assert_eq!(mine.report(&claimed[0], Ok(1.0)).unwrap(), Reported::Recorded);
        assert_eq!(mine.report(&claimed[1], Ok(1.0)).unwrap(), Reported::TooLate);
        assert_eq!(other.report(&taken, Ok(2.0)).unwrap(), Reported::Recorded);
        assert_eq!(other.ledger().trial(1).unwrap().value, Some(2.0));
        // A trial that has ended is nobody's to take over.
        acquire(&mine, "trial:1", &dead(), Some(5));
        assert_eq!(mine.take_over(LONG, &[]).unwrap(), None);
    }
}

#[test]
fn what_a_killed_process_held_is_free_at_once() {
    if let Some(role) = role() {
        let location: Location = role.parse().unwrap();
        let mut session = session(location.open(Access::Write).unwrap(), GRID);
        let claimed = session.ask_for_worker(1, None, LONG).unwrap();
        // Killed while it chooses.
        acquire(&session, "ask", &Holder::this_process(), None);
        println!("\nholds {}", claimed[0].trial);
        // Until it is killed, or the tests end otherwise.
        std::io::stdin().read_line(&mut String::new()).unwrap();
        return;
    }
    for place in places().iter().filter(|place| place.memory.is_none()) {
        let mut session = session(place.open(), GRID);
        let mut child = again("what_a_killed_process_held_is_free_at_once", &place.url()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap() == "holds 0"), "{}", place.location);
        assert_eq!(session.take_over(LONG, &[]).unwrap(), None);
        assert_eq!(session.held_by_others().unwrap(), 1);
        child.kill().unwrap();
        child.wait().unwrap();
        let params = session.params(0).unwrap().iter().map(|p| format!("{p:?}")).collect::<Vec<_>>();
        let taken = session.take_over(LONG, &[]).unwrap().unwrap();
        assert_eq!((taken.trial, taken.token), (0, 2), "the same trial, under a new token");
        // By its lease, which is long, this would wait for an hour.
        assert_eq!(session.ask(1).unwrap()[0].trial, 1);
        assert_eq!(session.report(&taken, Ok(1.0)).unwrap(), Reported::Recorded);
        assert_eq!(session.params(0).unwrap().iter().map(|p| format!("{p:?}")).collect::<Vec<_>>(), params);
    }
}

#[test]
fn a_late_result_is_kept_and_teaches_the_model_nothing() {
    for place in places() {
        let (mut slow, mut quick) = (session(place.open(), GRID), session(place.open(), GRID));
        let lapsed = slow.ask_for_worker(1, None, MOMENT).unwrap().remove(0);
        let current = take_over_soon(&mut quick);
        let points = [outside(GRID, true), outside(GRID, false)];
        let before = quick.study().unwrap().predict_named(&points).unwrap();
        assert_eq!(slow.report(&lapsed, Ok(7.0)).unwrap(), Reported::TooLate);
        assert_eq!(slow.report(&lapsed, Err("died".to_string())).unwrap(), Reported::TooLate);
        assert_eq!(quick.study().unwrap().predict_named(&points).unwrap(), before);
        assert_eq!(slow.study().unwrap().predict_named(&points).unwrap(), before);
        assert_eq!(quick.ledger().trial(0).unwrap().state, TrialState::Pending);
        let late = |outcome| Event::LateResult { trial: 0, outcome };
        let events = quick.ledger().events();
        assert_eq!(events[events.len() - 2..], [late(Ok(7.0)), late(Err("died".to_string()))]);
        assert_eq!(quick.ledger().late(), 2);
        assert_eq!(quick.report(&current, Ok(3.0)).unwrap(), Reported::Recorded);
        assert_ne!(quick.study().unwrap().predict_named(&points).unwrap(), before);
        quick.ask(2).unwrap();
        Study::verify(quick.spec(), quick.ledger().events()).unwrap();
    }
}

#[test]
fn a_lapsed_lease_still_counts_while_nobody_else_was_given_the_trial() {
    for place in places() {
        let (mut slow, mut other) = (session(place.open(), GRID), session(place.open(), GRID));
        let claimed = slow.ask_for_worker(1, None, MOMENT).unwrap().remove(0);
        while !slow.store().leases(slow.id()).unwrap().iter().any(|l| l.resource == "trial:0" && l.lapsed) {}
        assert_eq!(slow.report(&claimed, Ok(7.0)).unwrap(), Reported::Recorded);
        assert_eq!(other.take_over(LONG, &[]).unwrap(), None);
    }
}

#[test]
fn what_was_decided_by_hand_stands() {
    for place in places() {
        let (mut worker, mut hand) = (session(place.open(), GRID), session(place.open(), GRID));
        let claimed = worker.ask_for_worker(3, None, LONG).unwrap();
        hand.tell(0, 1.0).unwrap();
        hand.cancel(1).unwrap();
        for claimed in &claimed[..2] {
            assert_eq!(worker.report(claimed, Ok(9.0)).unwrap(), Reported::TooLate);
        }
        assert_eq!(worker.report(&claimed[2], Err("broke".to_string())).unwrap(), Reported::Recorded);
        let state = TrialState::Failed;
        assert_eq!(hand.tell(2, 1.0), Err(Refusal::NotPending { trial: 2, state }.into()));
        let trials = worker.ledger().trials();
        assert_eq!(trials.iter().map(|t| t.value).collect::<Vec<_>>(), [Some(1.0), None, None]);
        assert_eq!(worker.ledger().late(), 2);
        assert!(worker.report(&claimed[0], Ok(f64::NAN)).is_err());
    }
}

#[test]
fn a_trial_that_was_let_go_is_to_be_had_at_once() {
    for place in places() {
        let (mut mine, mut other) = (session(place.open(), GRID), session(place.open(), GRID));
        let claimed = mine.ask_for_worker(1, None, LONG).unwrap().remove(0);
        mine.let_go(&claimed).unwrap();
        let taken = other.take_over(LONG, &[]).unwrap().unwrap();
        assert_eq!((taken.trial, taken.token), (0, 2));
        mine.let_go(&claimed).unwrap();
        assert_eq!(mine.take_over(LONG, &[]).unwrap(), None, "letting go a second time takes it from nobody");
        assert_eq!(mine.report(&claimed, Ok(1.0)).unwrap(), Reported::TooLate);
    }
}

#[test]
fn a_lease_that_was_renewed_at_the_last_moment_is_not_taken() {
    let inner: Arc<dyn Store> = Arc::new(Memory::new());
    let store = Meddler::new(inner.clone());
    let (mut slow, mut other) = (session(inner.clone(), GRID), session(store.clone(), GRID));
    let claimed = slow.ask_for_worker(1, None, MOMENT).unwrap().remove(0);
    while !slow.store().leases(slow.id()).unwrap().iter().any(|l| l.resource == "trial:0" && l.lapsed) {}
    let (id, renewed) = (slow.id(), claimed.clone());
    store.plan(Moment::AfterLeases, move || {
        assert!(inner.renew(id, renewed.fence(), LONG)?);
        Ok(())
    });
    assert_eq!(other.take_over(LONG, &[]).unwrap(), None);
    assert!(store.is_done());
    assert_eq!(slow.report(&claimed, Ok(1.0)).unwrap(), Reported::Recorded);
}

#[test]
fn a_slow_ask_never_delays_a_tell() {
    for place in places() {
        for text in [LEARNED, GRID] {
            let store = Meddler::new(place.open());
            let (mut asker, mut teller) = (session(store.clone(), text), session(place.open(), text));
            for suggestion in asker.ask(12).unwrap() {
                asker.tell(suggestion.trial, value(&suggestion)).unwrap();
            }
            let pending = asker.ask(3).unwrap();
            // The ask begins to choose, and does not log what it chose before it hears that others are done.
            let ((begun, has_begun), (done, is_done)) = (channel(), channel());
            store.plan(Moment::AfterEvents, move || begun.send(()).map_err(|_| away()));
            store.plan(Moment::BeforeAppend, move || is_done.recv_timeout(LONG / 60).map_err(|_| away()));
            let asking = std::thread::spawn(move || {
                let asked = asker.ask(2).unwrap();
                (asker, asked)
            });
            has_begun.recv().unwrap();
            let before = teller.ledger().events().len();
            for (suggestion, deed) in pending.iter().zip(0..) {
                match deed {
                    0 => teller.tell(suggestion.trial, value(suggestion)).unwrap(),
                    1 => teller.fail(suggestion.trial, "broke").unwrap(),
                    _ => teller.cancel(suggestion.trial).unwrap(),
                }
            }
            let told = teller.ledger().events().len();
            assert!(told > before);
            done.send(()).unwrap();
            let (asker, asked) = asking.join().unwrap();
            assert_eq!(asked.len(), 2);
            for event in &asker.ledger().events()[told..] {
                let (Event::Asked(manyhands_core::Asked { seen, .. })
                | Event::Fitted(manyhands_core::Fitted { seen, .. })) = event
                else {
                    panic!("{event:?}")
                };
                assert_eq!(*seen, told - 3, "it knew nothing of what was told in the meantime");
            }
            Study::verify(asker.spec(), asker.ledger().events()).unwrap();
        }
    }
}

#[test]
fn an_ask_that_lost_its_turn_logs_nothing_and_takes_another() {
    for place in places() {
        let store = Meddler::new(place.open());
        let (mut slow, mut quick) = (session(store.clone(), GRID), session(place.open(), GRID));
        let (id, inner) = (slow.id(), place.open());
        // While it chose, its lease lapsed and another one asked.
        store.plan(Moment::BeforeAppend, move || {
            inner.release(id, manyhands_store::Fence { resource: "ask", token: 1 })?;
            let asked = quick.ask(2)?;
            assert_eq!(asked[0].trial, 0);
            Ok(())
        });
        assert_eq!(slow.ask(1).unwrap()[0].trial, 2);
        assert_eq!(slow.ledger().trials().len(), 3);
        Study::verify(slow.spec(), slow.ledger().events()).unwrap();
        let leases = slow.store().leases(id).unwrap();
        assert!(leases.iter().all(|lease| lease.lapsed && lease.token == 3), "{leases:?}");
        assert!(matches!(slow.tell(9, 1.0), Err(Error::Study(_))));
    }
}

#[test]
fn a_worker_never_takes_over_what_it_runs_itself() {
    for place in places() {
        let mut session = session(place.open(), GRID);
        let claimed = session.ask_for_worker(1, None, MOMENT).unwrap().remove(0);
        while !session.store().leases(session.id()).unwrap().iter().any(|l| l.resource == "trial:0" && l.lapsed) {}
        assert_eq!(session.take_over(LONG, &[0]).unwrap(), None);
        assert_eq!(session.report(&claimed, Ok(7.0)).unwrap(), Reported::Recorded);
    }
}
