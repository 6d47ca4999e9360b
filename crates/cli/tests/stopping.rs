//! Stopping `run` and `worker`: at once, whatever they are computing or waiting for, and without losing a result.

use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::common::{Bench, left_behind, signal, start, wait_for};
use manyhands_core::{Event, TrialState};
use rustix::process::Signal;

/// Gone within three seconds, and as much again for a machine that has other things to do.
const SOON: Duration = Duration::from_secs(6);

fn study(dimensions: usize, run: &str) -> String {
    let parameters: String = (0..dimensions).map(|i| format!("x{i} = {{ float = [0.0, 1.0] }}\n")).collect();
    format!(
        "name = \"s\"\nseed = 1\n[space]\n{parameters}[run]\ncommand = [\"./box.sh\", \"{{x0}}\", \"{{trial}}\"]\n{run}"
    )
}

fn bench(run: &str, script: &str) -> Bench {
    let bench = Bench::new(&study(1, run));
    bench.script("box.sh", script);
    bench
}

/// A study in six dimensions with one trial and so many evaluations made elsewhere that choosing takes long.
fn large(count: usize) -> Bench {
    let bench = Bench::new(&study(6, "workers = 2\n"));
    bench.script("box.sh", "echo x >> started\necho 1\n");
    assert!(bench.run(&["ask", "study.toml"]).status.success());
    assert!(bench.run(&["tell", "study.toml", "0", "1"]).status.success());
    let mut state = 1_u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let line = |_| {
        let x: Vec<f64> = (0..6).map(|_| random()).collect();
        let params: Vec<String> = x.iter().enumerate().map(|(i, x)| format!("\"x{i}\":{x}")).collect();
        let value: f64 = x.iter().map(|x| (7.0 * x).sin() - x * x).sum();
        format!("{{\"params\":{{{}}},\"value\":{value}}}\n", params.join(","))
    };
    let told = bench.feed(&["tell", "study.toml", "-"], &(0..count).map(line).collect::<String>());
    assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
    bench
}

/// Its end, which must come soon, and what it said.
fn end_soon(mut child: Child) -> (ExitStatus, String) {
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if start.elapsed() > SOON {
            child.kill().unwrap();
            panic!("it is still there after {SOON:?}");
        }
        sleep(Duration::from_millis(10));
    };
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    (status, said)
}

/// How much time a process has spent computing, in hundredths of a second.
fn spent(child: &Child) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
    stat.rsplit_once(')').unwrap().1.split_whitespace().nth(11).unwrap().parse().unwrap()
}

#[test]
fn one_ctrl_c_while_trials_are_chosen_starts_none_of_them() {
    let bench = large(1200);
    let child = start(&bench, &["run", "study.toml", "--trials", "3"]);
    // It reads the log in no time; what it then computes is the first choice.
    wait_for(|| spent(&child) >= 20);
    signal(&child, Signal::INT);
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains("stopping; Ctrl-C again to stop now"), "{said}");
    assert!(!bench.path().join("started").exists(), "{said}");
    let session = bench.session("s");
    assert_eq!((session.ledger().trials().len(), session.ledger().pending()), (1203, 2));
    // The next run takes the same trials over.
    let more = bench.run(&["run", "study.toml", "--trials", "3"]);
    let said = String::from_utf8(more.stderr).unwrap();
    assert!(more.status.success(), "{said}");
    let session = bench.session("s");
    assert_eq!((session.ledger().trials().len(), session.ledger().pending()), (1203, 0), "{said}");
}

#[test]
fn being_told_to_end_while_many_points_are_computed_with_is_obeyed_at_once() {
    let bench = large(2500);
    let child = start(&bench, &["run", "study.toml", "--trials", "5"]);
    // The log is read, and the fit that is due is under way.
    wait_for(|| spent(&child) >= 30);
    signal(&child, Signal::TERM);
    let (status, said) = end_soon(child);
    assert_eq!(status.code(), Some(130), "{said}");
    assert!(said.contains("interrupted") && !bench.path().join("started").exists(), "{said}");

    // A study that has its one trial: only the closing report is left to compute.
    let child = start(&bench, &["run", "study.toml", "--trials", "1"]);
    wait_for(|| spent(&child) >= 30);
    signal(&child, Signal::INT);
    let (status, said) = end_soon(child);
    assert_eq!(status.code(), Some(130), "{said}");
    let ledger = bench.session("s").ledger().clone();
    assert_eq!((ledger.count(TrialState::Observed), ledger.trials().len()), (2501, 2501));
}

