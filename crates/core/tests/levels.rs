//! Levels of a study file that are all whole are integers for the user; the log does not depend on how they are written.

use manyhands_core::file::{Draft, StudyFile};
use manyhands_core::{Event, Study, Value};

fn file(space: &str) -> StudyFile {
    let text = format!("name = \"s\"\nseed = 3\n[space]\n{space}");
    Draft::parse(&text).unwrap().finish(&[]).unwrap()
}

/// A study that asks and tells for a while.
fn played(file: &StudyFile) -> Study {
    let mut study = Study::new(file.spec.clone()).unwrap();
    let batch: Value = 32.into();
    let mut given = vec![batch; file.spec.domain().names().len()];
    given[0] = 0.5.into();
    study.include(&given, Some(0.7)).unwrap();
    for round in 0..6 {
        for suggestion in study.ask(2).unwrap() {
            let value = suggestion.point.iter().map(|x| (x - 0.4).powi(2)).sum::<f64>() + 0.01 * f64::from(round);
            study.tell(suggestion.trial, value).unwrap();
        }
    }
    study
}

/// A space of one point in a continuum, one that is finite, and one where only one level is given.
fn spaces() -> [[String; 2]; 3] {
    let both =
        |rest: &str, levels: [&str; 2]| levels.map(|levels| format!("{rest}\nbatch = {{ levels = {levels} }}\n"));
    [
        both("x = { float = [0.0, 1.0] }", ["[16, 32, 64]", "[16.0, 32.0, 64.0]"]),
        both("x = { levels = [0.25, 0.5, 1] }", ["[16, 32, 64]", "[16.0, 32, 64]"]),
        both("x = { float = [0.0, 1.0] }", ["[32]", "[32.0]"]),
    ]
}

#[test]
fn a_log_is_the_same_however_levels_are_written_and_each_verifies_under_the_other() {
    for files in spaces().map(|spaces| spaces.map(|space| file(&space))) {
        let [integers, floats] = [played(&files[0]), played(&files[1])];
        assert_eq!(integers.events(), floats.events());
        for file in &files {
            Study::replay(file.spec.clone(), floats.events()).unwrap();
            let checked = Study::verify(&file.spec, floats.events()).unwrap().checked;
            assert_eq!(checked.choices, 12);
        }
        assert_eq!(files[0].differences(&files[1]), [], "it is the same study");
    }
}

#[test]
fn a_level_that_was_logged_as_a_float_is_read_as_the_integer_that_the_file_has() {
    for [integers, floats] in spaces().map(|spaces| spaces.map(|space| file(&space))) {
        let old = played(&floats);
        let old_json = |event: &Event| event.to_json().unwrap();
        assert!(old.events().iter().map(old_json).any(|body| body.contains("32.0")), "the log has floats");
        let study = Study::replay(integers.spec.clone(), old.events()).unwrap();
        for trial in study.trials() {
            let (now, before) = (study.params(trial.number()).unwrap(), old.params(trial.number()).unwrap());
            assert!(matches!(now[1], Value::Int(16 | 32 | 64)), "{now:?}");
            assert_eq!(now, before, "whichever way the file writes them");
        }
        assert!(study.suggestions().iter().all(|suggestion| matches!(suggestion.params()[1], Value::Int(_))));
        let mut study = study;
        assert!(matches!(study.best().unwrap().params[1], Value::Int(_)));
    }
}

#[test]
fn both_ways_of_writing_a_level_are_accepted_and_a_number_between_levels_is_not() {
    let integers = file("batch = { levels = [16, 32, 64] }\n");
    let space = integers.spec.domain().space().unwrap();
    assert_eq!(space.embed(&[Value::Int(32)]), space.embed(&[Value::Float(32.0)]));
    let refused = space.embed(&[Value::Int(33)]).unwrap_err().to_string();
    assert!(refused.contains("one of 16, 32, 64 (the nearest is 32), got 33"), "{refused}");
}

#[test]
fn one_level_with_a_fraction_makes_all_of_them_floats_and_so_does_one_that_no_float_is() {
    for levels in ["[0.1, 1]", "[1.5, 2.0]", "[1, 9007199254740993]", "[1.0, 1e16]"] {
        let file = file(&format!("dose = {{ levels = {levels} }}\n"));
        let space = file.spec.domain().space().unwrap();
        assert!(matches!(space.params(&[1.0])[..], [Value::Float(_)]), "{levels}");
    }
    assert_eq!(file("dose = { levels = [1, 2.0] }\n").spec.domain().space().unwrap().params(&[1.0]), [Value::Int(2)]);
    let file = file("dose = { levels = [-9007199254740992, 9007199254740992] }\n");
    assert_eq!(file.spec.domain().space().unwrap().params(&[1.0]), [Value::Int(1 << 53)]);
}
