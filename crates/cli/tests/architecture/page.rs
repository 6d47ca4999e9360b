//! ARCHITECTURE.md itself: the files that it names exist, and a test keeps each of its absences.

use std::fs;

use crate::source::{root, rust_files};

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

/// The map has a line that begins with "**`crates/core`**" for each crate, and rows such as "| `spec`, `rules/` | ... |" below it.
#[test]
fn every_file_of_the_map_exists() {
    let page = page();
    let mut folder = None;
    let mut count = 0;
    for row in section(&page, "Map").lines() {
        if let Some(name) = row.strip_prefix("**`").and_then(|row| row.split('`').next()) {
            folder = Some(root().join(name).join("src"));
            assert!(folder.as_ref().is_some_and(|folder| folder.is_dir()), "{name}");
        } else if let (Some(folder), Some(cells)) = (&folder, row.strip_prefix("| `")) {
            let cell = cells.split(" | ").next().unwrap();
            for name in quoted(&format!("`{cell}")) {
                let name = name.trim_end_matches('/');
                let exists = folder.join(name).is_dir() || folder.join(format!("{name}.rs")).is_file();
                assert!(exists, "{} has no {name}", folder.display());
                count += 1;
            }
        }
    }
    assert!(count > 80, "only {count} files found");
}

#[test]
fn the_page_stays_short() {
    let lines = page().lines().count();
    assert!(lines <= LONGEST, "ARCHITECTURE.md has {lines} lines");
}
