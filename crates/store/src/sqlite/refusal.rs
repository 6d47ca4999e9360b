//! SQLite's errors as errors of a store.

use std::fs;
use std::path::Path;

use rusqlite::ErrorCode;

use super::PATIENCE;
use crate::Error;
use crate::temporary::folder_of;

/// Refuses a path whose folder does not exist.
pub fn check_folder(path: &Path) -> Result<(), Error> {
    let folder = folder_of(path);
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

/// The error for a store whose file has been removed or replaced.
pub fn gone(path: &Path) -> Error {
    let reason = "its file was removed or replaced while it was in use".to_string();
    Error::RefusedFile { path: path.to_path_buf(), reason }
}

/// The error that an error of SQLite's means for a user.
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

/// What is denied for a file that SQLite could not open, or beside which it could not open its own.
fn denied(path: &Path) -> Option<&'static str> {
    use std::io::ErrorKind::{NotFound, PermissionDenied};

    use rustix::io::Errno;
    match fs::File::open(path).map_err(|error| error.kind()) {
        Ok(_) => Some("written"),
        Err(PermissionDenied) => Some("read"),
        // It does not exist: it can be created where its folder can be written.
        Err(NotFound) => match rustix::fs::access(folder_of(path), rustix::fs::Access::WRITE_OK) {
            Err(Errno::ACCESS | Errno::PERM | Errno::ROFS) => Some("written"),
            _ => None,
        },
        Err(_) => None,
    }
}

/// Whether an I/O failure came from writing: a full disk, or a limit on the size of files.
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
