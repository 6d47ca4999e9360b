//! The crates: which depends on which, what they may depend on besides, and the version of Rust that they promise.

use std::fs;
use std::process::Command;

use serde_json::Value as Json;

use super::source::root;

/// Who may depend on whom, from the bottom up; tests too.
const DIRECTION: [(&str, &[&str]); 11] = [
    ("manyhands-gp", &[]),
    ("manyhands-polytope", &[]),
    ("manyhands-core", &["gp", "polytope"]),
    ("manyhands-postgres", &[]),
    ("manyhands-store", &["core", "postgres"]),
    ("manyhands-run", &["core", "store"]),
    ("manyhands-report", &["core", "store", "run"]),
    ("manyhands-plots", &["core"]),
    ("manyhands-rooflines", &["gp"]),
    ("manyhands-lab", &["gp", "core", "store", "plots", "rooflines"]),
    ("manyhands", &["core", "store", "run", "report", "plots", "lab"]),
];

/// Crates from elsewhere that only some of ours may be built with.
const RESERVED: [(&str, &[&str]); 6] = [
    ("rusqlite", &["manyhands-store"]),
    ("tokio-postgres", &["manyhands-postgres"]),
    ("tokio", &["manyhands-postgres"]),
    ("clap", &["manyhands"]),
    ("anyhow", &["manyhands"]),
    ("kuva", &["manyhands-plots", "manyhands-lab"]),
];

fn output(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).current_dir(root()).output().unwrap();
    assert!(output.status.success(), "{program} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn metadata(options: &[&str]) -> Vec<Json> {
    let arguments = [&["metadata", "--format-version", "1", "--locked", "--offline"], options].concat();
    let metadata: Json = serde_json::from_str(&output(env!("CARGO"), &arguments)).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

fn text<'a>(package: &'a Json, key: &str) -> &'a str {
    package[key].as_str().unwrap_or_default()
}

fn dependencies(package: &Json) -> impl Iterator<Item = &Json> {
    package["dependencies"].as_array().unwrap().iter()
}

#[test]
fn crates_depend_on_each_other_in_one_direction() {
    let packages = metadata(&["--no-deps"]);
    assert_eq!(packages.len(), DIRECTION.len());
    for package in &packages {
        let name = text(package, "name");
        let (_, allowed) = DIRECTION.iter().find(|(known, _)| *known == name).unwrap();
        for dependency in dependencies(package).map(|dependency| text(dependency, "name")) {
            if let Some(room) = dependency.strip_prefix("manyhands-") {
                assert!(allowed.contains(&room), "{name} depends on {dependency}");
            }
        }
    }
}

#[test]
fn databases_the_command_line_and_pictures_are_dependencies_of_few() {
    for package in &metadata(&["--no-deps"]) {
        for dependency in dependencies(package).filter(|dependency| dependency["kind"].is_null()) {
            let (name, dependency) = (text(package, "name"), text(dependency, "name"));
            if let Some((_, users)) = RESERVED.iter().find(|(reserved, _)| *reserved == dependency) {
                assert!(users.contains(&name), "{name} depends on {dependency}");
            }
        }
    }
}

#[test]
fn every_crate_has_the_lints_of_the_workspace() {
    for package in &metadata(&["--no-deps"]) {
        let manifest = fs::read_to_string(text(package, "manifest_path")).unwrap();
        assert!(manifest.contains("[lints]\nworkspace = true"), "{}", text(package, "name"));
    }
    let lints = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    for lint in ["unsafe_code = \"deny\"", "unwrap_used = ", "expect_used = ", "panic = ", "todo = "] {
        assert!(lints.contains(lint), "{lint}");
    }
}

