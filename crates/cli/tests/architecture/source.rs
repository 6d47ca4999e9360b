//! The sources of the workspace as the tests read them: code apart from comments, texts and tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// The folder of the workspace.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// A source file of a crate's library or binary.
pub struct Source {
    /// From the workspace's folder, with `/` between the parts.
    pub path: String,
    /// The code alone: no comments, nothing inside of texts, nothing that is compiled for tests only.
    pub code: String,
    /// The texts of that code, as they are written.
    pub texts: Vec<String>,
}

impl Source {
    pub fn is_in(&self, places: &[&str]) -> bool {
        places.iter().any(|place| self.path == *place || self.path.starts_with(&format!("{place}/")))
    }

    /// Whether a word of the code is this one.
    pub fn has_word(&self, word: &str) -> bool {
        words(&self.code).any(|found| found == word)
    }

    /// Whether it names this module of the standard library, by its path or in a list of imports.
    pub fn uses_std(&self, module: &str) -> bool {
        let is_listed = |line: &str| line.contains("std::{") && words(line).any(|word| word == module);
        self.code.contains(&format!("std::{module}")) || self.code.lines().any(is_listed)
    }
}

fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// Every Rust file of a folder and the folders in it, in order.
pub fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let files = |path: PathBuf| match path.extension() {
        _ if path.is_dir() => rust_files(&path),
        Some(extension) if extension == "rs" => vec![path],
        _ => vec![],
    };
    paths.into_iter().flat_map(files).collect()
}

/// The sources of all crates, without modules that are tests as a whole.
pub fn sources() -> &'static [Source] {
    static SOURCES: LazyLock<Vec<Source>> = LazyLock::new(|| {
        let root = root();
        let in_workspace = |path: &PathBuf| path.strip_prefix(&root).unwrap().to_str().unwrap().to_string();
        let is_source = |path: &str| {
            let mut parts = path.split('/').skip(2);
            parts.next() == Some("src") && parts.all(|part| !["tests", "tests.rs"].contains(&part))
        };
        let files = rust_files(&root.join("crates")).into_iter().filter(|path| is_source(&in_workspace(path)));
        let found: Vec<Source> =
            files.map(|path| source(in_workspace(&path), &fs::read_to_string(&path).unwrap())).collect();
        assert!(found.len() > 250, "only {} source files found", found.len());
        found
    });
    &SOURCES
}

fn source(path: String, text: &str) -> Source {
    let (code, texts) = without_comments(text);
    // A text is its number between quotes, so that those of tests go when the tests go.
    let code = without_tests(&code);
    let kept = code.split('"').skip(1).step_by(2).map(|number| texts[number.parse::<usize>().unwrap()].clone());
    let texts = kept.collect();
    let code = code.split('"').step_by(2).collect::<Vec<_>>().join("\"\"");
    Source { path, code, texts }
}

/// Code without comments, with the number of a text in the place of each, and those texts.
fn without_comments(text: &str) -> (String, Vec<String>) {
    let (mut code, mut texts, mut rest) = (String::new(), Vec::new(), text);
    while let Some(first) = rest.chars().next() {
        let is_in_word = code.chars().next_back().is_some_and(|c| c.is_alphanumeric() || c == '_');
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").unwrap() + 2
        } else if let Some((inside, length)) = quoted(rest).filter(|_| first == '"' || !is_in_word) {
            code.push_str(&format!("\"{}\"", texts.len()));
            texts.push(inside.to_string());
            length
        } else if let Some(length) = character(rest) {
            code.push_str("' '");
            length
        } else {
            code.push(first);
            first.len_utf8()
        };
        rest = &rest[length..];
    }
    (code, texts)
}

/// What a text that starts here says, and how long it is with its quotes.
fn quoted(rest: &str) -> Option<(&str, usize)> {
    let prefix = rest.find('"').filter(|place| rest[..*place].chars().all(|c| "bcr#".contains(c)))?;
    let start = prefix + 1;
    if rest[..prefix].contains('r') {
        let end = format!("\"{}", "#".repeat(rest[..prefix].matches('#').count()));
        let inside = rest[start..].find(&end).unwrap();
        return Some((&rest[start..start + inside], start + inside + end.len()));
    }
    let mut is_escaped = false;
    let end = rest[start..].find(|c| {
        let ends = c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        ends
    });
    end.map(|end| (&rest[start..start + end], start + end + 1))
}

/// How long the character literal that starts here is; none for lifetimes.
fn character(rest: &str) -> Option<usize> {
    let inside = rest.strip_prefix('\'')?;
    let first = inside.chars().next()?;
    let shortest = if first == '\\' { 2 } else { first.len_utf8() };
    let end = inside.get(shortest..)?.find('\'')?;
    (end == 0 || first == '\\' && end < 10).then_some(1 + shortest + end + 1)
}

/// Code without the items that only tests have.
fn without_tests(code: &str) -> String {
    let (mut kept, mut rest) = (String::new(), code);
    while let Some((place, marker)) = ["#[cfg(test)]", "#[cfg(all(test", "#[cfg(doctest)]"]
        .into_iter()
        .filter_map(|marker| rest.find(marker).map(|place| (place, marker)))
        .min()
    {
        kept.push_str(&rest[..place]);
        let item = place + marker.len();
        let start = item + rest[item..].find([';', '{']).unwrap();
        let length = if rest[start..].starts_with('{') { block(&rest[start..]) } else { 1 };
        rest = &rest[start + length..];
    }
    kept + rest
}

/// How long the block that starts here is, with its braces.
fn block(code: &str) -> usize {
    let mut depth = 0;
    let end = code.find(|c| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        depth == 0
    });
    end.unwrap() + 1
}

#[test]
fn code_is_told_apart_from_comments_texts_and_tests() {
    let text = concat!(
        "//! std::fs\n/* panic! */ fn f<'a>(x: &'a str) -> char { g(\"unwrap \\\" {\", r#\"a \" b\"#); '\"' }\n",
        "#[cfg(test)]\nmod tests { fn t() { \"gone\"; { todo!() } } }\n",
        "#[cfg(all(test, feature = \"x\"))]\nmod more { }\nuse std::{fmt, fs};\nlet x = '{';\n",
    );
    let read = source("a.rs".to_string(), text);
    assert_eq!(read.texts, ["unwrap \\\" {", "a \" b"]);
    assert!(read.uses_std("fs") && !read.uses_std("io") && read.has_word("char"));
    for absent in ["panic", "unwrap", "tests", "todo", "more", "gone", "{'"] {
        assert!(!read.code.contains(absent), "{absent} in {}", read.code);
    }
}
