//! House rules that a program can check: every source file says why it exists, and none grows too long.

use std::fs;

use crate::source::{root, rust_files};

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
