//! The examples run to their end and find what their READMEs say.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::Bench;
use serde_json::Value;

/// A copy of an example, run to its end.
fn run(example: &str) -> (Bench, Value) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(example);
    let bench = Bench::new(&fs::read_to_string(folder.join("study.toml")).unwrap());
    // What someone left there who ran the example in its place is no part of it.
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
    for file in files.filter(|path| !path.to_string_lossy().contains("manyhands.db")) {
        fs::copy(&file, bench.path().join(file.file_name().unwrap())).unwrap();
    }
    let output = bench.run(&["run", "study.toml"]);
    assert_eq!(output.status.code(), Some(0), "{example}: {}", String::from_utf8_lossy(&output.stderr));
    let status = bench.json(&["status", "study.toml", "--json"]);
    assert_eq!(status["pending"], 0, "{example}: {status}");
    (bench, status)
}

fn best(status: &Value) -> f64 {
    status["best"]["value"].as_f64().unwrap()
}

#[test]
fn the_quickstart_finds_the_smallest_value_of_branin() {
    let (bench, status) = run("quickstart");
    assert_eq!(status["observed"], 40);
    assert!((0.397_887..0.45).contains(&best(&status)), "{status}");
    let drawn = bench.run(&["plot", "study.toml", "-o", "branin.svg"]);
    assert!(drawn.status.success(), "{}", String::from_utf8_lossy(&drawn.stderr));
    assert!(fs::read_to_string(bench.path().join("branin.svg")).unwrap().contains("posterior mean"));
}

#[test]
fn the_network_learns_the_moons() {
    if !Command::new("python3").arg("--version").output().is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: the example in Python (there is no python3)");
        return;
    }
    let (bench, status) = run("python");
    assert_eq!(status["observed"], 40);
    // Which worker ends first decides the course: 24 runs ended between 0.12 and 0.20. A straight line reaches 0.275.
    assert!(best(&status) < 0.25, "{status}");
    let predicted = bench.json(&["predict", "study.toml", "--at", "settings.csv", "--json"]);
    assert_eq!(predicted.as_array().unwrap().len(), 2);
}

#[test]
fn the_pool_finds_the_strongest_formulation() {
    let (bench, status) = run("pool");
    assert_eq!(status["observed"], 40);
    // The strongest has 35.22, the next two 34.78 and 34.72.
    assert!(best(&status) > 34.7, "{status}");
    let trials = bench.json(&["trials", "study.toml", "--json"]);
    let mut names: Vec<&str> =
        trials.as_array().unwrap().iter().map(|trial| trial["params"]["name"].as_str().unwrap()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 40, "a formulation was measured twice");
}

#[test]
fn the_sensors_give_a_theorem_that_is_true() {
    let (bench, status) = run("sensors");
    assert_eq!(status["observed"], 60);
    assert_eq!(status["best"]["params"]["name"], "s33", "{status}");
    let certificate = &status["certificate"];
    assert_eq!(certificate["kind"], "theorem");
    let today = fs::read_to_string(bench.path().join("today.csv")).unwrap();
    let readings = || today.lines().skip(1).filter_map(|line| line.split_once(','));
    let named = readings().find(|(name, _)| certificate["params"]["name"] == **name).unwrap();
    let temperature = |text: &str| text.parse::<f64>().unwrap();
    let hottest = readings().map(|(_, text)| temperature(text)).fold(f64::NEG_INFINITY, f64::max);
    let regret_bound = certificate["regret_bound"].as_f64().unwrap();
    assert!(hottest - temperature(named.1) <= regret_bound, "{certificate}");
    assert!(regret_bound < 5.0, "{certificate}");
}

#[test]
fn the_simulator_fails_and_hangs_and_the_study_goes_on() {
    let (bench, status) = run("simulator");
    let [observed, failed] = ["observed", "failed"].map(|state| status[state].as_u64().unwrap());
    assert_eq!(observed + failed, 30, "{status}");
    assert!(observed >= 20, "{status}");
    // The smallest value that the constraint allows is 25.117.
    assert!((25.117..25.6).contains(&best(&status)), "{status}");
    let logs = bench.path().join("manyhands-logs/beam");
    let said = |file: &str| fs::read_to_string(logs.join(file)).unwrap();
    assert_eq!(said("trial-3/1.err"), "licence server did not answer\n");
    assert_eq!(said("trial-5/1.err"), "waiting for the licence server\n");
    for trial in [3, 5] {
        assert!(said(&format!("trial-{trial}/2/input.txt")).starts_with("width_mm "), "trial {trial} ran again");
    }
}
