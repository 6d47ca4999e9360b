//! The default store of a study file: `manyhands.db` beside it, or the one of the current folder if that alone holds the study.

use std::fs;
use std::path::Path;

use manyhands_core::file::Draft;
use manyhands_core::text::quoted;
use manyhands_store::{Access, Error as StoreError, Location};

use crate::store_option::open;

/// What is known of a store and a study.
enum Holding {
    Holds,
    /// There is no store, or none with this study.
    Lacks,
    /// It cannot be read, and why.
    Unread(StoreError),
}

/// The store of a study file, and a line that says which it is where another one might be expected.
pub fn of_file(file: &Path) -> (Location, Vec<String>) {
    // A file that cannot be read is reported by whoever reads all of it.
    of_study(&study_name(file).unwrap_or_default(), file)
}

/// As [`of_file`], of a study by its name: beside a file, or in the current folder.
pub fn of_study(study: &str, file: &Path) -> (Location, Vec<String>) {
    let here = Location::default();
    let Location::Sqlite(name) = &here else { return (here, vec![]) };
    let path = file.parent().unwrap_or(Path::new("")).join(name);
    let beside = Location::Sqlite(path.clone());
    if !name.exists() || is_same(&path, name) {
        return (beside, vec![]);
    }
    match (holding(&beside, study), holding(&here, study)) {
        (Holding::Lacks, Holding::Holds) => {
            let line = format!(
                "using {here} in the current folder, which holds the study {}; {beside} does not",
                quoted(study)
            );
            (here, vec![line])
        }
        (Holding::Holds, Holding::Holds) => {
            let line = format!(
                "using {beside}, beside the study file; {here} in the current folder holds a study {} too",
                quoted(study)
            );
            (beside, vec![line])
        }
        (Holding::Lacks, Holding::Unread(error)) => {
            let line = format!("using {beside}; the store of the current folder cannot be read: {error}");
            (beside, vec![line])
        }
        // If the one beside the file cannot be read, opening it says why.
        _ => (beside, vec![]),
    }
}

fn is_same(path: &Path, other: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    real(path).is_some_and(|path| real(other) == Some(path))
}

fn study_name(file: &Path) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    Draft::parse(&text).ok().map(|draft| draft.name().to_string())
}

fn holding(location: &Location, study: &str) -> Holding {
    match open(location, Access::Read).and_then(|store| store.find(study)) {
        Ok(Some(_)) => Holding::Holds,
        Ok(None) | Err(StoreError::NoStore { .. } | StoreError::Empty { .. }) => Holding::Lacks,
        Err(error) => Holding::Unread(error),
    }
}
