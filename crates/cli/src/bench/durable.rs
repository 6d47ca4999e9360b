//! What durability costs: asking and telling through a SQLite store beside the engine alone, and reopening a study.

use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result};
use manyhands_core::{Study, Suggestion};
use manyhands_store::{Access, Location, Session, Source, Store};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::measure::{median, timed};
use super::report::{Limit, Row, Unit};
use super::{Size, fleet, problem, verbs};
use crate::progress::Progress;

const SECTION: &str = "durable";
const CANDIDATES: usize = 10_000;
/// Values before the first measurement.
const OBSERVED: usize = 200;
const REPEATS: usize = 30;
/// Trials that are pending while a study is filled.
const BATCH: usize = 20;
/// The trials of a study that is reopened.
const TRIALS: usize = 1000;
/// Tells while another session asks.
const TELLS: usize = 20;
/// The seconds that reopening a study may take.
const REOPENING: f64 = 1.0;

const POOL: &str = "name = \"pool\"\n[candidates]\nfile = \"pool.csv\"\n[model]\nkernel = \"se\"\nlengthscale = 0.2\n\
                    noise = 0.025\n[strategy]\nnorm_bound = 2.0\n";
const SPACE: &str = "name = \"space\"\n[space]\nx = { float = [0.0, 1.0] }\ny = { float = [0.0, 1.0] }\n\
                     z = { float = [0.0, 1.0] }\n";

