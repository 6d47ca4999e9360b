//! House rules that a program can check: every source file says why it exists, and none grows too long.

use std::fs;

use super::source::{root, rust_files};

const LONGEST: usize = 400;

#[test]
fn every_source_file_opens_by_saying_why_it_exists() {
    for path in rust_files(&root().join("crates")) {
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("//! "), "{} does not open with a `//!` line", path.display());
    }
}

#[test]
fn no_source_file_is_longer_than_its_idea() {
    let is_source = |part: std::path::Component<'_>| part.as_os_str() == "src";
    for path in rust_files(&root().join("crates")).iter().filter(|path| path.components().any(is_source)) {
        let text = fs::read_to_string(path).unwrap();
        let lines = text.lines().take_while(|line| !line.starts_with("#[cfg(test)]")).count();
        assert!(lines <= LONGEST, "{} has {lines} lines before its tests", path.display());
    }
}

#[test]
fn every_file_of_tests_is_a_part_of_its_program() {
    let mut programs = 0;
    for folder in fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path().join("tests")) {
        let Ok(program) = fs::read_to_string(folder.join("main.rs")) else { continue };
        programs += 1;
        for path in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            let name = path.file_stem().unwrap().to_str().unwrap();
            let is_module = path.extension().is_some_and(|extension| extension == "rs") || path.join("mod.rs").exists();
            let is_named = program.lines().any(|line| line == format!("mod {name};"));
            assert!(
                !is_module || name == "main" || is_named,
                "{} is not tested: add `mod {name};` to main.rs beside it",
                path.display()
            );
        }
    }
    assert!(programs >= 5, "only {programs} programs of tests found");
}