#[test]
fn every_crate_says_what_it_is_for_those_who_look_for_one() {
    for package in &metadata(&["--no-deps"]) {
        let name = text(package, "name");
        for key in ["description", "license", "readme", "rust_version"] {
            assert!(!text(package, key).is_empty(), "{name} has no {key}");
        }
        for key in ["keywords", "categories"] {
            let count = package[key].as_array().unwrap().len();
            assert!((1..=5).contains(&count), "{name} has {count} {key}");
        }
        let folder = std::path::Path::new(text(package, "manifest_path")).parent().unwrap().to_path_buf();
        assert!(folder.join(text(package, "readme")).exists(), "{name}");
    }
}

/// "1.88" and "1.88.0" are the same version.
fn version(text: &str) -> Vec<u32> {
    let mut parts: Vec<u32> = text.split('.').map(|part| part.parse().unwrap()).collect();
    parts.resize(3, 0);
    parts
}

#[test]
fn no_dependency_needs_a_newer_rust_than_is_promised() {
    let versions = output("rustc", &["-vV"]);
    let host = versions.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let packages = metadata(&["--filter-platform", host]);
    let promised = packages.iter().find(|package| text(package, "name") == "manyhands").unwrap();
    let promised = text(promised, "rust_version");
    for package in packages.iter().filter(|package| package["rust_version"].is_string()) {
        let (name, needed) = (text(package, "name"), text(package, "rust_version"));
        assert!(version(needed) <= version(promised), "{name} needs Rust {needed}, Cargo.toml promises {promised}");
    }
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    assert!(readme.contains(&format!("Rust ({promised} or later)")), "README.md does not say Rust {promised}");
}

#[test]
fn the_released_version_is_the_one_to_cite() {
    let read = |name: &str| fs::read_to_string(root().join(name)).unwrap();
    let citation = read("CITATION.cff");
    let field = |name: &str| citation.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim().to_string();
    let released = format!("## {} ({})", field("version:"), field("date-released:"));
    let changelog = read("CHANGELOG.md");
    let first = changelog.lines().filter(|line| line.starts_with("## ")).nth(1);
    assert_eq!(first, Some(released.as_str()));
}

/// The crates that a profile has overrides for, with the level of each.
fn levels<'a>(manifest: &'a str, profile: &str) -> Vec<(&'a str, &'a str)> {
    let (_, rest) = manifest.split_once(&format!("[profile.{profile}.package]\n")).unwrap();
    let lines = rest.lines().take_while(|line| !line.starts_with('['));
    let level = |line: &'a str| {
        let (name, settings) = line.split_once(" = { opt-level = ").unwrap_or_else(|| panic!("no level: {line}"));
        (name, settings.split([',', ' ']).next().unwrap())
    };
    lines.filter(|line| !line.is_empty() && !line.starts_with('#')).map(level).collect()
}

/// Crates that have the same level in both profiles are listed for `release` alone.
#[test]
fn crates_with_a_level_of_their_own_in_release_are_small_in_a_binary_to_hand_out() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let locked = fs::read_to_string(root().join("Cargo.lock")).unwrap();
    for profile in ["dev", "release", "dist"] {
        let unknown = |(name, _): &(&str, &str)| !locked.contains(&format!("name = \"{name}\"\n"));
        assert_eq!(levels(&manifest, profile).into_iter().find(unknown), None, "{profile}");
    }
    let release = levels(&manifest, "release");
    let same = ["basin", "faer", "indexmap", "rayon", "rustfft", "zerocopy"];
    let mut apart: Vec<&str> = release.iter().map(|(name, _)| *name).filter(|name| !same.contains(name)).collect();
    let dist = levels(&manifest, "dist");
    let mut listed: Vec<&str> = dist.iter().map(|(name, _)| *name).collect();
    apart.sort();
    listed.sort();
    assert_eq!(apart, listed);
    // LTO optimizes all crates at the level of the binary's.
    let fast: Vec<_> = dist.into_iter().filter(|(_, level)| !matches!(*level, "\"s\"" | "\"z\"")).collect();
    assert_eq!(fast, [("manyhands", "3")]);
}
