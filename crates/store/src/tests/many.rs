//! Sixteen processes ask and tell on one study at once: nothing is lost, doubled or mixed up.

use std::collections::{BTreeMap, HashSet};
use std::process::Child;
use std::time::Duration;

use super::common::study::{GRID, session};
use super::common::{Place, again, origin, places, role};
use manyhands_core::{Event, Study, TrialState, Value};

use crate::{Access, Location, Reported, Session, Store};

const WORKERS: usize = 16;
const TERM: Duration = Duration::from_secs(60);

/// 500 trials with two continuous parameters, and a model that is learned again and again while others ask and tell.
const CONTINUOUS: &str = r#"name = "many"
seed = 11
[space]
x = { float = [0.0, 1.0] }
y = { float = [-3.0, 3.0] }
"#;

/// A study and how many trials it is to have; on a space and on a grid.
const STUDIES: [(&str, usize); 2] = [(CONTINUOUS, 500), (GRID, 120)];

/// What a worker's evaluation gives: no other worker gets the same.
fn evaluate(params: &[Value], worker: usize) -> f64 {
    let x: Vec<f64> = params.iter().map(|value| value.number().unwrap()).collect();
    (5.0 * x[0]).sin() + x[1].cos() + 1e-6 * worker as f64
}

/// Asks for one to three trials at a time until there are as many as there are to be; what it told.
fn work(store: impl Into<Store>, study: usize, worker: usize) -> Vec<(usize, f64)> {
    let (text, trials) = STUDIES[study];
    let mut session = session(store, text);
    let mut told = Vec::new();
    for round in worker.. {
        let claimed = session.ask_for_worker(1 + round % 3, Some(trials), TERM).unwrap();
        if claimed.is_empty() {
            break;
        }
        // The last first; every other one as by hand.
        for claimed in claimed.iter().rev() {
            let value = evaluate(session.trial(claimed.trial).unwrap().logged_params(), worker);
            if claimed.trial % 2 == 0 {
                assert_eq!(session.report(claimed, &origin(), Ok(value.into())).unwrap(), Reported::Recorded);
            } else {
                session.tell(claimed.trial, value).unwrap();
            }
            told.push((claimed.trial, value));
        }
    }
    told
}

fn in_processes(place: &Place, study: usize) -> Vec<(usize, f64)> {
    let start = |worker: usize| {
        again("many::sixteen_workers_lose_nothing", &format!("{worker} {study} {}", place.url())).spawn().unwrap()
    };
    let workers: Vec<Child> = (0..WORKERS).map(start).collect();
    let mut told = Vec::new();
    for worker in workers {
        let output = worker.wait_with_output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{said}");
        told.extend(said.lines().filter_map(|line| {
            let (trial, bits) = line.strip_prefix("told ")?.split_once(' ')?;
            Some((trial.parse::<usize>().unwrap(), f64::from_bits(bits.parse().unwrap())))
        }));
    }
    told
}

fn in_threads(place: &Place, study: usize) -> Vec<(usize, f64)> {
    std::thread::scope(|scope| {
        let workers: Vec<_> =
            (0..WORKERS).map(|worker| scope.spawn(move || work(place.open(), study, worker))).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    })
}

fn check(session: &Session, trials: usize, told: &[(usize, f64)]) {
    let ledger = session.ledger();
    assert_eq!(ledger.trials().len(), trials);
    assert_eq!((ledger.count(TrialState::Observed), ledger.late()), (trials, 0));
    let by_trial: BTreeMap<usize, u64> = told.iter().map(|(trial, value)| (*trial, value.to_bits())).collect();
    assert_eq!((told.len(), by_trial.len()), (trials, trials), "each was told by one worker");
    let logged = ledger.trials().iter().map(|trial| trial.value().unwrap().to_bits());
    assert!(logged.eq(by_trial.into_values()), "with what that worker found");
    let (mut asked, mut ended, mut batches) = (Vec::new(), HashSet::new(), BTreeMap::<usize, Vec<&[Value]>>::new());
    for event in ledger.events() {
        match event {
            Event::Asked(choice) => {
                asked.push(choice.trial);
                batches.entry(choice.seen).or_default().push(&choice.choice.params);
            }
            Event::Told { trial, .. } => assert!(ended.insert(trial) && asked.contains(trial)),
            Event::Fitted(_) => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(asked, (0..trials).collect::<Vec<_>>());
    let is_finite = session.spec().finite().is_some();
    for batch in batches.values().filter(|_| !is_finite) {
        let different: HashSet<String> = batch.iter().map(|params| format!("{params:?}")).collect();
        assert_eq!(different.len(), batch.len(), "one batch, two equal suggestions: {batch:?}");
    }
}

#[test]
fn sixteen_workers_lose_nothing() {
    if let Some(role) = role() {
        let [worker, study, url] = role.splitn(3, ' ').collect::<Vec<_>>().try_into().unwrap();
        let store = url.parse::<Location>().unwrap().open(Access::Create).unwrap();
        println!();
        for (trial, value) in work(store, study.parse().unwrap(), worker.parse().unwrap()) {
            println!("told {trial} {}", value.to_bits());
        }
        return;
    }
    for place in places() {
        for (study, (text, trials)) in STUDIES.into_iter().enumerate() {
            // All of them find no store, and make it, and the study.
            let told = if place.memory.is_some() { in_threads(&place, study) } else { in_processes(&place, study) };
            let session = session(place.open(), text);
            check(&session, trials, &told);
            Study::verify(session.spec(), session.ledger().events()).unwrap();
        }
    }
}
