//! STUDY and --store: which study a verb is about, by its file or by its name.

use std::cell::LazyCell;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;
use std::{fmt, fs};

use anyhow::Result;
use clap::Args;
use manyhands_core::file::{Draft, FileError};
use manyhands_core::text::quoted;
use manyhands_run::{Error as RunError, RunDraft, RunSettings};
use manyhands_store::{Access, Error as StoreError, Inspection, Location, Session, Source, Store, StudyLog, StudyRow};

use crate::refusal::Usage;
use crate::stderr::say;

/// Where studies are kept.
#[derive(Debug, Clone, Args)]
pub struct StoreOption {
    /// Where studies are kept: sqlite:PATH or postgres://USER@HOST/DATABASE [default: MANYHANDS_STORE of the environment, or
    /// what is in the file that MANYHANDS_STORE_FILE names, or sqlite:manyhands.db]
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
    pub fn open(&self, access: Access) -> Result<Store> {
        Ok(open(&self.location()?, access)?)
    }

    /// The store's address. Warnings about it are printed once.
    pub fn location(&self) -> Result<Location> {
        let (location, mut warnings) = self.find()?;
        if location == Location::Memory {
            let message = "a store in memory is gone when the command ends";
            return Err(Usage::new("store-address", message)
                .hint("use sqlite:PATH or postgres://USER@HOST/DATABASE")
                .into());
        }
        warnings.extend(location.warnings());
        static SAID: Once = Once::new();
        SAID.call_once(|| warnings.iter().for_each(|warning| say(&format!("warning: {warning}"))));
        Ok(location)
    }

    /// The command line takes precedence over the environment.
    fn find(&self) -> Result<(Location, Vec<String>)> {
        if let Some(Secret(text)) = &self.store {
            let location: Location = text.parse()?;
            let warning = location.has_password().then(|| EXPOSED.to_string());
            return Ok((location, warning.into_iter().collect()));
        }
        match (variable("MANYHANDS_STORE")?, variable("MANYHANDS_STORE_FILE")?) {
            (None, None) => Ok((Location::default(), vec![])),
            (Some(text), None) => Ok((text.parse()?, vec![])),
            (None, Some(file)) => of_file(Path::new(&file)),
            (Some(_), Some(_)) => {
                let message = "MANYHANDS_STORE and MANYHANDS_STORE_FILE are both set, and each names a store";
                Err(Usage::new("store-address", message).hint("unset one of them, or use --store").into())
            }
        }
    }
}

const EXPOSED: &str = "the password in --store is visible to everyone who can list the processes of this machine; put the \
                       address into a file of your own and name that with MANYHANDS_STORE_FILE, or the password into \
                       ~/.pgpass (or the file that PGPASSFILE names)";

/// A variable of the environment, if it is set to something.
fn variable(name: &str) -> Result<Option<String>> {
    let text = std::env::var_os(name).filter(|text| !text.is_empty()).map(OsString::into_string).transpose();
    Ok(text.map_err(|_| Usage::new("store-address", format!("{name} is not UTF-8 text")))?)
}

/// The address that is in a file.
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
    let warning = format!("{} holds a password and others may read it; chmod 600 it", path.display());
    Ok((location, is_open.then_some(warning).into_iter().collect()))
}

fn is_open_to_others(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).is_ok_and(|file| file.permissions().mode() & 0o077 != 0)
}

/// Which study.
#[derive(Debug, Clone, Args)]
pub struct Target {
    /// A study file, or the name of a study
    #[arg(value_name = "STUDY")]
    study: String,
    #[command(flatten)]
    pub store: StoreOption,
    /// Print JSON, also for errors
    #[arg(long)]
    pub json: bool,
}

impl Target {
    /// The study's session.
    pub fn open(&self) -> Result<Session> {
        self.open_with(|_| Ok(()))
    }

    /// The study's session; a study file that is refused by `check` makes neither a store nor a study.
    pub fn open_with(&self, check: impl FnOnce(&Source) -> Result<()>) -> Result<Session> {
        self.check()?;
        let location = self.store.location()?;
        match self.file() {
            Some(path) => Ok(open_file(&path, &location, |source, _| check(source))?.0),
            None => self.open_named(&location),
        }
    }

