//! What studies of every kind say of themselves: a page of real summaries, as `run` and `status` print them.

use std::fmt::Write;

use crate::common::Bench;
use serde_json::json;

/// Few points, so that choices are the same on every machine.
const SQUARE: &str = "name = \"square\"\ndirection = \"minimize\"\nseed = 3\n[space]\n\
                      x = { float = [0.0, 1.0], points = 41 }\ny = { float = [0.0, 1.0], points = 41 }\n";
const LINE: &str = "name = \"line\"\nseed = 3\n[space]\nx = { float = [0.0, 1.0], points = 41 }\n";
const GIVEN: &str = "name = \"given\"\n[space]\nx = { float = [0.0, 1.0], points = 41 }\n[model]\nkernel = \"se\"\n\
                     lengthscale = 0.3\nnoise = 0.001\n[strategy]\nname = \"igp-bucb\"\nnorm_bound = 1.0\n";
const POOL: &str = "name = \"pool\"\n[candidates]\nfile = \"pool.csv\"\nrepeats = false\n";

/// Pseudo-random numbers from -1 to 1 that belong to a trial.
fn noise(trial: u64) -> f64 {
    let hash = (trial + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
    2.0 * (hash as f64 / (1u64 << 24) as f64) - 1.0
}

/// Asks and tells in batches of four; a trial without a value fails.
fn play(bench: &Bench, trials: usize, value: impl Fn(u64, f64, f64) -> Option<f64>) {
    for _ in 0..trials / 4 {
        let asked = bench.json(&["ask", "study.toml", "-n", "4", "--json"]);
        let mut lines = String::new();
        for suggestion in asked.as_array().unwrap() {
            let trial = suggestion["trial"].as_u64().unwrap();
            let number = |name: &str| suggestion["params"][name].as_f64().unwrap_or(0.0);
            let line = match value(trial, number("x"), number("y")) {
                Some(value) => json!({"trial": trial, "value": value}),
                None => json!({"trial": trial, "failed": "exit code 1"}),
            };
            writeln!(lines, "{line}").unwrap();
        }
        assert!(bench.feed(&["tell", "study.toml", "-"], &lines).status.success());
    }
}

fn bowl(x: f64, y: f64) -> f64 {
    3.0 * (x - 0.31).powi(2) + (y - 0.62).powi(2) + 0.3 * (4.0 * x + 2.0 * y).sin() + 0.5
}

fn section(page: &mut String, title: &str, bench: &Bench) {
    let text = String::from_utf8(bench.run(&["status", "study.toml"]).stdout).unwrap();
    writeln!(page, "## {title}\n{}\n", text.trim_end()).unwrap();
}

#[test]
fn a_page_of_summaries() {
    let mut page = String::new();
    let bench = Bench::new(SQUARE);
    bench.run(&["ask", "study.toml"]);
    section(&mut page, "nothing observed yet", &bench);
    let bench = Bench::new(SQUARE);
    bench.run(&["ask", "study.toml"]);
    bench.run(&["tell", "study.toml", "0", "0.731"]);
    section(&mut page, "one trial", &bench);
    let bench = Bench::new(SQUARE);
    play(&bench, 8, |_, _, _| None);
    section(&mut page, "all failed", &bench);
    let bench = Bench::new(SQUARE);
    play(&bench, 16, |_, x, y| Some(bowl(x, y)));
    section(&mut page, "no noise, after 16 trials", &bench);
    play(&bench, 32, |_, x, y| Some(bowl(x, y)));
    section(&mut page, "no noise, after 48 trials", &bench);
    let bench = Bench::new(LINE);
    play(&bench, 48, |trial, x, _| Some((3.0 * x).sin() + 0.3 * noise(trial)));
    section(&mut page, "noise", &bench);
    let cautious = String::from_utf8(bench.run(&["best", "study.toml", "--cautious"]).stdout).unwrap();
    writeln!(page, "## noise, best --cautious\n{}\n", cautious.trim_end()).unwrap();
    let bench = Bench::new(SQUARE);
    play(&bench, 40, |trial, _, _| Some((trial * trial) as f64 * noise(trial)));
    section(&mut page, "a function that the model does not understand", &bench);
    let bench = Bench::new(GIVEN);
    play(&bench, 24, |_, x, _| Some(0.8 * (3.0 * x).sin()));
    section(&mut page, "a given model", &bench);
    let rows: String = (0..60).map(|i| format!("{},{}\n", i % 10, (i * 7) % 13)).collect();
    let bench = Bench::new(POOL);
    bench.write("pool.csv", &format!("x,y\n{rows}"));
    play(&bench, 40, |_, x, y| Some(10.0 - (x - 4.0).powi(2) - 0.3 * (y - 8.0).powi(2)));
    section(&mut page, "a pool", &bench);
    insta::assert_snapshot!(page);
}

#[test]
fn the_run_the_verbs_and_the_library_name_the_same_best_point() {
    let mut study = LINE.to_string();
    study += "[run]\ncommand = [\"sh\", \"-c\", \"echo $(( ($MANYHANDS_TRIAL * 7919) % 101 ))\"]\ntrials = 24\n";
    let bench = Bench::new(&study);
    let run = bench.run(&["run", "study.toml", "--workers", "1"]);
    let (out, err) = (String::from_utf8(run.stdout).unwrap(), String::from_utf8(run.stderr).unwrap());
    let best = bench.json(&["best", "study.toml", "--json"]);
    let status = bench.json(&["status", "study.toml", "--json"]);
    assert_eq!(status["best"], best);
    assert_eq!(best["by"], "mean", "the values are noise");
    let trial = best["trial"].as_u64().unwrap();
    let said = |text: &str, before: &str| text.contains(&format!("{before}trial {trial}"));
    assert!(said(&out, "("), "{out}");
    let last = err.lines().rfind(|line| line.contains("; best ")).unwrap();
    assert!(last.contains(&format!("(trial {trial})")), "{last}\n{best}");
    let library = bench.session("line").study().unwrap().best().unwrap();
    assert_eq!((library.trial as u64, library.mean), (trial, best["mean"].as_f64().unwrap()));
}
