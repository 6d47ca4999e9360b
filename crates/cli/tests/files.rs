//! Files appear whole or not at all, and looking changes nothing.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::common::{Bench, server};
use manyhands_store::{Access, Location, Session, Source};

const STUDY: &str = "name = \"s\"\n[space]\nx = { float = [0.0, 1.0] }\n";

/// The verbs that look at a study.
const READING: [&[&str]; 7] = [
    &["status", "STUDY"],
    &["best", "STUDY"],
    &["trials", "STUDY"],
    &["predict", "STUDY", "--at", "points.csv"],
    &["plot", "STUDY", "-o", "picture.svg"],
    &["export", "STUDY"],
    &["studies"],
];

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn of<'a>(verb: &[&'a str], study: &'a str) -> Vec<&'a str> {
    verb.iter().map(|word| if *word == "STUDY" { study } else { word }).collect()
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// With a trial that was told.
fn told() -> Bench {
    let bench = Bench::new(STUDY);
    bench.write("points.csv", "x\n0.5\n");
    assert!(bench.run(&["ask", "study.toml"]).status.success());
    assert!(bench.run(&["tell", "s", "0", "1.5"]).status.success());
    bench
}

#[test]
fn looking_at_a_study_that_is_not_there_makes_neither_a_store_nor_a_study() {
    let bench = Bench::new(STUDY);
    bench.write("points.csv", "x\n0.5\n");
    let before = names(bench.path());
    for verb in READING {
        let output = bench.run(&of(verb, "study.toml"));
        assert_eq!(output.status.code(), Some(2), "{verb:?}: {}", said(&output));
        let expected =
            if verb == ["studies"] { "no store at manyhands.db" } else { "no study \"s\" in sqlite:manyhands.db" };
        assert!(said(&output).contains(expected), "{verb:?}: {}", said(&output));
        assert_eq!(names(bench.path()), before, "{verb:?}");
    }
    bench.write("other.toml", &STUDY.replace("\"s\"", "\"t\""));
    assert!(bench.run(&["ask", "other.toml"]).status.success());
    for verb in &READING[..6] {
        let output = bench.run(&of(verb, "study.toml"));
        assert!(said(&output).contains("there is no study \"s\""), "{verb:?}: {}", said(&output));
    }
    assert_eq!(bench.json(&["studies", "--json"]).as_array().unwrap().len(), 1);
}

#[test]
fn an_older_store_is_read_as_it_is() {
    let bench = Bench::new(STUDY);
    let connection = rusqlite_of(&bench);
    connection.execute_batch(include_str!("../../store/tests/fixtures/sqlite-schema-1.sql")).unwrap();
    drop(connection);
    let before = std::fs::read(bench.path().join("manyhands.db")).unwrap();
    let output = bench.run(&["trials", "old"]);
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(std::fs::read(bench.path().join("manyhands.db")).unwrap(), before);
}

#[test]
fn a_store_from_before_amendments_is_read_as_it_is_and_upgraded_by_the_first_that_writes() {
    let bench = Bench::new(STUDY);
    bench.write("points.csv", "temp,metal\n50,Pt\n");
    let connection = rusqlite_of(&bench);
    connection.execute_batch(include_str!("../../store/tests/fixtures/sqlite-schema-5.sql")).unwrap();
    drop(connection);
    let bytes = || std::fs::read(bench.path().join("manyhands.db")).unwrap();
    let before = bytes();
    for verb in READING {
        let output = bench.run(&of(verb, "older"));
        assert!(output.status.success(), "{verb:?}: {}", said(&output));
        assert_eq!(bytes(), before, "{verb:?}");
    }
    let version = || rusqlite_of(&bench).pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(version(), 5);
    let refused = bench.run(&["amend", "older", "4", "1"]);
    assert!(!refused.status.success() && said(&refused).contains("trial 4 is pending"), "{}", said(&refused));
    for verb in [
        &["amend", "older", "1", "9.99"][..],
        &["retry", "older", "2"],
        &["tell", "older", "2", "1.25"],
        &["amend", "older", "6", "--set", "temp=51.5"],
        &["ask", "older", "--key", "plate", "-n", "2"],
        &["ask", "older"],
        &["verify", "older", "--choices"],
    ] {
        let output = bench.run(verb);
        assert!(output.status.success(), "{verb:?}: {}", said(&output));
    }
    assert!(version() > 5);
    let session = bench.session("older");
    let values: Vec<Option<f64>> = session.ledger().trials().iter().map(|trial| trial.value()).collect();
    assert_eq!(values, [Some(1.5), Some(9.99), Some(1.25), None, None, None, Some(2.5), None]);
    assert_eq!(session.ledger().trial(2).unwrap().attempt(), 1);
    bench.verify("older");
}

fn rusqlite_of(bench: &Bench) -> rusqlite::Connection {
    rusqlite::Connection::open(bench.path().join("manyhands.db")).unwrap()
}

/// Mounts a folder; not for everyone.
fn mount(arguments: &[&str], folder: &Path) -> bool {
    let mut mount = Command::new("mount");
    mount.args(arguments).arg(folder).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

fn unmount(folder: &Path) {
    Command::new("umount").arg("-l").arg(folder).status().unwrap();
}

#[test]
fn a_store_that_can_only_be_read_is_read_and_writing_is_refused() {
    let bench = told();
    let folder = bench.path().join("ro");
    std::fs::create_dir(&folder).unwrap();
    if !mount(&["-t", "tmpfs", "tmpfs"], &folder) {
        eprintln!("skipped: a store on a file system that is read only (only root can mount one)");
        return;
    }
    std::fs::copy(bench.path().join("manyhands.db"), folder.join("a ?#%.db")).unwrap();
    assert!(mount(&["-o", "remount,ro"], &folder));
    let bench = bench.at("sqlite:ro/a ?#%.db".to_string());
    let outputs: Vec<Output> = READING.iter().map(|verb| bench.run(&of(verb, "study.toml"))).collect();
    let refused = bench.run(&["tell", "s", "0", "2"]);
    unmount(&folder);
    for (verb, output) in READING.iter().zip(outputs) {
        assert!(output.status.success(), "{verb:?}: {}", said(&output));
    }
    assert!(!refused.status.success());
    assert!(said(&refused).contains("cannot be written"), "{}", said(&refused));
}

#[test]
fn a_user_who_may_only_select_can_look() {
    let Some(server) = server() else { return };
    let url = server.database();
    let name = url.rsplit_once('/').unwrap().1.to_string();
    let bench = told().at(url.clone());
    let empty = bench.run(&["status", "study.toml"]);
    assert!(said(&empty).contains("it has no tables of manyhands"), "{}", said(&empty));
    assert!(bench.run(&["ask", "study.toml"]).status.success());
    assert!(bench.run(&["tell", "s", "0", "1.5"]).status.success());
    server.sql(&name, "CREATE ROLE looker LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO looker");
    let bench = bench.at(url.replace("manyhands@", "looker@"));
    for verb in READING {
        let output = bench.run(&of(verb, "study.toml"));
        assert!(output.status.success(), "{verb:?}: {}", said(&output));
    }
    assert!(!bench.run(&["ask", "study.toml"]).status.success());
}

#[test]
fn what_cannot_be_opened_leaves_nothing_behind() {
    let bench = Bench::new(STUDY);
    bench.write("wrong.toml", "name = 1");
    bench.write("foreign.db", "this is no database, and long enough to be looked at as if it were one, or so it seems");
    bench.write("bad.log", "{}");
    let before = names(bench.path());
    for arguments in [
        &["ask", "wrong.toml"][..],
        &["import", "bad.log"],
        &["ask", "study.toml", "--store", "sqlite:foreign.db"],
        &["ask", "study.toml", "--store", "sqlite:none/m.db"],
        &["tell", "s", "0", "1"],
        &["tell", "study.toml", "0", "1"],
        &["fail", "study.toml", "0", "--reason", "why"],
        &["cancel", "study.toml", "0"],
        &["delete", "study.toml", "--yes"],
        &["run", "study.toml"],
        &["worker", "study.toml"],
    ] {
        assert!(!bench.run(arguments).status.success(), "{arguments:?}");
        assert_eq!(names(bench.path()), before, "{arguments:?}");
    }
    for line in ["{\"trial\":0,\"value\":1}", "{\"params\":{\"x\":2},\"value\":1}"] {
        assert!(!bench.feed(&["tell", "study.toml", "-"], line).status.success(), "{line}");
        assert_eq!(names(bench.path()), before, "{line}");
    }
    // An evaluation made elsewhere may be the first thing that is known of a study.
    assert!(bench.feed(&["tell", "study.toml", "-"], "{\"params\":{\"x\":0.5},\"value\":1}").status.success());
}

#[test]
fn an_empty_file_is_no_store_and_stays_empty_unless_a_study_is_made_in_it() {
    let bench = Bench::new(STUDY).at("sqlite:empty.db".to_string());
    bench.write("points.csv", "x\n0.5\n");
    let path = bench.write("empty.db", "");
    let telling: [&[&str]; 2] = [&["tell", "STUDY", "0", "1"], &["delete", "STUDY", "--yes"]];
    for verb in READING.iter().chain(&telling) {
        let output = bench.run(&of(verb, "study.toml"));
        assert_eq!(output.status.code(), Some(2), "{verb:?}: {}", said(&output));
        assert!(said(&output).contains("there is no store at empty.db: the file is empty"), "{}", said(&output));
        assert_eq!(std::fs::read(&path).unwrap(), b"");
    }
    assert!(bench.run(&["ask", "study.toml"]).status.success());
}

#[test]
fn a_disk_without_room_for_a_store_has_nothing_of_one() {
    let bench = Bench::new(STUDY);
    let folder = bench.path().join("disk");
    std::fs::create_dir(&folder).unwrap();
    for kib in [4, 16, 32, 48, 64] {
        if !mount(&["-t", "tmpfs", "-o", &format!("size={kib}k"), "tmpfs"], &folder) {
            eprintln!("skipped: a full disk (only root can mount one)");
            return;
        }
        let output = bench.run(&["studies", "--store", "sqlite:disk/m.db"]);
        let made = bench.run(&["ask", "study.toml", "--store", "sqlite:disk/m.db"]);
        let (left, said) = (names(&folder), said(&made));
        unmount(&folder);
        assert!(!output.status.success());
        if !made.status.success() {
            assert!(said.contains("has no room to write"), "{kib}: {said}");
            // A store that was opened and could not take the study in is whole.
            assert!(left.is_empty() || left == ["m.db"], "{kib}: {left:?} {said}");
        }
    }
}

#[test]
fn an_export_or_a_picture_is_whole_and_what_was_there_stays_if_it_fails() {
    let bench = told();
    for (arguments, file) in
        [(&["export", "s", "-o", "a.csv"][..], "a.csv"), (&["plot", "s", "-o", "a.svg"][..], "a.svg")]
    {
        let path = bench.write(file, "old");
        let limited =
            format!("trap '' XFSZ; ulimit -f 0; exec {} {}", env!("CARGO_BIN_EXE_manyhands"), arguments.join(" "));
        let mut shell = Command::new("sh");
        let output = shell.args(["-c", &limited]).current_dir(bench.path()).output().unwrap();
        assert!(!output.status.success(), "{}", said(&output));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
        assert!(bench.run(arguments).status.success());
        assert_ne!(std::fs::read_to_string(&path).unwrap(), "old");
        let hidden: Vec<String> = names(bench.path()).into_iter().filter(|name| name.starts_with('.')).collect();
        assert_eq!(hidden, [""; 0]);
    }
    let nowhere = bench.run(&["export", "s", "-o", "none/a.csv"]);
    assert!(said(&nowhere).contains("cannot write none/a.csv: there is no folder none"), "{}", said(&nowhere));
    assert!(bench.run(&["export", "s", "-o", "/dev/stdout"]).status.success());
    let before = names(bench.path());
    assert_eq!(bench.run(&["export", "s", "-o", "-"]).stdout, bench.run(&["export", "s"]).stdout);
    assert!(!bench.run(&["plot", "s", "-o", "-"]).status.success());
    assert!(!bench.run(&["verify", "s", "--salvage", "-"]).status.success());
    assert_eq!(names(bench.path()), before);
}

/// As of a newer manyhands, which knows a key that this one does not.
const NEWER: &str = "name = \"s\"\n[space]\nx = { float = [0.0, 1.0] }\n[run]\ncommand = [\"true\"]\nnewer = 1\n";

#[test]
fn a_stored_run_that_cannot_be_read_matters_only_to_verbs_that_need_it() {
    let bench = Bench::new(STUDY);
    bench.write("points.csv", "x\n0.5\n");
    let store = Location::Sqlite(bench.path().join("manyhands.db")).open(Access::Create).unwrap();
    let source = Source::read(NEWER, |path| panic!("no file {path}")).unwrap();
    Session::open_or_create(store, source).unwrap().ask(2).unwrap();
    let telling: [&[&str]; 3] =
        [&["tell", "STUDY", "0", "1"], &["fail", "STUDY", "1", "--reason", "x"], &["verify", "STUDY"]];
    for study in ["s", "study.toml"] {
        for verb in telling.iter().chain(&READING) {
            let output = bench.run(&of(verb, study));
            let is_again = said(&output).contains("is failed");
            assert!(output.status.success() || is_again, "{verb:?} {study}: {}", said(&output));
        }
    }
    for verb in [&["ask", "s"][..], &["worker", "s"]] {
        let output = bench.run(&[verb, &["--json"]].concat());
        assert_eq!(output.status.code(), Some(2), "{verb:?}");
        let error: serde_json::Value = serde_json::from_str(said(&output).trim()).unwrap();
        assert_eq!(error["error"]["code"], "stored-run", "{error}");
        assert!(error["error"]["message"].as_str().unwrap().contains("unknown key \"newer\""), "{error}");
        assert!(error["error"]["hint"].as_str().unwrap().contains("--command-from"), "{error}");
    }
    // With a file of one's own nothing of the stored one is needed.
    assert!(bench.run(&["ask", "study.toml"]).status.success());
    let log = bench.run(&["export", "s", "--format", "log", "-o", "s.log"]);
    assert!(log.status.success(), "{}", said(&log));
    let imported = bench.run(&["import", "s.log", "--store", "sqlite:other.db"]);
    assert!(imported.status.success(), "{}", said(&imported));
}

#[test]
fn a_folder_that_is_not_there_is_refused_before_anything_is_done() {
    let bench = Bench::of_box("trials = 1\n", "echo 1\n");
    for arguments in [
        "run study.toml --store sqlite:missing/x.db",
        "studies --store sqlite:missing/x.db",
        "run study.toml --plot missing/x.svg",
    ] {
        let (code, talk) = bench.said(&arguments.split(' ').collect::<Vec<_>>());
        assert_eq!((code, talk.contains("there is no folder missing")), (Some(2), true), "{arguments}: {talk}");
        assert!(!bench.path().join("missing").exists() && !bench.path().join("manyhands.db").exists());
    }
    assert_eq!(bench.said(&["run", "study.toml"]).0, Some(0));
    for arguments in [
        "plot study.toml -o missing/x.svg",
        "export study.toml -o missing/x.csv",
        "verify study.toml --salvage missing/x.log",
        "ask study.toml --csv missing/x.csv",
    ] {
        let (code, talk) = bench.said(&arguments.split(' ').collect::<Vec<_>>());
        assert_eq!((code, talk.contains("there is no folder missing")), (Some(2), true), "{arguments}: {talk}");
        assert!(!bench.path().join("missing").exists());
    }
    let (_, talk) = bench.said(&["verify", "study.toml", "--salvage", "/proc/x"]);
    assert!(talk.contains("cannot write /proc/x: no file can be made in /proc"), "{talk}");
}

#[test]
fn characters_that_a_png_lacks_are_named() {
    let bench =
        Bench::new("name = \"s\"\n[space]\nx = { float = [0.0, 1.0] }\n\"触媒\" = { choice = [\"a\", \"b\"] }\n");
    assert!(bench.run(&["ask", "study.toml"]).status.success());
    assert!(bench.run(&["tell", "study.toml", "0", "1.5"]).status.success());
    let said = |file: &str| String::from_utf8(bench.run(&["plot", "study.toml", "-o", file]).stderr).unwrap();
    assert!(said("s.png").contains("boxes in place of characters such as 触媒"));
    assert_eq!(said("s.svg"), "wrote s.svg\n");
}
