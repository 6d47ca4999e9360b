//! Many workers on one study: nothing runs twice, nobody hangs, and waiting costs next to nothing.

use std::collections::HashMap;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::common::postgres::Server;
use crate::common::{Bench, server};
use manyhands_core::{Event, TrialState};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Choosing costs little here: it is the life around it that is tested.
const STUDY: &str = r#"name = "fleet"
seed = 3
[space]
x = { float = [0.0, 1.0], points = 40 }
y = { float = [0.0, 1.0], points = 40 }
[model]
kernel = "se"
lengthscale = 0.2
noise = 0.01
[strategy]
name = "igp-bucb"
norm_bound = 1.0
hallucination = 1.0
[run]
command = ["./box.sh", "{x}", "{y}", "{trial}"]
"#;

fn fleet(trials: usize, seconds: &str) -> Bench {
    let bench = Bench::new(&format!("{STUDY}trials = {trials}\n"));
    // One line is one write: many workers append to the same file.
    bench.script("box.sh", &format!("echo \"$3 $(date +%s%6N)\" >> started\nsleep {seconds}\necho \"$1\"\n"));
    bench
}

fn places(trials: usize, seconds: &str) -> Vec<Bench> {
    let mut benches = vec![fleet(trials, seconds)];
    benches.extend(server().map(|server| fleet(trials, seconds).at(server.database())));
    benches
}

fn worker(bench: &Bench, more: &[&str]) -> Child {
    let mut command = bench.command(&[&["worker", "study.toml"], more].concat());
    command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

/// What a worker said; it must have succeeded.
fn done(worker: Child) -> String {
    let output = worker.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    said
}

/// How often each trial was started.
fn starts(bench: &Bench) -> HashMap<usize, Vec<i64>> {
    let mut starts: HashMap<usize, Vec<i64>> = HashMap::new();
    for line in std::fs::read_to_string(bench.path().join("started")).unwrap().lines() {
        let (trial, at) = line.split_once(' ').unwrap();
        starts.entry(trial.parse().unwrap()).or_default().push(at.parse().unwrap());
    }
    starts
}

/// All trials are told, once, and none came too late; the log and its hashes are sound.
fn check(bench: &Bench, trials: usize) {
    let session = bench.session("fleet");
    assert_eq!(session.ledger().count(TrialState::Observed), trials);
    assert_eq!((session.ledger().trials().len(), session.ledger().late()), (trials, 0));
    let told = session.ledger().events().iter().filter(|event| matches!(event, Event::Told { .. })).count();
    assert_eq!(told, trials);
    assert_eq!(session.pending_leases().unwrap(), [], "ended trials leave the list");
    assert!(bench.run(&["verify", "fleet"]).status.success());
}

#[test]
fn of_thirty_two_workers_none_runs_what_another_has_finished() {
    for bench in places(200, "0.1") {
        let workers: Vec<Child> = (0..32).map(|_| worker(&bench, &[])).collect();
        let said: Vec<String> = workers.into_iter().map(done).collect();
        check(&bench, 200);
        let twice: Vec<_> = starts(&bench).into_iter().filter(|(_, starts)| starts.len() > 1).collect();
        assert!(twice.is_empty(), "{}: {twice:?} were run twice", bench.store);
        assert!(!said.iter().any(|said| said.contains("taken over")), "{said:?}");
    }
}

#[test]
fn fifty_killed_workers_cost_only_what_they_were_running() {
    for bench in places(200, "0.1") {
        let mut rng = ChaCha8Rng::seed_from_u64(8);
        let mut workers: Vec<Child> = (0..16).map(|_| worker(&bench, &["--quiet"])).collect();
        for _ in 0..50 {
            sleep(Duration::from_millis(rng.random_range(0..120)));
            let victim = rng.random_range(0..workers.len());
            workers[victim].kill().unwrap();
            workers[victim].wait().unwrap();
            workers[victim] = worker(&bench, &["--quiet"]);
        }
        workers.into_iter().for_each(|worker| drop(done(worker)));
        check(&bench, 200);
        let session = bench.session("fleet");
        let starts = starts(&bench);
        let again: usize = starts.values().map(|starts| starts.len() - 1).sum();
        assert!(again <= 50, "{again} runs were repeated, and only 50 workers died");
        for (trial, starts) in starts {
            let told = session.times()[trial].told_at.unwrap().micros();
            assert!(starts.iter().all(|at| *at <= told), "trial {trial} was started after it was told");
        }
    }
}

/// The first 64 trials end only when all of them have begun, so each of the workers must get one.
#[test]
fn sixty_four_workers_share_forty_connections() {
    let Some(server) = Server::start_with("-c max_connections=40") else { return };
    let bench = fleet(128, "0").at(server.database());
    let gate = "while [ \"$(wc -l < started)\" -lt 64 ]; do sleep 0.5; done";
    bench.script("box.sh", &format!("echo \"$3 0\" >> started\n{gate}\necho \"$1\"\n"));
    let workers: Vec<Child> = (0..64).map(|_| worker(&bench, &[])).collect();
    for said in workers.into_iter().map(done) {
        let recorded = said.lines().find_map(|line| line.strip_prefix("this worker recorded ")).unwrap();
        let values: usize = recorded.split(' ').next().unwrap().parse().unwrap();
        assert!(values > 0, "{said}");
    }
    check(&bench, 128);
    assert!(starts(&bench).values().all(|starts| starts.len() == 1));
}

#[test]
fn a_server_that_is_frozen_for_a_while_is_waited_for() {
    let Some(server) = Server::start() else { return };
    let bench = fleet(40, "0.2").at(server.database());
    let workers: Vec<Child> = (0..4).map(|_| worker(&bench, &[])).collect();
    let has_begun = || bench.path().join("started").exists();
    let start = Instant::now();
    while !has_begun() && start.elapsed() < Duration::from_secs(60) {
        sleep(Duration::from_millis(20));
    }
    server.signal_all("-STOP");
    sleep(Duration::from_secs(20));
    server.signal_all("-CONT");
    workers.into_iter().for_each(|worker| drop(done(worker)));
    check(&bench, 40);
    assert!(starts(&bench).values().all(|starts| starts.len() == 1));
}

#[test]
fn a_worker_that_waits_asks_little_of_the_server() {
    let Some(server) = server() else { return };
    let bench = fleet(1, "20").at(server.database());
    let name = bench.store.rsplit_once('/').unwrap().1.to_string();
    let mut workers = vec![worker(&bench, &[])];
    while !bench.path().join("started").exists() {
        sleep(Duration::from_millis(20));
    }
    workers.extend((0..8).map(|_| worker(&bench, &[])));
    // Some may still be starting: what counts is what they do once they wait.
    let rate = |_| {
        let (before, start) = (server.transactions(&name), Instant::now());
        sleep(Duration::from_secs(4));
        (server.transactions(&name) - before) as f64 / start.elapsed().as_secs_f64()
    };
    let least = (0..4).map(rate).fold(f64::INFINITY, f64::min);
    assert!(least < 9.0, "{least} transactions a second for nine workers that wait");
    workers.into_iter().for_each(|worker| drop(done(worker)));
    check(&bench, 1);
}
