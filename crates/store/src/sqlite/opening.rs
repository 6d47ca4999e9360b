//! Opening a SQLite store. A new one is created under a temporary name and linked to its own when it is complete, so that a
//! failure leaves no file; a store without write permission can still be read.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Instant;
use std::{fs, io};

use percent_encoding::{AsciiSet, CONTROLS, percent_encode};
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::identity::FileIdentity;
use super::refusal::{check_folder, refused, shown};
use super::{PATIENCE, PAUSE, schema};
use crate::temporary::{TemporaryFile, folder_of};
use crate::{Access, Error, Result};

/// The oldest schema whose columns suffice for reading.
const OLDEST_READABLE: i64 = 1;

/// A connection to the store in a file, and its schema.
pub fn open(path: &Path, access: Access) -> Result<(Connection, i64)> {
    // Where that cannot be determined, opening says why.
    let is_missing = matches!(path.try_exists(), Ok(false));
    if is_missing && access != Access::Create {
        return Err(Error::NoStore { path: path.to_path_buf() });
    }
    check_folder(path)?;
    // An empty file becomes a store only where one may be created.
    if access != Access::Create && fs::metadata(path).is_ok_and(|file| file.len() == 0) {
        return Err(Error::Empty { path: path.to_path_buf() });
    }
    if access == Access::Read {
        return open_to_read(path);
    }
    let made = if is_missing { make(path)? } else { None };
    open_to_write(path).inspect_err(|_| {
        // Only the file that this process has created and nobody has replaced.
        if made.is_some() && made == FileIdentity::of(path) {
            remove(path);
        }
    })
}

fn open_to_write(path: &Path) -> Result<(Connection, i64)> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags).map_err(|error| refused(path, &error))?;
    let found = prepare(&mut connection).map_err(|error| refused(path, &error))?;
    Ok((connection, known(path, found)?))
}

/// Creates a store, completely or not at all. Its identity, if it was this process that created it.
fn make(path: &Path) -> Result<Option<FileIdentity>> {
    // Its name is used by no other thread or process: SQLite must open a file under one name only.
    // It is closed before SQLite opens it, since closing any descriptor of a file drops the process's locks on it.
    let draft = TemporaryFile::create(folder_of(path)).map_err(|error| not_created(path, &error))?.close();
    let draft = draft.get();
    let made = open_to_write(draft).and_then(|(connection, _)| {
        // Closing writes the write-ahead log into the file.
        connection.close().map_err(|(_, error)| refused(path, &error))?;
        let identity = FileIdentity::of(draft);
        let sync = || fs::File::open(draft)?.sync_all();
        sync().map_err(|error| not_created(path, &error))?;
        // Fails if another process got there first, or where files cannot be linked: either way it is then opened by its
        // name.
        Ok(fs::hard_link(draft, path).is_ok().then_some(identity).flatten())
    });
    remove(draft);
    // Errors name the path that the user gave.
    made.map_err(|error| match error {
        Error::Denied { action, .. } => Error::Denied { path: path.to_path_buf(), action },
        Error::Full { reason, .. } => Error::Full { store: shown(path), reason },
        Error::Unavailable { reason, .. } => Error::Unavailable { store: shown(path), reason },
        other => other,
    })
}

/// The error for a store whose file cannot be created.
fn not_created(path: &Path, error: &io::Error) -> Error {
    let (store, reason) = (shown(path), error.to_string());
    match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            Error::Denied { path: path.to_path_buf(), action: "written" }
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Error::Full { store, reason },
        _ => Error::Unavailable { store, reason },
    }
}

/// Removes a store's file and those that SQLite keeps beside it, as far as they exist.
fn remove(path: &Path) {
    for end in ["", "-wal", "-shm", "-journal"] {
        let _ = fs::remove_file(beside(path, end));
    }
}

fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(end);
    name.into()
}

/// Opens for reading with or without write permission: first as a shared database; if that is denied, as an immutable file,
/// unless a write-ahead log shows that someone changes it.
fn open_to_read(path: &Path) -> Result<(Connection, i64)> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let first = Connection::open_with_flags(path, flags).and_then(look);
    let (connection, found) = match first {
        Ok(opened) => opened,
        Err(error) if is_denied(&error) && !has_log(path) => {
            let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            Connection::open_with_flags(immutable_uri(path), flags)
                .and_then(look)
                .map_err(|error| refused(path, &error))?
        }
        Err(error) => return Err(refused(path, &error)),
    };
    match known(path, found)? {
        0 => Err(Error::Empty { path: path.to_path_buf() }),
        version if version < OLDEST_READABLE => {
            Err(Error::Older { store: shown(path), found: version, needed: OLDEST_READABLE })
        }
        version => Ok((connection, version)),
    }
}

/// A connection that only reads, and the schema that it finds.
fn look(connection: Connection) -> rusqlite::Result<(Connection, schema::Found)> {
    connection.busy_timeout(PATIENCE)?;
    connection.pragma_update(None, "query_only", true)?;
    connection.set_prepared_statement_cache_capacity(32);
    let found = schema::look(&connection)?;
    Ok((connection, found))
}

/// Whether SQLite lacks write permission, which it needs to share a file with others.
fn is_denied(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::SystemIoFailure)
    )
}

/// Whether there are changes that are not in the file yet.
fn has_log(path: &Path) -> bool {
    fs::metadata(beside(path, "-wal")).is_ok_and(|log| log.len() > 0)
}

/// The URI of a file that SQLite is to treat as immutable.
fn immutable_uri(path: &Path) -> String {
    const ENCODED: &AsciiSet = &CONTROLS.add(b'%').add(b'?').add(b'#').add(b' ');
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    format!("file:{}?immutable=1", percent_encode(path.as_os_str().as_encoded_bytes(), ENCODED))
}

fn known(path: &Path, found: schema::Found) -> Result<i64> {
    match found {
        schema::Found::Known(version) => Ok(version),
        schema::Found::Foreign => {
            let reason = "it is a database of another program".to_string();
            Err(Error::NotAStore { path: path.to_path_buf(), reason })
        }
        schema::Found::Newer(found) => {
            Err(Error::Newer { store: shown(path), found, known: schema::STEPS.len() as i64 })
        }
    }
}

/// Prepares a connection. Where several processes open a new file at once, SQLite refuses instead of waiting, to avoid a
/// deadlock: then it is tried again.
fn prepare(connection: &mut Connection) -> rusqlite::Result<schema::Found> {
    let start = Instant::now();
    loop {
        match set_up(connection) {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && start.elapsed() < PATIENCE => {
                std::thread::sleep(PAUSE);
            }
            done => return done,
        }
    }
}

fn set_up(connection: &mut Connection) -> rusqlite::Result<schema::Found> {
    connection.busy_timeout(PATIENCE)?;
    let found = schema::migrate(connection)?;
    if let schema::Found::Known(_) = found {
        connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
        connection.pragma_update(None, "foreign_keys", true)?;
        connection.set_prepared_statement_cache_capacity(32);
    }
    Ok(found)
}