/// A folder here, on the disk that the default store would be on; gone when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Self> {
        let path = PathBuf::from(format!("manyhands-bench-{}", std::process::id()));
        fs::create_dir(&path).with_context(|| format!("cannot make the folder {}", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed is in a folder whose name says whose it is.
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub fn measure(size: Size, postgres: Option<&str>) -> Result<Vec<Row>> {
    let folder = Folder::new()?;
    let store = Location::Sqlite(folder.0.join("bench.db")).open(Access::Create)?;
    let progress = Progress::new(SECTION, OBSERVED + REPEATS + 2 * TRIALS);
    let mut rows = overhead(&store, &folder, &progress)?;
    for (text, what) in [(SPACE, "learned model on three floats"), (POOL, "given model on a pool of 10,000")] {
        let text = text.replace("name = \"", "name = \"again-");
        let mut session = open(&store, &text)?;
        fill(&mut session, TRIALS, &progress)?;
        let name = session.name().to_string();
        drop(session);
        let reopen = || Session::open(store.clone(), &name, "")?.study().map(|study| study.trials().len());
        let (reopened, seconds) = timed(reopen);
        anyhow::ensure!(reopened? >= TRIALS, "trials were lost");
        let what = format!("reopening {TRIALS} trials, {what}");
        rows.push(Row::new(SECTION, what, Unit::Seconds, Some(seconds)).limited(Limit::FigureAtMost(REOPENING)));
        let mut session = open(&store, &text)?;
        if session.spec().learns() {
            rows.push(tell_during_ask(&store, &text, &mut session)?);
        }
    }
    drop(progress);
    rows.extend(verbs::measure(&folder.0, size)?);
    rows.extend(fleet::measure(&folder.0, postgres, size)?);
    Ok(rows)
}

/// One ask and one tell, by the engine alone and through the store, in turn on the same log.
fn overhead(store: &Store, folder: &Folder, progress: &Progress) -> Result<Vec<Row>> {
    let mut session = open(store, POOL)?;
    fill(&mut session, OBSERVED, progress)?;
    let mut study = Study::replay(session.spec().clone(), session.ledger().events())?;
    let (mut engine, mut durable, mut syncs) = (Vec::new(), Vec::new(), Vec::new());
    let mut file = File::create(folder.0.join("fsync"))?;
    for _ in 0..REPEATS {
        let (told, seconds) = timed(|| -> Result<()> {
            let suggestion = study.ask(1)?.swap_remove(0);
            Ok(study.tell(suggestion.trial, problem::value(suggestion.trial, &suggestion.point))?)
        });
        told?;
        engine.push(seconds);
        let (told, seconds) = timed(|| -> Result<()> {
            let suggestion = session.ask(1)?.swap_remove(0);
            Ok(session.tell(suggestion.trial, problem::value(suggestion.trial, &suggestion.point))?)
        });
        told?;
        durable.push(seconds);
        let (synced, seconds) = timed(|| file.write_all(&[1; 4096]).and_then(|()| file.sync_data()));
        synced?;
        syncs.push(seconds);
        progress.advance(1);
    }
    let (engine, durable, sync) = (median(&engine), median(&durable), median(&syncs));
    let what = format!("ask + tell through SQLite, n = {OBSERVED}, pool of {CANDIDATES}");
    Ok(vec![
        Row::new(SECTION, "one fsync of 4 KiB", Unit::Seconds, Some(sync)),
        Row::new(SECTION, "ask + tell by the engine alone", Unit::Seconds, Some(engine)),
        Row::new(SECTION, what, Unit::Seconds, Some(durable))
            .against("twice the engine, and an fsync for each", Some(2.0 * engine + 2.0 * sync))
            .limited(Limit::RatioAtMost(1.0)),
    ])
}

/// The slowest tell while another session chooses, with a fit.
fn tell_during_ask(store: &Store, text: &str, session: &mut Session) -> Result<Row> {
    let trials = session.ledger().trials().len();
    // So many new values make a fit due; others are left to be told meanwhile.
    let pending = session.ask(trials / 20 + 1 + TELLS)?;
    let value = |s: &Suggestion| problem::value(s.trial, &s.point);
    pending[TELLS..].iter().try_for_each(|s| session.tell(s.trial, value(s)))?;
    let mut asker = open(store, text)?;
    asker.study()?;
    let (asking, slowest) = std::thread::scope(|scope| {
        let asking = scope.spawn(|| timed(|| asker.ask(BATCH).map(drop)));
        let mut slowest = 0.0f64;
        for s in &pending[..TELLS] {
            let (told, seconds) = timed(|| session.tell(s.trial, value(s)));
            told?;
            slowest = slowest.max(seconds);
            if asking.is_finished() {
                break;
            }
        }
        Ok::<_, anyhow::Error>((asking.join(), slowest))
    })?;
    let (asked, seconds) = asking.map_err(|_| anyhow::anyhow!("the thread that asked has panicked"))?;
    asked?;
    let what = format!("the slowest of the tells during an ask with a fit, n = {trials}");
    let row = Row::new(SECTION, what, Unit::Seconds, Some(slowest)).against("the ask", Some(seconds));
    Ok(row.limited(Limit::RatioAtMost(0.5)))
}

fn open(store: &Store, text: &str) -> Result<Session> {
    let source = Source::read(text, |_| Ok(pool()))?;
    Ok(Session::open_or_create(store.clone(), source)?)
}

/// Fills a study as asynchronous workers do: of what is pending, a random half comes back in a random order.
fn fill(session: &mut Session, trials: usize, progress: &Progress) -> Result<()> {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let mut pending = Vec::new();
    while session.ledger().trials().len() < trials {
        let asked = BATCH - pending.len();
        pending.extend(session.ask(asked)?);
        pending.shuffle(&mut rng);
        pending.drain(..BATCH / 2).try_for_each(|s| session.tell(s.trial, problem::value(s.trial, &s.point)))?;
        progress.advance(asked);
    }
    Ok(pending.iter().try_for_each(|s| session.tell(s.trial, problem::value(s.trial, &s.point)))?)
}

/// Scattered candidates.
fn pool() -> Vec<u8> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut text = "a,b,c\n".to_string();
    for _ in 0..CANDIDATES {
        let [a, b, c]: [f64; 3] = std::array::from_fn(|_| rng.random());
        text += &format!("{a},{b},{c}\n");
    }
    text.into_bytes()
}
