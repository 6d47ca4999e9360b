//! What commands are given, and what is kept of what they print: slots, levels as they are written, metrics.

use crate::common::{Bench, signal, start, wait_for};
use manyhands_core::TrialState;
use rustix::process::Signal;

#[test]
fn trials_that_run_at_the_same_time_have_different_slots_and_a_free_one_is_used_again() {
    // A slot is a folder while it is used: making it twice at once would fail.
    let script = "mkdir slot$MANYHANDS_SLOT || { echo clash >&2; exit 1; }\necho $MANYHANDS_SLOT >> slots\n\
                  sleep 0.0$(($2 % 4 * 2))\nrmdir slot$MANYHANDS_SLOT\necho $1\n";
    for verb in [&["run", "study.toml"][..], &["worker", "study.toml", "--workers", "3"]] {
        let bench = Bench::of_box("trials = 24\nworkers = 3\n", script);
        let (code, talk) = bench.said(verb);
        assert_eq!(code, Some(0), "{talk}");
        assert_eq!(bench.session("s").ledger().count(TrialState::Observed), 24, "{talk}");
        let slots = std::fs::read_to_string(bench.path().join("slots")).unwrap();
        let used: std::collections::BTreeSet<&str> = slots.lines().collect();
        assert_eq!(used, ["0", "1", "2"].into(), "{slots}");
    }
}

#[test]
fn more_trials_than_workers_are_taken_over_one_after_the_other() {
    let script = "if mkdir first$2 2>/dev/null; then sleep 600; fi\nmkdir running || { echo clash >&2; exit 1; }\nsleep 0.1\nrmdir running\necho $1\n";
    let bench = Bench::of_box("trials = 3\nworkers = 3\n", script);
    let mut holder = start(&bench, &["worker", "study.toml", "--workers", "3"]);
    wait_for(|| (0..3).all(|trial| bench.path().join(format!("first{trial}")).exists()));
    let take = ["worker", "study.toml", "--take", "0", "--take", "1", "--take", "2"];
    let (code, talk) = bench.said(&take);
    assert_eq!(code, Some(0), "{talk}");
    assert!((0..3).all(|trial| talk.contains(&format!("trial {trial}: taken over"))), "{talk}");
    assert_eq!(bench.session("s").ledger().count(TrialState::Observed), 3, "{talk}");
    signal(&holder, Signal::TERM);
    holder.wait().unwrap();
}

#[test]
fn levels_that_are_all_whole_arrive_as_integers() {
    let text = "name = \"s\"\nseed = 1\n[space]\nbatch = { levels = [16, 32.0, 64.0] }\ndose = { levels = [0.5, 1] }\n\
                x = { float = [0.0, 1.0] }\n[run]\ntrials = 4\n\
                command = [\"./box.sh\", \"{batch}\", \"{dose}\"]\n";
    let bench = Bench::new(text);
    bench.script("box.sh", "echo \"$1 $2\" >> args\necho \"$MANYHANDS_PARAMS\" >> params\necho $1\n");
    for level in ["32", "32.0"] {
        let line = format!("{{\"params\":{{\"batch\":{level},\"dose\":0.5,\"x\":0.5}},\"value\":1.5}}\n");
        assert!(bench.feed(&["tell", "study.toml", "-"], &line).status.success());
    }
    assert_eq!(bench.said(&["run", "study.toml"]).0, Some(0));
    let read = |name: &str| std::fs::read_to_string(bench.path().join(name)).unwrap();
    let is_level = |text: &str| ["16", "32", "64"].contains(&text);
    assert!(read("args").lines().all(|line| is_level(line.split_once(' ').unwrap().0)), "{}", read("args"));
    assert!(read("args").lines().all(|line| ["0.5", "1"].contains(&line.split_once(' ').unwrap().1)));
    let is_integer = |params: &serde_json::Value| params["batch"].is_i64() && params["dose"].is_f64();
    let values = |text: &str| text.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<_>>();
    assert!(values(&read("params")).iter().all(is_integer), "{}", read("params"));
    for verb in ["trials", "ask"] {
        let all = bench.json(&[verb, "study.toml", "--json"]);
        assert!(all.as_array().unwrap().iter().all(|trial| is_integer(&trial["params"])), "{all}");
    }
    let best = bench.json(&["best", "study.toml", "--json"]);
    assert!(is_integer(&best["params"]), "{best}");
    let table = String::from_utf8(bench.run(&["export", "study.toml", "--format", "csv", "-o", "-"]).stdout).unwrap();
    let (head, rows) = table.split_once('\n').unwrap();
    let column = head.split(',').position(|name| name == "batch").unwrap();
    assert!(rows.lines().all(|row| row.split(',').nth(column).is_some_and(is_level)), "{table}");
    let csv = bench.write("at.csv", "batch,dose,x\n32,0.5,0.1\n32.0,0.5,0.1\n");
    let predicted = bench.json(&["predict", "study.toml", "--at", csv.to_str().unwrap(), "--json"]);
    assert_eq!(predicted[0], predicted[1]);
    let wrong =
        bench.feed(&["tell", "study.toml", "-"], "{\"params\":{\"batch\":33,\"dose\":0.5,\"x\":0.5},\"value\":1}\n");
    let talk = String::from_utf8(wrong.stderr).unwrap();
    assert!(talk.contains("one of 16, 32, 64 (the nearest is 32), got 33"), "{talk}");
    bench.verify("s");
}

#[test]
fn a_metric_that_is_never_finite_is_named_once() {
    let bench = Bench::of_box("trials = 4\n", "echo \"{\\\"value\\\": $1, \\\"kl\\\": NaN, \\\"epochs\\\": 12}\"\n");
    let (code, talk) = bench.said(&["run", "study.toml"]);
    let warning = "warning: trial 0: \"kl\" is no finite number and not kept as a metric (said once for all trials)";
    assert_eq!((code, talk.matches("not kept").count(), talk.contains(warning)), (Some(0), 1, true), "{talk}");
    let table = String::from_utf8(bench.run(&["export", "study.toml", "--csv"]).stdout).unwrap();
    assert!(table.lines().skip(1).all(|row| row.contains(",12,")), "{table}");
}

#[test]
fn every_number_that_a_command_prints_with_its_value_is_kept_with_the_trial() {
    let script = "case $2 in\n0) echo \"{\\\"value\\\":$1,\\\"epochs\\\":3,\\\"time\\\":{\\\"train\\\":0.25},\\\"ok\\\":true}\";;\n\
                  1) echo 1;;\n*) printf '{\"value\":2'; i=0; while [ $i -lt 1001 ]; do printf ',\"m%d\":%d' $i $i; i=$((i+1)); done; echo '}';;\nesac\n";
    let bench = Bench::of_box("trials = 3\n", script);
    let (code, talk) = bench.said(&["run", "study.toml"]);
    assert_eq!(code, Some(0), "{talk}");
    assert!(talk.contains("warning: trial 2: \"m1000\" is not kept as a metric: at most 1000 are"), "{talk}");
    let session = bench.session("s");
    let metrics = |trial: usize| session.ledger().trials()[trial].metrics().to_vec();
    assert_eq!(metrics(0), [("epochs".to_string(), 3.0), ("time.train".to_string(), 0.25)]);
    assert_eq!((metrics(1).len(), metrics(2).len()), (0, 1000));
    bench.verify("s");
}
