//! A command that cannot work: the run ends, and no trial is spent on it, whatever else happens meanwhile.

use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStderr};

use crate::common::{Bench, box_study, left_behind, server, signal, start, wait_for};
use manyhands_core::{Event, TrialState};
use rustix::process::Signal;

/// How many trials are observed, failed, cancelled and pending.
fn counts(bench: &Bench) -> [usize; 4] {
    let ledger = bench.session("s").ledger().clone();
    let [observed, failed, cancelled] =
        [TrialState::Observed, TrialState::Failed, TrialState::Cancelled].map(|state| ledger.count(state));
    [observed, failed, cancelled, ledger.pending()]
}

fn lines_of(child: &mut Child) -> Lines<BufReader<ChildStderr>> {
    BufReader::new(child.stderr.take().unwrap()).lines()
}

/// Waits for a line that has this in it.
fn wait_for_line(lines: &mut Lines<BufReader<ChildStderr>>, part: &str) {
    assert!(lines.map(Result::unwrap).any(|line| line.contains(part)), "it never said \"{part}\"");
}

fn started(bench: &Bench) -> usize {
    std::fs::read_to_string(bench.path().join("started")).map_or(0, |text| text.lines().count())
}

const BROKEN: &str = "echo \"at $(date +%N)\" >&2; echo \"KeyError: 'lr'\" >&2; exit 3\n";

#[test]
fn a_command_that_cannot_work_ends_the_run_and_spends_no_trial() {
    let mut benches = vec![("run", Bench::of_box("trials = 6\nworkers = 2\n", BROKEN))];
    benches.push(("worker", Bench::of_box("trials = 6\n", BROKEN)));
    benches.push(("run", Bench::of_box("trials = 6\nretries = 1\n", BROKEN)));
    benches.extend(
        server().map(|server| ("run", Bench::of_box("trials = 6\nworkers = 2\n", BROKEN).at(server.database()))),
    );
    for (verb, bench) in benches {
        let (code, talk) = bench.said(&[verb, "study.toml"]);
        assert_eq!(code, Some(1), "{talk}");
        assert!(talk.contains("error: the command \"./box.sh {x} {trial}\" failed in its first"), "{talk}");
        assert!(talk.contains("in the same way: exit code 3; standard error ends with \"KeyError: 'lr'\""), "{talk}");
        assert!(talk.contains("were cancelled and do not count\nhint: look at the logs in "), "{talk}");
        assert!(talk.contains("manyhands-logs/s, fix the command") && talk.contains("--keep-going"), "{talk}");
        let [observed, failed, cancelled, pending] = counts(&bench);
        // One more was perhaps chosen, and not started.
        assert!((observed, failed, pending) == (0, 0, 0) && (3..=4).contains(&cancelled), "{talk}");
        assert_eq!(bench.session("s").begun(), 0, "the budget is whole again");
        bench.script("box.sh", "echo 1\n");
        let (code, talk) = bench.said(&[verb, "study.toml"]);
        assert_eq!(code, Some(0), "{talk}");
        assert_eq!(counts(&bench), [6, 0, cancelled, 0], "{talk}");
        assert!(!talk.contains("left unfinished"), "{talk}");
        bench.verify("s");
    }
}

#[test]
fn a_command_that_prints_no_value_cannot_work_either() {
    let bench = Bench::of_box("trials = 6\n", "echo \"loss: $1\"\n");
    let (code, talk) = bench.said(&["run", "study.toml"]);
    assert_eq!((code, counts(&bench)), (Some(1), [0, 0, 3, 0]), "{talk}");
    assert!(talk.contains("exit code 0, but the last line must be a number or a JSON object with \"value\""), "{talk}");
    assert!(talk.contains("nothing on standard error"), "{talk}");
}

#[test]
fn a_command_that_complains_of_what_it_was_given_cannot_work() {
    let complaint = "echo \"box.sh: error: unrecognized arguments: --x $1 --out run-$2\" >&2; exit 2\n";
    let bench = Bench::of_box("trials = 6\n", complaint);
    let (code, talk) = bench.said(&["run", "study.toml"]);
    assert_eq!((code, counts(&bench)), (Some(1), [0, 0, 3, 0]), "{talk}");
    assert!(talk.contains("but for the trial's own settings"), "{talk}");
}

#[test]
fn a_trial_that_was_asked_for_by_hand_is_pending_again_after_a_mistake() {
    let bench = Bench::of_box("trials = 6\n", BROKEN);
    bench.json(&["ask", "study.toml", "--json"]);
    for _ in 0..2 {
        let (code, talk) = bench.said(&["run", "study.toml", "--adopt"]);
        let [observed, failed, _, pending] = counts(&bench);
        assert_eq!((code, observed, failed, pending), (Some(1), 0, 0, 1), "{talk}");
        assert!(talk.contains("do not count; trial 0 was pending before this run and is again"), "{talk}");
    }
    bench.script("box.sh", "echo 1\n");
    let (code, talk) = bench.said(&["run", "study.toml"]);
    assert_eq!((code, counts(&bench)), (Some(0), [6, 0, 4, 0]), "{talk}");
    bench.verify("s");
}