    /// The study's session, with at most as many pending trials as `[run]` has workers.
    pub fn open_to_ask(&self) -> Result<Session> {
        let (mut session, settings) = self.open_with_settings(|_, _| Ok(()))?;
        session.set_workers(settings.map(|settings| settings.workers));
        Ok(session)
    }

    /// The study's session, and how its trials are run. A study file without a command makes neither a store nor a study.
    pub fn open_to_run(&self) -> Result<(Session, RunSettings)> {
        let no_command = |study: &str| RunError::NoCommand { study: study.to_string() };
        let (mut session, settings) = self.open_with_settings(|source, settings| match settings {
            Some(_) => Ok(()),
            None => Err(no_command(&source.study().name).into()),
        })?;
        let settings = settings.ok_or_else(|| no_command(session.name()))?;
        session.set_workers(Some(settings.workers));
        Ok((session, settings))
    }

    /// The study's session, and `[run]` of the study file or else of the store.
    fn open_with_settings(
        &self,
        check: impl FnOnce(&Source, Option<&RunSettings>) -> Result<()>,
    ) -> Result<(Session, Option<RunSettings>)> {
        self.check()?;
        let location = self.store.location()?;
        if let Some(path) = self.file() {
            return open_file(&path, &location, check);
        }
        let session = self.open_named(&location)?;
        let settings = RunSettings::of_stored(session.source())?;
        Ok((session, settings))
    }

    /// The study's session, if there is one, whatever its study file says now: nothing is created.
    pub fn open_existing(&self) -> Result<Session> {
        self.check()?;
        let location = self.store.location()?;
        let Some(path) = self.file() else { return self.open_named(&location) };
        let store = open(&location, Access::Write)?;
        let (source, _) = read(&path, || Some(store.clone()))?;
        Ok(Session::open(store, &source.study().name, &location.to_string())?)
    }

    /// The study's session, to record results: nothing is created.
    pub fn open_to_tell(&self) -> Result<Session> {
        self.check()?;
        let location = self.store.location()?;
        let Some(path) = self.file() else { return self.open_named(&location) };
        let (store, source) = opened_and_read(&path, &location, Access::Write)?;
        Ok(Session::open_described(store, source, &location.to_string())?)
    }

    /// The study's session as of now, to be read: nothing is created, upgraded or written.
    pub fn open_to_read(&self) -> Result<Session> {
        self.check()?;
        let location = self.store.location()?;
        let shown = location.to_string();
        let Some(path) = self.file() else {
            return Ok(Session::open_frozen(self.open_store(&location, Access::Read)?, &self.study, &shown)?);
        };
        let (store, source) = opened_and_read(&path, &location, Access::Read)?;
        Ok(Session::open_described_frozen(store, source, &shown)?)
    }

    /// The study with its whole log, as text: nothing is created, upgraded or written.
    pub fn export_log(&self) -> Result<String> {
        self.check()?;
        let location = self.store.location()?;
        let shown = location.to_string();
        let Some(path) = self.file() else {
            let store = self.open_store(&location, Access::Read)?;
            return Ok(StudyLog::export(&store, &self.study, &shown, None)?);
        };
        let (store, source) = opened_and_read(&path, &location, Access::Read)?;
        let name = source.study().name.clone();
        Ok(StudyLog::export(&store, &name, &shown, Some(source))?)
    }

    /// Inspects the stored study for damage: nothing is created, upgraded or written.
    pub fn inspect(&self) -> Result<Inspection> {
        self.check()?;
        let location = self.store.location()?;
        let store = open(&location, Access::Read)?;
        let own = self.file().map(|path| read(&path, || Some(store.clone())).map(|(source, _)| source)).transpose()?;
        let name = own.as_ref().map_or(self.study.clone(), |own| own.study().name.clone());
        Ok(Inspection::of(&store, &name, &location.to_string(), own)?)
    }