#[test]
fn commands_that_ignore_being_asked_to_end_do_not_delay_it() {
    let bench = bench("workers = 3\n", "trap '' TERM INT HUP\necho x >> started\nwhile :; do sleep 0.1; done\n");
    let child = start(&bench, &["run", "study.toml"]);
    wait_for(|| std::fs::read_to_string(bench.path().join("started")).is_ok_and(|text| text.lines().count() == 3));
    signal(&child, Signal::TERM);
    let (status, said) = end_soon(child);
    assert_eq!(status.code(), Some(130), "{said}");
    assert_eq!(said.matches("stopped, to be run again").count(), 3, "{said}");
    assert!(
        said.starts_with("stopping 3 running trials")
            && said.ends_with("interrupted; run the same command again to continue\n"),
        "{said}"
    );
    wait_for(|| left_behind(bench.path()).is_empty());
    assert_eq!(bench.session("s").ledger().pending(), 3);
}

/// The files of outcomes that could not be recorded.
fn unreported(bench: &Bench) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(bench.path().join("manyhands-logs/s/unreported"));
    entries.map_or(vec![], |entries| entries.map(|entry| entry.unwrap().path()).collect())
}

/// Runs until trial 0 has finished while its store was locked, tells it to end, and lets go of the store.
fn leave_unreported(bench: &Bench, verb: &[&str]) -> String {
    let child = start(bench, verb);
    wait_for(|| bench.path().join("started").exists());
    let lock = rusqlite::Connection::open(bench.path().join("manyhands.db")).unwrap();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    bench.write("go", "");
    wait_for(|| left_behind(bench.path()).is_empty());
    signal(&child, Signal::TERM);
    let (status, said) = end_soon(child);
    assert_eq!(status.code(), Some(130), "{said}");
    assert!(said.ends_with("interrupted; run the same command again to continue\n"), "{said}");
    said
}

#[test]
fn being_told_to_end_before_the_store_has_answered_is_an_interruption() {
    // Whoever connects waits for an answer.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let store = format!("postgres://me@{}/db", silent.local_addr().unwrap());
    for (verb, ends) in [("run", Signal::TERM), ("worker", Signal::INT)] {
        let bench = bench("trials = 1\n", "echo 1\n").at(store.clone());
        let child = start(&bench, &[verb, "study.toml"]);
        let connection = silent.accept().unwrap();
        signal(&child, ends);
        let (status, said) = end_soon(child);
        assert_eq!((status.code(), &*said), (Some(130), "interrupted; run the same command again to continue\n"));
        drop(connection);
    }
}

