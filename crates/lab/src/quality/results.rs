//! Results files: runs are appended as soon as they are made, and those that are found are not made again.

use std::collections::HashMap;
use std::fs::{File, OpenOptions, read};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use flate2::read::GzDecoder;

use super::clock::today;
use super::run_line::{COLUMNS, cells, parse};
use super::{FinishedRun, Optimizer, Protocol, RunKey, SpacePerformance, SpaceProblem, TestProblem};
use crate::{Error, Result};

/// Where runs are looked up before they are made, and kept when they are.
pub trait RunKeeper<Problem: TestProblem>: Sync {
    /// The run of an optimizer on a problem with this seed, if it is known.
    fn find(
        &self,
        problem: &Problem,
        optimizer: &Optimizer,
        protocol: &Protocol,
        seed: u64,
    ) -> Option<FinishedRun<Problem::Performance>>;

    /// Keeps a run; returns it as it will be found.
    fn keep(
        &self,
        problem: &Problem,
        optimizer: &Optimizer,
        protocol: &Protocol,
        run: FinishedRun<Problem::Performance>,
    ) -> Result<FinishedRun<Problem::Performance>>;
}

/// Keeps nothing.
#[derive(Debug, Clone, Copy)]
pub struct NotKept;

impl<Problem: TestProblem> RunKeeper<Problem> for NotKept {
    fn find(&self, _: &Problem, _: &Optimizer, _: &Protocol, _: u64) -> Option<FinishedRun<Problem::Performance>> {
        None
    }

    fn keep(
        &self,
        _: &Problem,
        _: &Optimizer,
        _: &Protocol,
        run: FinishedRun<Problem::Performance>,
    ) -> Result<FinishedRun<Problem::Performance>> {
        Ok(run)
    }
}

/// Runs on problems, in CSV files; see the table in `run_line`.
#[derive(Debug)]
pub struct ResultsFiles {
    found: HashMap<RunKey, FinishedRun<SpacePerformance>>,
    systems: Vec<String>,
    /// The file that runs are appended to; none if they are only read.
    end: Option<(PathBuf, Mutex<File>)>,
}

impl ResultsFiles {
    /// Reads the files (`.gz` is unpacked); of equal runs the last one counts. Nothing can be kept.
    pub fn read(paths: &[PathBuf]) -> Result<Self> {
        let mut files = Self { found: HashMap::new(), systems: vec![], end: None };
        paths.iter().try_for_each(|path| files.add(path, &unpacked(path)?))?;
        Ok(files)
    }

    /// Reads the files; runs are appended to the first, which is begun if it does not exist.
    pub fn open(paths: &[PathBuf]) -> Result<Self> {
        let Some(first) = paths.first() else { return Self::read(paths) };
        if is_packed(first) {
            let (allowed, value) =
                ("not packed, since runs are appended to it".to_string(), first.display().to_string());
            return Err(Error::Setting { setting: "the first results file", allowed, value });
        }
        let cannot = |error: std::io::Error| Error::CannotWrite { path: first.clone(), reason: error.to_string() };
        let mut file = OpenOptions::new().create(true).append(true).open(first).map_err(cannot)?;
        let bytes = unpacked(first)?;
        // An interrupted run may have left a part of a line.
        file.set_len(whole_lines(&bytes).len() as u64).map_err(cannot)?;
        if whole_lines(&bytes).is_empty() {
            file.write_all(format!("{}\n", COLUMNS.join(",")).as_bytes()).map_err(cannot)?;
        }
        let end = Some((first.clone(), Mutex::new(file)));
        Ok(Self { end, ..Self::read(paths)? })
    }

    /// The systems that the files have runs of, in order of appearance.
    pub fn systems(&self) -> &[String] {
        &self.systems
    }

    fn add(&mut self, path: &Path, bytes: &[u8]) -> Result<()> {
        let refuse = |line: u64, reason: String| {
            Err(Error::Results { path: path.to_path_buf(), reason: format!("line {line}: {reason}") })
        };
        let mut reader = csv::ReaderBuilder::new().flexible(true).has_headers(false).from_reader(whole_lines(bytes));
        for (line, record) in (1..).zip(reader.records()) {
            let record = match record {
                Ok(record) => record,
                Err(error) => return refuse(line, error.to_string()),
            };
            let row: Vec<&str> = record.iter().collect();
            match (line, parse(&row)) {
                (1, _) if row == COLUMNS => {}
                (1, _) => return refuse(1, format!("its columns must be {}", COLUMNS.join(","))),
                (_, Ok((key, run))) => {
                    if !self.systems.contains(&key.system) {
                        self.systems.push(key.system.clone());
                    }
                    self.found.insert(key, run);
                }
                (_, Err(reason)) => return refuse(line, reason),
            }
        }
        Ok(())
    }

    fn append(&self, row: &[String; 11]) -> Result<()> {
        let Some((path, file)) = &self.end else { return Ok(()) };
        let cannot = |reason: String| Error::CannotWrite { path: path.clone(), reason };
        let mut line = csv::Writer::from_writer(Vec::new());
        line.write_record(row).map_err(|error| cannot(error.to_string()))?;
        let line = line.into_inner().map_err(|error| cannot(error.to_string()))?;
        // One write for each line: lines of several processes do not mix.
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(&line).map_err(|error| cannot(error.to_string()))
    }
}

impl RunKeeper<SpaceProblem> for ResultsFiles {
    fn find(
        &self,
        problem: &SpaceProblem,
        optimizer: &Optimizer,
        protocol: &Protocol,
        seed: u64,
    ) -> Option<FinishedRun<SpacePerformance>> {
        self.found.get(&key(problem, optimizer, protocol, seed)).cloned()
    }

    fn keep(
        &self,
        problem: &SpaceProblem,
        optimizer: &Optimizer,
        protocol: &Protocol,
        run: FinishedRun<SpacePerformance>,
    ) -> Result<FinishedRun<SpacePerformance>> {
        if self.end.is_none() {
            return Ok(run);
        }
        let row = cells(&key(problem, optimizer, protocol, run.seed), &optimizer.version(), &today(), &run);
        self.append(&row)?;
        // As the next report will read it, so that it does not matter when a run was made.
        Ok(parse(&row.each_ref().map(String::as_str)).map_or(run, |(_, run)| run))
    }
}

fn key(problem: &SpaceProblem, optimizer: &Optimizer, protocol: &Protocol, seed: u64) -> RunKey {
    let (system, name) = (optimizer.name().to_string(), problem.name().to_string());
    let (&Protocol { batch, schedule, .. }, evaluations) = (protocol, protocol.evaluations_on(problem));
    RunKey { system, problem: name, seed, batch, schedule, evaluations }
}

fn is_packed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "gz")
}

/// The bytes up to the last end of a line.
fn whole_lines(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |place| place + 1);
    &bytes[..end]
}

fn unpacked(path: &Path) -> Result<Vec<u8>> {
    let cannot = |error: std::io::Error| Error::CannotRead { path: path.to_path_buf(), reason: error.to_string() };
    let bytes = read(path).map_err(cannot)?;
    if !is_packed(path) {
        return Ok(bytes);
    }
    let mut text = Vec::new();
    GzDecoder::new(bytes.as_slice()).read_to_end(&mut text).map_err(cannot)?;
    Ok(text)
}
