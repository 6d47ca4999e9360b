//! ARCHITECTURE.md itself: the files that it names exist, and a test keeps each of its absences.

use std::fs;
use std::path::PathBuf;

use super::source::{root, rust_files};

const LONGEST: usize = 200;

fn page() -> String {
    fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap()
}

/// What stands between backticks.
fn quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

fn section<'a>(page: &'a str, title: &str) -> &'a str {
    let (_, rest) = page.split_once(&format!("\n## {title}\n")).unwrap_or_else(|| panic!("no section {title}"));
    rest.split("\n## ").next().unwrap()
}

#[test]
fn every_absence_is_kept_by_a_test_that_exists() {
    let paths = rust_files(&root().join("crates"));
    let tests: String = paths.iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    let page = page();
    let absences: Vec<&str> = section(&page, "What never happens").split("\n- ").skip(1).collect();
    assert!(absences.len() > 15, "only {} absences found", absences.len());
    for absence in absences {
        let (_, keepers) = absence.rsplit_once("Kept by").unwrap_or_else(|| panic!("no test keeps: {absence}"));
        for keeper in quoted(keepers) {
            assert!(tests.contains(&format!("fn {keeper}(")), "there is no test {keeper}");
        }
        assert!(!quoted(keepers).is_empty(), "no test keeps: {absence}");
    }
}

/// The folders of the map, each with the files and folders that its rows name: a line that begins with "**`crates/core`**", and
/// rows such as "| `spec`, `rules/` | ... |" below it.
fn map(page: &str) -> Vec<(PathBuf, Vec<&str>)> {
    let mut folders: Vec<(PathBuf, Vec<&str>)> = vec![];
    for row in section(page, "Map").lines() {
        if let Some(name) = row.strip_prefix("**`").and_then(|row| row.split('`').next()) {
            folders.push((root().join(name).join("src"), vec![]));
        } else if let (Some((_, names)), true) = (folders.last_mut(), row.starts_with("| `")) {
            names.extend(quoted(row.split(" | ").next().unwrap()).iter().map(|name| name.trim_end_matches('/')));
        }
    }
    folders
}

#[test]
fn every_file_of_the_map_exists() {
    let page = page();
    let folders = map(&page);
    for (folder, names) in &folders {
        assert!(folder.is_dir(), "{}", folder.display());
        for name in names {
            let exists = folder.join(name).is_dir() || folder.join(format!("{name}.rs")).is_file();
            assert!(exists, "{} has no {name}", folder.display());
        }
    }
    let count: usize = folders.iter().map(|(_, names)| names.len()).sum();
    assert!(count > 80, "only {count} files found");
}

#[test]
fn every_file_is_in_the_map() {
    let page = page();
    for (folder, names) in map(&page).iter().filter(|(_, names)| !names.is_empty()) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap();
            let is_known = ["lib", "main", "error", "tests"].contains(&name) || names.contains(&name);
            assert!(is_known, "ARCHITECTURE.md does not name {}", path.display());
        }
    }
}

#[test]
fn the_page_stays_short() {
    let lines = page().lines().count();
    assert!(lines <= LONGEST, "ARCHITECTURE.md has {lines} lines");
}
