//! Many workers on one study: how many trials per second they finish, and how many transactions that takes.

use std::ffi::OsStr;
use std::path::Path;

use manyhands_core::text::counted;
use manyhands_store::{Access, Location, Session};

use super::report::{Limit, Measurement, Unit};
use super::{Setup, Size, scratch};
use crate::process::Worker;
use crate::statistics::median;
use crate::{Binary, Error, Result};

const SECTION: &str = "durable";
const WORKERS: [usize; 4] = [1, 8, 32, 64];
/// Trials per worker; the first and the last of them are not counted.
const ROUNDS: usize = 7;
/// A learned model on three floats; a trial takes one second.
const STUDY: &str = "[space]\nx = { float = [0.0, 1.0] }\ny = { float = [0.0, 1.0] }\nz = { float = [0.0, 1.0] }\n\
                     [run]\ncommand = [\"sh\", \"-c\", \"sleep 1; echo {x}\"]\n";

/// One run of a fleet: trials per second, and transactions per trial where the store counts them.
struct FleetRun {
    rate: f64,
    transactions: Option<f64>,
}

/// Fleets of every size on a SQLite file in `folder` and, if there is one, on a PostgreSQL database.
pub fn measure(folder: &Path, setup: &Setup) -> Result<Vec<Measurement>> {
    let repeats = if setup.size == Size::Full { 3 } else { 1 };
    let sqlite = format!("sqlite:{}", folder.join("fleet.db").display());
    let stores: Vec<(&str, &str)> =
        [("SQLite", sqlite.as_str())].into_iter().chain(setup.postgres.map(|url| ("PostgreSQL", url))).collect();
    let task = setup.monitor.begin("fleets", stores.len() * WORKERS.len() * repeats);
    let mut rows = Vec::new();
    for (kind, url) in stores {
        for workers in WORKERS {
            let mut runs = Vec::new();
            for repeat in 0..repeats {
                let name = format!("fleet-{}-{workers}-{repeat}", std::process::id());
                runs.push(Fleet { binary: setup.binary, folder, url, name: &name, workers }.run()?);
                task.advance(1);
            }
            rows.extend(described(kind, workers, &runs));
        }
    }
    Ok(rows)
}

fn described(kind: &str, workers: usize, runs: &[FleetRun]) -> Vec<Measurement> {
    let rate = median(&runs.iter().map(|run| run.rate).collect::<Vec<_>>());
    let what = format!("trials per second, {} on {kind}, trials of 1 s", counted(workers, "worker"));
    let ideal = Some(workers as f64);
    let mut rows =
        vec![Measurement::new(SECTION, what, Unit::PerSecond, Some(rate)).against("one per second each", ideal)];
    let transactions: Vec<f64> = runs.iter().filter_map(|run| run.transactions).collect();
    if !transactions.is_empty() {
        let what = format!("transactions per trial, {} on {kind}", counted(workers, "worker"));
        let row = Measurement::new(SECTION, what, Unit::Count, Some(median(&transactions)));
        rows.push(row.limited(Limit::FigureAtMost(30.0)));
    }
    rows
}

/// Workers on one study of a store.
struct Fleet<'a> {
    binary: &'a Binary,
    folder: &'a Path,
    url: &'a str,
    name: &'a str,
    workers: usize,
}

impl Fleet<'_> {
    fn run(&self) -> Result<FleetRun> {
        let trials = ROUNDS * self.workers;
        let file = self.folder.join(format!("{}.toml", self.name));
        let name = self.name;
        scratch::write(&file, &format!("name = \"{name}\"\ndirection = \"minimize\"\n{STUDY}trials = {trials}\n"))?;
        let before = transactions(self.url)?;
        let fleet: Vec<Worker> = (0..self.workers).map(|_| self.start(&file)).collect::<Result<_>>()?;
        // All of them are waited for, also where one has failed.
        for ended in fleet.into_iter().map(Worker::succeeded).collect::<Vec<_>>() {
            match ended {
                Ok(true) => {}
                Ok(false) => return Err(self.failed("a worker has failed".to_string())),
                Err(error) => return Err(self.failed(error.to_string())),
            }
        }
        let transactions = before.zip(transactions(self.url)?).map(|(before, after)| (after - before) / trials as f64);
        Ok(FleetRun { rate: self.rate(trials)?, transactions })
    }

    fn start(&self, file: &Path) -> Result<Worker> {
        let arguments = [OsStr::new("worker"), file.as_os_str(), OsStr::new("--quiet"), OsStr::new("--json")];
        self.binary.start(&arguments, ("MANYHANDS_STORE", self.url))
    }

    /// Trials per second, from the times at which the store was told of them; the study is deleted afterwards.
    fn rate(&self, trials: usize) -> Result<f64> {
        let location: Location = self.url.parse()?;
        let session = Session::open(location.open(Access::Write)?, self.name, self.url)?;
        let mut told: Vec<i64> = session.times().iter().filter_map(|t| Some(t.told_at?.micros())).collect();
        if told.len() != trials {
            return Err(self.failed(format!("it has {} of {trials} values", told.len())));
        }
        told.sort_unstable();
        // Neither the start of the workers nor the end of the last ones counts: from the end of the first round, in which
        // each worker ends one trial, to the end of the last but one.
        let workers = self.workers;
        let seconds = 1e-6 * (told[trials - workers - 1] - told[workers - 1]) as f64;
        session.delete()?;
        Ok((trials - 2 * workers) as f64 / seconds)
    }

    fn failed(&self, reason: String) -> Error {
        Error::Measurement { what: format!("the study {}", self.name), reason }
    }
}

/// How many transactions the database has seen, where the store is one that counts.
fn transactions(url: &str) -> Result<Option<f64>> {
    let location: Location = url.parse()?;
    Ok(location.open(Access::Create)?.transactions()?.map(|count| count as f64))
}
