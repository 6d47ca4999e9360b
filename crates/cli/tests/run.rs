//! The promises of `manyhands run` and `manyhands worker`, with real commands.

use std::io::{BufRead, BufReader};
use std::process::Child;
use std::thread::sleep;
use std::time::Duration;

use crate::common::{Bench, acknowledged, left_behind, server, signal, start, wait_for};
use manyhands_core::{Event, TrialState};
use rustix::process::Signal;

/// A study whose command is a script in its folder.
fn study(run: &str) -> String {
    format!(
        "name = \"s\"\nseed = 1\n[space]\nx = {{ float = [0.0, 1.0] }}\n\
         kind = {{ choice = [\"plain\", \"a b; touch pwned; $(touch pwned) '\\\"\"] }}\n[run]\n\
         command = [\"./box.sh\", \"{{x}}\", \"{{kind}}\", \"{{trial}}\"]\n{run}"
    )
}

fn bench(run: &str, script: &str) -> Bench {
    let bench = Bench::new(&study(run));
    bench.script("box.sh", script);
    bench
}

#[test]
fn parameters_arrive_as_they_are_and_no_shell_sees_them() {
    let script = "printf '%s\\n' \"$#\" \"$2\" >> args\nprintf '%s\\n' \"$MANYHANDS_PARAMS\" >> params\n\
                  echo \"$MANYHANDS_TRIAL $MANYHANDS_STUDY $MORE\" >> env\npwd >> pwd\necho talk\n\
                  printf '{\"value\": %s}\\n\\n' \"$1\"\n";
    let bench = bench("trials = 12\nworkers = 3\nenv = { MORE = \"x y\" }\n", script);
    let (code, talk) = bench.said(&["run", "study.toml"]);
    assert_eq!(code, Some(0), "{talk}");
    assert!(!bench.path().join("pwned").exists());
    let read = |name: &str| std::fs::read_to_string(bench.path().join(name)).unwrap();
    assert!(read("args").lines().all(|line| ["3", "plain", "a b; touch pwned; $(touch pwned) '\""].contains(&line)));
    let session = bench.session("s");
    for line in read("params").lines() {
        let params: serde_json::Value = serde_json::from_str(line).unwrap();
        let known = |trial| session.params(trial).unwrap()[0].1.number() == params["x"].as_f64();
        assert!((0..12).any(known), "{line}");
    }
    assert!(read("env").lines().all(|line| line.ends_with(" s x y")));
    assert!(read("pwd").lines().all(|line| line == bench.path().canonicalize().unwrap().to_str().unwrap()));
    // The value is the parameter itself, to the last bit.
    for (trial, entry) in session.ledger().trials().iter().enumerate() {
        assert_eq!(entry.value(), session.params(trial).unwrap()[0].1.number());
    }
    let logs = bench.path().join("manyhands-logs/s/trial-0");
    assert!(std::fs::read_to_string(logs.join("1.out")).unwrap().starts_with("talk\n{\"value\": "));
    assert_eq!(std::fs::read_to_string(logs.join("1.err")).unwrap(), "");
    assert!(std::fs::metadata(bench.path().join("manyhands-logs/s/s.svg")).unwrap().len() > 1000);
}

#[test]
fn failures_are_retried_then_recorded_with_exit_code_and_tail() {
    // Trial 1 fails once, trial 2 always.
    let script = "if [ $3 = 1 ] && [ ! -e once ]; then touch once; echo oops >&2; exit 3; fi\n\
                  if [ $3 = 2 ]; then i=0; while [ $i -lt 500 ]; do echo \"line $i\" >&2; i=$((i+1)); done; exit 7; fi\necho 1\n";
    let bench = bench("trials = 4\nretries = 1\n", script);
    let (code, talk) = bench.said(&["run", "study.toml"]);
    assert_eq!(code, Some(0), "{talk}");
    assert!(talk.contains("trial 1: failed, trying again: exit code 3"), "{talk}");
    let session = bench.session("s");
    let states: Vec<TrialState> = session.ledger().trials().iter().map(|trial| trial.state()).collect();
    assert_eq!(states, [TrialState::Observed, TrialState::Observed, TrialState::Failed, TrialState::Observed]);
    let reason = session.ledger().trials()[2].reason().unwrap();
    assert!(reason.starts_with("exit code 7; standard error ends with:\n") && reason.ends_with("line 499"), "{reason}");
    assert!(reason.len() < 3000);
    let logs = bench.path().join("manyhands-logs/s/trial-2");
    let kept = std::fs::read_to_string(logs.join("2.err")).unwrap();
    assert!(kept.starts_with("line 0\n") && logs.join("1.err").exists());
}

