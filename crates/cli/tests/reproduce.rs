//! The promises of `manyhands reproduce`, on the real binary.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn manyhands(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_manyhands"));
    command.arg("reproduce").args(arguments).env_remove("MANYHANDS_DATA").output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// A folder that is not there yet.
fn out(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("reproduce").join(name);
    if path.exists() {
        fs::remove_dir_all(&path).unwrap();
    }
    path
}

const SMALL: [&str; 6] = ["--functions", "3", "--horizon", "12", "--workers", "3"];

#[test]
fn one_panel_is_played_printed_and_written() {
    let folder = out("one");
    let output = manyhands(&[&SMALL[..], &["--panels", "a", "--out", folder.to_str().unwrap()]].concat());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let told = text(&output.stdout);
    assert!(told.contains("Time-average regret at T = 12") && told.contains("(a) RKHS of SE, batch"), "{told}");
    assert!(told.contains("(not run: b, c, d, e, f, g, h)"), "{told}");
    assert!(!told.contains("3. for sensor data"), "an observation without a panel is not judged: {told}");
    // Piped, there is no bar: one closing line.
    let talk = text(&output.stderr);
    assert_eq!(talk.lines().count(), 1, "{talk}");
    assert!(talk.contains("wrote 6 files"), "{talk}");
    let mut names: Vec<String> =
        fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["figure.png", "figure.svg", "panel-a.csv", "report.md", "runs.csv", "summary.json"]);
}

#[test]
fn json_is_the_summary_file() {
    let folder = out("json");
    let arguments = ["--panels", "a,field", "--extra=workers", "--json", "--out", folder.to_str().unwrap()];
    let output = manyhands(&[&SMALL[..], &arguments].concat());
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    let written: Value = serde_json::from_slice(&fs::read(folder.join("summary.json")).unwrap()).unwrap();
    assert_eq!(printed, written);
    assert_eq!(printed["settings"]["workers"], 3);
    assert!(printed["panels"]["field"]["time_average_regret"]["random"]["12"]["mean"].is_f64());
    assert!(printed["extra"]["workers"]["rows"][0]["median_batches"].is_f64());
}

#[test]
fn options_reach_the_experiments() {
    let run = |name: &str, more: &[&str]| {
        let folder = out(name);
        let output = manyhands(&[&SMALL[..], &["--panels", "a", "--out", folder.to_str().unwrap()], more].concat());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        fs::read_to_string(folder.join("panel-a.csv")).unwrap()
    };
    let plain = run("plain", &[]);
    assert_eq!(plain, run("again", &["--seed", "1", "--hallucination", "1", "--information", "closed-form"]));
    assert_eq!(plain, run("batches", &["--feedback", "batch"]));
    let changes: [&[&str]; 9] = [
        &["--seed", "2"],
        &["--information", "greedy"],
        &["--hallucination", "realised"],
        &["--width", "0.1"],
        &["--delta", "0.5"],
        &["--noise", "0.1"],
        &["--feedback", "delay"],
        &["--feedback", "sequential"],
        &["--feedback", "random:3"],
    ];
    for change in changes {
        assert_ne!(plain, run("changed", change), "{change:?} changes nothing");
    }
}

/// The paper's delay of three rounds, written down: the runs are those of `--feedback delay`.
#[test]
fn a_file_of_feedback_is_played_and_checked_against_the_number_of_workers() {
    let folder = out("feedback");
    fs::create_dir_all(&folder).unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_string()
    };
    let run = |feedback: &str| {
        let to = folder.join("to");
        let arguments = ["--panels", "a", "--feedback", feedback, "--out", to.to_str().unwrap()];
        (manyhands(&[&SMALL[..], &arguments].concat()), to)
    };
    let lines: String = (1..=12).map(|t: usize| format!("{t},{}\n", t.saturating_sub(3))).collect();
    let delays = file("delays.csv", &format!("t,S\n{lines}"));
    let (listed, to) = run(&delays);
    assert_eq!(listed.status.code(), Some(0), "{listed:?}");
    assert!(text(&listed.stdout).contains("(a) RKHS of SE, delays.csv"), "{listed:?}");
    let summary: Value = serde_json::from_slice(&fs::read(to.join("summary.json")).unwrap()).unwrap();
    assert_eq!(summary["settings"]["feedback"], "delays.csv", "its name and not its path");
    assert_eq!(summary["panels"]["a"]["in_the_paper"], false);
    let played = fs::read(to.join("panel-a.csv")).unwrap();
    let (named, to) = run("delay");
    assert_eq!(named.status.code(), Some(0), "{named:?}");
    assert_eq!(fs::read(to.join("panel-a.csv")).unwrap(), played);

    for (name, text_of_file, told) in [
        ("late.csv", "0\n0\n0\n0\n2\n", "S(4) = 0 is not allowed: t - S(t) must be at most M = 3"),
        ("falling.csv", "0\n1\n2\n1\n2\n", "S(4) = 1 is not allowed: S must not fall, S(3) is 2"),
        ("early.csv", "0\n2\n", "S(2) = 2 is not allowed: a choice knows only rewards of earlier rounds"),
        ("short.csv", "0\n0\n1\n", "the feedback mapping has 3 rounds, there is no S(4)"),
        ("words.csv", "S\n0\nnone\n", "line 3: S(2) must be an integer from 0, got \"none\""),
    ] {
        let (refused, _) = run(&file(name, text_of_file));
        assert_eq!(refused.status.code(), Some(2), "{name}: {refused:?}");
        assert!(text(&refused.stderr).contains(told), "{name}: {}", text(&refused.stderr));
        assert!(refused.stdout.is_empty(), "{name}");
    }
}

