//! Atomic replacement of a file: a reader, also after a crash, finds the old content or the new one, never a part.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use crate::temporary::{TemporaryFile, folder_of};

/// Replaces a file atomically: the content is written under another name in the same folder, synchronized, then renamed. The
/// new file has the permissions of the old one. Anything but a regular file, such as /dev/stdout, is written directly.
pub fn replace_file(path: &Path, content: &[u8]) -> io::Result<()> {
    // What a link leads to is replaced, and not the link.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let permissions = match fs::metadata(&path) {
        Ok(found) if !found.is_file() => {
            return OpenOptions::new().write(true).open(&path)?.write_all(content);
        }
        Ok(found) => Some(found.permissions()),
        Err(_) => None,
    };
    if path.file_name().is_none() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it names no file"));
    }
    let folder = folder_of(&path);
    let mut draft = TemporaryFile::create(folder)?;
    if let Some(permissions) = permissions {
        draft.file.set_permissions(permissions)?;
    }
    draft.file.write_all(content)?;
    draft.file.sync_all()?;
    fs::rename(draft.path(), &path)?;
    sync_folder(folder)
}

/// A rename is durable once its folder is synchronized.
#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Folders cannot be opened elsewhere.
#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_replaced_by_another_one_and_never_written_into() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        replace_file(&path, b"old").unwrap();
        let held = File::open(&path).unwrap();
        let before = fs::metadata(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        replace_file(&path, b"new").unwrap();
        let after = fs::metadata(&path).unwrap();
        assert_ne!(before.ino(), after.ino());
        assert_eq!(after.permissions().mode() & 0o777, 0o640);
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(io::read_to_string(held).unwrap(), "old", "an open reader keeps the old content");
        assert_eq!(names(folder.path()), ["a.csv"]);
    }

    #[test]
    fn a_new_file_has_the_permissions_of_any_new_file() {
        let folder = tempfile::tempdir().unwrap();
        let [ours, usual] = ["ours", "usual"].map(|name| folder.path().join(name));
        replace_file(&ours, b"").unwrap();
        fs::write(&usual, "").unwrap();
        assert_eq!(fs::metadata(ours).unwrap().mode(), fs::metadata(usual).unwrap().mode());
    }

    #[test]
    fn a_link_stays_and_what_it_leads_to_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let [target, link] = ["target", "link"].map(|name| folder.path().join(name));
        fs::write(&target, "old").unwrap();
        symlink(&target, &link).unwrap();
        replace_file(&link, b"new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&target).unwrap(), "new");
        replace_file(Path::new("/dev/null"), b"new").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }

    #[test]
    fn what_cannot_be_written_leaves_nothing_and_keeps_what_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let error = replace_file(&folder.path().join("none/a"), b"x").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(replace_file(folder.path(), b"x").is_err());
        assert_eq!(names(folder.path()), [""; 0]);
    }
}