#[test]
fn a_time_limit_ends_the_command_and_all_it_started() {
    let script = "if [ $3 = 1 ]; then trap '' TERM; sleep 600 & sleep 600; fi\necho 1\n";
    let bench = bench("trials = 3\ntimeout = \"300ms\"\nworkers = 3\n", script);
    let (code, talk) = bench.said(&["run", "study.toml"]);
    assert_eq!(code, Some(0), "{talk}");
    let session = bench.session("s");
    assert_eq!(session.ledger().trials()[1].reason(), Some("timed out after 300ms"));
    assert_eq!(session.ledger().count(TrialState::Observed), 2);
    assert_eq!(left_behind(bench.path()), [0; 0]);
}

#[test]
fn what_is_no_value_is_a_failure_that_says_so() {
    let script = "case $3 in\n1) ;;\n2) echo 'loss: 3';;\n3) echo nan;;\n4) head -c 300000000 /dev/zero; echo; echo 0.5;;\n\
                  5) head -c 300000000 /dev/zero | tr '\\0' x;;\n6) echo '{\"loss\": 1}';;\n7) kill -9 $$;;\n*) echo 1;;\nesac\n";
    let bench = bench("trials = 9\n", script);
    let (code, talk) = bench.said(&["run", "study.toml"]);
    assert_eq!(code, Some(0), "{talk}");
    let session = bench.session("s");
    let reason = |trial: usize| session.ledger().trials()[trial].reason().unwrap_or_default();
    assert!(reason(1).contains("printed nothing"), "{}", reason(1));
    assert!(reason(2).contains("got \"loss: 3\""), "{}", reason(2));
    assert!(reason(3).contains("finite number, got nan"), "{}", reason(3));
    assert_eq!(session.ledger().trials()[4].value(), Some(0.5));
    assert!(talk.contains("it printed more than 16 MiB"), "{talk}");
    assert!(reason(5).contains("at most 1 MiB long") && reason(5).len() < 300, "{}", reason(5));
    assert!(reason(6).contains("without \"value\""), "{}", reason(6));
    assert!(reason(7).contains("killed by signal 9"), "{}", reason(7));
    let log = std::fs::metadata(bench.path().join("manyhands-logs/s/trial-4/1.out")).unwrap().len();
    assert_eq!(log, 16 << 20);
}

#[test]
fn a_command_that_cannot_be_started_ends_the_run_and_costs_no_trial() {
    for (program, told) in
        [("./nowhere.sh", "there is no such program"), ("./plain.txt", "permission denied: it is not executable")]
    {
        let text = study("trials = 3\n").replace("./box.sh", program);
        let bench = Bench::new(&text);
        bench.write("plain.txt", "echo 1");
        let (code, talk) = bench.said(&["run", "study.toml"]);
        assert_eq!(code, Some(1), "{talk}");
        assert!(talk.contains(told) && talk.contains("hint: check the command"), "{talk}");
        let ledger = bench.session("s").ledger().clone();
        assert_eq!((ledger.pending(), ledger.count(TrialState::Failed)), (1, 0));
        bench.write("study.toml", &text.replace(program, "./box.sh"));
        bench.script("box.sh", "echo 1");
        let (code, talk) = bench.said(&["run", "study.toml"]);
        assert_eq!(code, Some(0), "{talk}");
        assert_eq!(bench.session("s").ledger().count(TrialState::Observed), 3);
    }
}

