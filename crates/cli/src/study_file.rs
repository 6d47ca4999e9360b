//! A study file as the command line reads it: with its `[run]`, and the files that it names.

use std::cell::LazyCell;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use manyhands_core::file::{Draft, FileError};
use manyhands_run::{RunDraft, RunSettings};
use manyhands_store::{Error as StoreError, Source, Store};

use crate::refusal::Usage;

/// Reads a study file, its `[run]` and the files that it names; for missing files the store may have a copy.
pub fn read(path: &Path, store: impl FnOnce() -> Option<Store>) -> Result<(Source, Option<RunSettings>)> {
    let shown = path.display().to_string();
    let text = fs::read_to_string(path).map_err(|error| unreadable(path, &error))?;
    let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
    // Opened at most once, however many files are missing.
    let store = LazyCell::new(store);
    let stored = |study: &str, name: &str| {
        let store = (*store).as_ref()?;
        let row = store.find(study).ok().flatten()?;
        let file = store.files(row.id).ok()?.into_iter().find(|file| file.name == name)?;
        Some(file.content)
    };
    let checked = Draft::parse_with(&text, RunDraft::read).map_err(StoreError::File).and_then(|(draft, run)| {
        let study = draft.name().to_string();
        let source = Source::of(draft, |name| match fs::read(folder.join(name)) {
            Ok(content) => Ok(content),
            Err(error) => stored(&study, name).ok_or_else(|| reason(&error)),
        })?;
        let settings = run.map(|run| run.finish(source.study())).transpose().map_err(StoreError::File)?;
        Ok((source, settings))
    });
    checked.map_err(|error| match error {
        StoreError::File(error) => {
            let hint = error.hint.clone();
            let shown = FileError { hint: None, ..error }.render(&shown);
            anyhow::Error::from(Usage { code: "study-file", message: shown, hint })
        }
        error => error.into(),
    })
}

/// The error that a file cannot be read, and why.
pub fn unreadable(path: &Path, error: &std::io::Error) -> Usage {
    Usage::new("file", format!("cannot read {}: {}", path.display(), reason(error)))
}

/// Why a file cannot be read.
pub fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_string(),
        std::io::ErrorKind::PermissionDenied => "permission denied".to_string(),
        std::io::ErrorKind::InvalidData => "it is not UTF-8 text".to_string(),
        _ => error.to_string(),
    }
}

/// The folder of a study file, or the current one.
pub fn folder_of(file: Option<&Path>) -> Result<PathBuf> {
    let folder = file.and_then(Path::parent).filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let unreachable =
        |e: std::io::Error| Usage::new("folder", format!("cannot use the folder {}: {}", folder.display(), reason(&e)));
    Ok(folder.canonicalize().map_err(unreachable)?)
}
