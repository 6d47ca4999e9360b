//! `run` and `worker` on a study some of whose trials were asked for by hand: they are left alone, or adopted on request.

use std::io::{BufRead, BufReader};

use crate::common::{Bench, server, start};
use manyhands_core::TrialState;

fn bench(run: &str) -> Bench {
    let text = format!(
        "name = \"s\"\nseed = 1\n[space]\nx = {{ float = [0.0, 1.0] }}\n[run]\n\
         command = [\"./box.sh\", \"{{x}}\", \"{{trial}}\"]\n{run}"
    );
    let bench = Bench::new(&text);
    bench.script("box.sh", "echo \"$2 $1\" >> started\necho $1\n");
    bench
}

fn benches(run: &str) -> Vec<Bench> {
    let mut benches = vec![bench(run)];
    benches.extend(server().map(|server| bench(run).at(server.database())));
    benches
}

fn said(bench: &Bench, arguments: &[&str]) -> (Option<i32>, String) {
    let output = bench.run(arguments);
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

fn observed(bench: &Bench) -> (usize, usize) {
    let session = bench.session("s");
    (session.ledger().count(TrialState::Observed), session.ledger().pending())
}

#[test]
fn trials_asked_for_by_hand_neither_take_a_worker_nor_keep_a_run_waiting() {
    for verb in ["run", "worker"] {
        for bench in benches("trials = 6\nworkers = 2\n") {
            assert!(bench.run(&["ask", "study.toml", "-n", "2"]).status.success());
            let (code, talk) = said(&bench, &[verb, "study.toml"]);
            assert_eq!((code, observed(&bench)), (Some(0), (4, 2)), "{talk}");
            let told =
                "trials 0 and 1 were asked for by hand, not run here; --adopt runs them, and tell, fail or cancel";
            assert!(talk.contains(told), "{talk}");
            assert!(
                verb == "worker" || talk.contains("trials 0 and 1 were asked for by hand, still pending"),
                "{talk}"
            );
            assert!(!talk.contains("waiting"), "{talk}");
            bench.verify("s");
        }
    }
}

#[test]
fn adopted_trials_run_first_with_their_numbers_and_parameters() {
    for verb in ["run", "worker"] {
        for bench in benches("trials = 6\nworkers = 2\n") {
            let asked = bench.json(&["ask", "study.toml", "-n", "2", "--json"]);
            let (code, talk) = said(&bench, &[verb, "study.toml", "--adopt"]);
            assert_eq!((code, observed(&bench)), (Some(0), (6, 0)), "{talk}");
            assert!(talk.contains("trial 0: asked for by hand, run here"), "{talk}");
            let started = std::fs::read_to_string(bench.path().join("started")).unwrap();
            for trial in asked.as_array().unwrap() {
                let line = format!("{} {}", trial["trial"], trial["params"]["x"]);
                assert!(started.lines().take(2).any(|started| started == line), "{line} is not first in {started}");
            }
            assert_eq!(started.lines().count(), 6);
        }
    }
}

#[test]
fn where_max_pending_counts_them_a_run_names_them_and_goes_on_when_they_end() {
    let bench = bench("trials = 4\nworkers = 2\n[strategy]\nmax_pending = 2\n");
    assert!(bench.run(&["ask", "study.toml", "-n", "2"]).status.success());
    let mut child = start(&bench, &["run", "study.toml"]);
    let mut talk = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let waiting = talk.find(|line| line.starts_with("waiting for 2 pending trials")).unwrap();
    assert!(waiting.contains("trials 0 and 1 were asked for by hand: tell, fail or cancel them"), "{waiting}");
    assert!(waiting.contains("--adopt") && waiting.contains("at most 2 may be pending (max_pending"), "{waiting}");
    assert!(bench.run(&["tell", "study.toml", "0", "0.5"]).status.success());
    let rest: Vec<String> = talk.collect();
    assert_eq!((child.wait().unwrap().code(), observed(&bench)), (Some(0), (3, 1)), "one place is free: {rest:?}");
    let last = "trial 1 was asked for by hand, still pending: tell, fail or cancel it, or run it with --adopt";
    assert_eq!(rest.last().map(String::as_str), Some(last));
    assert!(bench.run(&["cancel", "study.toml", "1"]).status.success());
    let (code, talk) = said(&bench, &["run", "study.toml"]);
    assert_eq!((code, observed(&bench)), (Some(0), (4, 0)), "{talk}");
}

#[test]
fn an_evaluation_under_way_elsewhere_is_nobodys_to_adopt() {
    let bench = bench("trials = 3\n");
    assert!(bench.run(&["ask", "study.toml"]).status.success());
    let pending = bench.feed(&["tell", "study.toml", "-"], "{\"params\":{\"x\":0.5},\"pending\":true}\n");
    assert!(pending.status.success());
    let (code, talk) = said(&bench, &["run", "study.toml", "--adopt"]);
    assert_eq!((code, observed(&bench)), (Some(0), (3, 1)), "{talk}");
    assert!(talk.contains("1 trial is pending, run elsewhere"), "{talk}");
    let started = std::fs::read_to_string(bench.path().join("started")).unwrap();
    assert!(started.lines().all(|line| !line.starts_with("1 ")), "{started}");
}
