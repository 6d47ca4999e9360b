//! Readers that stop reading, as `head` does: every verb keeps its own exit code.

use std::io::{PipeWriter, Write};
use std::process::Stdio;

use crate::common::Bench;

const STUDY: &str = "name = \"s\"\n[space]\nx = { float = [0.0, 1.0] }\n[run]\ncommand = [\"echo\", \"{x}\"]\ntrials = 2\nworkers = 2\n";

/// The end of a pipe whose reader has gone before the program starts: one that goes later may come too late for what fits into
/// the pipe.
fn nobody() -> PipeWriter {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer
}

/// The exit code and standard error of a command whose standard output nobody reads.
fn unread(bench: &Bench, arguments: &[&str], input: &str) -> (Option<i32>, String) {
    let mut command = bench.command(arguments);
    let mut child = command.stdin(Stdio::piped()).stdout(nobody()).stderr(Stdio::piped()).spawn().unwrap();
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_verb_whose_reader_has_gone_keeps_its_exit_code() {
    let bench = Bench::new(STUDY);
    assert_eq!(unread(&bench, &["run", "study.toml", "--quiet"], ""), (Some(0), String::new()));
    let verbs: [&[&str]; 6] = [
        &["status", "s"],
        &["trials", "s", "--json"],
        &["export", "s"],
        &["verify", "s"],
        &["verify", "s", "--json"],
        &["studies"],
    ];
    for arguments in verbs {
        assert_eq!(unread(&bench, arguments, ""), (Some(0), String::new()), "{arguments:?}");
    }
    // What is wrong is still reported.
    assert_eq!(unread(&bench, &["status", "other"], "").0, Some(2));
}

#[test]
fn a_bad_line_is_reported_although_nobody_reads_what_was_recorded() {
    let bench = Bench::new(STUDY);
    assert!(bench.run(&["ask", "study.toml", "-n", "2"]).status.success());
    let lines = "{\"trial\":0,\"value\":1}\n{\"trial\":1,\"vlaue\":2}\n";
    let (code, told) = unread(&bench, &["tell", "s", "-"], lines);
    assert_eq!(code, Some(2), "{told}");
    assert!(told.starts_with("error: line 2 (the lines before it are recorded): \"vlaue\" is not known"), "{told}");
    // Nor does another failure to write hide it; without a bad line that failure is the error.
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    for (arguments, code, said) in [
        (["tell", "s", "7", "2"], 2, "there is no trial 7"),
        (["tell", "s", "1", "2"], 1, "cannot write to standard output"),
    ] {
        let output = bench.command(&arguments).stdout(full()).output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(code) && told.contains(said), "{told}");
    }
}

#[test]
fn an_error_that_nobody_reads_has_its_exit_code() {
    let bench = Bench::new(STUDY);
    let status = bench.command(&["status", "other"]).stderr(nobody()).status().unwrap();
    assert_eq!(status.code(), Some(2));
}
