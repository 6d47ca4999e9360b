//! A study as its user wrote it: the text of the study file, and the contents of the files that it names.

use manyhands_core::file::{Draft, StudyFile};
use sha2::{Digest, Sha256};

use crate::store::{NewStudy, StoredFile};
use crate::{Error, Result};

/// A study file with the files that it names.
#[derive(Debug, Clone)]
pub struct Source {
    text: String,
    files: Vec<StoredFile>,
    study: StudyFile,
}

impl Source {
    /// Reads a study file. `contents` gives what is in a file that it names, by its path as written, or why that cannot be
    /// had.
    pub fn read(text: &str, mut contents: impl FnMut(&str) -> std::result::Result<Vec<u8>, String>) -> Result<Self> {
        let draft = Draft::parse(text).map_err(Error::File)?;
        let mut files = Vec::new();
        for file in draft.files() {
            let content = contents(file.path).map_err(|reason| Error::File(draft.refuse_file(&file, &reason)))?;
            let (role, name) = (file.role.to_string(), file.path.to_string());
            files.push(StoredFile { role, name, sha256: sha256(&content), content });
        }
        Self::checked(draft, text.to_string(), files)
    }

    /// From what was stored.
    pub(crate) fn stored(text: String, files: Vec<StoredFile>) -> Result<Self> {
        let unreadable = |reason: String| Error::Corrupt { study: None, sequence: 0, reason };
        let draft = Draft::parse(&text).map_err(|error| unreadable(error.to_string()))?;
        let of_role = |role: &str| files.iter().find(|file| file.role == role).cloned();
        let wanted = draft.files();
        let found: Vec<StoredFile> = wanted.iter().filter_map(|file| of_role(file.role)).collect();
        if found.len() != wanted.len() {
            return Err(unreadable("a file that the study needs is missing".to_string()));
        }
        if let Some(file) = found.iter().find(|file| sha256(&file.content) != file.sha256) {
            return Err(unreadable(format!("its file {} has changed since it was stored", file.name)));
        }
        Self::checked(draft, text, found)
    }

    fn checked(draft: Draft, text: String, files: Vec<StoredFile>) -> Result<Self> {
        let contents: Vec<Vec<u8>> = files.iter().map(|file| file.content.clone()).collect();
        let study = draft.finish(&contents).map_err(Error::File)?;
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
}

/// SHA-256 in hexadecimal.
pub(crate) fn sha256(content: &[u8]) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}
