//! How every file is written for a user: completely or not at all, with the reason if it cannot be.

use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Result, anyhow};

use crate::refusal::Usage;

/// Writes a file under another name and renames it: readers see the old file or the new one.
pub fn file(path: &Path, content: &[u8]) -> Result<()> {
    manyhands_store::replace_file(path, content).map_err(|error| {
        let folder = folder_of(path);
        let reason = match error.kind() {
            ErrorKind::NotFound if !folder.is_dir() => format!("there is no folder {}", folder.display()),
            ErrorKind::NotFound => format!("no file can be made in {}", folder.display()),
            ErrorKind::PermissionDenied => format!("permission denied: no file can be made in {}", folder.display()),
            ErrorKind::IsADirectory => "it is a folder".to_string(),
            _ => error.to_string(),
        };
        anyhow!("cannot write {}: {reason}", path.display())
    })
}

/// Refuses a file whose folder is not there, before anything is done for it; - stands for standard output.
pub fn check_folder(path: &Path) -> Result<()> {
    let folder = folder_of(path);
    if path == Path::new("-") || folder.is_dir() {
        return Ok(());
    }
    let message = format!("cannot write {}: there is no folder {}", path.display(), folder.display());
    Err(Usage::new("file", message).hint("make the folder first, or correct the path").into())
}

/// The folder that a file is in.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
