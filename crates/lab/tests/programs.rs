//! The promises of programs that are compared: they see the problem and every result, and what they do wrong is named.
#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};

use manyhands_core::Value;
use manyhands_lab::Error;
use manyhands_lab::quality::{
    Optimizer, OptimizerComparison, OptimizerProgram, OptimizerRuns, Protocol, SpacePerformance, problems,
};
use serde_json::{Value as Json, json};

fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs").join(name);
    fs::create_dir_all(&path).unwrap();
    path
}

/// A program that keeps what it hears in `heard` and says `answer` when asked.
fn program(name: &str, answer: &str) -> (OptimizerProgram, PathBuf) {
    let folder = folder(name);
    let (script, heard) = (folder.join("optimizer.sh"), folder.join("heard"));
    let says = format!(
        ": > '{0}'\nwhile read -r line; do echo \"$line\" >> '{0}'; case $line in *ask*) {answer};; esac; done\n",
        heard.display()
    );
    fs::write(&script, says).unwrap();
    (
        OptimizerProgram {
            name: name.to_string(),
            version: String::new(),
            command: vec!["sh".to_string(), script.display().to_string()],
        },
        heard,
    )
}

fn run(program: OptimizerProgram, problem: &str) -> manyhands_lab::Result<OptimizerRuns<SpacePerformance>> {
    let protocol = Protocol { seeds: 1, evaluations: Some(4), batch: 2, ..Protocol::default() };
    let bench = OptimizerComparison { optimizers: vec![Optimizer::Program(program)], protocol, threads: 1 };
    Ok(bench.run(&problems::named(&[problem.to_string()])?, &|| ())?.remove(0).remove(0))
}

#[test]
fn a_program_hears_the_problem_and_every_result_and_is_judged_by_its_points() {
    let answer = r#"echo '{"points": [{"x2": 2.0, "x1": 1}, {"x1": 3.5, "x2": 2.5}]}'"#;
    let (program, heard) = program("fair", answer);
    let runs = run(program, "branin").unwrap();
    let problem = problems::named(&["branin".to_string()]).unwrap().remove(0);
    let value = |x1: f64, x2: f64| problem.value(&[Value::Float(x1), Value::Float(x2)]).unwrap();
    let (first, second) = (value(1.0, 2.0), value(3.5, 2.5));
    assert!(second < first);
    let regrets = [problem.regret(first), problem.regret(second), problem.regret(second), problem.regret(second)];
    let performance = SpacePerformance { simple: regrets.to_vec(), inference: regrets[1] };
    assert_eq!(runs.finished[0].performance, performance);
    let lines: Vec<Json> =
        fs::read_to_string(heard).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0]["play"], &lines[0]["direction"]), (&json!("branin"), &json!("minimize")));
    assert_eq!(lines[0]["parameters"][1], json!({"name": "x2", "float": [0.0, 15.0], "scale": "linear"}));
    let tell = |trial: usize, value: f64| json!({"tell": {"trial": trial, "value": value}});
    let rest = [json!({"ask": 2}), tell(0, first), tell(1, second), json!({"ask": 2}), tell(2, first), tell(3, second)];
    assert_eq!(lines[1..], rest);
}

#[test]
fn every_kind_of_parameter_and_constraint_is_described_as_in_a_study_file() {
    let (program, heard) = program("mixed", "exit 0");
    run(program.clone(), "training").unwrap_err();
    let first: Json = serde_json::from_str(fs::read_to_string(&heard).unwrap().lines().next().unwrap()).unwrap();
    let training = problems::named(&["training".to_string()]).unwrap().remove(0);
    let described: Vec<&str> =
        first["parameters"].as_array().unwrap().iter().map(|p| p["name"].as_str().unwrap()).collect();
    assert_eq!(described, training.space().parameters().iter().map(|p| p.name()).collect::<Vec<_>>());
    let with = |kind: &str| first["parameters"].as_array().unwrap().iter().any(|p| p.get(kind).is_some());
    assert!(with("float") && with("int") && with("choice"), "{first}");
    run(program, "mixture").unwrap_err();
    let first: Json = serde_json::from_str(fs::read_to_string(&heard).unwrap().lines().next().unwrap()).unwrap();
    assert_eq!(first["constraints"], json!([{"sum": {"a": 1.0, "b": 1.0, "c": 1.0}, "equals": 1.0}]));
}

#[test]
fn what_a_program_does_wrong_is_named() {
    let point = r#"{"x1": 0.5, "x2": 2.0}"#;
    let cases = [
        ("silent", "exit 0".to_string(), "ended before the run did"),
        ("babble", "echo hello".to_string(), "\"hello\" is not JSON"),
        ("empty", "echo '{}'".to_string(), "without \"points\""),
        ("forgetful", r#"echo '{"points": [{"x1": 1.0}, {"x1": 1.0}]}'"#.to_string(), "no value of \"x2\""),
        ("outside", format!(r#"echo '{{"points": [{point}, {{"x1": 99, "x2": 0}}]}}'"#), "99 is not a value"),
        ("few", format!(r#"echo '{{"points": [{point}]}}'"#), "2 were asked for, 1 came"),
    ];
    for (name, answer, part) in cases {
        let message = run(program(name, &answer).0, "branin").unwrap_err().to_string();
        assert!(message.contains(part), "{message}");
    }
    let absent = OptimizerProgram {
        name: "absent".to_string(),
        version: String::new(),
        command: vec!["/no/such/program".to_string()],
    };
    let error = run(absent, "branin").unwrap_err();
    assert!(matches!(&error, Error::Program { .. }) && error.to_string().contains("does not start"), "{error}");
}

#[test]
fn a_command_has_a_name_and_arguments() {
    let program = OptimizerProgram::parse("tpe=python3 peers.py --x=1").unwrap();
    assert_eq!((program.name.as_str(), program.command.len(), program.command[2].as_str()), ("tpe", 3, "--x=1"));
    assert_eq!(program.version, "");
    let versioned = OptimizerProgram::parse("tpe@4.5.0=python3 peers.py --x=1").unwrap();
    assert_eq!((versioned.name, versioned.version, versioned.command), ("tpe".into(), "4.5.0".into(), program.command));
    for wrong in ["@4=python3", "python3", "=python3", "tpe=", "tpe= "] {
        let message = OptimizerProgram::parse(wrong).unwrap_err().to_string();
        assert!(message.contains("NAME=COMMAND") || message.contains("such as"), "{message}");
    }
}

#[test]
fn players_that_could_not_be_told_apart_are_refused() {
    let optimizers = vec![Optimizer::Random, Optimizer::Program(program("random", "exit 0").0)];
    let bench = OptimizerComparison { optimizers, protocol: Protocol::default(), threads: 1 };
    let error = bench.run(&problems::named(&["branin".to_string()]).unwrap(), &|| ()).unwrap_err();
    assert!(error.to_string().contains("must be different") && error.to_string().contains("got random"), "{error}");
}
