//! The known pools, and how their files are read.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use manyhands_core::Direction;

use super::PoolProblem;
use crate::{Error, NumericTable, Result};

/// Where a pool's candidates and measurements are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolFile {
    /// The pool's name.
    pub name: &'static str,
    /// The file with one row per candidate.
    pub file: &'static str,
    /// The file with one row per measurement of the same candidates.
    pub replicates: Option<&'static str>,
    /// How the names of the columns with measurements begin.
    pub objective: &'static str,
    /// Whether they are maximized or minimized.
    pub direction: Direction,
}

/// Crossed barrels (toughness), silver nanoparticles (spectral loss), Suzuki coupling (yield), fullerenes (product),
/// solar cells (degradation), a perceptron's hyperparameters (validation accuracy of five seeds).
pub const POOLS: [PoolFile; 6] = [
    PoolFile {
        name: "crossed_barrel",
        file: "crossed_barrel_mean.csv",
        replicates: Some("crossed_barrel_replicates.csv"),
        objective: "y_toughness",
        direction: Direction::Maximize,
    },
    PoolFile {
        name: "agnp",
        file: "agnp_mean.csv",
        replicates: Some("agnp_replicates.csv"),
        objective: "y_loss",
        direction: Direction::Minimize,
    },
    alone("suzuki", "suzuki.csv", "y_yield", Direction::Maximize),
    alone("fullerenes", "fullerenes.csv", "y_product", Direction::Maximize),
    alone("photo_pce10", "photo_pce10.csv", "y_degradation", Direction::Minimize),
    alone("hpobench_car", "hpobench_car.csv.gz", "val_acc_seed", Direction::Maximize),
];

const fn alone(name: &'static str, file: &'static str, objective: &'static str, direction: Direction) -> PoolFile {
    PoolFile { name, file, replicates: None, objective, direction }
}

impl PoolFile {
    /// The files that are not in the folder, nor in its folder `pools`.
    pub fn missing(&self, data: &Path) -> Vec<&'static str> {
        [Some(self.file), self.replicates].into_iter().flatten().filter(|file| find(data, file).is_none()).collect()
    }

    /// Reads the pool from the folder, or its folder `pools`.
    pub fn read(&self, data: &Path) -> Result<PoolProblem> {
        let candidates = self.table(data, self.file)?;
        let measured = match self.replicates {
            None => candidates.measured,
            Some(file) => self.match_replicates(&candidates, self.table(data, file)?)?,
        };
        PoolProblem::new(self.name, self.direction, candidates.inputs, measured)
    }

    fn table(&self, data: &Path, file: &str) -> Result<PoolRows> {
        let path = find(data, file).unwrap_or_else(|| data.join(file));
        let table = NumericTable::read_whole(&path).map_err(|error| match error {
            Error::Table { path, reason } => Error::Pool { path, reason },
            error => error,
        })?;
        let refuse = |reason: String| Err(Error::Pool { path: path.clone(), reason });
        let places = |wanted: &dyn Fn(&str) -> bool| -> Vec<usize> {
            (0..table.columns().len()).filter(|&i| wanted(&table.columns()[i])).collect()
        };
        let inputs = places(&|name| !["y_", "val_", "train_time"].iter().any(|start| name.starts_with(start)));
        let objectives = places(&|name| name.starts_with(self.objective));
        if objectives.is_empty() {
            return refuse(format!("it has no column \"{}\"", self.objective));
        }
        if inputs.is_empty() {
            return refuse("it has no columns that describe a candidate".to_string());
        }
        if table.rows().is_empty() {
            return refuse("it has no rows".to_string());
        }
        let pick = |places: &[usize]| table.rows().iter().map(|row| places.iter().map(|&i| row[i]).collect()).collect();
        let (inputs, measured) = (pick(&inputs), pick(&objectives));
        Ok(PoolRows { path, inputs, measured })
    }

    /// The replicates of each candidate: the rows that describe it by the same numbers, as both files write them.
    fn match_replicates(&self, candidates: &PoolRows, replicates: PoolRows) -> Result<Vec<Vec<f64>>> {
        let refuse = |reason: String| Err(Error::Pool { path: replicates.path.clone(), reason });
        let key = |inputs: &[f64]| inputs.iter().map(|x| x.to_bits()).collect::<Vec<u64>>();
        let places: HashMap<Vec<u64>, usize> = candidates.inputs.iter().map(|inputs| key(inputs)).zip(0..).collect();
        let mut measured = vec![Vec::new(); candidates.inputs.len()];
        for (row, (inputs, values)) in replicates.inputs.iter().zip(&replicates.measured).enumerate() {
            match places.get(&key(inputs)) {
                Some(&place) => measured[place].extend(values),
                None => return refuse(format!("row {row} (from 0) is of no candidate of {}", self.file)),
            }
        }
        match measured.iter().position(Vec::is_empty) {
            Some(candidate) => refuse(format!("row {candidate} (from 0) of {} has no replicate in it", self.file)),
            None => Ok(measured),
        }
    }
}

/// A file's rows, split into the coordinates of a candidate and its measurements.
struct PoolRows {
    path: PathBuf,
    inputs: Vec<Vec<f64>>,
    measured: Vec<Vec<f64>>,
}

/// The file in the folder or in its folder `pools`, packed or not.
fn find(data: &Path, file: &str) -> Option<PathBuf> {
    let names = [file, file.trim_end_matches(".gz")];
    let places = [data.join("pools"), data.to_path_buf()];
    places.iter().flat_map(|place| names.map(|name| place.join(name))).find(|path| path.is_file())
}