#[test]
fn nothing_but_failures_ends_a_run_unless_it_is_to_go_on() {
    let bench = bench("trials = 8\nworkers = 2\n", "echo broken in epoch $((20 + 3 * $3)) >&2; exit 1\n");
    let (code, talk) = bench.said(&["run", "study.toml"]);
    assert_eq!(code, Some(1), "{talk}");
    assert!(talk.contains("trials in a row failed") && talk.contains("broken"), "{talk}");
    let failed = bench.session("s").ledger().count(TrialState::Failed);
    assert!((3..8).contains(&failed), "{failed}");
    let (code, talk) = bench.said(&["run", "study.toml", "--keep-going"]);
    assert_eq!(code, Some(1), "{talk}");
    assert!(talk.contains("all 8 trials of the study failed"), "{talk}");
    assert_eq!(bench.session("s").ledger().count(TrialState::Failed), 8);
}

#[test]
fn each_trial_has_a_folder_of_its_own_on_request() {
    let script = "ls | wc -l | tr -d ' ' >> \"$MANYHANDS_FOLDER/before\"\necho \"$3\" > result\necho 1\n";
    let bench = bench("trials = 4\nown_folder = true\nlogs = \"runs\"\n", script);
    let (code, talk) = bench.said(&["run", "study.toml"]);
    assert_eq!(code, Some(0), "{talk}");
    assert_eq!(std::fs::read_to_string(bench.path().join("before")).unwrap(), "0\n0\n0\n0\n");
    for trial in 0..4 {
        let result = bench.path().join(format!("runs/s/trial-{trial}/1/result"));
        assert_eq!(std::fs::read_to_string(result).unwrap(), format!("{trial}\n"));
    }
}

#[test]
fn workers_are_busy_at_once_and_whole_batches_wait_for_each_other() {
    // Every command waits until three have been started.
    let script =
        "echo x >> started\nwhile [ $(wc -l < started) -lt $(( $3 / 3 * 3 + 3 )) ]; do sleep 0.01; done\necho $1\n";
    let asynchronous = bench("trials = 9\nworkers = 3\ntimeout = \"60s\"\n", script);
    let batches = bench("trials = 9\nworkers = 3\ntimeout = \"60s\"\n", script);
    assert_eq!(asynchronous.said(&["run", "study.toml"]).0, Some(0));
    assert_eq!(batches.said(&["run", "study.toml", "--sync"]).0, Some(0));
    let kinds = |bench: &Bench| -> String {
        let letter = |event: &Event| match event {
            Event::Asked(_) => Some('a'),
            Event::Told { .. } => Some('t'),
            _ => None,
        };
        bench.verify("s").iter().filter_map(letter).collect()
    };
    assert_eq!(kinds(&batches), "aaatttaaatttaaattt");
    assert!(kinds(&asynchronous).starts_with("aaat"));
}

/// The stores that several workers can serve from.
fn shared_benches(run: &str, script: &str) -> Vec<Bench> {
    let mut benches = vec![bench(run, script)];
    benches.extend(server().map(|server| bench(run, script).at(server.database())));
    benches
}

#[test]
fn many_workers_serve_one_study_and_a_dead_ones_trial_is_offered_again_at_once() {
    let script =
        "echo $3 >> started\nif [ ! -e first ] && mkdir first 2>/dev/null; then sleep 600; fi\nsleep 0.05\necho $1\n";
    for bench in shared_benches("trials = 24\nworkers = 4\n", script) {
        assert!(bench.run(&["tell", "study.toml", "-"]).status.success());
        let mut doomed = start(&bench, &["worker", "s"]);
        wait_for(|| bench.path().join("first").exists());
        let others: Vec<Child> = (0..3).map(|_| start(&bench, &["worker", "s"])).collect();
        doomed.kill().unwrap();
        doomed.wait().unwrap();
        let mut told = Vec::new();
        for worker in others {
            let output = worker.wait_with_output().unwrap();
            let talk = String::from_utf8(output.stderr).unwrap();
            assert!(output.status.success(), "{talk}");
            told.extend(acknowledged(&talk).iter().map(|(trial, _)| *trial));
        }
        told.sort_unstable();
        assert_eq!(told, (0..24).collect::<Vec<_>>());
        bench.verify("s");
        wait_for(|| left_behind(bench.path()).is_empty());
    }
}

