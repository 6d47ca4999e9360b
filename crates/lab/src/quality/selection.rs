//! The problems and pools of given names, or of a set: those to tune on, or those to test on.

use std::path::Path;

use super::pool_halves::ChosenPool;
use super::{POOLS, PoolHalf, PoolProblem, SpaceProblem, problems};
use crate::{Error, Result};

/// How many functions the BBOB set has.
const FUNCTIONS: usize = 24;

/// What runs where nothing is named.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ProblemSet {
    /// The problems and the halves of pools that constants may be chosen on.
    #[default]
    Tuning,
    /// The BBOB set and the other halves of pools, which figures are reported from.
    Test {
        /// The dimensions of the functions.
        dimensions: Vec<usize>,
        /// The noise of their values, in percent of the functions' own standard deviation; 0 for none.
        noise: u32,
    },
}

impl ProblemSet {
    /// The dimensions of the whole test set.
    pub const DIMENSIONS: [usize; 6] = problems::BBOB_DIMENSIONS;

    fn problems(&self) -> Result<Vec<SpaceProblem>> {
        let Self::Test { dimensions, noise } = self else { return problems::all() };
        if let Some(other) = dimensions.iter().find(|d| !Self::DIMENSIONS.contains(d)) {
            let allowed = Self::DIMENSIONS.map(|d| d.to_string()).join(", ");
            return Err(Error::Setting { setting: "dimensions", allowed, value: other.to_string() });
        }
        let suffix = if *noise == 0 { String::new() } else { format!("-noise-{noise}") };
        let of_dimension = |d: &usize| (1..=FUNCTIONS).map(|f| format!("bbob-f{f:02}-d{d}{suffix}")).collect();
        let names: Vec<Vec<String>> = dimensions.iter().map(of_dimension).collect();
        if names.is_empty() {
            let (allowed, value) = ("at least one".to_string(), "none".to_string());
            return Err(Error::Setting { setting: "dimensions", allowed, value });
        }
        problems::named(&names.concat())
    }

    fn pools(&self) -> Vec<ChosenPool> {
        ChosenPool::halves(if *self == Self::Tuning { PoolHalf::Tuning } else { PoolHalf::Test })
    }
}

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
    /// The problems and pools of these names; without a name those of the set. Pools are read from the folder `data`; without
    /// one there are none. The files of a pool that is named must exist.
    pub fn new(names: &[String], set: &ProblemSet, data: Option<&Path>) -> Result<Self> {
        if names.is_empty() {
            let problems = set.problems()?;
            let (pools, skipped) = data.map_or(Ok((vec![], vec![])), |data| read_those_found(&set.pools(), data))?;
            return Ok(Self { problems, pools, skipped });
        }
        let chosen: Vec<ChosenPool> = names.iter().filter_map(|name| ChosenPool::named(name)).collect();
        let others: Vec<String> = names.iter().filter(|name| ChosenPool::named(name).is_none()).cloned().collect();
        let known = POOLS.map(|pool| pool.name);
        let problems = if others.is_empty() { vec![] } else { problems::named_beside(&others, &known)? };
        let pools = match data {
            Some(data) => read_all(&chosen, data)?,
            None if chosen.is_empty() => vec![],
            None => {
                let allowed = format!("the folder that holds {}", chosen[0].file.file);
                return Err(Error::Setting { setting: "data", allowed, value: "none".to_string() });
            }
        };
        Ok(Self { problems, pools, skipped: vec![] })
    }
}

/// The pools of these files; a missing file is an error.
fn read_all(pools: &[ChosenPool], data: &Path) -> Result<Vec<PoolProblem>> {
    check_folder(data)?;
    pools.iter().map(|pool| pool.read(data)).collect()
}

/// The pools whose files were found, and a sentence for each of the others; an error if no pool was found.
fn read_those_found(chosen: &[ChosenPool], data: &Path) -> Result<(Vec<PoolProblem>, Vec<String>)> {
    check_folder(data)?;
    let (mut pools, mut skipped) = (Vec::new(), Vec::new());
    for pool in chosen {
        let missing = pool.file.missing(data);
        if missing.is_empty() {
            pools.push(pool.read(data)?);
        } else {
            skipped.push(format!("the pool {} needs {}", pool.file.name, missing.join(" and ")));
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
