//! What `[run]` of a study file promises: every key is read, and every mistake is reported with its place and its remedy.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::time::Duration;

use manyhands_core::Value;
use manyhands_core::file::{Draft, FileError};
use manyhands_run::{Placeholders, RunSettings, attach_settings};
use manyhands_store::{Access, Location, Session, Source};

const POOL: &str =
    "name = \"plate\"\n[candidates]\nfile = \"pool.csv\"\n[run]\ncommand = [\"lab\", \"{well}\", \"{trial}\"]\n";
const PLATE: &str = "well,temp,conc\nA1,20,0.5\nA2,60,0.1\nB1,40,0.1\n";

fn finish(text: &str, files: &[&str]) -> Result<Option<RunSettings>, FileError> {
    let contents: Vec<Vec<u8>> = files.iter().map(|file| file.as_bytes().to_vec()).collect();
    RunSettings::of(&Draft::parse(text)?.finish(&contents)?)
}

fn read(text: &str) -> RunSettings {
    let read = finish(text, &[]);
    read.unwrap_or_else(|error| panic!("{}", error.render("study.toml"))).unwrap()
}

fn refusal(text: &str) -> String {
    finish(text, &[]).err().unwrap().render("study.toml")
}

fn in_space(run: &str) -> String {
    format!("name = \"a\"\n[space]\nx = {{ float = [-5.0, 10.0] }}\nn = {{ int = [1, 5] }}\n[run]\n{run}")
}

fn others(study: &str, trial: usize) -> Placeholders<'_> {
    Placeholders { study, trial, folder: "/here" }
}

#[test]
fn every_key_says_how_trials_run() {
    let run = read(&in_space(
        "command = [\"python3\", \"train.py\", \"--x\", \"{x}\", \"--n\", \"{n}\"]\nworkers = 5\ntrials = 100\n\
         timeout = \"10m\"\nretries = 1\nown_folder = true\nlogs = \"out\"\nenv = { SEED = \"7\" }\n",
    ));
    assert_eq!((run.workers, run.trials, run.retries, run.own_folder), (5, Some(100), 1, true));
    assert_eq!((run.timeout, run.logs.as_str()), (Some(Duration::from_secs(600)), "out"));
    assert_eq!(run.env, [("SEED".to_string(), "7".to_string())]);
    let (x, n) = (Value::Float(1e-5), Value::Int(3));
    let arguments = run.arguments(&[("x", &x), ("n", &n)], &others("a", 7));
    assert_eq!(arguments, ["python3", "train.py", "--x", "0.00001", "--n", "3"]);
}

#[test]
fn what_is_left_out_has_the_defaults_of_the_manual() {
    let run = read(&in_space("command = [\"true\"]\n"));
    assert_eq!((run.workers, run.trials, run.retries, run.own_folder), (1, None, 0, false));
    assert_eq!((run.timeout, run.logs.as_str(), run.env.len()), (None, "manyhands-logs", 0));
    assert_eq!(finish("name = \"a\"\n[space]\nx = { float = [-5.0, 10.0] }\n", &[]), Ok(None));
}

#[test]
fn the_columns_of_a_pool_are_placeholders() {
    let run = finish(POOL, &[PLATE]).unwrap().unwrap();
    let well = Value::from("A 1; rm");
    assert_eq!(run.arguments(&[("well", &well)], &others("plate", 4)), ["lab", "A 1; rm", "4"]);
    let error = finish(&POOL.replace("{well}", "{wel}"), &[PLATE]).unwrap_err();
    assert_eq!(error.to_string(), "5:19: {wel} is no parameter of this study");
}

#[test]
fn a_quoted_placeholder_is_one_word_of_a_shell_whatever_the_value() {
    let nasty = "it's \"a\" $(touch x) `y` ; \\ & {x} * é";
    let text = "name = \"a\"\n[space]\nact = { choice = ['b', 'c'] }\n\"odd:sh\" = { int = [1, 2] }\n[run]\n\
                command = [\"sh\", \"-c\", \"printf %s {act:sh}; printf ' %s' {trial:sh} {odd:sh}\"]\n";
    let arguments = read(text).arguments(&[("act", &nasty.into()), ("odd:sh", &Value::Int(2))], &others("a", 7));
    assert!(arguments[2].ends_with("' %s' '7' 2"), "{arguments:?}");
    let output = std::process::Command::new(&arguments[0]).args(&arguments[1..]).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), format!("{nasty} 7 2"));
}

#[test]
fn an_unknown_format_of_a_placeholder_is_refused_with_the_known_one() {
    let error = refusal(&in_space("command = [\"sh\", \"-c\", \"echo {x:bash}\"]\n"));
    assert!(error.contains("\"bash\" in {x:bash} is no format of a placeholder"), "{error}");
    assert!(error.contains("hint: write {x:sh} for the value quoted for a shell"), "{error}");
    assert!(refusal(&in_space("command = [\"echo\", '{\"x\": 1}']\n")).contains("is no parameter of this study"));
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
        let settings = attach_settings(&mut session).unwrap();
        (settings.map(|settings| settings.workers), session.most_pending())
    };
    let text = in_space("command = [\"true\"]\nworkers = 3\n");
    assert_eq!(bound(&text), (Some(3), Some(3)));
    assert_eq!(bound(&text.replace("[run]", "[strategy]\nmax_pending = 2\n[run]")), (Some(3), Some(2)));
    assert_eq!(bound(text.split("[run]").next().unwrap()), (None, None));
}
