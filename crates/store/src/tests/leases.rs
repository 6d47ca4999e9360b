//! Who holds a trial, who may take it over, and what becomes of a result that comes too late.

use std::io::{BufRead, BufReader};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::common::interceptor::{Interceptor, Point, away};
use super::common::study::{GRID, LEARNED, outside, session, value};
use super::common::{again, origin, places, role};
use manyhands_core::{Error as Refusal, Event, Study, TrialState};

use crate::backend::Backend;
use crate::clock::Clock;
use crate::lease::{Acquired, Claim, Fence};
use crate::memory::Memory;
use crate::sqlite::Sqlite;
use crate::{Access, Claimed, Error, Holder, Location, Reported, Session, Store, Time};

/// A lease of this length does not lapse in a test, one of this moment does.
const LONG: Duration = Duration::from_secs(3600);
const MOMENT: Duration = Duration::from_millis(1);

fn acquire(session: &Session, resource: &str, holder: &Holder, instead_of: Option<u64>) -> Acquired {
    session.store().backend.acquire(session.id(), &Claim { resource, holder, term: LONG, instead_of }).unwrap()
}

/// A process that is gone.
fn dead() -> Holder {
    let mut child = std::process::Command::new("true").spawn().unwrap();
    let pid = child.id();
    child.wait().unwrap();
    Holder { pid, started: 1, ..Holder::this_process() }
}

/// A process of another host, of which nothing is known from here.
fn elsewhere() -> Holder {
    Holder { host: "elsewhere".to_string(), ..Holder::this_process() }
}

/// A trial whose worker is gone, if there is one.
fn take_over(session: &mut Session) -> Option<Claimed> {
    session.survey(1, LONG).unwrap().taken.pop()
}

/// Takes over a trial whose lease is about to lapse.
fn take_over_soon(session: &mut Session) -> Claimed {
    for _ in 0..1000 {
        if let Some(claimed) = take_over(session) {
            return claimed;
        }
        std::thread::sleep(MOMENT);
    }
    panic!("its lease never lapsed");
}

/// Waits until the lease of trial 0 has lapsed.
fn let_lapse(session: &Session) {
    let has_lapsed = || session.pending_leases().unwrap().iter().any(|(trial, l)| *trial == 0 && l.has_lapsed());
    while !has_lapsed() {
        std::thread::sleep(MOMENT);
    }
}

#[test]
fn a_held_trial_is_taken_over_only_from_a_process_that_is_known_to_be_dead() {
    for place in places() {
        let (mut mine, mut other) = (session(place.open(), GRID), session(place.open(), GRID));
        let claimed = mine.ask_for_worker(2, None, LONG).unwrap();
        assert_eq!(claimed.iter().map(|c| (c.trial, c.token)).collect::<Vec<_>>(), [(0, 1), (1, 1)]);
        mine.ask(1).unwrap();
        assert_eq!(take_over(&mut other), None, "held, or asked for by hand");
        let elsewhere = elsewhere();
        let rebooted = Holder { boot: "another/boot".to_string(), ..dead() };
        for (token, holder) in [(1, elsewhere), (2, rebooted)] {
            assert_eq!(acquire(&mine, "trial:1", &holder, Some(token)), Acquired::Granted(token + 1));
            assert_eq!(take_over(&mut other), None, "nothing is known of {holder:?}");
            assert_eq!(other.survey(0, LONG).unwrap().elsewhere.len(), 1);
        }
        acquire(&mine, "trial:1", &dead(), Some(3));
        let taken = take_over(&mut other).unwrap();
        assert_eq!((taken.trial, taken.token), (1, 5));
        assert_eq!(take_over(&mut mine), None, "and only once");
        assert_eq!(mine.report(&claimed[0], &origin(), Ok(1.0.into())).unwrap(), Reported::Recorded);
        assert_eq!(mine.report(&claimed[1], &origin(), Ok(1.0.into())).unwrap(), Reported::TooLate);
        assert_eq!(other.report(&taken, &origin(), Ok(2.0.into())).unwrap(), Reported::Recorded);
        assert_eq!(other.ledger().trial(1).unwrap().value(), Some(2.0));
        // A trial that has ended is nobody's to take over.
        assert_eq!(acquire(&mine, "trial:1", &dead(), Some(5)), Acquired::Ended);
        assert_eq!(take_over(&mut mine), None);
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
        let mut child = again("leases::what_a_killed_process_held_is_free_at_once", &place.url()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap() == "holds 0"), "{}", place.location);
        assert_eq!(take_over(&mut session), None);
        assert_eq!(session.survey(0, LONG).unwrap().elsewhere.len(), 1);
        child.kill().unwrap();
        child.wait().unwrap();
        let params = session.params(0).unwrap().iter().map(|p| format!("{p:?}")).collect::<Vec<_>>();
        let taken = take_over(&mut session).unwrap();
        assert_eq!((taken.trial, taken.token), (0, 2), "the same trial, under a new token");
        // By its lease, which is long, this would wait for an hour.
        assert_eq!(session.ask(1).unwrap()[0].trial, 1);
        assert_eq!(session.report(&taken, &origin(), Ok(1.0.into())).unwrap(), Reported::Recorded);
        assert_eq!(session.params(0).unwrap().iter().map(|p| format!("{p:?}")).collect::<Vec<_>>(), params);
    }
}

