//! A working day of a laboratory: plates out, spreadsheets in, mistakes and their correction, a wider space.

use std::process::Output;

use crate::common::Bench;
use manyhands_core::{TrialState, Value};

pub const STUDY: &str = r#"name = "dye"
seed = 4

[space]
temp = { float = [20.0, 60.0] }
acid = { float = [0.001, 0.1], scale = "log" }
cycles = { int = [1, 9] }
metal = { choice = ["Pd", "Pt"] }
"#;

/// Succeeds, and says this.
#[track_caller]
pub fn said(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    said + &String::from_utf8_lossy(&output.stdout)
}

/// Every choice and the whole log are as they were made.
#[track_caller]
pub fn verified(bench: &Bench, study: &str) {
    let output = bench.run(&["verify", study, "--choices"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn log(bench: &Bench, study: &str) -> String {
    String::from_utf8(bench.run(&["export", study, "--format", "log", "-o", "-"]).stdout).unwrap()
}

/// What an experiment gives: highest at 48 degrees, and more with Pt.
fn yield_of(temp: f64, metal: &str) -> f64 {
    let bump = 80.0 - (temp - 48.0).powi(2) / 20.0;
    let exact = if metal == "Pt" { bump + 5.0 } else { bump };
    (exact * 10.0).round() / 10.0
}

/// A plate as a German spreadsheet saves it: rounded to six digits, with a column for the pH. `result` gives the temperature and
/// the cells of value and pH for a trial.
fn saved(plate: &str, result: impl Fn(usize, f64, &str) -> [String; 3]) -> String {
    let mut lines = plate.lines();
    assert_eq!(lines.next(), Some("trial,temp,acid,cycles,metal,value"));
    let mut text = "\u{feff}trial;temp;acid;cycles;metal;value;pH\r\n".to_string();
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |cell: &str| cell.parse::<f64>().unwrap();
        let [temp, value, ph] = result(number(cells[0]) as usize, number(cells[1]), cells[4]);
        let acid = format!("{:.6}", number(cells[2]));
        let row = [cells[0], &temp, &acid, cells[3], cells[4], &value, &ph].join(";");
        text += &format!("{}\r\n", row.replace('.', ","));
    }
    text + ";;;;;;\r\n"
}

fn right(_: usize, temp: f64, metal: &str) -> [String; 3] {
    [format!("{temp:.4}"), yield_of(temp, metal).to_string(), "7.25".to_string()]
}

/// The first plate: well 1 gave nothing, 999 was typed for well 2, and well 3 was made at 55.5 degrees.
fn with_mistakes(trial: usize, temp: f64, metal: &str) -> [String; 3] {
    let [shown, value, ph] = right(trial, temp, metal);
    match trial {
        1 => [shown, "failed: no crystals".to_string(), String::new()],
        2 => [shown, "999".to_string(), ph],
        3 => ["55.5".to_string(), yield_of(55.5, metal).to_string(), ph],
        _ => [shown, value, ph],
    }
}

fn plate(bench: &Bench, name: &str) -> String {
    std::fs::read_to_string(bench.path().join(name)).unwrap()
}

#[test]
fn a_working_day_with_plates_mistakes_and_a_wider_space() {
    let bench = Bench::new(STUDY);
    said(&bench.run(&["ask", "study.toml", "-n", "8", "--csv", "plate.csv"]));
    let filled = saved(&plate(&bench, "plate.csv"), with_mistakes);
    bench.write("filled.csv", &filled);
    let told = said(&bench.run(&["tell", "study.toml", "filled.csv"]));
    assert!(told.contains("8 results recorded") && told.contains("kept as metrics: pH"), "{told}");
    verified(&bench, "study.toml");
    let session = bench.session("dye");
    let moved: Vec<usize> = session.ledger().trials().iter().filter(|t| t.is_moved()).map(|t| t.number()).collect();
    assert_eq!(moved, [3], "rounding is no other setting");
    assert_eq!(session.params(3).unwrap()[0].1, Value::Float(55.5));
    assert_eq!(session.ledger().trial(1).unwrap().reason(), Some("no crystals"));
    assert_eq!(session.ledger().trial(0).unwrap().metrics(), [("pH".to_string(), 7.25)]);

    // The typing error is corrected in the spreadsheet, and told once more.
    let corrected = filled.replace(";999;", ";61,5;");
    bench.write("filled.csv", &corrected);
    let before = log(&bench, "dye");
    let refused = bench.run(&["tell", "study.toml", "filled.csv"]);
    let why = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2), "{why}");
    assert!(why.contains("999") && why.contains("61.5") && why.contains("--amend"), "{why}");
    assert_eq!(log(&bench, "dye"), before);
    let amended = said(&bench.run(&["tell", "study.toml", "filled.csv", "--amend"]));
    assert!(amended.contains("trial 2: observed 61.5, amended"), "{amended}");
    verified(&bench, "dye");
    let after = log(&bench, "dye");
    said(&bench.run(&["tell", "study.toml", "filled.csv"]));
    assert_eq!(log(&bench, "dye"), after, "what is recorded is not recorded again");

    // It was another well that was wrong, so that amendment is taken back and the value set by hand.
    said(&bench.run(&["amend", "dye", "2", "--undo"]));
    let truth = right(2, bench.session("dye").params(2).unwrap()[0].1.number().unwrap(), "Pd")[1].clone();
    said(&bench.run(&["amend", "dye", "2", &truth]));
    verified(&bench, "dye");

    // The failed well is made again, together with a second plate that begins with what the literature says.
    said(&bench.run(&["retry", "dye", "1"]));
    said(&bench.run(&["enqueue", "dye", "temp=45", "acid=0.01", "cycles=5", "metal=Pt"]));
    said(&bench.run(&["ask", "study.toml", "-n", "8", "--csv", "second.csv"]));
    let second = plate(&bench, "second.csv");
    assert!(second.lines().nth(1).unwrap().ends_with(",45,0.01,5,Pt,"), "{second}");
    bench.write("filled2.csv", &saved(&second, right));
    said(&bench.run(&["tell", "study.toml", "filled2.csv"]));
    said(&bench.run(&["tell", "dye", "1", "60.5"]));
    verified(&bench, "dye");
    let session = bench.session("dye");
    assert_eq!(session.ledger().count(TrialState::Observed), 16);

    // The best is at an end of the range: a wider study, which knows all that is known.
    bench.write("wider.toml", &STUDY.replace("\"dye\"", "\"wider\"").replace("[20.0, 60.0]", "[20.0, 90.0]"));
    let copied = said(&bench.run(&["copy", "dye", "wider.toml"]));
    assert!(copied.contains("begins with 16 values"), "{copied}");
    verified(&bench, "wider");
    verified(&bench, "dye");
    for (number, round) in ["a", "b"].iter().enumerate() {
        let name = format!("{round}.csv");
        said(&bench.run(&["ask", "wider.toml", "-n", "6", "--csv", &name]));
        bench.write("filled.csv", &saved(&plate(&bench, &name), right));
        said(&bench.run(&["tell", "wider.toml", "filled.csv"]));
        verified(&bench, "wider");
        assert_eq!(bench.session("wider").begun(), 6 * (number + 1), "what came along is not of its budget");
    }
    let best = bench.json(&["best", "wider", "--json"]);
    let (temp, metal) = (best["params"]["temp"].as_f64().unwrap(), best["params"]["metal"].as_str().unwrap());
    assert!((temp - 48.0).abs() < 8.0 && metal == "Pt", "{best}");
}

