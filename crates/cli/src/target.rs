//! STUDY and --store: which study a verb is about, by its file or by its name.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;
use clap::Args;
use manyhands_store::{Error as StoreError, Location, Missing, Session, Source, Store};

use crate::refusal::Usage;

/// Where studies are kept.
#[derive(Debug, Clone, Args)]
pub struct StoreOption {
    /// Where studies are kept: sqlite:PATH or postgres://USER@HOST/DATABASE
    #[arg(long, value_name = "URL", default_value = "sqlite:manyhands.db", env = "MANYHANDS_STORE")]
    store: String,
}

impl StoreOption {
    pub fn open(&self, missing: Missing) -> Result<Arc<dyn Store>> {
        Ok(self.location()?.open(missing)?)
    }

    pub fn location(&self) -> Result<Location> {
        match self.store.parse()? {
            Location::Memory => {
                let message = "a store in memory is gone when the command ends";
                Err(Usage::new("store-address", message)
                    .hint("use sqlite:PATH or postgres://USER@HOST/DATABASE")
                    .into())
            }
            location => Ok(location),
        }
    }
}

/// Which study.
#[derive(Debug, Clone, Args)]
pub struct Target {
    /// A study file (its study is created on first use), or the name of a study
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
        let location = self.store.location()?;
        match self.file() {
            Some(path) => {
                let source = read(&path, || location.open(Missing::Refuse).ok())?;
                Ok(Session::open_or_create(location.open(Missing::Create)?, source)?)
            }
            None => self.open_named(&location),
        }
    }

    /// The study's session, if there is one: nothing is created.
    pub fn open_existing(&self) -> Result<Session> {
        let location = self.store.location()?;
        let Some(path) = self.file() else { return self.open_named(&location) };
        let store = location.open(Missing::Refuse)?;
        let source = read(&path, || Some(store.clone()))?;
        Ok(Session::open(store, &source.study().name, &location.to_string())?)
    }

    fn open_named(&self, location: &Location) -> Result<Session> {
        let store = match location.open(Missing::Refuse) {
            Err(StoreError::NoStore { path }) => {
                let message = format!("there is no file \"{}\" and no store at {}", self.study, path.display());
                return Err(Usage::new("unknown-study", message).hint(GIVE).into());
            }
            opened => opened?,
        };
        Ok(Session::open(store, &self.study, &location.to_string())?)
    }

    /// The study file, if it is one that was given.
    pub fn file(&self) -> Option<PathBuf> {
        let path = Path::new(&self.study);
        let looks_like_one = path.extension().is_some_and(|extension| extension == "toml") || self.study.contains('/');
        (looks_like_one || path.is_file()).then(|| path.to_path_buf())
    }

    /// The folder that a study's commands run in: the study file's, or the current one.
    pub fn folder(&self) -> Result<PathBuf> {
        let file = self.file();
        let folder = file.as_deref().and_then(Path::parent).filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        let unreachable = |error: std::io::Error| {
            Usage::new("folder", format!("cannot use the folder {}: {error}", folder.display()))
        };
        Ok(folder.canonicalize().map_err(unreachable)?)
    }
}

const GIVE: &str = "give a study file, or the name of a study that is in the store (--store)";

/// Reads a study file and the files that it names; of those that are gone, the store may have a copy.
pub fn read(path: &Path, store: impl Fn() -> Option<Arc<dyn Store>>) -> Result<Source> {
    let shown = path.display().to_string();
    let text = fs::read_to_string(path).map_err(|error| unreadable(path, &error))?;
    let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
    let kept = |name: &str| {
        let study = manyhands_core::file::Draft::parse(&text).ok()?;
        let store = store()?;
        let row = store.find(study.name()).ok().flatten()?;
        let file = store.files(row.id).ok()?.into_iter().find(|file| file.name == name)?;
        Some(file.content)
    };
    let contents = |name: &str| match fs::read(folder.join(name)) {
        Ok(content) => Ok(content),
        Err(error) => kept(name).ok_or_else(|| reason(&error)),
    };
    Source::read(&text, contents).map_err(|error| match error {
        StoreError::File(error) => {
            let hint = error.hint.clone();
            let shown = manyhands_core::file::FileError { hint: None, ..error }.render(&shown);
            anyhow::Error::from(Usage { code: "study-file", message: shown, hint })
        }
        error => error.into(),
    })
}

fn unreadable(path: &Path, error: &std::io::Error) -> Usage {
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
