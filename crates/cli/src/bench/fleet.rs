//! Many workers on one study: how many trials a second they finish, and what that asks of the store.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};
use manyhands_store::{Access, Location, Session};

use super::Size;
use super::measure::median;
use super::report::{Limit, Row, Unit};
use crate::progress::Progress;

const SECTION: &str = "durable";
const WORKERS: [usize; 4] = [1, 8, 32, 64];
/// Trials for each worker; the first and the last of them are not counted.
const ROUNDS: usize = 7;
/// A learned model on three floats; a trial takes a second.
const STUDY: &str = "[space]\nx = { float = [0.0, 1.0] }\ny = { float = [0.0, 1.0] }\nz = { float = [0.0, 1.0] }\n\
                     [run]\ncommand = [\"sh\", \"-c\", \"sleep 1; echo {x}\"]\n";

/// One run of a fleet: trials a second, and transactions for each trial where the store counts them.
struct Flight {
    rate: f64,
    transactions: Option<f64>,
}

/// Fleets of every size on a SQLite file in `folder` and, if there is one, on a PostgreSQL database.
pub fn measure(folder: &Path, postgres: Option<&str>, size: Size) -> Result<Vec<Row>> {
    let repeats = if size == Size::Full { 3 } else { 1 };
    let sqlite = format!("sqlite:{}", folder.join("fleet.db").display());
    let stores: Vec<(&str, &str)> =
        [("SQLite", sqlite.as_str())].into_iter().chain(postgres.map(|url| ("PostgreSQL", url))).collect();
    let progress = Progress::new("fleets", stores.len() * WORKERS.len() * repeats);
    let mut rows = Vec::new();
    for (kind, url) in stores {
        for workers in WORKERS {
            let mut flights = Vec::new();
            for repeat in 0..repeats {
                let name = format!("fleet-{}-{workers}-{repeat}", std::process::id());
                flights.push(fly(folder, url, &name, workers)?);
                progress.advance(1);
            }
            rows.extend(described(kind, workers, &flights));
        }
    }
    Ok(rows)
}

fn described(kind: &str, workers: usize, flights: &[Flight]) -> Vec<Row> {
    let rate = median(&flights.iter().map(|flight| flight.rate).collect::<Vec<_>>());
    let what = format!("trials a second, {workers} workers on {kind}, trials of 1 s");
    let ideal = Some(workers as f64);
    let mut rows = vec![Row::new(SECTION, what, Unit::PerSecond, Some(rate)).against("one a second each", ideal)];
    let transactions: Vec<f64> = flights.iter().filter_map(|flight| flight.transactions).collect();
    if !transactions.is_empty() {
        let what = format!("transactions for each trial, {workers} workers on {kind}");
        let row = Row::new(SECTION, what, Unit::Count, Some(median(&transactions)));
        rows.push(row.limited(Limit::FigureAtMost(30.0)));
    }
    rows
}

fn fly(folder: &Path, url: &str, name: &str, workers: usize) -> Result<Flight> {
    let trials = ROUNDS * workers;
    let file = folder.join(format!("{name}.toml"));
    let text = format!("name = \"{name}\"\ndirection = \"minimize\"\n{STUDY}trials = {trials}\n");
    fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))?;
    let before = transactions(url)?;
    let fleet: Vec<Child> = (0..workers).map(|_| start(&file, url)).collect::<Result<_>>()?;
    for mut worker in fleet {
        ensure!(worker.wait()?.success(), "a worker has failed on {name}");
    }
    let transactions = before.zip(transactions(url)?).map(|(before, after)| (after - before) / trials as f64);
    let location: Location = url.parse()?;
    let session = Session::open(location.open(Access::Write)?, name, url)?;
    let mut told: Vec<i64> = session.times().iter().filter_map(|t| Some(t.told_at?.micros())).collect();
    ensure!(told.len() == trials, "{name} has {} of {trials} values", told.len());
    told.sort_unstable();
    // Neither while the workers start nor while the last of them end: from the end of the first round, in which each worker
    // ends one trial, to the end of the last but one.
    let seconds = 1e-6 * (told[trials - workers - 1] - told[workers - 1]) as f64;
    let rate = (trials - 2 * workers) as f64 / seconds;
    session.delete()?;
    Ok(Flight { rate, transactions })
}

fn start(file: &Path, url: &str) -> Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("worker").arg(file).args(["--quiet", "--json"]).env("MANYHANDS_STORE", url);
    let started = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    started.context("cannot start a worker")
}

/// How many transactions the database has seen, where the store is one that counts.
fn transactions(url: &str) -> Result<Option<f64>> {
    let location: Location = url.parse()?;
    Ok(location.open(Access::Create)?.transactions()?.map(|count| count as f64))
}
