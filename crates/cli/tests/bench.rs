//! The promises of `manyhands bench`, on the real binary. No test compares clocks.

use std::process::{Command, Output};

use serde_json::Value;

fn manyhands(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_manyhands")).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn help_shows_an_example() {
    let output = manyhands(&["bench", "--help"]);
    assert_eq!(output.status.code(), Some(0));
    let help = text(&output.stdout);
    assert!(help.contains("manyhands bench --only append --json"), "{help}");
    assert!(help.contains("--full"), "{help}");
}

#[test]
fn the_hidden_verb_is_not_in_the_help() {
    let help = text(&manyhands(&["--help"]).stdout);
    assert!(help.contains("bench") && !help.contains("bench-part"), "{help}");
}

#[test]
fn without_a_verb_help_is_shown() {
    let output = manyhands(&[]);
    assert!(text(&output.stderr).contains("Usage: manyhands"), "{output:?}");
}

#[test]
fn the_version_is_told() {
    let output = manyhands(&["--version"]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(text(&output.stdout).trim(), concat!("manyhands ", env!("CARGO_PKG_VERSION")));
}

#[test]
fn bad_usage_exits_with_2_and_names_the_culprit() {
    for (arguments, culprit) in [
        (&["bench", "--fast"][..], "--fast"),
        (&["bench", "--only", "speed"][..], "speed"),
        (&["bench", "--quick", "--full"][..], "--full"),
        (&["brench"][..], "brench"),
    ] {
        let output = manyhands(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(text(&output.stderr).contains(culprit), "{output:?}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn json_goes_to_standard_output_talk_to_standard_error_and_the_exit_code_says_whether_limits_were_kept() {
    let output = manyhands(&["bench", "--only", "append", "--json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = report["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0]["section"], "append");
    assert_eq!(rows[0]["limit"]["ratio_at_most"], 2.5);
    let passed = report["passed"].as_bool().unwrap();
    assert_eq!(rows[0]["verdict"], if passed { "met" } else { "missed" });
    assert_eq!(output.status.code(), Some(if passed { 0 } else { 1 }));
    assert!(text(&output.stderr).contains("append"), "{output:?}");
}

#[test]
fn proofs_count_their_nodes_within_the_limit() {
    let output = manyhands(&["bench", "--only", "certified", "--json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = report["rows"].as_array().unwrap();
    let of = |unit: &str| rows.iter().filter(|row| row["unit"] == unit).cloned().collect::<Vec<Value>>();
    assert_eq!((of("nodes").len(), of("seconds").len(), rows.len()), (2, 2, 4));
    // Counts, unlike clocks, are the same everywhere.
    for row in of("nodes") {
        assert_eq!(row["limit"]["figure_at_most"], 1000.0);
        assert_eq!(row["verdict"], "met", "{row}");
    }
}

#[test]
fn suggestions_of_a_learned_model_have_limits_with_a_fit_and_are_noted_without() {
    let output = manyhands(&["bench", "--only", "suggest", "--json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = report["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 10);
    assert!(rows.iter().all(|row| row["section"] == "suggest" && row["unit"] == "seconds"));
    for space in ["d = 6", "mixed parameters", "a constraint"] {
        let whole_run = format!("60 evaluations in batches of 5, {space}, ");
        assert!(rows.iter().any(|row| row["what"].as_str().unwrap().starts_with(&whole_run)), "{whole_run}");
    }
    for row in rows {
        let what = row["what"].as_str().unwrap();
        let limited = what.contains("with a fit") || what.contains("evaluations in batches");
        assert_eq!(row["limit"].is_null(), !limited, "{what}");
        assert!(what.ends_with("CPU") || what.ends_with("wall clock"), "{what}");
    }
}

#[test]
fn answers_are_tested_against_the_default_on_each_problem_and_in_all() {
    let run = |arguments: &[&str]| {
        let common = ["bench", "strategy", "schedules", "--seeds", "3", "--problems", "forrester", "hartmann3"];
        manyhands(&[&common[..], &["--evaluations", "12", "--batch", "3"], arguments].concat())
    };
    let report: Value = serde_json::from_slice(&run(&["--json", "--floor", "1e-3"]).stdout).unwrap();
    assert_eq!((&report["evaluations"], &report["floor"]), (&12.into(), &1e-3.into()));
    let answers = report["questions"][0]["answers"].as_array().unwrap();
    assert_eq!((&answers[0]["batch"], &answers[1]["batch"]), (&5.into(), &1.into()), "as the answers say");
    assert!(answers[0]["total"]["against_default"].is_null() && answers[0]["total"]["cost_ratio"] == 1.0);
    for answer in &answers[1..] {
        for outcome in ["better", "worse", "ties"] {
            let of = |test: &Value| test["against_default"][outcome].as_u64().unwrap();
            let problems = &answer["problems"];
            assert_eq!(of(&answer["total"]), of(&problems["forrester"]) + of(&problems["hartmann3"]), "{answer}");
        }
        assert!(answer["total"]["stuck"].is_f64() && answer["total"]["against_default"]["p_holm"].is_f64());
    }
    let told = text(&run(&[]).stdout);
    for part in ["schedules: one at a time", "better", "CPU ratio", "all", "stuck"] {
        assert!(told.contains(part), "{part} is not in\n{told}");
    }
    let common =
        ["bench", "strategy", "widths", "--seeds", "1", "--problems", "forrester", "--evaluations", "12", "--json"];
    let report: Value = serde_json::from_slice(&manyhands(&[&common[..], &["--batch", "3"]].concat()).stdout).unwrap();
    assert_eq!(report["questions"][0]["answers"][0]["batch"], 3, "where the answer says nothing");
}

#[test]
fn the_strategy_bench_puts_every_answer_beside_the_default() {
    let run = |arguments: &[&str]| manyhands(&[&["bench", "strategy"], arguments].concat());
    let output = run(&["design", "--seeds", "1", "--problems", "forrester", "--json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let answers = report["questions"][0]["answers"].as_array().unwrap();
    assert_eq!((answers.len(), &answers[0]["answer"]), (5, &"4 + 2d, at most 10".into()));
    assert!(answers.iter().all(|answer| answer["median_log10_regret"]["forrester"] == answer["mean"]));
    assert_ne!(answers[0]["mean"], answers[3]["mean"], "other first points, other games");
    let output = run(&["design", "--seeds", "1", "--problems", "forrester"]);
    let told = text(&output.stdout);
    assert!(told.contains("design: How many quasi-random points first?") && told.contains("4 + 2d, at"), "{told}");
    let output = run(&["design", "--floor", "0"]);
    assert!(text(&output.stderr).contains("floor must be above 0 and finite, got 0"), "{output:?}");
    let output = run(&["width"]);
    let told = text(&output.stderr);
    assert!(output.status.code() == Some(2) && told.contains("bends, kernels") && told.contains("got width"), "{told}");
}
