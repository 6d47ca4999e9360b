//! Where the default store is: beside the study file, unless only the current folder has one that holds the study.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const STUDY: &str = "name = \"s\"\n[space]\nx = { float = [0.0, 1.0] }\n";
const COMMAND: &str = "[run]\ncommand = [\"echo\", \"1\"]\ntrials = 1\n";

/// A folder with a study file in its folder `lab`.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("lab")).unwrap();
    fs::write(folder.path().join("lab/study.toml"), STUDY).unwrap();
    fs::write(folder.path().join("lab/points.csv"), "x\n0.5\n").unwrap();
    folder
}

/// The program in this folder, without a store of the environment.
fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_manyhands"));
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    command.env_remove("MANYHANDS_STORE").env_remove("MANYHANDS_STORE_FILE");
    command
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    command(folder, arguments).output().unwrap()
}

/// Standard error of a command that must succeed.
fn done(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", said(&output));
    said(&output)
}

/// Standard error of a command that must be refused.
fn refused(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", said(&output));
    said(&output)
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// How many trials a study has.
fn trials(folder: &Path, arguments: &[&str]) -> usize {
    let output = run(folder, &[&["trials"], arguments, &["--json"]].concat());
    assert!(output.status.success(), "{arguments:?}: {}", said(&output));
    serde_json::from_slice::<Vec<serde_json::Value>>(&output.stdout).unwrap().len()
}

#[test]
fn a_store_is_beside_its_study_file_wherever_the_command_runs() {
    let top = folder();
    let (here, lab) = (top.path(), top.path().join("lab"));
    assert_eq!(done(here, &["ask", "lab/study.toml"]), "");
    assert!(lab.join("manyhands.db").exists() && !here.join("manyhands.db").exists());
    fs::create_dir(here.join("other")).unwrap();
    let absolute = lab.join("study.toml").display().to_string();
    symlink(&lab, here.join("link")).unwrap();
    for (place, file) in [
        (here.to_path_buf(), absolute.as_str()),
        (here.to_path_buf(), "link/study.toml"),
        (here.join("other"), "../lab/study.toml"),
        (lab.clone(), "study.toml"),
        (lab.clone(), "./study.toml"),
        (lab.clone(), "../lab/study.toml"),
        (lab.clone(), "../link/study.toml"),
    ] {
        assert_eq!(done(&place, &["trials", file]), "", "{file}");
        assert_eq!(trials(&place, &[file]), 1, "{file}");
    }
    assert_eq!((trials(&lab, &["s"]), done(&lab, &["studies"]).as_str()), (1, ""));
    // A name is looked for in the current folder.
    assert!(refused(here, &["trials", "s"]).contains("give the study file, beside which its store is"));
    assert!(refused(here, &["studies"]).contains("there is no store at manyhands.db"));
    // A study file that is a link has its store beside the link, where its commands run.
    symlink(lab.join("study.toml"), here.join("other/study.toml")).unwrap();
    assert_eq!(done(here, &["ask", "other/study.toml"]), "");
    assert!(here.join("other/manyhands.db").exists());
}

#[test]
fn a_store_that_is_named_is_used_wherever_the_file_is() {
    let top = folder();
    let here = top.path();
    done(here, &["ask", "lab/study.toml", "--store", "sqlite:a.db"]);
    for (name, value) in [("MANYHANDS_STORE", "sqlite:b.db"), ("MANYHANDS_STORE_FILE", "address")] {
        fs::write(here.join("address"), "sqlite:c.db\n").unwrap();
        assert!(command(here, &["ask", "lab/study.toml"]).env(name, value).output().unwrap().status.success());
    }
    let exist = ["a.db", "b.db", "c.db", "manyhands.db", "lab/manyhands.db"].map(|name| here.join(name).exists());
    assert_eq!(exist, [true, true, true, false, false]);
}

#[test]
fn a_store_of_the_current_folder_is_used_if_it_alone_holds_the_study() {
    let top = folder();
    let here = top.path();
    done(here, &["ask", "lab/study.toml", "--store", "sqlite:manyhands.db"]);
    let line = "using sqlite:manyhands.db in the current folder, which holds the study \"s\"; sqlite:lab/manyhands.db does not\n";
    assert_eq!(done(here, &["tell", "lab/study.toml", "0", "1"]), line);
    assert_eq!(done(here, &["status", "lab/study.toml"]), line);
    // Whether there is no store beside the file, or one that holds other studies.
    fs::write(here.join("lab/other.toml"), STUDY.replace("\"s\"", "\"t\"")).unwrap();
    assert_eq!(done(here, &["ask", "lab/other.toml"]), "");
    assert_eq!(done(here, &["ask", "lab/study.toml"]), line);
    assert_eq!((trials(here, &["s"]), trials(here, &["lab/other.toml"])), (2, 1));
    assert!(done(here, &["delete", "lab/study.toml", "--yes"]).starts_with(line));
    assert_eq!(done(here, &["ask", "lab/study.toml"]), "");
    assert_eq!(trials(&here.join("lab"), &["s"]), 1);
}

#[test]
fn of_two_stores_that_hold_the_study_the_one_beside_the_file_is_used() {
    let top = folder();
    let here = top.path();
    done(here, &["ask", "lab/study.toml", "--store", "sqlite:manyhands.db", "-n", "3"]);
    fs::copy(here.join("lab/study.toml"), here.join("study.toml")).unwrap();
    done(&here.join("lab"), &["ask", "study.toml"]);
    let line = "using sqlite:lab/manyhands.db, beside the study file; sqlite:manyhands.db in the current folder holds a study \"s\" too\n";
    assert_eq!(done(here, &["trials", "lab/study.toml"]), line);
    assert_eq!((trials(here, &["lab/study.toml"]), trials(here, &["study.toml"]), trials(here, &["s"])), (1, 3, 3));
    // One store under two names is not two stores.
    fs::remove_file(here.join("manyhands.db")).unwrap();
    symlink("lab/manyhands.db", here.join("manyhands.db")).unwrap();
    assert_eq!(done(here, &["trials", "lab/study.toml"]), "");
}

#[test]
fn what_cannot_be_read_in_the_current_folder_breaks_nothing() {
    let top = folder();
    let here = top.path();
    fs::write(here.join("manyhands.db"), "this is no database, and it is longer than the header of one would be")
        .unwrap();
    let line = "using sqlite:lab/manyhands.db; the store of the current folder cannot be read: manyhands.db is not a manyhands store";
    assert!(refused(here, &["status", "lab/study.toml"]).starts_with(line));
    let made = done(here, &["ask", "lab/study.toml"]);
    assert!(made.starts_with(line) && made.lines().count() == 1, "{made}");
    // The store beside the file holds the study: the other one does not matter.
    for verb in [&["trials", "lab/study.toml"][..], &["ask", "lab/study.toml"], &["verify", "lab/study.toml"]] {
        assert_eq!(done(here, verb), "");
    }
    fs::write(here.join("manyhands.db"), "").unwrap();
    fs::remove_file(here.join("lab/manyhands.db")).unwrap();
    assert_eq!(done(here, &["ask", "lab/study.toml"]), "");
    // A store beside the file that cannot be read is never passed over.
    done(here, &["ask", "lab/study.toml", "--store", "sqlite:manyhands.db"]);
    fs::write(here.join("lab/manyhands.db"), "this is no database, and it is longer than the header of one would be")
        .unwrap();
    let broken = run(here, &["trials", "lab/study.toml"]);
    assert!(
        !broken.status.success() && said(&broken).starts_with("error: lab/manyhands.db is not"),
        "{}",
        said(&broken)
    );
}

#[test]
fn verbs_that_need_a_study_make_none_and_say_how_to() {
    let top = folder();
    let here = top.path();
    let verbs: [&[&str]; 12] = [
        &["status", "FILE"],
        &["best", "FILE"],
        &["trials", "FILE"],
        &["predict", "FILE", "--at", "lab/points.csv"],
        &["plot", "FILE", "-o", "picture.svg"],
        &["export", "FILE"],
        &["export", "FILE", "--format", "log"],
        &["verify", "FILE"],
        &["tell", "FILE", "0", "1"],
        &["fail", "FILE", "0", "--reason", "spilled"],
        &["cancel", "FILE", "0"],
        &["delete", "FILE", "--yes"],
    ];
    let check = |file: &str, message: &str, hint: &str| {
        for verb in verbs {
            let words: Vec<&str> = verb.iter().map(|word| if *word == "FILE" { file } else { word }).collect();
            let said = refused(here, &words);
            assert_eq!(
                said,
                format!("error: {message}\nhint: {hint}, or name the store that has it with --store\n"),
                "{verb:?}"
            );
        }
    };
    let ask = "run `manyhands ask lab/study.toml` first";
    check("lab/study.toml", "there is no study \"s\" in sqlite:lab/manyhands.db: there is no such file", ask);
    assert!(!here.join("lab/manyhands.db").exists() && !here.join("manyhands.db").exists());
    fs::write(here.join("lab/run.toml"), STUDY.replace("\"s\"", "\"t\"") + COMMAND).unwrap();
    done(here, &["ask", "lab/study.toml"]);
    let run = "run `manyhands run lab/run.toml` or `manyhands ask lab/run.toml` first";
    check("lab/run.toml", "there is no study \"t\" in sqlite:lab/manyhands.db; it has s", run);
    assert_eq!(done(&here.join("lab"), &["trials", "s"]), "");
}

#[test]
fn a_study_file_in_a_folder_that_cannot_be_written_needs_a_store_elsewhere() {
    let top = folder();
    let (here, lab) = (top.path(), top.path().join("lab"));
    let mount = |arguments: &[&str]| {
        Command::new("mount")
            .args(arguments)
            .arg(&lab)
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    };
    if !mount(&["-t", "tmpfs", "tmpfs"]) {
        eprintln!("skipped: a folder that cannot be written (only root can mount one)");
        return;
    }
    fs::write(lab.join("study.toml"), STUDY).unwrap();
    assert!(mount(&["-o", "remount,ro"]));
    let [asked, elsewhere, read] = [
        &["ask", "lab/study.toml"][..],
        &["ask", "lab/study.toml", "--store", "sqlite:manyhands.db"],
        &["trials", "lab/study.toml"],
    ]
    .map(|arguments| run(here, arguments));
    Command::new("umount").arg("-l").arg(&lab).status().unwrap();
    assert!(!asked.status.success());
    assert!(
        said(&asked).contains("lab/manyhands.db cannot be written") && said(&asked).contains("--store"),
        "{}",
        said(&asked)
    );
    assert!(elsewhere.status.success() && read.status.success(), "{}", said(&read));
    assert!(said(&read).starts_with("using sqlite:manyhands.db in the current folder"), "{}", said(&read));
}

#[test]
fn commands_and_workers_find_the_store_beside_the_file() {
    let top = folder();
    let here = top.path();
    fs::write(here.join("lab/study.toml"), STUDY.to_string() + COMMAND).unwrap();
    let ran = run(here, &["run", "lab/study.toml", "--quiet"]);
    assert!(ran.status.success(), "{}", said(&ran));
    assert!(here.join("lab/manyhands.db").exists() && !here.join("manyhands.db").exists());
    done(here, &["worker", "lab/study.toml", "--quiet"]);
    done(here, &["export", "lab/study.toml", "--format", "log", "-o", "s.log"]);
    // A log is imported into the current folder, and so is a worker's study by its name looked for there.
    done(here, &["import", "s.log"]);
    assert!(here.join("manyhands.db").exists());
    done(here, &["worker", "s", "--quiet", "--command-from", "lab/study.toml"]);
    assert_eq!(trials(here, &["s"]), 1);
}

#[test]
fn a_study_of_the_current_folder_is_copied_into_another_by_its_name() {
    let top = folder();
    let (here, lab) = (top.path(), top.path().join("lab"));
    fs::write(here.join("old.toml"), STUDY.replace("\"s\"", "\"old\"")).unwrap();
    done(here, &["ask", "old.toml"]);
    let pending = refused(here, &["copy", "old", "lab/study.toml"]);
    assert!(pending.contains("1 trial pending") && !lab.join("manyhands.db").exists(), "{pending}");
    done(here, &["tell", "old.toml", "0", "3.5"]);
    let copied = done(here, &["copy", "old", "lab/study.toml"]);
    assert!(copied.contains("study s begins with 1 value of old"), "{copied}");
    assert!(
        copied.contains("using sqlite:manyhands.db in the current folder, which holds the study \"old\""),
        "{copied}"
    );
    assert_eq!(trials(here, &["lab/study.toml"]), 1);
    assert!(lab.join("manyhands.db").exists());
}
