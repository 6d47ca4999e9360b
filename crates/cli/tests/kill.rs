//! What must survive: a runner killed at any instant, a database server that restarts, a store without room.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::common::postgres::Server;
use crate::common::{Bench, acknowledged, left_behind, start};
use manyhands_core::{Event, TrialState};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, prlimit};

const STUDY: &str = r#"name = "robust"
seed = 3

[space]
x = { float = [0.0, 1.0] }
y = { float = [0.0, 1.0] }

[run]
command = ["./box.sh", "{x}", "{y}", "{trial}"]
workers = 4
trials = 60
"#;

/// Notes when a trial is started, takes a while, and prints a number with all its digits.
const BOX: &str = r#"echo "$3 $(date +%s%6N)" >> started
sleep "0.0$(($3 % 7))"
awk -v x="$1" -v y="$2" 'BEGIN { printf "%.5f\n", -(x - 0.3) * (x - 0.3) - (y - 0.6) * (y - 0.6) }'
"#;

fn robust() -> Bench {
    let bench = Bench::new(STUDY);
    bench.script("box.sh", BOX);
    bench
}

fn talk(child: Child) -> String {
    String::from_utf8(child.wait_with_output().unwrap().stderr).unwrap()
}

/// Everything that was acknowledged is in the log once, no number repeats, and no trial ran after it was told.
fn check(bench: &Bench, said: &[(usize, f64)], trials: usize) {
    let events = bench.verify("robust");
    let mut told: HashMap<usize, f64> = HashMap::new();
    let mut asked = Vec::new();
    for event in &events {
        match event {
            Event::Asked(event) => asked.push(event.trial),
            Event::Told { trial, value } => assert!(told.insert(*trial, *value).is_none(), "trial {trial} told twice"),
            Event::Fitted(_) | Event::LateResult { .. } => {}
            other => panic!("unexpected {other:?}"),
        }
    }
    assert_eq!(asked, (0..trials).collect::<Vec<_>>());
    assert_eq!(told.len(), trials);
    for (trial, value) in said {
        // What is said has six digits.
        assert!((told[trial] - value).abs() <= 1e-5 * value.abs(), "trial {trial}: {value} was acknowledged");
    }
    let session = bench.session("robust");
    let started = std::fs::read_to_string(bench.path().join("started")).unwrap();
    for line in started.lines() {
        let (trial, at) = line.split_once(' ').unwrap();
        let told_at = session.times()[trial.parse::<usize>().unwrap()].told_at.unwrap().micros();
        assert!(at.parse::<i64>().unwrap() <= told_at, "trial {trial} was started again after it was told");
    }
}

#[test]
fn fifty_kills_at_random_instants_lose_nothing_and_repeat_nothing() {
    let bench = robust();
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let (mut said, mut kills) = (Vec::new(), 0);
    while kills < 50 {
        let trials = (10 + kills).to_string();
        let mut child = start(&bench, &["run", "study.toml", "--trials", &trials]);
        sleep(Duration::from_millis(rng.random_range(0..300)));
        kills += usize::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        said.extend(acknowledged(&talk(child)));
    }
    assert!(said.len() > 10, "the runs came to something");
    let last = start(&bench, &["run", "study.toml"]);
    said.extend(acknowledged(&talk(last)));
    check(&bench, &said, 60);
    // Guards need a moment to see that their runner is gone.
    let waiting = Instant::now();
    while !left_behind(bench.path()).is_empty() && waiting.elapsed() < Duration::from_secs(10) {
        sleep(Duration::from_millis(50));
    }
    assert_eq!(left_behind(bench.path()), [0; 0]);
}

#[test]
fn a_database_server_that_restarts_under_load_costs_nothing() {
    // One of its own: other tests share theirs.
    let Some(server) = Server::start() else { return };
    let bench = robust().at(server.database());
    let child = start(&bench, &["run", "study.toml"]);
    for _ in 0..4 {
        sleep(Duration::from_millis(400));
        server.restart();
    }
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    assert_eq!(acknowledged(&said).len(), 60);
    check(&bench, &acknowledged(&said), 60);
}

/// Lets a process write files of at most this many bytes.
fn limit(child: &Child, bytes: Option<u64>) {
    let pid = Pid::from_raw(child.id() as i32);
    prlimit(pid, Resource::Fsize, Rlimit { current: bytes, maximum: None }).unwrap();
}

#[test]
fn a_store_that_may_not_grow_is_waited_for_and_goes_on_when_it_may() {
    let bench = robust();
    // Creates the store, with some room in its log.
    assert!(bench.run(&["tell", "study.toml", "-"]).status.success());
    let mut child = start(&bench, &["run", "study.toml"]);
    limit(&child, Some(96 << 10));
    let mut lines = BufReader::new(child.stderr.take().unwrap());
    let mut said = String::new();
    while !said.contains("has no room to write") {
        assert!(lines.read_line(&mut said).unwrap() > 0, "it ended: {said}");
    }
    let recorded = acknowledged(&said);
    limit(&child, None);
    lines.read_to_string(&mut said).unwrap();
    assert!(child.wait().unwrap().success(), "{said}");
    assert!(acknowledged(&said).len() > recorded.len());
    check(&bench, &acknowledged(&said), 60);
}

