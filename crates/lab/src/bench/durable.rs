//! What durability costs: asking and telling through a SQLite store beside the engine alone, and reopening a study.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use manyhands_core::{Study, Suggestion};
use manyhands_store::{Access, Location, Session, Source, Store};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::cost::timed_wall;
use super::report::{Limit, Measurement, Unit};
use super::scratch::{ScratchFolder, unwritable};
use super::{Setup, Task, black_box, fleet, verbs};
use crate::statistics::median;
use crate::{Error, Result};

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

/// The overhead of a store, reopening, and the processes that share one.
pub fn measure(setup: &Setup) -> Result<Vec<Measurement>> {
    let folder = ScratchFolder::new()?;
    let mut rows = in_process(folder.path(), setup)?;
    rows.extend(verbs::measure(folder.path(), setup)?);
    rows.extend(fleet::measure(folder.path(), setup)?);
    Ok(rows)
}

/// What needs no other process.
fn in_process(folder: &Path, setup: &Setup) -> Result<Vec<Measurement>> {
    let store = Location::Sqlite(folder.join("bench.db")).open(Access::Create)?;
    let task = setup.monitor.begin(SECTION, OBSERVED + REPEATS + 2 * TRIALS);
    let mut rows = overhead(&store, folder, task.as_ref())?;
    for (text, what) in [(SPACE, "learned model on three floats"), (POOL, "given model on a pool of 10,000")] {
        let text = text.replace("name = \"", "name = \"again-");
        rows.push(reopening(&store, &text, what, task.as_ref())?);
        let mut session = open(&store, &text)?;
        if session.spec().learns() {
            rows.push(tell_during_ask(&store, &text, &mut session)?);
        }
    }
    Ok(rows)
}

/// Fills a study, and opens it again.
fn reopening(store: &Store, text: &str, what: &str, task: &dyn Task) -> Result<Measurement> {
    let mut session = open(store, text)?;
    fill(&mut session, TRIALS, task)?;
    let name = session.name().to_string();
    drop(session);
    let reopen = || Session::open(store.clone(), &name, "")?.study().map(|study| study.trials().len());
    let (reopened, seconds) = timed_wall(reopen);
    let what = format!("reopening {TRIALS} trials, {what}");
    if reopened? < TRIALS {
        return Err(Error::Measurement { what, reason: "trials were lost".to_string() });
    }
    Ok(Measurement::new(SECTION, what, Unit::Seconds, Some(seconds)).limited(Limit::FigureAtMost(REOPENING)))
}

/// One ask and one tell, by the engine alone and through the store, in turn on the same log.
fn overhead(store: &Store, folder: &Path, task: &dyn Task) -> Result<Vec<Measurement>> {
    let mut session = open(store, POOL)?;
    fill(&mut session, OBSERVED, task)?;
    let mut study = Study::replay(session.spec().clone(), session.ledger().events())?;
    let (mut engine, mut durable, mut syncs) = (Vec::new(), Vec::new(), Vec::new());
    let path = folder.join("fsync");
    let failed = |error: std::io::Error| unwritable(&path, &error);
    let mut file = File::create(&path).map_err(failed)?;
    for _ in 0..REPEATS {
        let (told, seconds) = timed_wall(|| -> Result<()> {
            let suggestion = study.ask(1)?.swap_remove(0);
            Ok(study.tell(suggestion.trial, black_box::value(suggestion.trial, &suggestion.point))?)
        });
        told?;
        engine.push(seconds);
        let (told, seconds) = timed_wall(|| -> Result<()> {
            let suggestion = session.ask(1)?.swap_remove(0);
            Ok(session.tell(suggestion.trial, black_box::value(suggestion.trial, &suggestion.point))?)
        });
        told?;
        durable.push(seconds);
        let (synced, seconds) = timed_wall(|| file.write_all(&[1; 4096]).and_then(|()| file.sync_data()));
        synced.map_err(failed)?;
        syncs.push(seconds);
        task.advance(1);
    }
    let (engine, durable, sync) = (median(&engine), median(&durable), median(&syncs));
    let what = format!("ask + tell through SQLite, n = {OBSERVED}, pool of {CANDIDATES}");
    Ok(vec![
        Measurement::new(SECTION, "one fsync of 4 KiB", Unit::Seconds, Some(sync)),
        Measurement::new(SECTION, "ask + tell by the engine alone", Unit::Seconds, Some(engine)),
        Measurement::new(SECTION, what, Unit::Seconds, Some(durable))
            .against("twice the engine, and an fsync for each", Some(2.0 * engine + 2.0 * sync))
            .limited(Limit::RatioAtMost(1.0)),
    ])
}

/// The slowest tell while another session chooses, with a fit.
fn tell_during_ask(store: &Store, text: &str, session: &mut Session) -> Result<Measurement> {
    let trials = session.ledger().trials().len();
    // The values told here make a fit due; the others are told while it is made.
    let pending = session.ask(trials / 20 + 1 + TELLS)?;
    let value = |s: &Suggestion| black_box::value(s.trial, &s.point);
    pending[TELLS..].iter().try_for_each(|s| session.tell(s.trial, value(s)))?;
    let mut asker = open(store, text)?;
    asker.study()?;
    let (asking, slowest) = std::thread::scope(|scope| {
        let asking = scope.spawn(|| timed_wall(|| asker.ask(BATCH).map(drop)));
        let mut slowest = 0.0f64;
        for s in &pending[..TELLS] {
            let (told, seconds) = timed_wall(|| session.tell(s.trial, value(s)));
            told?;
            slowest = slowest.max(seconds);
            if asking.is_finished() {
                break;
            }
        }
        Ok::<_, Error>((asking.join(), slowest))
    })?;
    let (asked, seconds) = asking.map_err(|_| Error::Measurement {
        what: "a tell during an ask".to_string(),
        reason: "the thread that asked has panicked".to_string(),
    })?;
    asked?;
    let what = format!("the slowest of the tells during an ask with a fit, n = {trials}");
    let row = Measurement::new(SECTION, what, Unit::Seconds, Some(slowest)).against("the ask", Some(seconds));
    Ok(row.limited(Limit::RatioAtMost(0.5)))
}

fn open(store: &Store, text: &str) -> Result<Session> {
    let source = Source::read(text, |_| Ok(pool()))?;
    Ok(Session::open_or_create(store.clone(), source)?)
}

/// Fills a study as asynchronous workers do: of what is pending, a random half comes back in a random order.
fn fill(session: &mut Session, trials: usize, task: &dyn Task) -> Result<()> {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let mut pending = Vec::new();
    while session.ledger().trials().len() < trials {
        let asked = BATCH - pending.len();
        pending.extend(session.ask(asked)?);
        pending.shuffle(&mut rng);
        pending.drain(..BATCH / 2).try_for_each(|s| session.tell(s.trial, black_box::value(s.trial, &s.point)))?;
        task.advance(asked);
    }
    Ok(pending.iter().try_for_each(|s| session.tell(s.trial, black_box::value(s.trial, &s.point)))?)
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
