//! Temporary files: of a name that nobody can guess, opened exclusively, and removed when they are no longer used.

use std::fs::{self, File};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};

/// A new file in a folder; dropping it removes it. To keep what is in it, rename it or link it to another name.
///
/// ```
/// use std::io::Write;
///
/// use manyhands_store::TemporaryFile;
/// # fn main() -> std::io::Result<()> {
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path();
/// let mut temporary = TemporaryFile::create(folder)?;
/// temporary.file.write_all(b"complete")?;
/// std::fs::rename(temporary.path(), folder.join("result"))?;
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct TemporaryFile {
    /// The file, open for writing.
    pub file: File,
    path: TemporaryPath,
}

/// The path of a temporary file, which is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct TemporaryPath(PathBuf);

impl TemporaryFile {
    /// Creates an empty file. A file or link that is there already is never opened: another user of the folder could have
    /// put it there.
    pub fn create(folder: &Path) -> io::Result<Self> {
        loop {
            // Each state has keys of its own, from the system's source of randomness.
            let random = RandomState::new().hash_one(0);
            let path = folder.join(format!(".manyhands-{random:016x}.new"));
            match File::create_new(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                created => return created.map(|file| Self { file, path: TemporaryPath(path) }),
            }
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.path.get()
    }

    /// Closes it, so that it can be opened by its path alone.
    pub(crate) fn close(self) -> TemporaryPath {
        self.path
    }
}

impl TemporaryPath {
    pub(crate) fn get(&self) -> &Path {
        &self.0
    }
}

impl Drop for TemporaryPath {
    fn drop(&mut self) {
        // It is not there if it was renamed; nobody can be told if it cannot be removed.
        let _ = fs::remove_file(&self.0);
    }
}

/// The folder that a file is in; the current one for a name alone.
pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn each_has_a_name_of_its_own_and_is_gone_when_it_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let files: Vec<TemporaryFile> = (0..100).map(|_| TemporaryFile::create(folder.path()).unwrap()).collect();
        let count = || fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(count(), 100);
        drop(files);
        assert_eq!(count(), 0);
    }

    #[test]
    fn what_was_renamed_stays() {
        let folder = tempfile::tempdir().unwrap();
        let temporary = TemporaryFile::create(folder.path()).unwrap();
        let kept = folder.path().join("kept");
        fs::rename(temporary.path(), &kept).unwrap();
        drop(temporary);
        assert!(kept.exists());
    }
}
