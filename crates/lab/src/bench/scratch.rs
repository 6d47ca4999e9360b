//! A folder for the files of a measurement.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// A folder in the current one, on the disk that the default store would be on; removed when dropped.
pub struct ScratchFolder(PathBuf);

impl ScratchFolder {
    /// Makes the folder; its name has the number of this process.
    pub fn new() -> Result<Self> {
        let path = PathBuf::from(format!("manyhands-bench-{}", std::process::id()));
        fs::create_dir(&path).map_err(|error| unwritable(&path, &error))?;
        Ok(Self(path))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        // If this fails, the folder's name still says where it comes from.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Writes a file of a measurement.
pub fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).map_err(|error| unwritable(path, &error))
}

/// What is refused where a file of a measurement cannot be written.
pub fn unwritable(path: &Path, error: &std::io::Error) -> Error {
    Error::CannotWrite { path: path.to_path_buf(), reason: error.to_string() }
}