#[test]
fn a_late_result_of_an_old_lease_is_refused_and_kept_as_evidence() {
    // The first start of trial 0 waits to be let go; a second one answers at once.
    let script = "if [ $3 = 0 ] && mkdir first 2>/dev/null; then while [ ! -e go ]; do sleep 0.02; done; echo 99; exit; fi\necho 1\n";
    for bench in shared_benches("trials = 3\nworkers = 2\n", script) {
        assert!(bench.run(&["tell", "study.toml", "-"]).status.success());
        let sleeper = start(&bench, &["worker", "s", "--lease", "1s"]);
        wait_for(|| bench.path().join("first").exists());
        signal(&sleeper, Signal::STOP);
        // It is alive, so nobody takes its trial by himself.
        sleep(Duration::from_secs(2));
        let status = bench.json(&["status", "s", "--json"]);
        assert_eq!((&status["running"][0]["trial"], &status["running"][0]["worker"]), (&0.into(), &"running".into()));
        let (code, talk) = bench.said(&["worker", "s", "--lease", "1s", "--take", "0"]);
        assert_eq!(code, Some(0), "{talk}");
        assert!(talk.contains("trial 0: taken over"), "{talk}");
        bench.write("go", "");
        signal(&sleeper, Signal::CONT);
        let output = sleeper.wait_with_output().unwrap();
        let talk = String::from_utf8(output.stderr).unwrap();
        assert!(talk.contains("trial 0: too late"), "{talk}");
        let events = bench.verify("s");
        assert!(events.contains(&Event::LateResult { trial: 0, outcome: Ok(99.0) }));
        assert_eq!(bench.session("s").ledger().trials()[0].value(), Some(1.0));
        let status = bench.json(&["status", "s", "--json"]);
        assert_eq!((&status["observed"], &status["late_results"]), (&3.into(), &1.into()));
    }
}

#[test]
fn a_run_that_is_stopped_in_its_last_trials_says_so() {
    let bench = bench("trials = 2\nworkers = 2\n", "echo $3 >> started\n[ -e go ] || sleep 600\necho $1\n");
    let mut runner = start(&bench, &["run", "study.toml"]);
    wait_for(|| std::fs::read_to_string(bench.path().join("started")).is_ok_and(|text| text.lines().count() == 2));
    let mut talk = BufReader::new(runner.stderr.take().unwrap()).lines().map(Result::unwrap);
    signal(&runner, Signal::INT);
    assert!(talk.any(|line| line.starts_with("finishing 2 running trials")));
    signal(&runner, Signal::INT);
    assert!(talk.any(|line| line.starts_with("interrupted")));
    assert_eq!(runner.wait().unwrap().code(), Some(130));
    assert_eq!(bench.session("s").ledger().pending(), 2);
    bench.write("go", "");
    assert_eq!(bench.said(&["run", "study.toml"]).0, Some(0));
    bench.verify("s");
}

#[test]
fn a_store_that_is_removed_under_a_run_ends_it() {
    let bench = bench("trials = 1000\nworkers = 2\n", "echo $3 >> started\nsleep 0.05\necho $1\n");
    let runner = start(&bench, &["run", "study.toml"]);
    wait_for(|| bench.path().join("started").exists());
    std::fs::remove_file(bench.path().join("manyhands.db")).unwrap();
    let output = runner.wait_with_output().unwrap();
    let talk = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{talk}");
    assert!(talk.contains("its file was removed or replaced while it was in use"), "{talk}");
}

