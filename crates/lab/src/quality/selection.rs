//! The problems and pools of given names, or all of them.

use std::path::Path;

use super::{POOLS, PoolFile, PoolProblem, SpaceProblem, problems};
use crate::{Error, Result};

/// Problems and pools, ready to be run.
#[derive(Debug, Clone)]
pub struct Selection {
    /// The problems.
    pub problems: Vec<SpaceProblem>,
    /// The pools whose files were found.
    pub pools: Vec<PoolProblem>,
    /// The pools that are left out because their files are missing, in words.
    pub skipped: Vec<String>,
}

impl Selection {
    /// The problems and pools of these names; without a name all, but for the BBOB set. Pools are read from the folder
    /// `data`; without one there are none. The files of a pool that is named must exist.
    pub fn new(names: &[String], data: Option<&Path>) -> Result<Self> {
        let is_pool = |name: &String| POOLS.iter().any(|pool| pool.name == name);
        let others: Vec<String> = names.iter().filter(|name| !is_pool(name)).cloned().collect();
        let only_pools = others.is_empty() && !names.is_empty();
        let problems = if only_pools { vec![] } else { problems::named_beside(&others, &POOLS.map(|pool| pool.name))? };
        let wanted = |name: &str| names.is_empty() || names.iter().any(|wanted| wanted == name);
        let files: Vec<&PoolFile> = POOLS.iter().filter(|pool| wanted(pool.name)).collect();
        let (pools, skipped) = match data {
            Some(data) if names.is_empty() => read_those_found(&files, data)?,
            Some(data) => (read_all(&files, data)?, vec![]),
            None if names.is_empty() || files.is_empty() => (vec![], vec![]),
            None => {
                let allowed = format!("the folder that holds {}", files[0].file);
                return Err(Error::Setting { setting: "data", allowed, value: "none".to_string() });
            }
        };
        Ok(Self { problems, pools, skipped })
    }
}

/// The pools of these files; a missing file is an error.
fn read_all(files: &[&PoolFile], data: &Path) -> Result<Vec<PoolProblem>> {
    check_folder(data)?;
    files.iter().map(|pool| pool.read(data)).collect()
}

/// The pools whose files were found, and a sentence for each of the others; an error if no pool was found.
fn read_those_found(files: &[&PoolFile], data: &Path) -> Result<(Vec<PoolProblem>, Vec<String>)> {
    check_folder(data)?;
    let (mut pools, mut skipped) = (Vec::new(), Vec::new());
    for pool in files {
        let missing = pool.missing(data);
        if missing.is_empty() {
            pools.push(pool.read(data)?);
        } else {
            skipped.push(format!("the pool {} needs {}", pool.name, missing.join(" and ")));
        }
    }
    if pools.is_empty() {
        return Err(unreadable(data, format!("it holds no pool; {}", skipped.join(", "))));
    }
    Ok((pools, skipped))
}

fn check_folder(data: &Path) -> Result<()> {
    if data.is_dir() { Ok(()) } else { Err(unreadable(data, "there is no such folder".to_string())) }
}

fn unreadable(data: &Path, reason: String) -> Error {
    Error::CannotRead { path: data.to_path_buf(), reason }
}
