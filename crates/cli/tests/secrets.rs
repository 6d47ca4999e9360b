//! What opens a store is never shown and never passed on, and who writes the store decides no more than the worker allows.

use std::os::unix::fs::PermissionsExt;
use std::process::Output;

use crate::common::Bench;

const STUDY: &str = r#"name = "s"
[space]
x = { float = [0.0, 1.0] }
word = { choice = ["it's \"a\" $(touch harm)", "b; touch harm `touch harm`"] }

[run]
command = ["./box.sh", "{x}"]
trials = 1
"#;

fn bench() -> Bench {
    Bench::new(STUDY)
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stdout.as_slice(), &output.stderr].concat()).into_owned()
}

/// Runs with these variables instead of the store's usual one.
fn run_with(bench: &Bench, variables: &[(&str, &str)], arguments: &[&str]) -> Output {
    let mut command = bench.command(arguments);
    command.env_remove("MANYHANDS_STORE").envs(variables.iter().copied()).output().unwrap()
}

#[test]
fn no_help_and_no_error_shows_a_password() {
    let bench = bench();
    let url = "postgres://me:sesame@127.0.0.1:1/db";
    let variables = [("MANYHANDS_STORE", url), ("PGPASSWORD", "sesame")];
    for arguments in [
        &["status", "--help"][..],
        &["run", "--help"],
        &["status", "s"],
        &["status", "s", "--json"],
        &["status", url],
        &["status", "s", url],
        &["status", "s", url, "--json"],
        &["status", "s", "--stroe", url],
        &["status", "s", "--stroe=postgres://me:sesame@h/db"],
        &["status", "s", "--store=host=h password='a sesame'"],
        &["status", "s", "--store", "postgres://me:a/sesame@h/db"],
        &["status", "s", "--store", "postgres://me@h/db?password=a&sesame"],
        &["ask", "host=h password=sesame"],
        &["run", "study.toml", "--store", "postgres://me:sesame@127.0.0.1:1/db", "--workers", "x"],
    ] {
        let said = said(&run_with(&bench, &variables, arguments));
        assert!(!said.contains("sesame"), "{arguments:?}: {said}");
        assert!(!said.is_empty());
    }
}

#[test]
fn a_password_on_the_command_line_works_with_one_warning_that_names_the_private_ways() {
    let bench = bench();
    let url = "postgres://me:sesame@127.0.0.1:1/db";
    let on_line = said(&run_with(&bench, &[], &["run", "study.toml", "--store", url]));
    assert_eq!(on_line.matches("warning:").count(), 1, "{on_line}");
    for way in ["MANYHANDS_STORE_FILE", "~/.pgpass", "PGPASSFILE"] {
        assert!(on_line.contains(way), "{on_line}");
    }
    assert!(on_line.contains("postgres://me@127.0.0.1:1/db cannot be used"), "{on_line}");
    let of_environment = said(&run_with(&bench, &[("MANYHANDS_STORE", url)], &["run", "study.toml"]));
    assert!(!of_environment.contains("warning:"), "{of_environment}");
}

