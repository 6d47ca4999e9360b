//! The study files under examples/ are what their READMEs say: read, checked and ready to be asked.

use std::fs;
use std::path::{Path, PathBuf};

use manyhands_core::file::{Draft, StudyFile};
use manyhands_core::{Direction, Domain, Rule, Study};

fn folder(example: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(example)
}

fn read(example: &str) -> StudyFile {
    let text = fs::read_to_string(folder(example).join("study.toml")).unwrap();
    let draft = Draft::parse(&text).unwrap_or_else(|error| panic!("{}", error.render(example)));
    let contents: Vec<Vec<u8>> =
        draft.files().iter().map(|file| fs::read(folder(example).join(file.path)).unwrap()).collect();
    draft.finish(&contents).unwrap_or_else(|error| panic!("{}", error.render(example)))
}

#[test]
fn every_example_is_a_study_that_can_be_asked() {
    let listed = fs::read_dir(folder("")).unwrap().map(|entry| entry.unwrap().path());
    let examples: Vec<String> = listed
        .filter(|path| path.is_dir())
        .map(|path| path.file_name().unwrap().to_str().unwrap().to_string())
        .collect();
    assert_eq!(examples.len(), 5, "{examples:?}");
    for example in examples {
        let StudyFile { name, spec, .. } = read(&example);
        assert_eq!(Study::new(spec).unwrap().ask(2).unwrap().len(), 2, "{name}");
        assert!(folder(&example).join("README.md").exists(), "{example} has no README.md");
    }
}

#[test]
fn the_quickstart_is_ten_lines() {
    let text = fs::read_to_string(folder("quickstart").join("study.toml")).unwrap();
    assert!(text.lines().count() <= 12);
    assert_eq!(read("quickstart").spec.direction(), Direction::Minimize);
}

#[test]
fn the_pool_measures_no_formulation_twice_and_they_are_whole() {
    let spec = read("pool").spec;
    assert!(!spec.repeats());
    let Domain::Pool(pool) = spec.domain() else { panic!("not a pool") };
    assert_eq!(pool.len(), 231);
    for candidate in 0..pool.len() {
        let parts: f64 = pool.params(candidate).iter().filter_map(|value| value.number()).sum();
        assert_eq!(parts, 100.0, "{:?}", pool.params(candidate));
    }
}

#[test]
fn the_sensors_know_their_covariance_and_certify_by_theorem() {
    let spec = read("sensors").spec;
    assert_eq!(spec.strategy().rule, Rule::IgpBucb);
    assert_eq!(spec.strategy().norm_bound, Some(5.0));
    let certificate = Study::new(spec).unwrap().certificate().unwrap();
    assert_eq!(certificate.kind.to_string(), "theorem");
}

#[test]
fn the_simulator_has_its_constraint() {
    assert_eq!(read("simulator").spec.domain().space().unwrap().constraints().len(), 1);
}