#[test]
fn a_late_result_is_kept_and_teaches_the_model_nothing() {
    for place in places() {
        let (slow, mut quick) = (session(place.open(), GRID), session(place.open(), GRID));
        let mut slow = slow.held_by(elsewhere());
        let lapsed = slow.ask_for_worker(1, None, MOMENT).unwrap().remove(0);
        let current = take_over_soon(&mut quick);
        let points = [outside(GRID, true), outside(GRID, false)];
        let before = quick.study().unwrap().predict_named(&points).unwrap();
        assert_eq!(slow.report(&lapsed, &origin(), Ok(7.0.into())).unwrap(), Reported::TooLate);
        assert_eq!(slow.report(&lapsed, &origin(), Err("died".to_string())).unwrap(), Reported::TooLate);
        assert_eq!(quick.study().unwrap().predict_named(&points).unwrap(), before);
        assert_eq!(slow.study().unwrap().predict_named(&points).unwrap(), before);
        assert_eq!(quick.ledger().trial(0).unwrap().state(), TrialState::Pending);
        let late = |outcome| Event::LateResult { trial: 0, outcome };
        let events = quick.ledger().events();
        assert_eq!(events[events.len() - 2..], [late(Ok(7.0)), late(Err("died".to_string()))]);
        assert_eq!(quick.ledger().late(), 2);
        assert_eq!(quick.report(&current, &origin(), Ok(3.0.into())).unwrap(), Reported::Recorded);
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
        let_lapse(&slow);
        assert_eq!(slow.report(&claimed, &origin(), Ok(7.0.into())).unwrap(), Reported::Recorded);
        assert_eq!(take_over(&mut other), None);
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
            assert_eq!(worker.report(claimed, &origin(), Ok(9.0.into())).unwrap(), Reported::TooLate);
        }
        assert_eq!(worker.report(&claimed[2], &origin(), Err("broke".to_string())).unwrap(), Reported::Recorded);
        let state = TrialState::Failed;
        assert_eq!(hand.tell(2, 1.0), Err(Refusal::NotPending { trial: 2, state }.into()));
        let trials = worker.ledger().trials();
        assert_eq!(trials.iter().map(|t| t.value()).collect::<Vec<_>>(), [Some(1.0), None, None]);
        assert_eq!(worker.ledger().late(), 2);
        assert!(worker.report(&claimed[0], &origin(), Ok(f64::NAN.into())).is_err());
    }
}

#[test]
fn a_released_trial_can_be_claimed_at_once() {
    for place in places() {
        let (mut mine, mut other) = (session(place.open(), GRID), session(place.open(), GRID));
        let claimed = mine.ask_for_worker(1, None, LONG).unwrap().remove(0);
        mine.release(&claimed).unwrap();
        let taken = take_over(&mut other).unwrap();
        assert_eq!((taken.trial, taken.token), (0, 2));
        mine.release(&claimed).unwrap();
        assert_eq!(take_over(&mut mine), None, "letting go a second time takes it from nobody");
        assert_eq!(mine.report(&claimed, &origin(), Ok(1.0.into())).unwrap(), Reported::TooLate);
    }
}