#[test]
fn missing_sensor_files_are_told_and_the_rest_runs() {
    let folder = out("missing");
    let output = manyhands(&[&SMALL[..], &["--panels", "f-h", "--out", folder.to_str().unwrap()]].concat());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let talk = text(&output.stderr);
    assert!(talk.contains("skipped: panel g needs intel_lab/intel_temp_1min.csv.gz"), "{talk}");
    assert!(
        talk.contains("skipped: panel h needs")
            && talk.contains("hint: give the folder")
            && talk.contains("--panels field"),
        "{talk}"
    );
    assert!(folder.join("panel-f.csv").exists() && !folder.join("panel-g.csv").exists());

    let output = manyhands(&[&SMALL[..], &["--panels", "g", "--out", folder.to_str().unwrap()]].concat());
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(text(&output.stderr).contains("nothing to run"), "{output:?}");
}

#[test]
fn bad_usage_exits_with_2_and_names_value_and_remedy() {
    let folder = out("bad");
    let cases: [(&[&str], &str, &str); 13] = [
        (&["--panels", "a,x"], "\"x\"", "letters from a to h"),
        (&["--extra=workers,time"], "\"time\"", "hallucination, width"),
        (&["--information", "greed"], "\"greed\"", "\"greedy\""),
        (&["--hallucination", "0.5"], "0.5", "from 1 to"),
        (&["--functions", "1"], "got 1", "from 2 to"),
        (&["--horizon", "many"], "many", "--horizon"),
        (&["--width", "-1"], "-1", "width"),
        (&["--seed", "-1"], "-1", "an integer"),
        (&["--workers", "0"], "got 0", "workers must be from 1"),
        (&["--data", "no-such-folder"], "no-such-folder", "no such folder"),
        (&["--feedback", "late"], "\"late\"", "batch, delay, sequential, random:SEED"),
        (&["--feedback", "random:x"], "\"random:x\"", "random:7"),
        (&["--feedback", "no-such-file.csv"], "cannot read no-such-file.csv", "--feedback"),
    ];
    for (arguments, culprit, remedy) in cases {
        let output = manyhands(&[arguments, &["--out", folder.to_str().unwrap()]].concat());
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {told}");
        assert!(told.contains(culprit) && told.contains(remedy), "{arguments:?}: {told}");
        assert!(output.stdout.is_empty() && !folder.exists(), "{arguments:?}");
    }
}

#[test]
fn files_of_an_earlier_run_are_pointed_out_and_kept() {
    let folder = out("earlier");
    let run =
        |panels: &str| manyhands(&[&SMALL[..], &["--panels", panels, "--out", folder.to_str().unwrap()]].concat());
    assert!(!text(&run("b").stderr).contains("earlier run"));
    let talk = text(&run("a").stderr);
    assert!(talk.contains("panel-b.csv is from an earlier run") && talk.lines().count() == 2, "{talk}");
    assert!(folder.join("panel-b.csv").exists());
}

#[test]
fn a_stale_data_folder_in_the_environment_stops_nothing_that_needs_no_files() {
    let run = |data: &str, panels: &str| {
        let folder = out("environment");
        let mut command = Command::new(env!("CARGO_BIN_EXE_manyhands"));
        command.arg("reproduce").args(SMALL).args(["--panels", panels, "--out", folder.to_str().unwrap()]);
        command.env("MANYHANDS_DATA", data).output().unwrap()
    };
    assert_eq!(run("no-such-folder", "a").status.code(), Some(0));
    assert_eq!(run("", "a").status.code(), Some(0));
    let partly = run("no-such-folder", "a,g");
    assert_eq!(partly.status.code(), Some(0));
    assert!(
        text(&partly.stderr).contains("panel g needs") && text(&partly.stderr).contains("not found in no-such-folder")
    );
}

#[test]
fn with_json_errors_are_json_too() {
    let output = manyhands(&["--functions", "1", "--json"]);
    assert_eq!(output.status.code(), Some(2));
    let told: Value = serde_json::from_slice(&output.stderr).unwrap();
    assert_eq!(told["error"]["code"], "setting");
    assert_eq!(told["error"]["message"], "functions must be from 2 to 10000, got 1");
    assert_eq!(told["error"]["hint"], Value::Null);
}

#[test]
fn a_malformed_file_exits_with_2_and_a_hint() {
    let data = out("data");
    fs::create_dir_all(data.join("intel_lab")).unwrap();
    fs::write(data.join("intel_lab/intel_temp_1min.csv"), "minute,m01,m02\n0,20.5,hot\n").unwrap();
    let folder = out("malformed");
    let arguments = ["--panels", "g", "--data", data.to_str().unwrap(), "--out", folder.to_str().unwrap()];
    let output = manyhands(&arguments);
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("line 2, column \"m02\" must be a finite number (at most 1e100), got \"hot\""), "{told}");
    assert!(told.contains("hint: a table has a header"), "{told}");
}

#[test]
fn an_output_folder_that_cannot_be_made_fails_before_the_work() {
    let folder = out("blocked");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("file"), "in the way").unwrap();
    let output = manyhands(&["--panels", "a", "--out", folder.join("file").to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(text(&output.stderr).contains("cannot write"), "{output:?}");
    assert!(output.stdout.is_empty());
}

#[test]
fn help_names_every_option_with_its_default() {
    let help = text(&manyhands(&["--help"]).stdout);
    for word in
        ["--information", "--hallucination", "--width", "--workers", "--horizon", "--functions", "--seed", "--panels"]
    {
        assert!(help.contains(word), "{word}");
    }
    for word in [
        "--out",
        "--data",
        "--extra",
        "--feedback",
        "discretization",
        "[default: closed-form]",
        "[default: 200]",
        "Examples:",
        "MANYHANDS_DATA",
    ] {
        assert!(help.contains(word), "{word}: {help}");
    }
}
