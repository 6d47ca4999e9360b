//! Outcomes that are not in the log yet. Each is listed here from the moment its trial has finished until the store has
//! acknowledged it. What is still listed when the process has to end is written to files next to the logs and synced, and
//! the next run there reports it under its old token.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use manyhands_store::{Claimed, Session, TemporaryFile, TrialResult};
use serde::{Deserialize, Serialize};

use crate::{Error, Plan, Result};

/// The version of the files' format.
const FORMAT: u32 = 1;

/// The outcome of a trial, and what a store needs to record it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Finished {
    /// The trial.
    pub trial: usize,
    /// The attempt at it.
    pub attempt: usize,
    /// The fencing token of its claim.
    pub token: u64,
    /// The name of its report: a report is stored once per name.
    pub origin: String,
    /// Its value with its metrics, or why there is none.
    pub outcome: std::result::Result<TrialResult, String>,
}

impl Finished {
    /// The outcome of a trial under this claim.
    pub fn of(claimed: &Claimed, origin: String, outcome: std::result::Result<TrialResult, String>) -> Self {
        Self { trial: claimed.trial, attempt: claimed.attempt, token: claimed.token, origin, outcome }
    }
}

/// One study of one store, as distinct from a study of the same name that was deleted or is in another store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct StudyIdentity {
    study: String,
    /// Its key in the store.
    key: i64,
    /// When it was created, in microseconds.
    created: i64,
}

/// A finished trial as it is written.
#[derive(Serialize, Deserialize)]
struct UnreportedFile {
    manyhands_unreported: u32,
    #[serde(flatten)]
    identity: StudyIdentity,
    trial: usize,
    /// None in files of an older manyhands, which knew one attempt.
    #[serde(default)]
    attempt: usize,
    token: u64,
    origin: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<f64>,
    /// None in files of an older manyhands, which kept none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    metrics: Vec<(String, f64)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failed: Option<String>,
}

/// An outcome that had to be written to a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Saved {
    /// What was written.
    pub(crate) finished: Finished,
    /// The file, or why there is none.
    pub(crate) file: Result<PathBuf>,
}

/// What an earlier run left: a file, and its outcome or why that is not reported here.
pub(crate) type LeftoverFile = (PathBuf, std::result::Result<Finished, String>);

#[derive(Debug)]
struct ListedOutcome {
    finished: Finished,
    /// Its file, once it has been written.
    file: Option<PathBuf>,
}

/// The outcomes of a study's trials that are not in its log yet, shared between the threads that may have to save them.
#[derive(Debug, Clone)]
pub struct Unreported {
    folder: PathBuf,
    identity: StudyIdentity,
    list: Arc<Mutex<Vec<ListedOutcome>>>,
}

impl Unreported {
    /// An empty list for a session's study.
    pub fn of(session: &Session, plan: &Plan) -> Self {
        let name = session.name();
        let (key, created) = (session.id().0, session.created().micros());
        let identity = StudyIdentity { study: name.to_string(), key, created };
        Self { folder: plan.logs(name).join("unreported"), identity, list: Arc::default() }
    }

    /// Lists the outcome of a trial that has finished.
    pub(crate) fn add(&self, finished: Finished) {
        self.list().push(ListedOutcome { finished, file: None });
    }

    /// Removes an outcome whose report, of this origin, the store has acknowledged.
    pub(crate) fn settle(&self, origin: &str) -> Result<()> {
        let mut list = self.list();
        let settled = list.extract_if(.., |listed| listed.finished.origin == origin).filter_map(|listed| listed.file);
        settled.collect::<Vec<_>>().iter().try_for_each(|file| self.remove(file))
    }

    /// Removes all of them: their study was deleted.
    pub(crate) fn forget(&self) {
        self.list().clear();
    }

    /// Writes every outcome that is listed and not written yet, and waits until it is on disk.
    pub fn save(&self) -> Vec<Saved> {
        let mut saved = Vec::new();
        for listed in self.list().iter_mut().filter(|listed| listed.file.is_none()) {
            let file = self.write(&listed.finished);
            listed.file = file.as_ref().ok().cloned();
            saved.push(Saved { finished: listed.finished.clone(), file });
        }
        saved
    }

