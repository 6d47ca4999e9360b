//! The house rules that a program can check: every source file says why it exists, and none grows too long.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

const LONGEST: usize = 400;

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && path.file_name().is_some_and(|name| name != "target") {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

fn all_sources() -> Vec<PathBuf> {
    let mut found = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), &mut found);
    assert!(found.len() > 30, "only {} source files found", found.len());
    found
}

#[test]
fn every_source_file_opens_by_saying_why_it_exists() {
    for path in all_sources() {
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("//! "), "{} does not open with a `//!` line", path.display());
    }
}

#[test]
fn no_source_file_is_longer_than_its_idea() {
    for path in all_sources().iter().filter(|path| path.components().any(|part| part.as_os_str() == "src")) {
        let text = fs::read_to_string(path).unwrap();
        let lines = text.lines().take_while(|line| !line.starts_with("#[cfg(test)]")).count();
        assert!(lines <= LONGEST, "{} has {lines} lines before its tests", path.display());
    }
}