/// A study with trials 0 observed, 1 failed, 2 pending.
fn begun() -> Bench {
    let bench = Bench::new(STUDY);
    said(&bench.run(&["ask", "study.toml", "-n", "3", "--csv", "plate.csv"]));
    said(&bench.run(&["tell", "dye", "0", "1.5"]));
    said(&bench.run(&["fail", "dye", "1", "--reason", "dry"]));
    bench.write("wider.toml", &STUDY.replace("\"dye\"", "\"wider\""));
    bench.write(
        "more.toml",
        &STUDY.replace("\"dye\"", "\"more\"").replace("[space]", "[space]\nvolume = { float = [0.0, 1.0] }"),
    );
    bench.write("less.toml", &STUDY.replace("\"dye\"", "\"less\"").replace("cycles = { int = [1, 9] }\n", ""));
    bench
}

/// Each is refused with this exit code and a message that has these words, on one study; its log stays as it is.
#[track_caller]
fn refused(wrong: &[(&[&str], i32, &[&str])]) {
    let bench = begun();
    bench.write("bad.csv", "trial,value\n0,1.5\n2,much\n");
    bench.write("unknown.csv", "trial,value\n2,1\n9,1\n");
    bench.write("other.csv", "trial,value\n2,1\n0,2\n");
    bench.write("column.csv", "trial,Temp (C),value\n2,33,1\n");
    bench.write("beyond.csv", "temp,acid,cycles,metal,value\n33,0.01,2,Pd,1\n99,0.01,2,Pd,1\n");
    bench.write("points.csv", "temp,acid,cycles,metal\n33,0.01,2,Pd\n33,0.01,2,Au\n");
    bench.write("empty.csv", "");
    let before = log(&bench, "dye");
    let names = || {
        let mut names: Vec<_> =
            std::fs::read_dir(bench.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let files = names();
    for (arguments, code, words) in wrong {
        let output = bench.run(arguments);
        let why = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(*code), "{arguments:?}: {why}");
        assert!(why.starts_with("error: "), "{arguments:?}: {why}");
        words.iter().for_each(|word| assert!(why.contains(word), "{arguments:?}: {why} lacks {word}"));
        assert_eq!(log(&bench, "dye"), before, "{arguments:?}");
        assert_eq!(names(), files, "{arguments:?}");
    }
    assert_eq!(bench.json(&["studies", "--json"]).as_array().unwrap().len(), 1);
}

#[test]
fn wrong_amendments_are_refused() {
    refused(&[
        (&["amend", "dye", "2", "1.0"], 1, &["trial 2 is pending", "hint: "]),
        (&["amend", "dye", "0"], 2, &["--failed", "--set", "--undo"]),
        (&["amend", "dye", "0", "NaN"], 2, &["finite number", "NaN"]),
        (&["amend", "dye", "9", "1.0"], 2, &["no trial 9", "3 trials"]),
        (&["amend", "dye", "0", "--set", "temp=95"], 2, &["temp", "95", "60"]),
        (&["amend", "dye", "0", "--set", "tmep=50"], 2, &["tmep"]),
        (&["amend", "dye", "0", "--set", "temp"], 2, &["NAME=VALUE"]),
        (&["amend", "dye", "0", "--undo"], 1, &["trial 0"]),
        (&["amend", "dye", "0", "1", "--failed", "dry"], 2, &["--failed"]),
        (&["amend", "other", "0", "1"], 2, &["other"]),
    ]);
}

#[test]
fn wrong_retries_are_refused() {
    refused(&[
        (&["retry", "dye", "0"], 1, &["trial 0", "only a failed trial"]),
        (&["retry", "dye", "2"], 1, &["trial 2 is pending"]),
        (&["retry", "dye", "7"], 2, &["no trial 7"]),
        (&["retry", "dye", "-1"], 2, &["-1"]),
    ]);
}

#[test]
fn wrong_points_are_not_enqueued() {
    refused(&[
        (&["enqueue", "dye", "temp=45"], 2, &["\"acid\" has no value"]),
        (&["enqueue", "dye", "temp=95", "acid=0.01", "cycles=2", "metal=Pd"], 2, &["temp", "95"]),
        (&["enqueue", "dye", "temp=45", "acid=0.01", "cycles=2.5", "metal=Pd"], 2, &["cycles", "2.5"]),
        (&["enqueue", "dye", "temp=45", "temp=46", "acid=0.01", "cycles=2", "metal=Pd"], 2, &["temp"]),
        (&["enqueue", "dye", "--csv", "points.csv"], 2, &["points.csv", "line 3", "Au"]),
        (&["enqueue", "dye", "--csv", "none.csv"], 2, &["none.csv"]),
        (&["enqueue", "dye", "--csv", "empty.csv"], 2, &["empty.csv"]),
    ]);
}

#[test]
fn wrong_copies_make_no_study() {
    refused(&[
        (&["copy", "dye", "study.toml"], 1, &["there is a study \"dye\" already", "hint: "]),
        (&["copy", "none", "wider.toml"], 2, &["no study \"none\"", "dye"]),
        (&["copy", "dye", "none.toml"], 2, &["none.toml"]),
        (&["copy", "dye", "more.toml"], 2, &["\"volume\" is new", "--default"]),
        (&["copy", "dye", "more.toml", "--default", "volume=7"], 2, &["volume", "7"]),
        (&["copy", "dye", "more.toml", "--default", "volume=0.5", "--default", "temp=50"], 2, &["\"temp\""]),
        (&["copy", "dye", "more.toml", "--default", "volume"], 2, &["NAME=VALUE"]),
        (&["copy", "dye", "less.toml"], 2, &["\"cycles\" is not in the new study"]),
    ]);
}

#[test]
fn wrong_imports_record_nothing() {
    refused(&[
        (&["import", "study.toml", "--csv", "beyond.csv"], 2, &["beyond.csv", "line 3", "99", "nothing was recorded"]),
        (&["import", "study.toml", "--csv", "column.csv"], 2, &["Temp (C)", "\"temp\"", "--column"]),
        (&["import", "study.toml", "--csv", "none.csv"], 2, &["none.csv"]),
        (&["import", "study.toml", "--csv", "empty.csv"], 2, &["empty.csv"]),
        (&["import", "study.toml", "--csv", "beyond.csv", "--column", "tmep=temp"], 2, &["tmep"]),
        (&["import", "study.toml", "--csv", "beyond.csv", "--column", "value=Yield"], 2, &["Yield"]),
        (&["import", "none.toml", "--csv", "beyond.csv"], 2, &["none.toml"]),
        (&["import", "wider.toml", "--csv", "beyond.csv"], 2, &["line 3"]),
    ]);
}

#[test]
fn wrong_plates_are_not_asked_for() {
    refused(&[
        (&["ask", "dye", "--csv", "plate.csv"], 2, &["plate.csv is there already", "hint: "]),
        (&["ask", "dye", "--csv", "none/plate.csv"], 2, &["no folder none"]),
        (&["ask", "dye", "-n", "0", "--csv", "new.csv"], 2, &["0"]),
        (&["ask", "dye", "--csv", "."], 2, &["is there already"]),
    ]);
}

#[test]
fn wrong_tables_record_nothing() {
    refused(&[
        (&["tell", "dye", "bad.csv"], 2, &["bad.csv", "line 3", "much", "nothing was recorded"]),
        (&["tell", "dye", "unknown.csv"], 2, &["line 3", "no trial 9", "nothing was recorded"]),
        (&["tell", "dye", "other.csv"], 2, &["line 3", "--amend", "nothing was recorded"]),
        (&["tell", "dye", "column.csv"], 2, &["Temp (C)", "rename the column"]),
        (&["tell", "dye", "beyond.csv"], 2, &["line 3", "99"]),
        (&["tell", "dye", "empty.csv"], 2, &["it is empty"]),
        (&["tell", "dye", "none.csv"], 2, &["none.csv"]),
        (&["tell", "dye", "2", "1.0", "--amend"], 2, &["--amend"]),
        (&["tell", "wider.toml", "other.csv"], 2, &["there is no study \"wider\""]),
    ]);
}

#[test]
fn an_import_leaves_out_rows_without_a_value_and_says_so() {
    let bench = begun();
    bench.write("old.csv", "temp,acid,cycles,metal,value\n33,0.01,2,Pd,1\n34,0.01,2,Pd,\n");
    let told = said(&bench.run(&["import", "dye", "--csv", "old.csv"]));
    assert!(told.contains("1 result recorded") && told.contains("1 row without a value"), "{told}");
    assert_eq!(bench.session("dye").ledger().trials().len(), 4);
}

#[test]
fn amending_by_lines_of_json_is_refused_and_not_ignored() {
    let bench = begun();
    let before = log(&bench, "dye");
    let output = bench.feed(&["tell", "dye", "-", "--amend"], "{\"trial\": 0, \"value\": 2.5}\n");
    let why = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), log(&bench, "dye")), (Some(2), before), "{why}");
    assert!(why.contains("--amend") && why.contains("manyhands amend"), "{why}");
}

