//! STUDY and --store: which study a verb is about, by its file or by its name.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use manyhands_core::text::{one_line, quoted};
use manyhands_run::{Error as RunError, RunSettings};
use manyhands_store::{Access, Error as StoreError, Inspection, Location, Session, Source, Store, StudyLog, StudyRow};

use crate::changed_file;
use crate::refusal::Usage;
use crate::store_option::{StoreOption, open};
use crate::study_file::{folder_of, read};

/// A study that is in a store, and the study file if that was given.
struct KnownStudy {
    store: Store,
    name: String,
    /// The store's address.
    shown: String,
    file: Option<Source>,
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

/// A study that is in its store, or one that a file describes and that is not.
pub enum KnownOrNew {
    Known(Box<Session>),
    New(Box<Source>),
}

impl Target {
    /// The study of this name or file.
    pub fn new(study: String, store: StoreOption, json: bool) -> Self {
        Self { study, store, json }
    }

    /// The study's session, or its study file where it is not in the store: nothing is created.
    pub fn known_or_new(&self) -> Result<KnownOrNew> {
        let (location, file) = (self.location()?, self.file());
        let Some(path) = file else { return Ok(KnownOrNew::Known(Box::new(self.open_named(&location)?))) };
        let opened = open(&location, Access::Write);
        let (source, _) = read(&path, || opened.as_ref().ok().cloned())?;
        let store = match opened {
            Ok(store) if store.find(&source.study().name)?.is_some() => store,
            Ok(_) | Err(StoreError::NoStore { .. } | StoreError::NoTables { .. } | StoreError::Empty { .. }) => {
                return Ok(KnownOrNew::New(Box::new(source)));
            }
            Err(error) => return Err(error.into()),
        };
        let session = Session::open_described(store, source, &location.to_string());
        Ok(KnownOrNew::Known(Box::new(session.map_err(|error| self.refused(error))?)))
    }

    /// The store of the study, made if it is not there.
    pub fn create_store(&self) -> Result<Store> {
        Ok(open(&self.location()?, Access::Create)?)
    }

    /// The study's session.
    pub fn open(&self) -> Result<Session> {
        self.open_with(|_| Ok(()))
    }

    /// The study's session; a study file that is refused by `check` makes neither a store nor a study.
    pub fn open_with(&self, check: impl FnOnce(&Source) -> Result<()>) -> Result<Session> {
        let location = self.location()?;
        match self.file() {
            Some(path) => Ok(self.open_file(&path, &location, |source, _| check(source))?.0),
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
        let location = self.location()?;
        if let Some(path) = self.file() {
            return self.open_file(&path, &location, check);
        }
        let session = self.open_named(&location)?;
        let settings = RunSettings::of_stored(session.source())?;
        Ok((session, settings))
    }

    /// The study's session, if there is one, whatever its study file says now: nothing is created.
    pub fn open_existing(&self) -> Result<Session> {
        let KnownStudy { store, name, shown, .. } = self.known(Access::Write)?;
        Ok(Session::open(store, &name, &shown)?)
    }

    /// The study's session, to record results: nothing is created.
    pub fn open_to_tell(&self) -> Result<Session> {
        let KnownStudy { store, name, shown, file } = self.known(Access::Write)?;
        match file {
            Some(source) => Session::open_described(store, source, &shown).map_err(|error| self.refused(error)),
            None => Ok(Session::open(store, &name, &shown)?),
        }
    }

    /// The study's session as of now, to be read: nothing is created, upgraded or written.
    pub fn open_to_read(&self) -> Result<Session> {
        let KnownStudy { store, name, shown, file } = self.known(Access::Read)?;
        match file {
            Some(source) => Session::open_described_frozen(store, source, &shown).map_err(|error| self.refused(error)),
            None => Ok(Session::open_frozen(store, &name, &shown)?),
        }
    }

    /// The study with its whole log, as text: nothing is created, upgraded or written.
    pub fn export_log(&self) -> Result<String> {
        let KnownStudy { store, name, shown, file } = self.known(Access::Read)?;
        StudyLog::export(&store, &name, &shown, file).map_err(|error| self.refused(error))
    }

    /// Inspects the stored study for damage: nothing is created, upgraded or written.
    pub fn inspect(&self) -> Result<Inspection> {
        let KnownStudy { store, name, shown, file } = self.known(Access::Read)?;
        Inspection::of(&store, &name, &shown, file).map_err(|error| self.refused(error))
    }

    /// The stored study, whatever state its log is in.
    pub fn row(&self, access: Access) -> Result<(Store, StudyRow)> {
        let KnownStudy { store, name, shown, .. } = self.known(access)?;
        let row = store.find_known(&name, &shown)?;
        Ok((store, row))
    }

    /// A study that must be in the store: nothing is created.
    fn known(&self, access: Access) -> Result<KnownStudy> {
        let location = self.location()?;
        let shown = location.to_string();
        let Some(path) = self.file() else {
            let store = self.open_store(&location, access)?;
            return Ok(KnownStudy { store, name: self.study.clone(), shown, file: None });
        };
        let opened = open(&location, access);
        // An error in the file is reported first.
        let (source, settings) = read(&path, || opened.as_ref().ok().cloned())?;
        let name = source.study().name.clone();
        let found = opened.and_then(|store| store.find_known(&name, &shown).map(|_| store));
        let store = found.map_err(|error| absent(error, &name, &path, settings.is_some()))?;
        Ok(KnownStudy { store, name, shown, file: Some(source) })
    }

    /// The session of a study file, and its `[run]`; a file that is refused by `check` makes neither a store nor a study.
    fn open_file(
        &self,
        path: &Path,
        location: &Location,
        check: impl FnOnce(&Source, Option<&RunSettings>) -> Result<()>,
    ) -> Result<(Session, Option<RunSettings>)> {
        let (source, settings) = read(path, || open(location, Access::Read).ok())?;
        check(&source, settings.as_ref())?;
        let session = Session::open_or_create(open(location, Access::Create)?, source);
        Ok((session.map_err(|error| self.refused(error))?, settings))
    }

    /// An error about the study file, with what to do about it.
    fn refused(&self, error: StoreError) -> anyhow::Error {
        match (&error, self.file(), self.location()) {
            (StoreError::Differs { name, differences }, Some(file), Ok(location)) => {
                let hint = changed_file::hint(name, differences, &file, (&location, self.store.is_given()));
                Usage { code: error.code(), message: error.to_string(), hint: Some(hint) }.into()
            }
            _ => error.into(),
        }
    }

    /// The address of the store.
    fn location(&self) -> Result<Location> {
        self.check()?;
        self.store.location(self.file().as_deref())
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

/// The error that the study of a file is not in its store yet.
fn absent(error: StoreError, name: &str, file: &Path, has_command: bool) -> anyhow::Error {
    let (code, message) = match &error {
        StoreError::NoStore { path } => {
            let message =
                format!("there is no study {} in sqlite:{}: there is no such file", quoted(name), path.display());
            (error.code(), message)
        }
        StoreError::UnknownStudy { .. } => (error.code(), error.to_string()),
        _ => return error.into(),
    };
    let file = one_line(&file.display().to_string());
    let first = if has_command { format!("`manyhands run {file}` or ") } else { String::new() };
    let hint = format!("run {first}`manyhands ask {file}` first, or name the store that has it with --store");
    Usage { code, message, hint: Some(hint) }.into()
}

const GIVE: &str = "give the study file, beside which its store is; or name the store that has the study with --store";