#[test]
fn a_lease_that_was_renewed_at_the_last_moment_is_not_taken() {
    let inner: Arc<dyn Backend> = Arc::new(Memory::new());
    let store = Interceptor::new(inner.clone());
    let mut slow = session(inner.clone(), GRID).held_by(elsewhere());
    let mut other = session(store.clone(), GRID);
    let claimed = slow.ask_for_worker(1, None, MOMENT).unwrap().remove(0);
    let_lapse(&slow);
    let (id, renewed) = (slow.id(), claimed.clone());
    store.plan(Point::AfterLeases, move || {
        assert!(inner.renew(id, renewed.fence(), LONG)?);
        Ok(())
    });
    assert_eq!(take_over(&mut other), None);
    assert!(store.is_done());
    assert_eq!(slow.report(&claimed, &origin(), Ok(1.0.into())).unwrap(), Reported::Recorded);
}

#[test]
fn a_slow_ask_never_delays_a_tell() {
    for place in places() {
        for text in [LEARNED, GRID] {
            let store = Interceptor::new(place.open());
            let (mut asker, mut teller) = (session(store.clone(), text), session(place.open(), text));
            for suggestion in asker.ask(12).unwrap() {
                asker.tell(suggestion.trial, value(&suggestion)).unwrap();
            }
            let pending = asker.ask(3).unwrap();
            // The ask begins to choose, and does not log what it chose before it hears that others are done.
            let ((begun, has_begun), (done, is_done)) = (channel(), channel());
            store.plan(Point::AfterEvents, move || begun.send(()).map_err(|_| away()));
            store.plan(Point::BeforeAppend, move || is_done.recv_timeout(LONG / 60).map_err(|_| away()));
            let asking = std::thread::spawn(move || {
                let asked = asker.ask(2).unwrap();
                (asker, asked)
            });
            has_begun.recv().unwrap();
            let before = teller.ledger().events().len();
            for (suggestion, action) in pending.iter().zip(0..) {
                match action {
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
                let (Event::Asked(manyhands_core::event::Asked { seen, .. })
                | Event::Fitted(manyhands_core::event::Fitted { seen, .. })) = event
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
        let store = Interceptor::new(place.open());
        let (mut slow, mut quick) = (session(store.clone(), GRID), session(place.open(), GRID));
        let (id, inner) = (slow.id(), place.open());
        // While it chose, its lease lapsed and another one asked.
        store.plan(Point::BeforeAppend, move || {
            inner.release(id, Fence { resource: "ask", token: 1 })?;
            let asked = quick.ask(2)?;
            assert_eq!(asked[0].trial, 0);
            Ok(())
        });
        assert_eq!(slow.ask(1).unwrap()[0].trial, 2);
        assert_eq!(slow.ledger().trials().len(), 3);
        Study::verify(slow.spec(), slow.ledger().events()).unwrap();
        let leases = slow.store().backend.leases(id).unwrap();
        assert!(leases.iter().all(|lease| lease.has_lapsed() && lease.token == 3), "{leases:?}");
        assert!(matches!(slow.tell(9, 1.0), Err(Error::Study(_))));
    }
}

#[test]
fn a_process_that_is_seen_to_be_alive_keeps_its_trials_however_long_it_is_silent() {
    for place in places() {
        let (mut holder, mut other) = (session(place.open(), GRID), session(place.open(), GRID));
        let claimed = holder.ask_for_worker(1, None, MOMENT).unwrap().remove(0);
        let_lapse(&holder);
        assert_eq!((take_over(&mut holder), take_over(&mut other)), (None, None));
        assert_eq!(holder.report(&claimed, &origin(), Ok(7.0.into())).unwrap(), Reported::Recorded);
    }
}

#[test]
fn a_user_may_take_a_trial_away_from_whoever_holds_it() {
    for place in places() {
        let (mut holder, mut user) = (session(place.open(), GRID), session(place.open(), GRID));
        let claimed = holder.ask_for_worker(1, None, LONG).unwrap().remove(0);
        let taken = user.take(0, LONG).unwrap();
        assert_eq!((taken.trial, taken.token), (0, 2));
        assert_eq!(holder.report(&claimed, &origin(), Ok(7.0.into())).unwrap(), Reported::TooLate);
        assert_eq!(user.report(&taken, &origin(), Ok(8.0.into())).unwrap(), Reported::Recorded);
        let state = TrialState::Observed;
        assert_eq!(user.take(0, LONG), Err(Refusal::NotPending { trial: 0, state }.into()));
        assert!(user.take(9, LONG).is_err());
    }
}

/// The defect: a survey that knew the log of a moment ago and the leases of now took a trial that had just been told, whose
/// lease was given back with its end, for abandoned.
#[test]
fn a_trial_that_ends_between_two_looks_is_not_run_again() {
    for place in places() {
        let store = Interceptor::new(place.open());
        let (mut worker, mut idle) = (session(place.open(), GRID), session(store.clone(), GRID));
        let claimed = worker.ask_for_worker(3, None, LONG).unwrap();
        let told = claimed[0].clone();
        store.plan(Point::AfterLeases, move || {
            assert_eq!(worker.report(&told, &origin(), Ok(1.0.into()))?, Reported::Recorded);
            Ok(())
        });
        let survey = idle.survey(9, LONG).unwrap();
        assert!(store.is_done());
        assert_eq!(survey.taken, []);
        // And where its lease was given back before.
        let (mut worker, told) = (session(place.open(), GRID), claimed[1].clone());
        worker.release(&told).unwrap();
        store.plan(Point::AfterLeases, move || {
            assert_eq!(worker.report(&told, &origin(), Ok(1.0.into()))?, Reported::Recorded);
            Ok(())
        });
        assert_eq!(idle.survey(9, LONG).unwrap().taken, []);
        assert!(store.is_done());
    }
}

#[test]
fn a_report_that_is_repeated_is_recorded_once_and_is_not_late() {
    for place in places() {
        let mut session = session(place.open(), GRID);
        let claimed = session.ask_for_worker(2, None, LONG).unwrap();
        for _ in 0..3 {
            assert_eq!(session.report(&claimed[0], "mine", Ok(7.0.into())).unwrap(), Reported::Recorded);
        }
        session.cancel(1).unwrap();
        for _ in 0..3 {
            assert_eq!(session.report(&claimed[1], "late", Ok(7.0.into())).unwrap(), Reported::TooLate);
        }
        assert_eq!(session.ledger().late(), 1);
    }
}

/// Clocks that are set by hand.
#[derive(Debug)]
struct Hands(Mutex<(i64, Duration)>);

impl Clock for Hands {
    fn now(&self) -> Time {
        Time::from_micros(self.0.lock().unwrap().0)
    }

    fn ticks(&self) -> Duration {
        self.0.lock().unwrap().1
    }
}

#[test]
fn a_wall_clock_that_jumps_frees_no_trial_and_holds_none() {
    const HOUR: i64 = 3_600_000_000;
    let folder = tempfile::tempdir().unwrap();
    let hands = Arc::new(Hands(Mutex::new((1_000 * HOUR, LONG))));
    let path = folder.path().join("m.db");
    let open = || Store::new(Sqlite::open_with_clock(&path, Access::Create, hands.clone()).unwrap());
    let minute = Duration::from_secs(60);
    // In another container on this machine, which cannot be looked into.
    let here = Holder::this_process();
    let container = Holder { boot: format!("{}/pid:[1]", here.boot.split('/').next().unwrap()), ..here };
    let mut worker = session(open(), GRID).held_by(container);
    let mut other = session(open(), GRID);
    worker.ask_for_worker(1, None, minute).unwrap();
    for jump in [HOUR, -3 * HOUR] {
        hands.0.lock().unwrap().0 += jump;
        assert_eq!(take_over(&mut other), None, "after a jump of {jump}");
    }
    hands.0.lock().unwrap().1 += minute;
    let taken = take_over(&mut other).expect("its worker has been silent for a term, whatever the wall clock says");
    assert_eq!((taken.trial, taken.token), (0, 2));
}