#[test]
fn an_export_is_told_to_another_study_through_a_pipe() {
    let bench = begun();
    said(&bench.run(&["tell", "dye", "2", "2.5"]));
    for (format, name) in [("csv", "by-csv"), ("jsonl", "by-jsonl")] {
        bench.write("other.toml", &STUDY.replace("\"dye\"", &format!("\"{name}\"")));
        let export = bench.run(&["export", "dye", "--format", format, "-o", "-"]).stdout;
        let export = String::from_utf8(export).unwrap();
        said(&bench.feed(&["tell", "other.toml", "-"], &export));
        let (from, to) = (bench.session("dye"), bench.session(name));
        for (a, b) in from.ledger().trials().iter().zip(to.ledger().trials()) {
            assert_eq!((a.logged_params(), a.value(), a.reason()), (b.logged_params(), b.value(), b.reason()));
        }
        assert_eq!(to.ledger().trials().len(), 3);
        verified(&bench, name);
    }
}

#[test]
fn a_plate_of_the_study_is_told_and_not_imported() {
    let bench = begun();
    said(&bench.run(&["ask", "dye", "-n", "2", "--csv", "next.csv"]));
    let plate = std::fs::read_to_string(bench.path().join("next.csv")).unwrap();
    bench.write(
        "next.csv",
        &plate.lines().map(|line| format!("{line}1\n").replace("value1", "value")).collect::<String>(),
    );
    let before = log(&bench, "dye");
    let refused = bench.run(&["import", "dye", "--csv", "next.csv"]);
    let why = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2), "{why}");
    assert!(why.contains("trial 3 of the study, which is pending") && why.contains("tell STUDY FILE"), "{why}");
    assert_eq!(log(&bench, "dye"), before);
    said(&bench.run(&["tell", "dye", "next.csv"]));
    assert_eq!(bench.session("dye").ledger().trial(3).unwrap().value(), Some(1.0));
}