    /// The stored study, whatever state its log is in.
    pub fn row(&self, access: Access) -> Result<(Store, StudyRow)> {
        let location = self.store.location()?;
        let store = open(&location, access)?;
        let name = match self.file() {
            Some(path) => read(&path, || Some(store.clone()))?.0.study().name.clone(),
            None => self.study.clone(),
        };
        let row = store.find_known(&name, &location.to_string())?;
        Ok((store, row))
    }

    /// An address in place of a study: it would be taken for a file, and shown with its password.
    fn check(&self) -> Result<()> {
        if !self.study.contains("://") && !self.study.contains("password=") {
            return Ok(());
        }
        let message = "STUDY must be a study file or the name of a study, got the address of a store";
        Err(Usage::new("usage", message).hint("give the address with --store").into())
    }

    fn open_named(&self, location: &Location) -> Result<Session> {
        Ok(Session::open(self.open_store(location, Access::Write)?, &self.study, &location.to_string())?)
    }

    /// Opens the store that is to have a study of this name.
    fn open_store(&self, location: &Location, access: Access) -> Result<Store> {
        match open(location, access) {
            Err(StoreError::NoStore { path }) => {
                let message = format!("there is no file {} and no store at {}", quoted(&self.study), path.display());
                Err(Usage::new("unknown-study", message).hint(GIVE).into())
            }
            opened => Ok(opened?),
        }
    }

    /// The study file, if it is one that was given.
    pub fn file(&self) -> Option<PathBuf> {
        let path = Path::new(&self.study);
        let looks_like_one = path.extension().is_some_and(|extension| extension == "toml") || self.study.contains('/');
        (looks_like_one || path.is_file()).then(|| path.to_path_buf())
    }

    /// The folder that a study's commands run in: the study file's, or the current one.
    pub fn folder(&self) -> Result<PathBuf> {
        folder_of(self.file().as_deref())
    }
}

fn folder_of(file: Option<&Path>) -> Result<PathBuf> {
    let folder = file.and_then(Path::parent).filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let unreachable =
        |e: std::io::Error| Usage::new("folder", format!("cannot use the folder {}: {}", folder.display(), reason(&e)));
    Ok(folder.canonicalize().map_err(unreachable)?)
}

/// The command of a local study file, with its folder, for a study that is in a store. The file must describe the same study,
/// because its command is run with the study's parameters.
pub fn local_command(file: &Path, session: &Session) -> Result<(RunSettings, PathBuf)> {
    let (source, settings) = read(file, || Some(session.store().clone()))?;
    if source.study().name != session.name() {
        let message = format!("{} describes the study {}, not {}", file.display(), source.study().name, session.name());
        return Err(Usage::new("command-from", message).hint("name the study file of this study").into());
    }
    session.check(&source)?;
    let no_command = || RunError::NoCommand { study: session.name().to_string() };
    Ok((settings.ok_or_else(no_command)?, folder_of(Some(file))?))
}

/// The session of a study file, and its `[run]`; a file that is refused by `check` makes neither a store nor a study.
fn open_file(
    path: &Path,
    location: &Location,
    check: impl FnOnce(&Source, Option<&RunSettings>) -> Result<()>,
) -> Result<(Session, Option<RunSettings>)> {
    let (source, settings) = read(path, || open(location, Access::Read).ok())?;
    check(&source, settings.as_ref())?;
    Ok((Session::open_or_create(open(location, Access::Create)?, source)?, settings))
}

/// A store, and a study file. An error in the file is reported first.
fn opened_and_read(path: &Path, location: &Location, access: Access) -> Result<(Store, Source)> {
    let store = open(location, access);
    let (source, _) = read(path, || store.as_ref().ok().cloned())?;
    Ok((store?, source))
}

/// Opens a store; prints a line if that takes long.
fn open(location: &Location, access: Access) -> manyhands_store::Result<Store> {
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

const GIVE: &str = "give a study file, or the name of a study that is in the store (--store)";

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

fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_string(),
        std::io::ErrorKind::PermissionDenied => "permission denied".to_string(),
        std::io::ErrorKind::InvalidData => "it is not UTF-8 text".to_string(),
        _ => error.to_string(),
    }
}