#[test]
fn a_study_without_a_command_or_a_store_says_what_is_missing() {
    let bench = Bench::new("name = \"s\"\n[space]\nx = { float = [0.0, 1.0] }\n");
    let (code, talk) = bench.said(&["run", "study.toml"]);
    assert_eq!(code, Some(2));
    assert!(talk.contains("has no [run] with a command") && talk.contains("hint: add [run]"), "{talk}");
    assert_eq!(bench.said(&["ask", "study.toml"]).0, Some(0));
    let (code, talk) = bench.said(&["worker", "nobody"]);
    assert_eq!(code, Some(2));
    assert!(talk.contains("there is no study \"nobody\"") && talk.contains("it has s"), "{talk}");
}

#[test]
fn a_value_counts_although_something_left_behind_holds_the_output() {
    let bench = bench("trials = 2\n", "setsid sleep 5 &\nsleep 0.5\necho $1\n");
    let (code, talk) = bench.said(&["run", "study.toml"]);
    assert_eq!(code, Some(0), "{talk}");
    assert!(talk.contains("still holds its output"), "{talk}");
    assert_eq!(bench.session("s").ledger().count(TrialState::Observed), 2);
}

#[test]
fn a_trial_that_is_cancelled_elsewhere_is_stopped() {
    let script = "echo $3 >> started\nif [ $3 = 0 ]; then sleep 600; fi\necho $1\n";
    let bench = bench("trials = 3\nworkers = 2\n", script);
    let runner = start(&bench, &["run", "study.toml"]);
    wait_for(|| std::fs::read_to_string(bench.path().join("started")).is_ok_and(|text| text.lines().count() >= 2));
    assert!(bench.run(&["cancel", "s", "0"]).status.success());
    let output = runner.wait_with_output().unwrap();
    let talk = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{talk}");
    assert!(talk.contains("trial 0: stopped, it was cancelled"), "{talk}");
    let ledger = bench.session("s").ledger().clone();
    assert_eq!((ledger.count(TrialState::Observed), ledger.count(TrialState::Cancelled)), (3, 1));
}

#[test]
fn a_fleet_may_be_larger_than_the_workers_of_a_run_but_not_than_max_pending() {
    // Every command waits until three run at once for the first time, or for a while where that cannot be.
    let script = "mkdir run$3; i=0\nrunning() { ls -d run* | wc -l; }\n\
                  while [ ! -e met ] && [ $(running) -lt 3 ] && [ $i -lt TIMES ]; do sleep 0.02; i=$((i+1)); done\n\
                  [ $(running) -lt 3 ] || touch met\nrunning >> seen; sleep 0.2; rmdir run$3\necho $1\n";
    for (strategy, most, times) in [("", 3, "1500"), ("[strategy]\nmax_pending = 2\n", 2, "50")] {
        let bench = Bench::new(&(study("trials = 6\nworkers = 1\n") + strategy));
        bench.script("box.sh", &script.replace("TIMES", times));
        assert!(bench.run(&["tell", "study.toml", "-"]).status.success());
        let workers: Vec<Child> = (0..3).map(|_| start(&bench, &["worker", "s"])).collect();
        for worker in workers {
            assert!(worker.wait_with_output().unwrap().status.success());
        }
        let seen = std::fs::read_to_string(bench.path().join("seen")).unwrap();
        assert_eq!(seen.lines().filter_map(|line| line.trim().parse::<usize>().ok()).max(), Some(most));
    }
}

#[test]
fn a_study_whose_trials_all_failed_says_so_when_it_is_run_again() {
    let bench = bench("trials = 4\nworkers = 4\n", "exit $(($3 + 1))\n");
    assert_eq!(bench.said(&["run", "study.toml"]).0, Some(1));
    bench.script("box.sh", "echo 1\n");
    let (code, talk) = bench.said(&["run", "study.toml"]);
    assert_eq!(code, Some(1), "{talk}");
    assert!(talk.contains("all 4 trials of the study failed") && talk.contains("--trials"), "{talk}");
    assert_eq!(bench.said(&["run", "study.toml", "--trials", "6"]).0, Some(0));
    assert_eq!(bench.session("s").ledger().count(TrialState::Observed), 2);
}

