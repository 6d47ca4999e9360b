//! --store: where studies are kept, by the command line, the environment or default.

use std::ffi::OsString;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use std::{fmt, fs};

use anyhow::Result;
use clap::Args;
use manyhands_store::{Access, Error as StoreError, Location, Store};

use crate::default_store;
use crate::refusal::Usage;
use crate::stderr::say;
use crate::study_file::reason;
use crate::write::folder_of;

/// Where studies are kept.
#[derive(Debug, Clone, Args)]
pub struct StoreOption {
    /// Where studies are kept: sqlite:PATH or postgres://USER@HOST/DATABASE [default: MANYHANDS_STORE of the environment, or
    /// what is in the file that MANYHANDS_STORE_FILE names, or manyhands.db beside the study file, and in the current folder for a name]
    #[arg(long, value_name = "URL")]
    store: Option<Secret>,
}

/// An address as it was given; it may hold a password.
#[derive(Clone)]
struct Secret(String);

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("...")
    }
}

impl StoreOption {
    /// Opens the store of the current folder, unless another one is named.
    pub fn open(&self, access: Access) -> Result<Store> {
        Ok(open(&self.location(None)?, access)?)
    }

    /// Whether the command line names a store.
    pub fn is_given(&self) -> bool {
        self.store.is_some()
    }

    /// The address of the store, of this study file if there is one. What there is to say about it is said once.
    pub fn location(&self, file: Option<&Path>) -> Result<Location> {
        self.location_or(|| file.map_or((Location::default(), vec![]), default_store::of_file))
    }

    /// The address of the store of a study that is given by its name, beside a study file or else in the current folder.
    pub fn location_of(&self, study: &str, beside: &Path) -> Result<Location> {
        self.location_or(|| default_store::of_study(study, beside))
    }

    fn location_or(&self, default: impl FnOnce() -> (Location, Vec<String>)) -> Result<Location> {
        let (location, mut lines) = match self.named()? {
            Some(named) => {
                check_folder(&named.0)?;
                named
            }
            None => default(),
        };
        if location == Location::Memory {
            let message = "a store in memory is gone when the command ends";
            return Err(Usage::new("store-address", message)
                .hint("use sqlite:PATH or postgres://USER@HOST/DATABASE")
                .into());
        }
        lines.extend(location.warnings().iter().map(warning));
        static SAID: Mutex<Vec<String>> = Mutex::new(Vec::new());
        let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
        for line in lines {
            if !said.contains(&line) {
                say(&line);
                said.push(line);
            }
        }
        Ok(location)
    }

    /// The store that is named, and lines to be said about it. The command line takes precedence over the environment.
    fn named(&self) -> Result<Option<(Location, Vec<String>)>> {
        if let Some(Secret(text)) = &self.store {
            let location: Location = text.parse()?;
            let exposed = location.has_password().then(|| warning(EXPOSED));
            return Ok(Some((location, exposed.into_iter().collect())));
        }
        match (variable("MANYHANDS_STORE")?, variable("MANYHANDS_STORE_FILE")?) {
            (None, None) => Ok(None),
            (Some(text), None) => Ok(Some((text.parse()?, vec![]))),
            (None, Some(file)) => of_file(Path::new(&file)).map(Some),
            (Some(_), Some(_)) => {
                let message = "MANYHANDS_STORE and MANYHANDS_STORE_FILE are both set, and each names a store";
                Err(Usage::new("store-address", message).hint("unset one of them, or use --store").into())
            }
        }
    }
}

/// Refuses a store whose folder is not there: it is mistyped, or not mounted.
fn check_folder(location: &Location) -> Result<()> {
    match location {
        Location::Sqlite(path) if !folder_of(path).is_dir() => {
            let message = format!("there is no folder {} for the store {location}", folder_of(path).display());
            Err(Usage::new("store-address", message).hint("make the folder first, or correct the path").into())
        }
        _ => Ok(()),
    }
}

fn warning(text: impl fmt::Display) -> String {
    format!("warning: {text}")
}

const EXPOSED: &str = "the password in --store is visible to everyone who can list the processes of this machine; put the \
                       address into a file of your own and name that with MANYHANDS_STORE_FILE, or the password into \
                       ~/.pgpass (or the file that PGPASSFILE names)";

/// A variable of the environment, if it is set to something.
fn variable(name: &str) -> Result<Option<String>> {
    let text = std::env::var_os(name).filter(|text| !text.is_empty()).map(OsString::into_string).transpose();
    Ok(text.map_err(|_| Usage::new("store-address", format!("{name} is not UTF-8 text")))?)
}

/// The address that is in a file, and lines to be said about it.
fn of_file(path: &Path) -> Result<(Location, Vec<String>)> {
    let cannot = |error: std::io::Error| {
        let message = format!("cannot read {}, which MANYHANDS_STORE_FILE names: {}", path.display(), reason(&error));
        Usage::new("store-address", message)
    };
    let text = fs::read_to_string(path).map_err(cannot)?;
    let place = format!("{}, which MANYHANDS_STORE_FILE names,", path.display());
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let [line] = lines[..] else {
        let message = format!("{place} must hold one line, the address of a store, and has {}", lines.len());
        return Err(Usage::new("store-address", message).into());
    };
    let location: Location = line.parse().map_err(|error: StoreError| {
        let hint = error.hint().unwrap_or_default();
        Usage::new("store-address", format!("{place} does not name a store: {error}")).hint(hint)
    })?;
    let is_open = location.has_password() && is_open_to_others(path);
    let text = format!("{} holds a password and others may read it; chmod 600 it", path.display());
    Ok((location, is_open.then(|| warning(text)).into_iter().collect()))
}

fn is_open_to_others(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).is_ok_and(|file| file.permissions().mode() & 0o077 != 0)
}

/// Opens a store; prints a line if that takes long.
pub fn open(location: &Location, access: Access) -> manyhands_store::Result<Store> {
    let (opened, waits) = channel::<()>();
    let shown = location.to_string();
    let watch = move || {
        if waits.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
            say(&format!("waiting for the store {shown}"));
        }
    };
    // Without the thread there is no such line.
    let _ = std::thread::Builder::new().name("waiting".to_string()).spawn(watch);
    let store = location.open(access);
    drop(opened);
    store
}

/// How long a store may take to open before a line says so.
const PATIENCE: Duration = Duration::from_secs(2);