#[test]
fn the_address_may_be_in_a_file() {
    let bench = bench();
    let file = bench.write("address", " sqlite:of-file.db\n");
    let file = file.to_str().unwrap();
    assert!(run_with(&bench, &[("MANYHANDS_STORE_FILE", file)], &["ask", "study.toml"]).status.success());
    assert!(bench.path().join("of-file.db").exists());
    let both = [("MANYHANDS_STORE_FILE", file), ("MANYHANDS_STORE", "sqlite:other.db")];
    let refused = run_with(&bench, &both, &["ask", "study.toml"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(said(&refused).contains("are both set"), "{}", said(&refused));
    assert!(run_with(&bench, &both, &["ask", "study.toml", "--store", "sqlite:mine.db"]).status.success());
    assert!(bench.path().join("mine.db").exists() && !bench.path().join("other.db").exists());
    let missing = said(&run_with(&bench, &[("MANYHANDS_STORE_FILE", "nowhere")], &["ask", "study.toml"]));
    assert!(missing.contains("nowhere, which MANYHANDS_STORE_FILE names: there is no such file"), "{missing}");
}

#[test]
fn a_file_with_a_password_that_others_may_read_is_warned_of() {
    let bench = bench();
    let path = bench.write("address", "postgres://me:sesame@127.0.0.1:1/db");
    for (mode, warned) in [(0o600, false), (0o644, true)] {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        let said = said(&run_with(&bench, &[("MANYHANDS_STORE_FILE", "address")], &["status", "s"]));
        assert_eq!(said.contains("others may read it; chmod 600"), warned, "{said}");
        assert!(!said.contains("sesame"), "{said}");
    }
}

#[test]
fn a_command_inherits_nothing_that_opens_the_store() {
    let bench = bench();
    bench.script("box.sh", "env > seen\necho 1\n");
    bench.write("address", "sqlite:m.db");
    let variables = [
        ("MANYHANDS_STORE_FILE", "address"),
        ("PGPASSWORD", "sesame"),
        ("PGPASSFILE", "/sesame"),
        ("PGSERVICE", "sesame"),
        ("PGSERVICEFILE", "/sesame"),
        ("OTHER", "stays"),
    ];
    assert!(run_with(&bench, &variables, &["run", "study.toml"]).status.success());
    let seen = std::fs::read_to_string(bench.path().join("seen")).unwrap();
    assert!(!seen.contains("sesame") && !seen.contains("MANYHANDS_STORE"), "{seen}");
    assert!(seen.contains("OTHER=stays") && seen.contains("MANYHANDS_TRIAL=0"), "{seen}");
    // Unless the study file says so.
    bench.write("study.toml", &STUDY.replace("trials = 1", "trials = 2\nenv = { PGPASSWORD = \"given\" }"));
    assert!(run_with(&bench, &variables, &["run", "study.toml"]).status.success());
    assert!(std::fs::read_to_string(bench.path().join("seen")).unwrap().contains("PGPASSWORD=given"));
}

#[test]
fn a_worker_may_be_held_to_the_command_of_its_own_file() {
    let bench = bench();
    let harmful = STUDY.replace("./box.sh", "./harm.sh");
    bench.write("stored.toml", &harmful);
    bench.script("harm.sh", "touch harm\necho 1\n");
    bench.script("box.sh", "touch own\necho 1\n");
    // Only running keeps a file's text, and a missing program ends it before a trial is told.
    assert!(bench.run(&["ask", "stored.toml"]).status.success());
    assert!(bench.run(&["cancel", "s", "0"]).status.success());
    bench.write("other.toml", &STUDY.replace("name = \"s\"", "name = \"t\""));
    bench.write("changed.toml", &STUDY.replace("[0.0, 1.0]", "[0.0, 2.0]"));
    bench.write("none.toml", STUDY.split("[run]").next().unwrap());
    for (file, reason) in [
        ("other.toml", "describes the study t, not s"),
        ("changed.toml", "was created from another file"),
        ("none.toml", "has no [run] with a command"),
        ("missing.toml", "there is no such file"),
    ] {
        let refused = bench.run(&["worker", "s", "--command-from", file]);
        assert_eq!(refused.status.code(), Some(2), "{}", said(&refused));
        assert!(said(&refused).contains(reason), "{}", said(&refused));
    }
    let held = bench.run(&["worker", "s", "--command-from", "study.toml"]);
    assert!(held.status.success(), "{}", said(&held));
    assert!(bench.path().join("own").exists() && !bench.path().join("harm").exists());
}

#[test]
fn a_quoted_placeholder_keeps_a_shell_from_running_a_value() {
    let command = r#"command = ["sh", "-c", "printf '%s\n' {word:sh} >> words; echo 1"]"#;
    let bench = Bench::new(&STUDY.replace("command = [\"./box.sh\", \"{x}\"]", command).replace("= 1", "= 8"));
    let output = bench.run(&["run", "study.toml"]);
    assert!(output.status.success(), "{}", said(&output));
    assert!(!bench.path().join("harm").exists());
    let words = std::fs::read_to_string(bench.path().join("words")).unwrap();
    assert_eq!(words.lines().count(), 8, "{words}");
    let allowed = ["it's \"a\" $(touch harm)", "b; touch harm `touch harm`"];
    assert!(words.lines().all(|word| allowed.contains(&word)), "{words}");
}
