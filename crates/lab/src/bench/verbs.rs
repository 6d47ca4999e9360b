//! What each verb costs as a study grows: processor seconds of a new process.

use std::fs;
use std::path::Path;

use manyhands_core::event::Included;
use manyhands_core::{Event, Value};
use manyhands_store::{Access, Location, Session, Source, Store};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::report::{Limit, Measurement, Unit};
use super::{Setup, Size, scratch};
use crate::{Binary, Error, Result};

const SECTION: &str = "durable";
const DIMENSIONS: usize = 6;
/// The largest of these has limits.
const SIZES: [usize; 3] = [100, 1000, 5000];

/// Where between two fits asks are measured, as fractions of the distance. A fit is due when the values have grown by a twentieth.
const BETWEEN_FITS: [f64; 4] = [0.125, 0.375, 0.625, 0.875];

/// A verb and the seconds it may take at the largest size.
const VERBS: [(&str, f64); 5] =
    [("best", 0.5), ("status", 0.5), ("trials", 0.5), ("tell", 0.5), ("predict", f64::INFINITY)];

/// The cost of every verb on studies of several sizes in `folder`.
pub fn measure(folder: &Path, setup: &Setup) -> Result<Vec<Measurement>> {
    let cost = |file: &str, verb: &str, n: usize| cost(setup.binary, folder, (verb, file), n);
    let sizes = if setup.size == Size::Full { &SIZES[..] } else { &SIZES[..2] };
    let task = setup.monitor.begin("verbs", sizes.len() * (VERBS.len() + 2));
    let mut rows = Vec::new();
    for &n in sizes {
        let mut study = FilledStudy::new(folder, n)?;
        study.add(n)?;
        let mut row = |what: &str, seconds: f64, limit: f64| {
            let what = format!("{what}, n = {n}, {DIMENSIONS} floats, a process that has just started");
            let row = Measurement::new(SECTION, what, Unit::Seconds, Some(seconds));
            let is_limited = limit.is_finite() && n == SIZES[2];
            rows.push(if is_limited { row.limited(Limit::FigureAtMost(limit)) } else { row });
            task.advance(1);
        };
        row("ask with a fit", cost(&study.file, "ask", n)?, 6.0);
        for (verb, limit) in VERBS {
            row(verb, cost(&study.file, verb, n)?, limit);
        }
        row("ask, mean between two fits", study.between_fits(n, |file| cost(file, "ask", n))?, 2.0);
    }
    Ok(rows)
}

/// A study that is filled with evaluations made elsewhere.
struct FilledStudy {
    file: String,
    store: Store,
    text: String,
    rng: ChaCha8Rng,
}

impl FilledStudy {
    fn new(folder: &Path, n: usize) -> Result<Self> {
        let parameters: String = (0..DIMENSIONS).map(|i| format!("x{i} = {{ float = [0.0, 1.0] }}\n")).collect();
        let (text, file) = (format!("name = \"verbs-{n}\"\n[space]\n{parameters}"), format!("verbs-{n}.toml"));
        scratch::write(&folder.join(&file), &text)?;
        scratch::write(&folder.join("at.csv"), "x0,x1,x2,x3,x4,x5\n0.5,0.5,0.5,0.5,0.5,0.5\n")?;
        let store = Location::Sqlite(folder.join("verbs.db")).open(Access::Create)?;
        Ok(Self { file, store, text, rng: ChaCha8Rng::seed_from_u64(4) })
    }

    /// Adds so many values.
    fn add(&mut self, values: usize) -> Result<()> {
        let source = Source::read(&self.text, |path| Err(format!("{path} is not named")))?;
        let mut session = Session::open_or_create(self.store.clone(), source)?;
        let first = session.ledger().trials().len();
        let included = |trial: usize| {
            let x: [f64; DIMENSIONS] = std::array::from_fn(|_| self.rng.random());
            // As parameters are stored: on the grid of floats that the space distinguishes.
            let params: Vec<Value> = x.iter().map(|x| Value::Float((x * 1_048_576.0).round() / 1_048_576.0)).collect();
            let value = x.iter().enumerate().map(|(i, x)| (3.0 * x + i as f64).sin()).sum();
            Event::Included(Included { trial, candidate: trial, params, value: Some(value) })
        };
        let events: Vec<Event> = (first..first + values).map(included).collect();
        Ok(session.extend(&events)?)
    }

    /// The mean of asks between the fit at `n` values and the next one.
    fn between_fits(&mut self, n: usize, ask: impl Fn(&str) -> Result<f64>) -> Result<f64> {
        let (mut added, mut total) = (0, 0.0);
        for part in BETWEEN_FITS {
            let wanted = (part * (n / 20) as f64) as usize;
            if wanted > added {
                self.add(wanted - added)?;
                added = wanted;
            }
            total += ask(&self.file)?;
        }
        Ok(total / BETWEEN_FITS.len() as f64)
    }
}

/// The processor seconds of one verb on a study file.
fn cost(binary: &Binary, folder: &Path, (verb, study): (&str, &str), n: usize) -> Result<f64> {
    let trial = n.to_string();
    let more: &[&str] = match verb {
        // The trial that the first ask has begun.
        "tell" => &[&trial, "0.5"],
        "predict" => &["--at", "at.csv"],
        _ => &[],
    };
    let before = children_seconds();
    binary.run(&[&[verb, study, "--store", "sqlite:verbs.db", "--json"], more].concat(), folder)?;
    before.zip(children_seconds()).map(|(before, after)| after - before).ok_or_else(|| Error::Measurement {
        what: verb.to_string(),
        reason: "/proc does not show processor times".to_string(),
    })
}

/// The processor seconds of all processes that this one has waited for.
fn children_seconds() -> Option<f64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: f64 = fields.get(13)?.parse::<f64>().ok()? + fields.get(14)?.parse::<f64>().ok()?;
    // Linux counts in hundredths of a second here.
    Some(ticks / 100.0)
}
