//! Plates and copies of studies that are not quite what they should be: other columns, other studies, other spaces.

use crate::common::Bench;
use crate::lab::{STUDY, said, verified};

#[test]
fn the_command_that_the_refusal_of_a_changed_file_proposes_goes_on() {
    let bench = Bench::new(STUDY);
    let store = "sqlite:elsewhere.db";
    said(&bench.run(&["ask", "study.toml", "--store", store]));
    said(&bench.run(&["tell", "study.toml", "0", "3.5", "--store", store]));
    // A study of the first name that comes to mind is there already.
    bench.write("other.toml", &STUDY.replace("\"dye\"", "\"dye-2\""));
    said(&bench.run(&["ask", "other.toml", "--store", store]));
    let wider = STUDY.replace("60.0", "90.0").replace("cycles =", "pH = { float = [2.0, 9.0] }\ncycles =");
    bench.write("study.toml", &wider);
    for verb in ["ask", "status", "verify"] {
        let refused = bench.run(&[verb, "study.toml", "--store", store]);
        let hint = String::from_utf8(refused.stderr).unwrap();
        assert_eq!(refused.status.code(), Some(2), "{hint}");
        assert!(hint.contains("write name = \"dye-3\" in the file"), "{hint}");
        assert!(
            hint.contains("`manyhands copy dye study.toml --default pH=VALUE --store sqlite:elsewhere.db`"),
            "{hint}"
        );
    }
    bench.write("study.toml", &wider.replace("\"dye\"", "\"dye-3\""));
    let copied = said(&bench.run(&["copy", "dye", "study.toml", "--default", "pH=7", "--store", store]));
    assert!(copied.contains("study dye-3 begins with 1 value of dye"), "{copied}");
    // Copied values would mean the opposite.
    bench.write("study.toml", &STUDY.replace("seed = 4", "seed = 4\ndirection = \"minimize\""));
    let hint = String::from_utf8(bench.run(&["ask", "study.toml", "--store", store]).stderr).unwrap();
    assert!(hint.contains("direction") && !hint.contains("copy"), "{hint}");
}

#[test]
fn a_study_whose_trials_are_all_pending_is_not_copied() {
    let bench = Bench::new(STUDY);
    said(&bench.run(&["ask", "study.toml", "-n", "2"]));
    bench.write("wider.toml", &STUDY.replace("\"dye\"", "\"wider\"").replace("60.0", "90.0"));
    let refused = bench.run(&["copy", "dye", "wider.toml"]);
    let why = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success() && why.contains("2 trials pending"), "{why}");
    assert!(!bench.run(&["status", "wider.toml"]).status.success(), "no study was made");
}

#[test]
fn lines_of_json_are_told_from_a_file_and_an_export_is_imported_from_one() {
    let bench = Bench::new(STUDY);
    said(&bench.run(&["ask", "study.toml", "-n", "2"]));
    bench.write("lines.jsonl", "{\"trial\":0,\"value\":2.5}\n{\"trial\":1,\"failed\":\"dry\"}\n");
    let told = said(&bench.run(&["tell", "study.toml", "lines.jsonl"]));
    assert!(told.contains("trial 0: observed 2.5\ntrial 1: failed: dry"), "{told}");
    said(&bench.run(&["export", "study.toml", "--format", "jsonl", "-o", "export.jsonl"]));
    bench.write("other.toml", &STUDY.replace("\"dye\"", "\"other\""));
    let imported = said(&bench.run(&["import", "other.toml", "--csv", "export.jsonl"]));
    assert!(imported.contains("2 results recorded"), "{imported}");
    let wrong = bench.run(&["import", "other.toml", "--csv", "lines.jsonl"]);
    let why = String::from_utf8(wrong.stderr).unwrap();
    assert!(why.contains("has lines of JSON and is no table") && why.contains("manyhands tell STUDY FILE"), "{why}");
    bench.write("none.toml", &STUDY.replace("\"dye\"", "\"none\""));
    bench.write("none.csv", "temp,acid,cycles,metal,value\n");
    assert_eq!(bench.run(&["import", "none.toml", "--csv", "none.csv"]).status.code(), Some(2));
    assert!(!bench.run(&["status", "none.toml"]).status.success(), "no study was made");
}

#[test]
fn a_failure_of_an_earlier_attempt_is_named_and_a_new_one_is_recorded_by_its_number() {
    let bench = Bench::new(STUDY);
    said(&bench.run(&["ask", "study.toml"]));
    bench.write("plate.csv", "trial,value,purity\n0,failed,95\n");
    said(&bench.run(&["tell", "study.toml", "plate.csv"]));
    said(&bench.run(&["retry", "study.toml", "0"]));
    let told = said(&bench.run(&["tell", "study.toml", "plate.csv"]));
    assert!(told.contains("trial 0: pending (the table has the failure of an earlier attempt"), "{told}");
    assert!(told.contains("0 results recorded, 1 still pending"), "{told}");
    said(&bench.run(&["fail", "study.toml", "0", "--reason", "failed"]));
    verified(&bench, "dye");
}