#[test]
fn a_trial_that_is_taken_away_is_stopped_where_it_ran() {
    let bench = bench("trials = 1\n", "echo $2 >> started\nwhile [ ! -e go ]; do sleep 0.02; done\necho 1\n");
    let started = || std::fs::read_to_string(bench.path().join("started")).map_or(0, |text| text.lines().count());
    let mut first = start(&bench, &["worker", "study.toml", "--lease", "1s"]);
    wait_for(|| started() == 1);
    let second = start(&bench, &["worker", "study.toml", "--take", "0"]);
    wait_for(|| started() == 2);
    let mut talk = BufReader::new(first.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(talk.any(|line| line == "trial 0: stopped, another worker has it"));
    bench.write("go", "");
    assert!(talk.any(|line| line == "this worker recorded 0 values and 0 failures"));
    let second = second.wait_with_output().unwrap();
    let said = String::from_utf8(second.stderr).unwrap();
    assert!(first.wait().unwrap().success() && second.status.success(), "{said}");
    assert!(said.contains("trial 0: taken over"), "{said}");
    assert!(said.contains("this worker recorded 1 value and 0 failures"), "{said}");
    assert_eq!((started(), bench.session("s").ledger().late()), (2, 0));
}

const WAITS: &str =
    "echo $2 >> started\nwhile [ ! -e go ]; do sleep 0.02; done\necho '{\"value\":0.30000000000000004,\"epochs\":3}'\n";

#[test]
fn a_value_that_could_not_be_recorded_is_reported_by_the_next_run_and_not_run_again() {
    for verb in [["run", "study.toml"], ["worker", "study.toml"]] {
        let bench = bench("trials = 1\n", WAITS);
        let said = leave_unreported(&bench, &verb);
        assert_eq!(unreported(&bench).len(), 1, "{said}");
        assert!(said.contains("trial 0: its result could not be recorded; the next run reports it from"), "{said}");
        let output = bench.run(&verb);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{said}");
        assert!(said.contains("trial 0: 0.3, which an earlier run could not record; recorded now"), "{said}");
        assert_eq!(std::fs::read_to_string(bench.path().join("started")).unwrap(), "0\n");
        assert_eq!(bench.session("s").ledger().trials()[0].value(), Some(0.1 + 0.2));
        assert_eq!(bench.session("s").ledger().trials()[0].metrics(), [("epochs".to_string(), 3.0)]);
        assert!(unreported(&bench).is_empty());
    }
}

#[test]
fn a_value_left_for_a_study_that_was_deleted_is_not_given_to_its_successor() {
    let bench = bench("trials = 1\n", WAITS);
    leave_unreported(&bench, &["run", "study.toml"]);
    let kept = unreported(&bench);
    bench.write("manyhands-logs/s/unreported/trial-7-1.json", "no JSON");
    assert!(bench.run(&["delete", "s", "--yes"]).status.success());
    let output = bench.run(&["run", "study.toml"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    assert!(said.contains("belongs to another study of the name \"s\""), "{said}");
    assert!(said.contains("trial-7-1.json is not reported and stays: it cannot be read"), "{said}");
    assert!(kept.iter().all(|path| path.exists()));
    assert_eq!(std::fs::read_to_string(bench.path().join("started")).unwrap(), "0\n0\n");
}

#[test]
fn a_trial_that_fails_after_ctrl_c_has_its_other_tries_in_the_next_run() {
    let script =
        "echo x >> started\nif [ ! -e again ]; then while [ ! -e go ]; do sleep 0.02; done; exit 1; fi\necho 1\n";
    let bench = bench("trials = 1\nretries = 1\n", script);
    let mut child = start(&bench, &["run", "study.toml"]);
    wait_for(|| bench.path().join("started").exists());
    signal(&child, Signal::INT);
    let mut talk = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(talk.any(|line| line.starts_with("finishing 1 running trial")));
    bench.write("go", "");
    assert!(talk.any(|line| line == "trial 0: stopped, to be run again"));
    assert_eq!(child.wait().unwrap().code(), Some(130));
    bench.write("again", "");
    assert!(bench.run(&["run", "study.toml"]).status.success());
    let events = bench.verify("s");
    assert!(events.contains(&Event::Told { trial: 0, value: 1.0 }), "{events:?}");
}

/// Starts the program on a pseudo-terminal of its own, closes that once there is a file "started", and prints how it ended.
const CLOSE: &str = r#"
import os, pty, signal, sys, threading, time
pid, master = pty.fork()
if pid == 0:
    # The tests themselves may run under nohup, which the program would respect.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    os.environ["TERM"] = "xterm"
    os.execv(sys.argv[1], sys.argv[1:])
def read():
    try:
        while os.read(master, 4096): pass
    except OSError: pass
threading.Thread(target=read, daemon=True).start()
def wait(what):
    for _ in range(3000):
        if what(): return True
        time.sleep(0.01)
    return False
wait(lambda: os.path.exists("started"))
time.sleep(0.5)
# The reader holds the master open while it waits in it; the slave hangs up once that is closed.
os.close(master)
ended = []
def over():
    done, status = os.waitpid(pid, os.WNOHANG)
    if done: ended.append(os.waitstatus_to_exitcode(status))
    return bool(ended)
if not wait(over):
    os.kill(pid, 9)
print(ended)
"#;

#[test]
fn a_closed_terminal_stops_what_runs_and_nothing_panics() {
    if Command::new("python3").arg("-V").output().is_err() {
        eprintln!("skipped: a closed terminal (python3 is not installed)");
        return;
    }
    for (verb, json) in [("run", false), ("worker", false), ("run", true), ("worker", true)] {
        let bench = bench("trials = 2\nworkers = 2\n", "touch started\n[ -e go ] || sleep 600\necho 1\n");
        let mut python = Command::new("python3");
        python.args(["-c", CLOSE, env!("CARGO_BIN_EXE_manyhands"), verb, "study.toml"]).current_dir(bench.path());
        python.args(json.then_some("--json"));
        let output = python.env("MANYHANDS_STORE", &bench.store).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert_eq!(String::from_utf8_lossy(&output.stdout), "[130]\n", "{verb}: {said}");
        assert!(!said.contains("panicked"), "{said}");
        wait_for(|| left_behind(bench.path()).is_empty());
        let ledger = bench.session("s").ledger().clone();
        assert!(ledger.pending() > 0 && ledger.count(TrialState::Failed) == 0);
        bench.write("go", "");
        let output = bench.run(&["run", "study.toml"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn a_run_that_ignores_hangups_outlives_its_terminal() {
    let bench = bench("trials = 1\n", "touch started\nwhile [ ! -e go ]; do sleep 0.02; done\necho 1\n");
    let mut shell = Command::new("sh");
    let line = format!("trap '' HUP; exec {} run study.toml", env!("CARGO_BIN_EXE_manyhands"));
    shell.args(["-c", &line]).current_dir(bench.path()).env("MANYHANDS_STORE", &bench.store);
    let mut child = shell.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for(|| bench.path().join("started").exists());
    signal(&child, Signal::HUP);
    bench.write("go", "");
    assert!(child.wait().unwrap().success());
    assert_eq!(bench.session("s").ledger().count(TrialState::Observed), 1);
}

#[test]
fn a_worker_with_nothing_to_run_leaves_if_it_may() {
    let bench = bench("trials = 2\n", "echo $2 >> started\nwhile [ ! -e go ]; do sleep 0.02; done\necho 1\n");
    let straggler = start(&bench, &["worker", "study.toml", "--workers", "2"]);
    wait_for(|| std::fs::read_to_string(bench.path().join("started")).is_ok_and(|text| text.lines().count() == 2));
    let idle = bench.run(&["worker", "study.toml", "--leave-when-idle", "200ms"]);
    let said = String::from_utf8(idle.stderr).unwrap();
    assert!(idle.status.success(), "{said}");
    assert!(said.contains("leaving: nothing to run here for") && said.contains("2 pending trials elsewhere"), "{said}");
    let wrong = bench.run(&["worker", "--leave-when-idle", "study.toml"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(String::from_utf8(wrong.stderr).unwrap().contains("a study is named before --leave-when-idle"));
    bench.write("go", "");
    assert!(straggler.wait_with_output().unwrap().status.success());
}

#[test]
fn what_commands_print_never_steers_a_terminal() {
    let script =
        "printf 'red \\033[31m\\007 \\302\\233 \\342\\200\\256\\r\\n50%%\\r100%%\\n' >&2\nprintf 'loss \\033[2J\\n'\n";
    let bench = bench("trials = 1\n", script);
    let said = bench.run(&["run", "study.toml", "--keep-going"]).stderr;
    let table = bench.run(&["trials", "study.toml"]).stdout;
    let reason = bench.session("s").ledger().trials()[0].reason().unwrap().to_string();
    for text in [String::from_utf8(said).unwrap(), String::from_utf8(table).unwrap(), reason.clone()] {
        assert!(!text.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{202e}'), "{text:?}");
        assert!(text.contains("got \"loss \\u{1b}[2J\""), "{text}");
    }
    assert!(reason.ends_with("red \\u{1b}[31m\\u{7} \\u{9b} \\u{202e}\n50%\n100%"), "{reason}");
    // Its log has it as it was printed.
    let log = std::fs::read(bench.path().join("manyhands-logs/s/trial-0/1.out")).unwrap();
    assert_eq!(log, b"loss \x1b[2J\n");
}
