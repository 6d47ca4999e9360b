//! How every file is written for a user: completely or not at all, with the reason if it cannot be.

use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Result, anyhow};

/// Writes a file under another name and renames it: readers see the old file or the new one.
pub fn file(path: &Path, content: &[u8]) -> Result<()> {
    manyhands_store::replace_file(path, content).map_err(|error| {
        let folder = folder_of(path);
        let reason = match error.kind() {
            ErrorKind::NotFound => format!("there is no folder {}", folder.display()),
            ErrorKind::PermissionDenied => format!("permission denied: no file can be made in {}", folder.display()),
            ErrorKind::IsADirectory => "it is a folder".to_string(),
            _ => error.to_string(),
        };
        anyhow!("cannot write {}: {reason}", path.display())
    })
}

/// The folder that a file is in.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
