//! The promises of `manyhands bench quality`, on the real binary.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn manyhands(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_manyhands")).args(["bench", "quality"]).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// An empty folder of this name.
fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("quality").join(name);
    if path.exists() {
        fs::remove_dir_all(&path).unwrap();
    }
    fs::create_dir_all(&path).unwrap();
    path
}

const SMALL: [&str; 4] = ["--seeds", "2", "--evaluations", "10"];

#[test]
fn json_has_every_problem_with_its_games() {
    let output = manyhands(&[&SMALL[..], &["--only", "branin", "training", "--json"]].concat());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["protocol"]["evaluations"], 10);
    assert_eq!(report["protocol"]["asynchronous"], false);
    let problems = report["problems"].as_array().unwrap();
    assert_eq!(problems.len(), 2);
    let branin = &problems[0];
    assert_eq!(
        (&branin["problem"], &branin["dimension"], &branin["aim"]),
        (&"branin".into(), &2.into(), &(-6.0).into())
    );
    assert_eq!(branin["reported_elsewhere"]["egobox q-EI"], -6.9);
    let random = &branin["players"]["random"];
    assert_eq!(random["games"].as_array().unwrap().len(), 2);
    assert!(random["games"][0]["regret"].is_f64() && random["games"][1]["seed"] == 2);
    assert!(random["log10_regret"]["median"].is_f64() && random["seconds"].is_f64());
    assert_eq!(random["curve"][0]["evaluations"], 10);
    assert!(random["games"][0]["inference_regret"].is_f64() && random["log10_inference_regret"]["median"].is_f64());
    let against = &random["against_manyhands"];
    let pairs = ["better", "worse", "ties"].map(|outcome| against[outcome].as_u64().unwrap());
    assert_eq!((pairs.iter().sum::<u64>(), &branin["players"]["manyhands"]["against_manyhands"]), (2, &Value::Null));
    assert_eq!((&problems[1]["second_best_regret"], &problems[1]["evaluations"]), (&0.03.into(), &10.into()));
    let ranks = |name: &str| {
        let all = report["overall"].as_array().unwrap();
        all.iter().find(|one| one["player"] == name).unwrap()["mean_rank"].as_f64().unwrap()
    };
    assert!((ranks("manyhands") + ranks("random") - 3.0).abs() < 1e-9, "ranks are 1 and 2");
    assert_eq!(problems[1]["optimum"]["params"]["activation"], "gelu");
    assert_eq!(problems[1]["aim"], Value::Null);
}

#[test]
fn the_table_shows_aims_and_what_was_reported_elsewhere() {
    let output = manyhands(&[&SMALL[..], &["--only", "cosines", "step"]].concat());
    assert_eq!(output.status.code(), Some(0), "an aim missed is no failure: {output:?}");
    let told = text(&output.stdout);
    for part in
        ["cosines", "step", "random", "Over all problems", "Reported elsewhere", "BoTorch q-LogEI", "not what was run"]
    {
        assert!(told.contains(part), "{part} is not in\n{told}");
    }
}

#[test]
fn runs_are_the_same_on_any_number_of_threads_and_differ_between_schedules() {
    let regrets = |threads: &str, more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_manyhands"));
        command.args(["bench", "quality", "--only", "branin-noise-5", "--json"]).args(SMALL).args(more);
        let report: Value =
            serde_json::from_slice(&command.env("RAYON_NUM_THREADS", threads).output().unwrap().stdout).unwrap();
        let games = report["problems"][0]["players"]["random"]["games"].as_array().unwrap().clone();
        games.iter().map(|game| game["regret"].as_f64().unwrap()).collect::<Vec<f64>>()
    };
    assert_eq!(regrets("1", &[]), regrets("2", &[]));
    assert_eq!(regrets("1", &["--asynchronous"]), regrets("2", &["--asynchronous"]));
    assert_ne!(regrets("1", &[]), regrets("1", &["--first-seed", "7"]));
}

