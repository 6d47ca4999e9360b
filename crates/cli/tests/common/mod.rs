//! A folder with a study in it, and the program to run on it.

#[path = "../../../store/tests/common/postgres.rs"]
pub mod postgres;

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::Duration;

use manyhands_core::{Event, Study};
use manyhands_store::{Access, Location, Session};
use postgres::Server;
use rustix::process::{Pid, Signal, kill_process};

/// The tests' PostgreSQL server; none where it is not installed.
pub fn server() -> Option<&'static Server> {
    static SERVER: OnceLock<Option<Server>> = OnceLock::new();
    SERVER.get_or_init(Server::start).as_ref()
}

/// A folder of its own for a test.
pub struct Bench {
    pub folder: tempfile::TempDir,
    pub store: String,
}

impl Bench {
    /// A study of one parameter whose command is `./box.sh X TRIAL`, with these further lines of `[run]`.
    pub fn of_box(run: &str, script: &str) -> Self {
        let bench = Self::new(&box_study(run));
        bench.script("box.sh", script);
        bench
    }

    /// The exit code of a command, and what it said on standard error.
    pub fn said(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let output = self.run(arguments);
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    }

    /// With a study file, and the default store.
    pub fn new(study: &str) -> Self {
        let bench = Self { folder: tempfile::tempdir().unwrap(), store: "sqlite:manyhands.db".to_string() };
        bench.write("study.toml", study);
        bench
    }

    pub fn at(self, store: String) -> Self {
        Self { store, ..self }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// An executable shell script.
    pub fn script(&self, name: &str, text: &str) {
        let path = self.write(name, &format!("#!/bin/sh\n{text}"));
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// The program with these arguments, in this folder.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_manyhands"));
        command.args(arguments).current_dir(self.path()).env("MANYHANDS_STORE", &self.store).stdin(Stdio::null());
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs it with this on standard input.
    pub fn feed(&self, arguments: &[&str], input: &str) -> Output {
        let mut command = self.command(arguments);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // It may have refused before it read anything.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        child.wait_with_output().unwrap()
    }

    /// Its standard output as JSON; it must succeed.
    pub fn json(&self, arguments: &[&str]) -> serde_json::Value {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// A session on the study of the file, straight on its store.
    pub fn session(&self, name: &str) -> Session {
        let location = match self.store.parse().unwrap() {
            Location::Sqlite(path) => Location::Sqlite(self.path().join(path)),
            other => other,
        };
        Session::open(location.open(Access::Write).unwrap(), name, "").unwrap()
    }

    /// Replays the log of a study and chooses all of it anew.
    pub fn verify(&self, name: &str) -> Vec<Event> {
        let session = self.session(name);
        let events = session.ledger().events().to_vec();
        Study::replay(session.spec().clone(), &events).unwrap();
        Study::verify(session.spec(), &events).unwrap();
        events
    }
}

/// The program with these arguments, going on beside the test.
pub fn start(bench: &Bench, arguments: &[&str]) -> Child {
    bench.command(arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

pub fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_raw(child.id() as i32).unwrap(), signal).unwrap();
}

/// Waits for what must happen soon.
pub fn wait_for(what: impl Fn() -> bool) {
    for _ in 0..3000 {
        if what() {
            return;
        }
        sleep(Duration::from_millis(10));
    }
    panic!("it did not happen within 30 seconds");
}

/// What a run said on standard error that it recorded: trial and value.
pub fn acknowledged(talk: &str) -> Vec<(usize, f64)> {
    let value = |line: &str| {
        let (trial, rest) = line.strip_prefix("trial ")?.split_once(": ")?;
        let (value, _) = rest.split_once(" in ")?;
        Some((trial.parse().ok()?, value.parse().ok()?))
    };
    talk.lines().filter_map(value).collect()
}

/// Processes that were started for trials of a folder and are still there.
pub fn left_behind(folder: &Path) -> Vec<u32> {
    let marker = format!("MANYHANDS_FOLDER={}", folder.canonicalize().unwrap().display());
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        if environment.split(|byte| *byte == 0).any(|variable| variable == marker.as_bytes()) {
            found.push(pid);
        }
    }
    found
}

/// The study file of [`Bench::of_box`].
pub fn box_study(run: &str) -> String {
    format!(
        "name = \"s\"\nseed = 1\n[space]\nx = {{ float = [0.0, 1.0] }}\n[run]\n\
         command = [\"./box.sh\", \"{{x}}\", \"{{trial}}\"]\n{run}"
    )
}