#[test]
fn taking_a_trial_of_a_study_that_is_not_there_makes_no_store() {
    let bench = Bench::new(&format!("{STUDY}[run]\ncommand = [\"true\"]\n"));
    let refused = bench.run(&["run", "study.toml", "--take", "5"]);
    assert!(!refused.status.success() && !bench.path().join("manyhands.db").exists());
}

#[test]
fn an_amendment_as_json_says_what_is_recorded_now_and_what_was_before() {
    let bench = Bench::new(STUDY);
    said(&bench.run(&["ask", "study.toml"]));
    assert!(said(&bench.run(&["tell", "study.toml", "0", "999"])).contains("trial 0: observed 999"));
    let amended = bench.json(&["amend", "study.toml", "0", "9.99", "--json"]);
    assert_eq!((&amended[0]["trial"], &amended[0]["value"]), (&0.into(), &9.99.into()));
    assert_eq!((&amended[0]["state"], &amended[0]["before"]["value"]), (&"observed".into(), &999.0.into()));
}

#[test]
fn a_plate_of_another_study_is_told_with_a_warning() {
    let bench = Bench::new(STUDY);
    said(&bench.run(&["ask", "study.toml", "-n", "2", "--csv", "plate.csv"]));
    let plate = std::fs::read_to_string(bench.path().join("plate.csv")).unwrap();
    let lines: Vec<Vec<&str>> = plate.lines().skip(1).map(|line| line.split(',').collect()).collect();
    let table = |temp: [&str; 2]| {
        let row = |(cells, temp): (&Vec<&str>, &str)| format!("{},{temp},{}1.5\n", cells[0], cells[2..].join(","));
        format!("trial,temp,acid,cycles,metal,value\n{}", lines.iter().zip(temp).map(row).collect::<String>())
    };
    bench.write("ours.csv", &table([lines[0][1], "59.5"]));
    bench.write("theirs.csv", &table(["20.5", "59.5"]));
    let theirs = said(&bench.run(&["tell", "study.toml", "theirs.csv"]));
    assert!(theirs.contains("warning: no trial of this table was made near its suggestion"), "{theirs}");
    let again = said(&bench.run(&["tell", "study.toml", "theirs.csv"]));
    assert!(!again.contains("warning"), "nothing was recorded: {again}");
    let ours = said(&bench.run(&["tell", "study.toml", "ours.csv", "--amend"]));
    assert!(!ours.contains("warning"), "{ours}");
}

#[test]
fn a_plate_on_a_finite_space_with_columns_of_other_names_is_told_and_moved() {
    let finite = "name = \"fin\"\n[space]\nn = { int = [1, 9] }\ns = { choice = [\"DMF\", \"MeCN\"] }\n";
    let bench = Bench::new(finite);
    bench.write("queue.csv", "n,s\n9,DMF\n2,MeCN\n");
    said(&bench.run(&["enqueue", "study.toml", "--csv", "queue.csv"]));
    said(&bench.run(&["ask", "study.toml", "-n", "2"]));
    bench.write("plate.csv", "trial;rpm;s;Yield (%)\n0;5;DMF;41,5\n1;2;MeCN;12\n");
    let columns = ["--column", "value=Yield (%)", "--column", "n=rpm"];
    let tell = |more: &[&str]| bench.run(&[&["tell", "study.toml", "plate.csv"], more].concat());
    assert!(!tell(&[]).status.success(), "there is no column value");
    let told = said(&tell(&columns));
    assert!(told.contains("trial 0: observed 41.5 at n = 5 instead of 9\ntrial 1: observed 12\n"), "{told}");
    for wrong in [["--column", "value=Foo"], ["--column", "foo=rpm"], ["--column", "rpm"]] {
        assert_eq!(tell(&wrong).status.code(), Some(2), "{wrong:?}");
    }
    said(&bench.run(&["amend", "study.toml", "1", "--set", "s=DMF"]));
    said(&bench.run(&["ask", "study.toml"]));
    verified(&bench, "fin");
    let trials = bench.json(&["trials", "fin", "--json"]);
    assert_eq!((&trials[0]["params"]["n"], &trials[1]["params"]["s"]), (&5.into(), &"DMF".into()));
}

#[test]
fn categories_that_look_like_numbers_do_not_decide_what_a_comma_means() {
    let bench = Bench::new("name = \"s\"\n[space]\nx = { float = [0.0, 9.0] }\nnum = { choice = [\"1\", \"2.5\"] }\n");
    bench.write("points.csv", "x;num\n0,5;2.5\n1,5;1\n");
    said(&bench.run(&["enqueue", "study.toml", "--csv", "points.csv"]));
    let queue = bench.json(&["enqueue", "study.toml", "--json"]);
    assert_eq!(queue.as_array().unwrap().len(), 2, "{queue}");
}

#[test]
fn a_proposed_command_has_its_file_in_quotes_where_a_shell_needs_them() {
    let bench = Bench::new(STUDY);
    bench.write("my study.toml", STUDY);
    said(&bench.run(&["ask", "my study.toml"]));
    bench.write("my study.toml", &STUDY.replace("60.0", "90.0"));
    let hint = String::from_utf8(bench.run(&["ask", "my study.toml"]).stderr).unwrap();
    assert!(hint.contains("`manyhands copy dye 'my study.toml'`"), "{hint}");
}