#[test]
fn a_finished_study_that_is_run_again_says_that_it_has_all_its_trials() {
    let bench = bench("trials = 3\nworkers = 2\n", "echo 1\n");
    let (_, talk) = bench.said(&["run", "study.toml"]);
    assert!(!talk.contains("continuing") && !talk.contains("all its"), "{talk}");
    let (code, talk) = bench.said(&["run", "study.toml"]);
    assert_eq!(code, Some(0), "{talk}");
    assert!(talk.contains("the study has all its 3 trials") && !talk.contains("continuing"), "{talk}");
    let (_, talk) = bench.said(&["run", "study.toml", "--trials", "2"]);
    assert!(talk.contains("the study has 3 trials, more than the 2 that it is to have"), "{talk}");
    let (_, talk) = bench.said(&["run", "study.toml", "--trials", "4"]);
    assert!(talk.contains("continuing after 3 trials"), "{talk}");
    // A pending trial is still to be run, although no other is suggested.
    assert!(bench.run(&["ask", "study.toml"]).status.success());
    let (_, talk) = bench.said(&["run", "study.toml", "--trials", "5"]);
    assert!(talk.contains("continuing after 4 trials"), "{talk}");
    assert!(talk.contains("trial 4 was asked for by hand, still pending"), "{talk}");
}

#[test]
fn a_study_that_has_enough_stops_with_the_reason_and_goes_on_only_on_request() {
    let bench = bench("trials = 40\nworkers = 2\nstop = { trials_without_gain = 8 }\n", "echo $(( 100 - $3 % 3 ))\n");
    let output = bench.run(&["run", "study.toml", "--json"]);
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let talk = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), &told["interrupted"]), (Some(0), &false.into()), "{talk}");
    let reason = told["stopped"].as_str().unwrap();
    assert!(reason == "8 values in a row brought no better point (stop: trials_without_gain = 8)", "{reason}");
    assert!(talk.contains("enough: "), "{talk}");
    let observed = bench.session("s").ledger().count(TrialState::Observed);
    assert!((10..20).contains(&observed) && bench.session("s").ledger().pending() == 0, "{observed}");
    let (code, talk) = bench.said(&["run", "study.toml"]);
    assert_eq!(code, Some(0));
    assert!(
        talk.contains("stopped when 8 values in a row had brought no better point")
            && talk.contains("--no-stop goes on"),
        "{talk}"
    );
    assert_eq!(bench.session("s").ledger().trials().len(), observed, "nothing was started");
    assert_eq!(bench.said(&["worker", "study.toml"]).0, Some(0));
    assert_eq!(bench.session("s").ledger().trials().len(), observed, "nor by a worker");
    let (code, talk) = bench.said(&["run", "study.toml", "--no-stop", "--trials", "22"]);
    assert_eq!((code, bench.session("s").ledger().trials().len()), (Some(0), 22), "{talk}");
}

#[test]
fn a_study_that_has_little_left_to_gain_stops() {
    let study = "name = \"s\"\nseed = 1\ndirection = \"minimize\"\n[space]\nx = { int = [0, 60] }\n[run]\n\
                 command = [\"sh\", \"-c\", \"echo $(( ({x} - 23) * ({x} - 23) ))\"]\ntrials = 60\nworkers = 3\nstop = { gain = 1 }\n";
    let bench = Bench::new(study);
    let output = bench.run(&["run", "study.toml", "--json"]);
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(told["stopped"].as_str().is_some_and(|reason| reason.starts_with("the model expects no gain")), "{told}");
    assert_eq!((&told["best"]["value"], &told["best"]["params"]["x"]), (&0.0.into(), &23.into()));
    assert!(told["outlook"]["gain"].as_f64().unwrap() <= 1.0 && told["observed"].as_u64().unwrap() < 60, "{told}");
}
