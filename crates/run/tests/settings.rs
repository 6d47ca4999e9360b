//! What `[run]` of a study file promises: every key is read, and every mistake is reported with its place and its remedy.

use std::time::Duration;

use manyhands_core::file::{Draft, FileError};
use manyhands_core::study::StopRule;
use manyhands_run::{RunDraft, RunSettings};
use manyhands_store::{Access, Location, Session, Source};

/// As a study file is read: together with the rest of it.
fn finish(text: &str) -> Result<Option<RunSettings>, FileError> {
    let (draft, run) = Draft::parse_with(text, RunDraft::read)?;
    let study = draft.finish(&[])?;
    let settings = run.map(|run| run.finish(&study)).transpose()?;
    assert_eq!(RunSettings::of(&study).as_ref(), Ok(&settings), "read later, from the study");
    Ok(settings)
}

fn read(text: &str) -> RunSettings {
    let read = finish(text);
    read.unwrap_or_else(|error| panic!("{}", error.render("study.toml"))).unwrap()
}

fn refusal(text: &str) -> String {
    finish(text).err().unwrap().render("study.toml")
}

fn in_space(run: &str) -> String {
    format!("name = \"a\"\n[space]\nx = {{ float = [-5.0, 10.0] }}\nn = {{ int = [1, 5] }}\n[run]\n{run}")
}

#[test]
fn every_key_says_how_trials_run() {
    let run = read(&in_space(
        "command = [\"python3\", \"train.py\", \"--x\", \"{x}\", \"--n\", \"{n}\"]\nworkers = 5\ntrials = 100\n\
         timeout = \"10m\"\nretries = 1\nown_folder = true\nlogs = \"out\"\nenv = { SEED = \"7\" }\n\
         stop = { gain = 0.01, trials_without_gain = 20 }\n",
    ));
    assert_eq!(run.stop, StopRule { gain: Some(0.01), trials_without_gain: Some(20) });
    assert_eq!((run.workers, run.trials, run.retries, run.own_folder), (5, Some(100), 1, true));
    assert_eq!((run.timeout, run.logs.as_str()), (Some(Duration::from_secs(600)), "out"));
    assert_eq!(run.env, [("SEED".to_string(), "7".to_string())]);
    assert_eq!(run.command.words().collect::<Vec<_>>(), ["python3", "train.py", "--x", "{x}", "--n", "{n}"]);
}

#[test]
fn what_is_left_out_has_the_defaults_of_the_manual() {
    let run = read(&in_space("command = [\"true\"]\n"));
    assert_eq!((run.workers, run.trials, run.retries, run.own_folder), (1, None, 0, false));
    assert_eq!((run.timeout, run.logs.as_str(), run.env.len()), (None, "manyhands-logs", 0));
    assert_eq!(run.stop, StopRule::default(), "nothing stops a run by itself");
    assert_eq!(finish("name = \"a\"\n[space]\nx = { float = [-5.0, 10.0] }\n"), Ok(None));
}

#[test]
fn an_unknown_format_of_a_placeholder_is_refused_with_the_known_one() {
    let error = refusal(&in_space("command = [\"sh\", \"-c\", \"echo {x:bash}\"]\n"));
    assert!(error.contains("\"bash\" in {x:bash} is not a format of a placeholder"), "{error}");
    assert!(error.contains("hint: write {x:sh} for the value quoted for a shell"), "{error}");
    assert!(refusal(&in_space("command = [\"echo\", '{\"x\": 1}']\n")).contains("is not a parameter of this study"));
}

#[test]
fn every_mistake_is_reported_with_its_place_and_its_remedy() {
    let cases: Vec<&str> = include_str!("files/wrong.txt").split("\n====\n").filter(|case| !case.is_empty()).collect();
    assert!(cases.len() >= 12, "only {} cases", cases.len());
    for case in cases {
        let (text, expected) = case.split_once("\n----\n").unwrap();
        assert_eq!(refusal(text), expected, "for\n{text}");
    }
}

#[test]
fn a_session_is_bounded_by_the_workers_of_its_file_unless_the_study_has_a_bound() {
    let bound = |text: &str| {
        let source = Source::read(text, |path| panic!("no file {path}")).unwrap();
        let mut session = Session::open_or_create(Location::Memory.open(Access::Create).unwrap(), source).unwrap();
        let workers = RunSettings::of_stored(session.source()).unwrap().map(|settings| settings.workers);
        session.set_workers(workers);
        (workers, session.most_pending())
    };
    let text = in_space("command = [\"true\"]\nworkers = 3\n");
    assert_eq!(bound(&text), (Some(3), Some(3)));
    assert_eq!(bound(&text.replace("[run]", "[strategy]\nmax_pending = 2\n[run]")), (Some(3), Some(2)));
    assert_eq!(bound(text.split("[run]").next().unwrap()), (None, None));
}

#[test]
fn a_mistake_in_run_is_reported_in_the_order_of_places() {
    let text = "name = \"a\"\n[run]\ncommand = [\"{x\"]\n[space]\nx = { float = [1.0, 0.0] }\n";
    assert_eq!(finish(text).unwrap_err().line, 3, "that of [run] comes first");
    let text = "name = \"a\"\n[space]\nx = { float = [1.0, 0.0] }\n[run]\ncommand = [\"{x\"]\n";
    assert_eq!(finish(text).unwrap_err().line, 3, "that of the space comes first");
}
