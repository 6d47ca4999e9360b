//! What ARCHITECTURE.md says of the lab, kept true: who starts processes, and on which crates the lab depends.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

/// The source files below a folder, without their tests.
fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap_or_default().to_string();
            found.push((path, code));
        }
    }
    found
}

fn starts_processes(code: &str) -> bool {
    let words = |line: &str| line.split(|c: char| !c.is_alphanumeric()).any(|word| word == "Command");
    code.lines().any(|line| !line.trim_start().starts_with("//") && line.contains("process::") && words(line))
}

#[test]
fn processes_are_started_by_run_and_by_one_module_of_the_lab() {
    let mut found = Vec::new();
    for entry in fs::read_dir(crates()).unwrap() {
        let folder = entry.unwrap().path();
        if folder.file_name().is_some_and(|name| name != "run") && folder.join("src").is_dir() {
            found.extend(sources(&folder.join("src")).into_iter().filter(|(_, code)| starts_processes(code)));
        }
    }
    let found: Vec<PathBuf> =
        found.iter().map(|(path, _)| path.strip_prefix(crates()).unwrap().to_path_buf()).collect();
    assert_eq!(found, [Path::new("lab/src/process.rs")]);
}

#[test]
fn the_lab_depends_on_core_and_store_alone() {
    let manifest = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml")).unwrap();
    let rooms: Vec<&str> = manifest.lines().filter_map(|line| line.strip_prefix("manyhands-")).collect();
    assert_eq!(rooms, ["core.workspace = true", "store.workspace = true"]);
}