#[test]
fn failures_that_differ_count_as_trials_and_so_do_all_with_keep_going() {
    for (script, options) in [
        ("echo \"diverged in epoch $((20 + 3 * $2))\" >&2; exit 1\n", &[][..]),
        ("exit $(($2 + 1))\n", &[]),
        ("echo nan\n", &[]),
        (BROKEN, &["--keep-going"]),
    ] {
        let bench = Bench::of_box("trials = 3\n", script);
        let (code, talk) = bench.said(&[&["run", "study.toml"], options].concat());
        assert_eq!((code, counts(&bench)), (Some(1), [0, 3, 0, 0]), "{script}: {talk}");
        assert!(talk.contains("3 trials"), "{talk}");
    }
}

#[test]
fn with_fewer_places_than_a_mistake_needs_failures_count_as_trials() {
    let bench = Bench::of_box("trials = 6\n", BROKEN);
    bench.write("study.toml", &box_study("trials = 6\n[strategy]\nmax_pending = 1\n"));
    let (code, talk) = bench.said(&["run", "study.toml"]);
    assert_eq!((code, counts(&bench)), (Some(1), [0, 3, 0, 0]), "{talk}");
    assert!(
        talk.contains("3 trials in a row failed in this run, and none succeeded; they are recorded as failed"),
        "{talk}"
    );
}

#[test]
fn a_study_of_two_trials_has_two_failures() {
    let bench = Bench::of_box("trials = 2\n", BROKEN);
    let (code, talk) = bench.said(&["run", "study.toml"]);
    assert_eq!((code, counts(&bench)), (Some(1), [0, 2, 0, 0]), "{talk}");
    assert!(talk.contains("all 2 trials of the study failed"), "{talk}");
}

#[test]
fn a_success_after_the_same_failure_twice_shows_that_they_are_failures() {
    let bench = Bench::of_box("trials = 5\n", "if [ $2 -lt 2 ]; then echo no >&2; exit 1; fi\necho 1\n");
    let (code, talk) = bench.said(&["run", "study.toml"]);
    assert_eq!((code, counts(&bench)), (Some(0), [3, 2, 0, 0]), "{talk}");
    let line = "trial 0: failed after ";
    assert!(
        talk.lines().any(|said| said.starts_with(line) && said.contains("not recorded yet, as the command has not")),
        "{talk}"
    );
    let ends: Vec<usize> =
        bench.verify("s").iter().filter(|event| event.kind().ends_a_trial()).filter_map(Event::trial).collect();
    assert_eq!(ends, [2, 0, 1, 3, 4], "the first success comes before them");
    // Once a trial has succeeded, nothing is held back, in a later run neither.
    bench.script("box.sh", BROKEN);
    let (code, talk) = bench.said(&["run", "study.toml", "--trials", "9"]);
    assert_eq!((code, counts(&bench)), (Some(1), [3, 5, 0, 0]), "{talk}");
    assert!(talk.contains("3 trials in a row failed in this run, and none succeeded"), "{talk}");
    assert!(talk.contains("`manyhands retry STUDY TRIAL` has one of them run again"), "{talk}");
}

/// Trials 0 to 2 fail at once, in the same way; the others wait.
const THREE_FAIL: &str = "echo $2 >> started\n\
    if [ $2 -gt 2 ]; then while [ ! -e go ]; do sleep 0.02; done; cat go; exit $(wc -l < fail); fi\necho no >&2\nexit 1\n";

#[test]
fn what_still_runs_decides_whether_three_failures_are_a_mistake() {
    for (go, fail, after) in [("0.5\n", "", [3, 3, 0, 0]), ("", "\n", [0, 1, 3, 0])] {
        let bench = Bench::of_box("trials = 6\nworkers = 4\n", THREE_FAIL);
        bench.write("fail", fail);
        let mut child = start(&bench, &["run", "study.toml", "--sync"]);
        let mut lines = lines_of(&mut child);
        wait_for_line(
            &mut lines,
            "the first 3 trials failed in the same way: nothing more is started unless the running",
        );
        wait_for(|| started(&bench) == 4);
        assert_eq!(counts(&bench), [0, 0, 0, 4]);
        bench.write("go", go);
        let talk: Vec<String> = lines.map(Result::unwrap).collect();
        let code = child.wait().unwrap().code();
        assert_eq!((code, counts(&bench)), (Some(i32::from(go.is_empty())), after), "{talk:?}");
    }
}

/// Trial 2 waits; all fail in the same way.
const THIRD_WAITS: &str =
    "echo $2 >> started\nif [ $2 = 2 ]; then while [ ! -e go ]; do sleep 0.02; done; fi\necho no >&2\nexit 1\n";

