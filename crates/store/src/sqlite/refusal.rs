//! What SQLite's refusals mean to a user.

use std::fs;
use std::path::Path;

use rusqlite::ErrorCode;

use super::PATIENCE;
use crate::Error;

/// The folder that a store is to be in must be there.
pub fn check_folder(path: &Path) -> Result<(), Error> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let refuse = |reason: String| Err(Error::RefusedFile { path: path.to_path_buf(), reason });
    if path.is_dir() {
        return refuse("it is a folder".to_string());
    }
    match fs::metadata(folder) {
        Ok(folder) if folder.is_dir() => Ok(()),
        Ok(_) => refuse(format!("{} is not a folder", folder.display())),
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            Err(Error::Denied { path: path.to_path_buf(), action: "read" })
        }
        Err(_) => refuse(format!("there is no folder {}", folder.display())),
    }
}

pub fn shown(path: &Path) -> String {
    format!("sqlite:{}", path.display())
}

/// The file that a store was opened in is not there any more.
pub fn gone(path: &Path) -> Error {
    let reason = "its file was removed or replaced while it was in use".to_string();
    Error::RefusedFile { path: path.to_path_buf(), reason }
}

/// An error of SQLite's, in the user's words.
pub fn refused(path: &Path, error: &rusqlite::Error) -> Error {
    let (store, path) = (shown(path), path.to_path_buf());
    let reason = error.to_string();
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => Error::NotAStore { path, reason: "it is not a SQLite database".to_string() },
        Some(ErrorCode::DatabaseCorrupt) => Error::Damaged { path, reason },
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            Error::Locked { store, seconds: PATIENCE.as_secs() }
        }
        Some(ErrorCode::DiskFull) => Error::Full { store, reason },
        Some(ErrorCode::SystemIoFailure) if is_write(error) => Error::Full { store, reason },
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => Error::Denied { path, action: "written" },
        Some(ErrorCode::CannotOpen) => match denied(&path) {
            Some(action) => Error::Denied { path, action },
            None => Error::Unavailable { store, reason },
        },
        _ => Error::Unavailable { store, reason },
    }
}

/// What the system does not let us do with a file that SQLite could not open, or not open beside it.
fn denied(path: &Path) -> Option<&'static str> {
    use std::io::ErrorKind::{NotFound, PermissionDenied, ReadOnlyFilesystem};
    match fs::File::open(path).map_err(|error| error.kind()) {
        Ok(_) => Some("written"),
        Err(PermissionDenied) => Some("read"),
        // There is none, and it seems that none can be made: this says why.
        Err(NotFound) => match fs::File::create_new(path).map_err(|error| error.kind()) {
            Err(PermissionDenied | ReadOnlyFilesystem) => Some("written"),
            Ok(_) => {
                // It was only to be seen whether it can be made.
                let _ = fs::remove_file(path);
                None
            }
            Err(_) => None,
        },
        Err(_) => None,
    }
}

/// Whether a failure of the disk came from writing: no room, or a limit on the size of files.
fn is_write(error: &rusqlite::Error) -> bool {
    use rusqlite::ffi;
    const WRITES: [i32; 6] = [
        ffi::SQLITE_IOERR_WRITE,
        ffi::SQLITE_IOERR_FSYNC,
        ffi::SQLITE_IOERR_DIR_FSYNC,
        ffi::SQLITE_IOERR_TRUNCATE,
        ffi::SQLITE_IOERR_SHMSIZE,
        ffi::SQLITE_IOERR_SHMMAP,
    ];
    matches!(error, rusqlite::Error::SqliteFailure(failure, _) if WRITES.contains(&failure.extended_code))
}
