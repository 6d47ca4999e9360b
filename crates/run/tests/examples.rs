//! The study files under examples/ say how they are run, as their READMEs describe.

use std::fs;
use std::path::{Path, PathBuf};

use manyhands_core::Study;
use manyhands_core::file::{Draft, StudyFile};
use manyhands_run::RunSettings;

fn folder(example: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(example)
}

fn read(example: &str) -> (StudyFile, RunSettings) {
    let text = fs::read_to_string(folder(example).join("study.toml")).unwrap();
    let draft = Draft::parse(&text).unwrap_or_else(|error| panic!("{}", error.render(example)));
    let contents: Vec<Vec<u8>> =
        draft.files().iter().map(|file| fs::read(folder(example).join(file.path)).unwrap()).collect();
    let file = draft.finish(&contents).unwrap_or_else(|error| panic!("{}", error.render(example)));
    let run = RunSettings::of(&file).unwrap_or_else(|error| panic!("{}", error.render(example)));
    (file, run.unwrap_or_else(|| panic!("{example} does not say how it is run")))
}

#[test]
fn every_example_has_a_program_and_can_be_asked_for_as_many_trials_as_it_has_workers() {
    let listed = fs::read_dir(folder("")).unwrap().map(|entry| entry.unwrap().path());
    for path in listed.filter(|path| path.is_dir()) {
        let example = path.file_name().unwrap().to_str().unwrap();
        let (file, run) = read(example);
        assert_eq!(Study::new(file.spec).unwrap().ask(run.workers).unwrap().len(), run.workers, "{example}");
        assert!(run.command.words().any(|word| folder(example).join(word).exists()), "{example} has no program");
    }
}

#[test]
fn the_simulator_has_a_time_limit_and_a_retry() {
    let (_, run) = read("simulator");
    assert_eq!((run.retries, run.timeout.unwrap().as_secs(), run.own_folder), (1, 2, true));
}