#[test]
fn a_run_that_is_killed_while_failures_are_held_back_leaves_their_trials_to_the_next() {
    for kill in [Signal::KILL, Signal::TERM] {
        let bench = Bench::of_box("trials = 4\n", THIRD_WAITS);
        let mut child = start(&bench, &["run", "study.toml", "--lease", "1s"]);
        wait_for(|| started(&bench) == 3);
        // For longer than a lease: it is renewed, and another worker takes nothing over.
        std::thread::sleep(std::time::Duration::from_secs(2));
        let idle = bench.json(&["status", "s", "--json"]);
        assert_eq!(idle["running"].as_array().unwrap().len(), 3, "{idle}");
        signal(&child, kill);
        child.wait().unwrap();
        wait_for(|| left_behind(bench.path()).is_empty());
        assert_eq!(counts(&bench), [0, 0, 0, 3]);
        bench.script("box.sh", "echo $2 >> again\necho 1\n");
        let (code, talk) = bench.said(&["run", "study.toml"]);
        assert_eq!((code, counts(&bench)), (Some(0), [4, 0, 0, 0]), "{talk}");
        assert!(talk.contains("trial 0: left unfinished, run again"), "{talk}");
        bench.verify("s");
    }
}

#[test]
fn ctrl_c_records_what_is_held_back_unless_it_turns_out_to_be_a_mistake() {
    let script = |waits: usize| THIRD_WAITS.replace("$2 = 2", &format!("$2 = {waits}"));
    for (waits, code, after) in [(1, 130, [0, 2, 0, 0]), (2, 1, [0, 0, 3, 0])] {
        let bench = Bench::of_box("trials = 6\n", &script(waits));
        let mut child = start(&bench, &["run", "study.toml"]);
        let mut lines = lines_of(&mut child);
        wait_for(|| started(&bench) == waits + 1);
        signal(&child, Signal::INT);
        wait_for_line(&mut lines, "finishing 1 running trial");
        bench.write("go", "");
        let talk: Vec<String> = lines.map(Result::unwrap).collect();
        assert_eq!((child.wait().unwrap().code(), counts(&bench)), (Some(code), after), "{talk:?}");
    }
}

#[test]
fn a_store_that_is_locked_when_a_mistake_is_found_is_waited_for() {
    let bench = Bench::of_box("trials = 6\n", THIRD_WAITS);
    let mut child = start(&bench, &["run", "study.toml"]);
    let mut lines = lines_of(&mut child);
    wait_for(|| started(&bench) == 3);
    let lock = rusqlite::Connection::open(bench.path().join("manyhands.db")).unwrap();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    bench.write("go", "");
    wait_for_line(&mut lines, "trying again");
    assert_eq!(counts(&bench), [0, 0, 0, 3]);
    lock.execute_batch("ROLLBACK").unwrap();
    wait_for_line(&mut lines, "trials 0, 1 and 2 were cancelled and do not count");
    assert_eq!((child.wait().unwrap().code(), counts(&bench)), (Some(1), [0, 0, 3, 0]));
}

#[test]
fn each_worker_cancels_the_trials_that_it_ran_and_a_success_elsewhere_ends_the_doubt() {
    // Those of the broken machine fail; the other one's wait for it.
    let script = "if [ -n \"$GOOD\" ]; then touch good; while [ ! -e go ]; do sleep 0.02; done; echo 1; exit; fi\n\
                  echo no >&2\nexit 1\n";
    let bench = Bench::of_box("trials = 8\n", script);
    let mut good = bench.command(&["worker", "study.toml"]);
    let good = good.env("GOOD", "1").stdout(std::process::Stdio::null()).spawn().unwrap();
    wait_for(|| bench.path().join("good").exists());
    let (code, talk) = bench.said(&["worker", "study.toml"]);
    assert_eq!((code, counts(&bench)), (Some(1), [0, 0, 3, 1]), "{talk}");
    bench.write("go", "");
    assert!(good.wait_with_output().unwrap().status.success());
    assert_eq!(counts(&bench), [8, 0, 3, 0]);
    let bench = bench_with_a_value();
    let (code, talk) = bench.said(&["worker", "study.toml"]);
    assert_eq!((code, counts(&bench)), (Some(1), [1, 3, 0, 0]), "{talk}");
}

/// A study one of whose trials has a value, and whose command is broken.
fn bench_with_a_value() -> Bench {
    let bench = Bench::of_box("trials = 8\n", "echo 1\n");
    assert_eq!(bench.said(&["run", "study.toml", "--trials", "1"]).0, Some(0));
    bench.script("box.sh", BROKEN);
    bench
}

#[test]
fn a_success_after_many_different_failures_goes_on() {
    let script = "if [ \"$2\" = 2 ]; then sleep 1; fi\nif [ \"$2\" -lt 2 ] || [ \"$2\" = 3 ] || [ \"$2\" = 4 ]; then\n\
                  echo \"cannot allocate $$ bytes\" >&2; exit 1; fi\necho 1\n";
    let bench = Bench::of_box("workers = 3\ntrials = 7\n", script);
    let (code, said) = bench.said(&["run", "study.toml"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("[7/7]") && !said.contains("none succeeded"), "{said}");
}