    /// What earlier runs had to leave here, by file name.
    pub(crate) fn left_over(&self) -> Result<Vec<LeftoverFile>> {
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(vec![]),
            entries => entries.map_err(Error::unreadable(&self.folder))?,
        };
        let paths = entries.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>();
        let mut paths = paths.map_err(Error::unreadable(&self.folder))?;
        // A file with another extension was being written when its process ended.
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
        paths.sort();
        Ok(paths.into_iter().map(|path| (path.clone(), self.read(&path))).collect())
    }

    /// Removes the file of an outcome that has been reported.
    pub(crate) fn remove(&self, path: &Path) -> Result<()> {
        match fs::remove_file(path) {
            // Another runner has reported it too.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed.and_then(|()| synchronize(&self.folder)).map_err(Error::logs(path)),
        }
    }

    fn list(&self) -> MutexGuard<'_, Vec<ListedOutcome>> {
        // Each change is one call, so a panic leaves the list consistent.
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, finished: &Finished) -> Result<PathBuf> {
        let Finished { trial, attempt, token, origin, outcome } = finished.clone();
        let (value, metrics, failed) = match outcome {
            Ok(TrialResult { value, metrics }) => (Some(value), metrics, None),
            Err(reason) => (None, vec![], Some(reason)),
        };
        let (manyhands_unreported, identity) = (FORMAT, self.identity.clone());
        let written =
            UnreportedFile { manyhands_unreported, identity, trial, attempt, token, origin, value, metrics, failed };
        let name = format!("trial-{trial}-{token}");
        let write = || {
            let text = serde_json::to_string(&written)?;
            fs::create_dir_all(&self.folder)?;
            let mut temporary = TemporaryFile::create(&self.folder)?;
            writeln!(temporary.file, "{text}")?;
            temporary.file.sync_all()?;
            let path = self.move_to_free_path(&temporary, &name)?;
            synchronize(&self.folder)?;
            // The folder itself may be new.
            self.folder.parent().map_or(Ok(()), synchronize)?;
            Ok(path)
        };
        write().map_err(Error::logs(&self.folder))
    }

    /// Gives a complete file a path that no other file has: a study of the same name in another store may have left one, and
    /// another runner may be leaving one now.
    fn move_to_free_path(&self, temporary: &TemporaryFile, name: &str) -> io::Result<PathBuf> {
        let first = self.folder.join(format!("{name}.json"));
        let others = (2_u64..).map(|number| self.folder.join(format!("{name}-{number}.json")));
        for path in std::iter::once(first).chain(others) {
            match move_to(temporary, &path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                moved => return moved.map(|()| path),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    fn read(&self, path: &Path) -> std::result::Result<Finished, String> {
        let text = fs::read_to_string(path).map_err(|error| format!("it cannot be read: {error}"))?;
        let written: UnreportedFile =
            serde_json::from_str(&text).map_err(|error| format!("it cannot be read: {error}"))?;
        let UnreportedFile { manyhands_unreported: format, identity, value, metrics, failed, .. } = written;
        let (trial, attempt, token, origin) = (written.trial, written.attempt, written.token, written.origin);
        if format != FORMAT {
            return Err(format!("its format is {format}, this manyhands knows {FORMAT}"));
        }
        if identity != self.identity {
            return Err(format!("it belongs to another study of the name \"{}\"", identity.study));
        }
        let outcome = match (value, failed) {
            (Some(value), None) => Ok(TrialResult { value, metrics }),
            (None, Some(reason)) => Err(reason),
            _ => return Err("it must have either \"value\" or \"failed\"".to_string()),
        };
        Ok(Finished { trial, attempt, token, origin, outcome })
    }
}

/// Gives a file another path; fails if there is a file already.
fn move_to(temporary: &TemporaryFile, path: &Path) -> io::Result<()> {
    match fs::hard_link(temporary.path(), path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            // Not every file system has links. There the path is taken by an empty file, which is then replaced.
            File::create_new(path)?;
            fs::rename(temporary.path(), path)
        }
        linked => linked,
    }
}

/// Waits until a folder's entries are on disk.
fn synchronize(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn unreported(folder: &Path, created: i64) -> Unreported {
        let identity = StudyIdentity { study: "s".to_string(), key: 1, created };
        Unreported { folder: folder.join("unreported"), identity, list: Arc::default() }
    }

    fn finished(trial: usize, outcome: std::result::Result<f64, &str>) -> Finished {
        let outcome = outcome.map(TrialResult::from).map_err(str::to_string);
        Finished::of(&Claimed::restored(trial, 1, 3), format!("o{trial}"), outcome)
    }

    #[test]
    fn metrics_are_kept_and_a_file_of_an_older_version_has_none() {
        let folder = tempfile::tempdir().unwrap();
        let unreported = unreported(folder.path(), 7);
        let metrics = vec![("time.train".to_string(), 0.1 + 0.2), ("epochs".to_string(), -3.0)];
        let with = Finished { outcome: Ok(TrialResult { value: 1.5, metrics }), ..finished(0, Ok(1.5)) };
        unreported.add(with.clone());
        let file = unreported.save().pop().unwrap().file.unwrap();
        assert_eq!(unreported.left_over().unwrap(), [(file.clone(), Ok(with))]);
        let older = r#"{"manyhands_unreported":1,"study":"s","key":1,"created":7,"trial":0,"token":3,"origin":"o0","value":1.5}"#;
        fs::write(&file, older).unwrap();
        let read = unreported.left_over().unwrap().pop().unwrap().1.unwrap();
        assert_eq!((read.attempt, read.outcome), (0, Ok(1.5.into())));
    }

    #[test]
    fn what_was_not_acknowledged_is_read_back_to_the_last_bit() {
        let folder = tempfile::tempdir().unwrap();
        let all = [finished(0, Ok(0.1 + 0.2)), finished(1, Err("exit code 1\n\"x\"")), finished(2, Ok(-5e-324))];
        let unreported = unreported(folder.path(), 7);
        assert_eq!(unreported.left_over().unwrap(), []);
        all.iter().for_each(|finished| unreported.add(finished.clone()));
        unreported.add(finished(3, Ok(1.0)));
        unreported.settle("o3").unwrap();
        assert_eq!(unreported.save().len(), 3);
        assert_eq!(unreported.save(), [], "each is written once");
        let read: Vec<_> = unreported.left_over().unwrap().into_iter().map(|(_, finished)| finished.unwrap()).collect();
        assert_eq!(read, all);
        // The answer came after all.
        unreported.settle("o1").unwrap();
        assert_eq!(unreported.left_over().unwrap().len(), 2);
    }

    #[test]
    fn what_belongs_to_another_study_or_cannot_be_read_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (old, new) = (unreported(folder.path(), 7), unreported(folder.path(), 8));
        old.add(finished(0, Ok(1.0)));
        new.add(finished(0, Ok(2.0)));
        let paths: Vec<PathBuf> = [&old, &new].iter().map(|u| u.save().pop().unwrap().file.unwrap()).collect();
        assert_ne!(paths[0], paths[1]);
        fs::write(folder.path().join("unreported/trial-9-1.json"), "{").unwrap();
        let reasons = |unreported: &Unreported| {
            unreported
                .left_over()
                .unwrap()
                .into_iter()
                .filter_map(|(_, read)| read.err())
                .collect::<Vec<_>>()
                .join("\n")
        };
        for unreported in [&old, &new] {
            let reasons = reasons(unreported);
            assert_eq!(reasons.lines().count(), 2, "{reasons}");
            assert!(reasons.contains("another study") && reasons.contains("cannot be read"), "{reasons}");
        }
    }

    #[test]
    fn runners_that_save_the_same_trial_at_once_never_replace_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let save = |created: i64| {
            let unreported = unreported(folder.path(), created);
            unreported.add(finished(0, Ok(created as f64)));
            unreported.save().pop().unwrap().file.unwrap()
        };
        let paths: std::collections::HashSet<PathBuf> = std::thread::scope(|scope| {
            let runners: Vec<_> = (0..16).map(|created| scope.spawn(move || save(created))).collect();
            runners.into_iter().map(|runner| runner.join().unwrap()).collect()
        });
        assert_eq!(paths.len(), 16);
        for created in 0..16 {
            let read = unreported(folder.path(), created).left_over().unwrap();
            let own: Vec<_> = read.into_iter().filter_map(|(_, read)| read.ok()).collect();
            assert_eq!(own, [finished(0, Ok(created as f64))]);
        }
        assert_eq!(fs::read_dir(folder.path().join("unreported")).unwrap().count(), 16, "nothing else is left");
    }

    #[test]
    fn a_folder_that_cannot_be_written_or_read_is_named() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("unreported"), "a file").unwrap();
        let unreported = unreported(folder.path(), 7);
        unreported.add(finished(0, Ok(1.0)));
        let saved = unreported.save();
        assert!(matches!(&saved[..], [Saved { file: Err(Error::Logs { .. }), .. }]), "{saved:?}");
        let read = unreported.left_over();
        assert!(matches!(&read, Err(Error::UnreadableFolder { .. })), "{read:?}");
    }
}
