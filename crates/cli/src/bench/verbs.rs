//! What each verb costs as a study grows: processor seconds of a process that has just started.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use manyhands_core::{Event, Included, Value};
use manyhands_store::{Access, Append, Location, NewEvent, Session, Source, encode};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::Size;
use super::report::{Limit, Row, Unit};
use crate::progress::Progress;

const SECTION: &str = "durable";
const DIMENSIONS: usize = 6;
/// The largest of these has limits.
const SIZES: [usize; 3] = [100, 1000, 5000];

/// A verb, what it is called, and the seconds it may take at the largest size.
const VERBS: [(&[&str], &str, f64); 7] = [
    (&["ask"], "ask with a fit", 6.0),
    (&["ask"], "ask without a fit", 2.0),
    (&["best"], "best", 0.5),
    (&["status"], "status", 0.5),
    (&["trials"], "trials", 0.5),
    (&["tell", "0"], "tell", 0.5),
    (&["predict"], "predict", f64::INFINITY),
];

pub fn measure(folder: &Path, size: Size) -> Result<Vec<Row>> {
    let sizes = if size == Size::Full { &SIZES[..] } else { &SIZES[..2] };
    let progress = Progress::new("verbs", sizes.len() * VERBS.len());
    let mut rows = Vec::new();
    for &n in sizes {
        let study = filled(folder, n)?;
        for (words, what, limit) in VERBS {
            let seconds = cost(folder, &study, words, n)?;
            let what = format!("{what}, n = {n}, {DIMENSIONS} floats, a process that has just started");
            let row = Row::new(SECTION, what, Unit::Seconds, Some(seconds));
            let is_limited = limit.is_finite() && n == SIZES[2];
            rows.push(if is_limited { row.limited(Limit::FigureAtMost(limit)) } else { row });
            progress.advance(1);
        }
    }
    Ok(rows)
}

/// A study with so many values, made elsewhere; its file's name.
fn filled(folder: &Path, n: usize) -> Result<String> {
    let parameters: String = (0..DIMENSIONS).map(|i| format!("x{i} = {{ float = [0.0, 1.0] }}\n")).collect();
    let text = format!("name = \"verbs-{n}\"\n[space]\n{parameters}");
    let file = format!("verbs-{n}.toml");
    fs::write(folder.join(&file), &text).with_context(|| format!("cannot write {file}"))?;
    let store = Location::Sqlite(folder.join("verbs.db")).open(Access::Create)?;
    let source = Source::read(&text, |path| Err(format!("{path} is not named")))?;
    let session = Session::open_or_create(store.clone(), source)?;
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let included = |trial: usize| -> Result<NewEvent> {
        let x: [f64; DIMENSIONS] = std::array::from_fn(|_| rng.random());
        // As parameters are stored: on the grid of floats that the space distinguishes.
        let params: Vec<Value> = x.iter().map(|x| Value::Float((x * 1_048_576.0).round() / 1_048_576.0)).collect();
        let value = x.iter().enumerate().map(|(i, x)| (3.0 * x + i as f64).sin()).sum();
        Ok(encode(&Event::Included(Included { trial, candidate: trial, params, value: Some(value) }))?)
    };
    let events: Vec<NewEvent> = (0..n).map(included).collect::<Result<_>>()?;
    store.append(session.id(), &Append { origin: "bench", events: &events, ..Append::default() })?;
    fs::write(folder.join("at.csv"), "x0,x1,x2,x3,x4,x5\n0.5,0.5,0.5,0.5,0.5,0.5\n").context("cannot write at.csv")?;
    Ok(file)
}

/// The processor seconds of one verb.
fn cost(folder: &Path, study: &str, words: &[&str], n: usize) -> Result<f64> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg(words[0]).arg(study).args(["--store", "sqlite:verbs.db", "--json"]).current_dir(folder);
    match words[0] {
        // The trial that the first ask has begun.
        "tell" => drop(command.arg(n.to_string()).arg("0.5")),
        "predict" => drop(command.args(["--at", "at.csv"])),
        _ => {}
    }
    let before = children_seconds();
    let output =
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?.wait_with_output()?;
    ensure!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    before.zip(children_seconds()).map(|(before, after)| after - before).context("/proc does not tell processor times")
}

/// The processor seconds of all processes that this one has waited for.
fn children_seconds() -> Option<f64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: f64 = fields.get(13)?.parse::<f64>().ok()? + fields.get(14)?.parse::<f64>().ok()?;
    // Linux counts in hundredths of a second here.
    Some(ticks / 100.0)
}
