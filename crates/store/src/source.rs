//! A study as its user wrote it: the text of the study file, and the contents of the files that it names.

use manyhands_core::file::{Difference, Draft, FileError, StudyFile};
use manyhands_core::text::counted;

use crate::backend::NewStudy;
use crate::store::{Store, StoredFile, StudyRow, sha256};
use crate::{Error, Result};

/// A study file with the files that it names. It is parsed, and its spec built, once.
#[derive(Debug, Clone)]
pub struct Source {
    text: String,
    files: Vec<StoredFile>,
    study: StudyFile,
}

impl Source {
    /// Reads a study file. `contents` gives what is in a file that it names, by its path as written, or why that cannot be
    /// read.
    ///
    /// ```
    /// use manyhands_store::Source;
    /// let text = "name = \"alloys\"\n[candidates]\nfile = \"pool.csv\"\n";
    /// let source = Source::read(text, |path| match path {
    ///     "pool.csv" => Ok(b"copper,zinc\n0.9,0.1\n0.7,0.3\n".to_vec()),
    ///     _ => Err("there is no such file".to_string()),
    /// })?;
    /// assert_eq!(source.study().spec.domain().names(), ["copper", "zinc"]);
    /// # Ok::<(), manyhands_store::Error>(())
    /// ```
    pub fn read(text: &str, contents: impl FnMut(&str) -> std::result::Result<Vec<u8>, String>) -> Result<Self> {
        Self::of(Draft::parse(text).map_err(Error::File)?, contents)
    }

    /// As [`Source::read`], of a text that was parsed before.
    pub fn of(draft: Draft, mut contents: impl FnMut(&str) -> std::result::Result<Vec<u8>, String>) -> Result<Self> {
        let mut files = Vec::new();
        for file in draft.files() {
            let content = contents(file.path).map_err(|reason| Error::File(draft.refuse_file(&file, &reason)))?;
            let (role, name) = (file.role.to_string(), file.path.to_string());
            files.push(StoredFile { role, name, sha256: sha256(&content), content });
        }
        Self::built(draft, files).map_err(Error::File)
    }

    /// From a text and files that were stored; the error says why they cannot be read.
    pub(crate) fn stored(text: &str, files: &[StoredFile]) -> std::result::Result<Self, String> {
        let draft = Draft::parse_stored(text).map_err(|error| error.to_string())?;
        let of_role = |role: &str| files.iter().find(|file| file.role == role).cloned();
        let wanted = draft.files();
        let found: Vec<StoredFile> = wanted.iter().filter_map(|file| of_role(file.role)).collect();
        if found.len() != wanted.len() {
            return Err("a file that the study needs is missing".to_string());
        }
        if let Some(file) = found.iter().find(|file| sha256(&file.content) != file.sha256) {
            return Err(format!("its file {} has changed since it was stored", file.name));
        }
        Self::built(draft, found).map_err(|error| error.to_string())
    }

    fn built(draft: Draft, files: Vec<StoredFile>) -> std::result::Result<Self, FileError> {
        let text = draft.text().to_string();
        let contents: Vec<Vec<u8>> = files.iter().map(|file| file.content.clone()).collect();
        let study = draft.finish(&contents)?;
        Ok(Self { text, files, study })
    }

    /// The study that it describes.
    pub fn study(&self) -> &StudyFile {
        &self.study
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The files that it names.
    pub fn files(&self) -> &[StoredFile] {
        &self.files
    }

    pub(crate) fn new_study(&self) -> NewStudy {
        let (name, text, files) = (self.study.name.clone(), self.text.clone(), self.files.clone());
        NewStudy { name, text, files, events: vec![] }
    }

    /// Refuses a stored study other than the one that is described here.
    pub(crate) fn check_same(&self, stored: &Self) -> Result<()> {
        let differences = self.differences(stored);
        if differences.is_empty() { Ok(()) } else { Err(Error::Differs { name: self.study.name.clone(), differences }) }
    }

    /// What differs from the stored study: settings, and contents of files.
    fn differences(&self, stored: &Self) -> Vec<Difference> {
        let mut differences = self.study.differences(&stored.study);
        for (file, kept) in self.files.iter().zip(&stored.files) {
            if file.sha256 != kept.sha256 {
                let key = if file.role == "candidates" { "candidates.file" } else { "candidates.covariance" };
                let (key, this, other) = (key.to_string(), Some(described(file)), Some(described(kept)));
                differences.push(Difference { key, this, other });
            }
        }
        differences
    }
}

/// The content of a file, in a few words.
fn described(StoredFile { sha256, content, .. }: &StoredFile) -> String {
    let lines = content.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).count();
    format!("{} with SHA-256 {}...", counted(lines, "line"), &sha256[..12.min(sha256.len())])
}

/// A stored study, and the user's own file where that is another text.
#[derive(Debug)]
pub struct Stored {
    pub source: Source,
    pub own: Option<Source>,
}

impl Stored {
    /// Reads a stored study. A file of the user's that is the stored one, byte for byte, takes its place: nothing is parsed
    /// and compared a second time.
    pub fn read(store: &Store, row: &StudyRow, own: Option<Source>) -> Result<Self> {
        let files = match &own {
            // A text without files: there is nothing else to compare.
            Some(own) if own.text == row.text && own.files.is_empty() => vec![],
            _ => store.files(row.id)?,
        };
        match own {
            Some(own) if own.text == row.text && own.files == files => Ok(Self { source: own, own: None }),
            own => {
                let unreadable = |reason: String| Error::CorruptStudy { study: row.name.clone(), reason };
                let source = Source::stored(&row.text, &files).map_err(unreadable)?;
                Ok(Self { source, own })
            }
        }
    }

    /// As [`Stored::read`]; refuses a file of the user's that describes another study.
    pub fn read_checked(store: &Store, row: &StudyRow, own: Option<Source>) -> Result<Self> {
        let stored = Self::read(store, row, own)?;
        stored.own.as_ref().map_or(Ok(()), |own| own.check_same(&stored.source))?;
        Ok(stored)
    }
}