#[test]
fn the_test_set_is_reported_by_dimension_and_goes_on_from_its_results() {
    let results = folder("results").join("runs.csv");
    let common =
        ["--set", "test", "--dimensions", "2", "3", "--evaluations", "5", "--results", results.to_str().unwrap()];
    let run = |more: &[&str]| {
        let output = manyhands(&[&common[..], &["--json"], more].concat());
        serde_json::from_slice::<Value>(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"))
    };
    let first = run(&["--seeds", "1"]);
    assert_eq!((first["problems"].as_array().unwrap().len(), &first["problems"][24]["dimension"]), (48, &3.into()));
    let dimensions = first["overall_by_dimension"].as_array().unwrap();
    assert_eq!(dimensions.iter().map(|one| one["dimension"].as_u64().unwrap()).collect::<Vec<_>>(), [2, 3]);
    let kept = fs::read_to_string(&results).unwrap();
    assert_eq!(kept.lines().count(), 1 + 48 * 2);
    assert_eq!(run(&["--seeds", "1"]), first, "nothing is run again");
    assert_eq!(run(&["--only-results", "--seeds", "1"])["problems"], first["problems"]);
    assert_eq!(fs::read_to_string(&results).unwrap(), kept);
    fs::write(&results, "a,b\n").unwrap();
    let output = manyhands(&common);
    let told = text(&output.stderr);
    assert!(output.status.code() == Some(2) && told.contains("line 1: its columns must be"), "{told}");
}

#[test]
fn bad_usage_exits_with_2_and_names_the_remedy() {
    let cases: [(&[&str], &str, &str); 9] = [
        (&["--dimensions", "2"], "got tuning", "set must be test"),
        (&["--set", "test", "--dimensions", "4"], "got 4", "dimensions must be 2, 3, 5, 10, 20, 40"),
        (&["--only-results"], "--results", "required"),
        (&["--only", "bramin"], "\"bramin\"", "branin-noise-5"),
        (&["--batch", "21"], "got 21", "from 1 to 20"),
        (&["--seeds", "0"], "got 0", "seeds must be from 1"),
        (&["--data", "no-such-folder"], "no-such-folder", "no such folder"),
        (&["--only", "suzuki"], "data must be", "suzuki.csv"),
        (&["--seeds", "many"], "many", "--seeds"),
    ];
    for (arguments, culprit, remedy) in cases {
        let output = manyhands(arguments);
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {told}");
        assert!(told.contains(culprit) && told.contains(remedy), "{arguments:?}: {told}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn with_json_errors_are_json_too() {
    let output = manyhands(&["--only", "bramin", "--json"]);
    let told: Value = serde_json::from_slice(&output.stderr).unwrap();
    assert_eq!(told["error"]["code"], "setting");
}

#[test]
fn a_pool_is_shown_beside_random_order_and_a_malformed_one_is_refused() {
    let data = folder("pool");
    let rows: String = (0..99).map(|i| format!("{i},{}\n", i * i)).collect();
    fs::write(data.join("suzuki.csv"), format!("t,y_yield\n{rows}")).unwrap();
    let arguments = ["--only", "suzuki", "--data", data.to_str().unwrap()];
    let told = text(&manyhands(&[&SMALL[..], &arguments].concat()).stdout);
    assert!(told.contains("suzuki") && told.contains("50.0"), "(99 + 1)/(1 + 1): {told}");
    let output = manyhands(&[&SMALL[..], &arguments, &["--json"]].concat());
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["pools"][0]["random_order_expected"], 50.0);
    assert_eq!((&report["pools"][0]["candidates"], &report["pools"][0]["best"]), (&99.into(), &1.into()));
    assert_eq!(report["pools"][0]["random_order_expected_5_percent"], 100.0 / 6.0);
    assert!(report["pools"][0]["players"]["manyhands"]["slower_than_random"].is_f64());
    let halves = ["--only", "suzuki-a", "suzuki-b", "--data", data.to_str().unwrap(), "--json"];
    let report: Value = serde_json::from_slice(&manyhands(&[&SMALL[..], &halves].concat()).stdout).unwrap();
    assert_eq!([0, 1].map(|half| report["pools"][half]["candidates"].as_u64()), [Some(50), Some(49)]);

    fs::write(data.join("suzuki.csv"), "t,y_yield\n1,high\n").unwrap();
    let output = manyhands(&arguments);
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("line 2, column \"y_yield\"") && told.contains("hint: a pool has a header"), "{told}");
}

#[test]
fn the_list_names_problems_and_pools() {
    let told = text(&manyhands(&["--list"]).stdout);
    for name in ["branin", "hartmann6-noise-5", "levy10", "crossed_barrel"] {
        assert!(told.contains(name), "{told}");
    }
    let list: Value = serde_json::from_slice(&manyhands(&["--list", "--json"]).stdout).unwrap();
    assert!(list["problems"].as_array().unwrap().len() >= 15 && list["pools"].as_array().unwrap().len() == 6);
}

#[test]
fn the_options_of_bench_do_not_mix_with_those_of_quality() {
    let output = Command::new(env!("CARGO_BIN_EXE_manyhands")).args(["bench", "--full", "quality"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let help = text(&manyhands(&["--help"]).stdout);
    assert!(
        help.contains("manyhands bench quality --only branin hartmann6") && help.contains("--asynchronous"),
        "{help}"
    );
}

#[test]
fn rules_are_compared_with_auto_on_the_problems_that_are_named() {
    let arguments = ["--rules", "--only", "forrester"];
    let told = text(&manyhands(&[&SMALL[..], &arguments].concat()).stdout);
    for part in [
        "forrester",
        "all problems",
        "mean rank",
        "better than auto",
        "gp-ei",
        "random",
        "takes at least 10 (--seeds 10)",
    ] {
        assert!(told.contains(part), "{part} is not in\n{told}");
    }
    let report: Value =
        serde_json::from_slice(&manyhands(&[&SMALL[..], &arguments, &["--json"]].concat()).stdout).unwrap();
    let names = |rules: &Value| -> Vec<String> {
        let mut names: Vec<String> =
            rules.as_array().unwrap().iter().map(|rule| rule["rule"].as_str().unwrap().to_string()).collect();
        names.sort();
        names
    };
    assert_eq!(names(&report["rules"]), names(&report["problems"][0]["rules"]));
    assert!(report["rules"].as_array().unwrap().iter().all(|rule| rule["mean_rank"].is_f64()));
    let output = manyhands(&["--rules", "--data", "."]);
    assert_eq!(output.status.code(), Some(2), "rules are not compared on pools: {output:?}");
}