#[test]
fn verbs_on_a_store_without_room_say_so_and_harm_nothing() {
    let bench = robust();
    assert!(bench.run(&["ask", "study.toml", "-n", "3"]).status.success());
    let limited = format!("ulimit -f 1; exec {} tell study.toml 0 0.5", env!("CARGO_BIN_EXE_manyhands"));
    let mut shell = std::process::Command::new("sh");
    let output = shell.args(["-c", &limited]).current_dir(bench.path()).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("has no room to write") && said.contains("hint: free disk space"), "{said}");
    assert!(bench.run(&["tell", "study.toml", "0", "0.5"]).status.success());
    assert_eq!(bench.session("robust").ledger().count(TrialState::Observed), 1);
    bench.verify("robust");
}

#[test]
fn on_a_full_disk_everything_recorded_stays_and_room_is_all_it_needs() {
    let bench = robust();
    let disk = bench.path().join("disk");
    std::fs::create_dir(&disk).unwrap();
    let mount = |options: &str| {
        let mut mount = std::process::Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(&disk).stderr(Stdio::null()).status()
    };
    if !mount("size=200k").is_ok_and(|status| status.success()) {
        eprintln!("skipped: a full disk (only root can mount one)");
        return;
    }
    let bench = bench.at("sqlite:disk/manyhands.db".to_string());
    let mut child = start(&bench, &["run", "study.toml"]);
    let mut lines = BufReader::new(child.stderr.take().unwrap());
    let mut said = String::new();
    while !said.contains("has no room to write") {
        assert!(lines.read_line(&mut said).unwrap() > 0, "it ended: {said}");
    }
    assert!(mount("remount,size=4m").unwrap().success());
    lines.read_to_string(&mut said).unwrap();
    let ended = child.wait().unwrap();
    let events = std::panic::catch_unwind(|| check(&bench, &acknowledged(&said), 60));
    std::process::Command::new("umount").arg("-l").arg(&disk).status().unwrap();
    assert!(ended.success(), "{said}");
    events.unwrap();
}

/// A running `manyhands`, its talk line by line, and its end.
struct Watched<L: Iterator<Item = String>>(Child, L);

fn watched(bench: &Bench, arguments: &[&str]) -> Watched<impl Iterator<Item = String> + use<>> {
    let mut child = start(bench, arguments);
    let talk = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    Watched(child, talk)
}

impl<L: Iterator<Item = String>> Watched<L> {
    fn interrupt(&self) {
        kill_process(Pid::from_raw(self.0.id() as i32).unwrap(), Signal::INT).unwrap();
    }

    /// Waits for a line that begins so.
    fn wait_for(&mut self, beginning: &str) {
        assert!(self.1.any(|line| line.starts_with(beginning)), "it never said \"{beginning}\"");
    }

    fn code(mut self) -> Option<i32> {
        self.0.wait().unwrap().code()
    }
}

#[test]
fn ctrl_c_once_finishes_what_runs_and_twice_stops_it_and_both_go_on() {
    let bench = Bench::new(&STUDY.replace("trials = 60", "trials = 12"));
    bench.script("box.sh", &BOX.replace("sleep \"0.0$(($3 % 7))\"", "while [ ! -e go ]; do sleep 0.02; done"));
    let wait_for_start = |count: usize| {
        let started = || std::fs::read_to_string(bench.path().join("started")).unwrap_or_default().lines().count();
        while started() < count {
            sleep(Duration::from_millis(10));
        }
    };
    let states = || {
        let session = bench.session("robust");
        (session.ledger().count(TrialState::Observed), session.ledger().pending())
    };
    let mut once = watched(&bench, &["run", "study.toml"]);
    wait_for_start(4);
    once.interrupt();
    once.wait_for("finishing 4 running trials");
    bench.write("go", "");
    once.wait_for("interrupted");
    assert_eq!((once.code(), states()), (Some(130), (4, 0)));

    std::fs::remove_file(bench.path().join("go")).unwrap();
    let mut twice = watched(&bench, &["run", "study.toml"]);
    wait_for_start(8);
    twice.interrupt();
    twice.wait_for("finishing 4 running trials");
    twice.interrupt();
    twice.wait_for("interrupted");
    assert_eq!((twice.code(), states()), (Some(130), (4, 4)));
    assert_eq!(left_behind(bench.path()), [0; 0]);

    bench.write("go", "");
    let said = talk(start(&bench, &["run", "study.toml"]));
    assert!(said.contains("left unfinished, run again"), "{said}");
    check(&bench, &acknowledged(&said), 12);
}
