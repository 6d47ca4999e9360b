//! A command that records a table or copies a study, killed at any instant: all of it is there, or nothing.

use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::common::postgres::Server;
use crate::common::{Bench, server};
use manyhands_core::TrialState;
use manyhands_store::{Access, Location, Session};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const STUDY: &str = r#"name = "dye"

[space]
temp = { float = [20.0, 60.0] }
acid = { float = [0.0, 1.0] }
"#;

/// On SQLite, and on PostgreSQL, where a copy of the store takes longer.
const KILLS: [usize; 2] = [30, 9];
const ROWS: usize = 2000;
const TRIALS: usize = 20;

/// A table of evaluations made elsewhere, some of which failed, under a header; `first` are rows before them.
fn table(header: &str, first: &str, blank: &str) -> String {
    let row = |i: usize| {
        let (temp, acid) = (20.0 + 40.0 * (i as f64 + 0.5) / ROWS as f64, (i % 97) as f64 / 97.0);
        let value = if i % 50 == 7 { "failed: dry".to_string() } else { (i as f64 / 7.0).to_string() };
        format!("{blank}{temp},{acid},{value},{}\n", i % 9)
    };
    format!("{header}\n{first}{}", (0..ROWS).map(row).collect::<String>())
}

/// A study of some pending trials, tables, and a wider description.
fn bench(store: String) -> Bench {
    let bench = Bench::new(STUDY).at(store);
    let run = |arguments: &[&str]| {
        let output = bench.run(arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    run(&["ask", "study.toml", "-n", &TRIALS.to_string(), "--csv", "asked.csv"]);
    let asked = std::fs::read_to_string(bench.path().join("asked.csv")).unwrap();
    let told: String = asked.lines().skip(1).map(|line| format!("{line}1.5,3\n")).collect();
    bench.write("plate.csv", &table("trial,temp,acid,value,pH", &told, ","));
    bench.write("old.csv", &table("temp,acid,value,pH", "", ""));
    bench.write("wider.toml", &STUDY.replace("dye", "wider").replace("60.0", "90.0"));
    bench
}

/// The server and the name of a database; none of another store.
fn database(address: &str) -> Option<(&'static Server, &str)> {
    let (_, name) = address.strip_prefix("postgres://")?.rsplit_once('/')?;
    Some((server()?, name))
}

/// A store that one attempt writes to, which is gone with its bench or its server.
struct AttemptStore<'a> {
    bench: &'a Bench,
    address: String,
}

impl AttemptStore<'_> {
    /// A copy of the bench's own store.
    fn new(bench: &Bench, name: String) -> AttemptStore<'_> {
        let address = match database(&bench.store) {
            Some((server, database)) => {
                server.wait_until_alone(database);
                server.database_like(database)
            }
            None => {
                let file = bench.path().join(format!("{name}.db"));
                std::fs::copy(bench.path().join("manyhands.db"), &file).unwrap();
                format!("sqlite:{}", file.display())
            }
        };
        AttemptStore { bench, address }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.bench.command(arguments);
        command.env("MANYHANDS_STORE", &self.address).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// How many trials of a study have ended; none where there is no such study.
    fn ended(&self, study: &str) -> usize {
        if let Some((server, database)) = database(&self.address) {
            // It may still be working on what a killed client has sent.
            server.wait_until_alone(database);
        }
        let location: Location = self.address.parse().unwrap();
        let Ok(session) = location.open(Access::Write).and_then(|store| Session::open(store, study, "")) else {
            return 0;
        };
        let ledger = session.ledger();
        ledger.count(TrialState::Observed) + ledger.count(TrialState::Failed)
    }
}

/// Kills a command at random instants, each time on a copy of the store as it is now, then lets it finish. `study` is the one
/// that it writes to, which has `all` ended trials then.
fn killed_at_random(bench: &Bench, arguments: &[&str], study: &str, all: usize) {
    let whole = AttemptStore::new(bench, "whole".to_string());
    let before = whole.ended(study);
    let began = Instant::now();
    assert!(whole.command(arguments).status().unwrap().success());
    let (takes, mut rng) = (began.elapsed(), ChaCha8Rng::seed_from_u64(11));
    assert_eq!(whole.ended(study), all);
    let (kills, mut hits) = (KILLS[usize::from(bench.store.starts_with("postgres"))], 0);
    for kill in 0..kills {
        let attempt = AttemptStore::new(bench, format!("killed-{kill}"));
        let mut child = attempt.command(arguments).spawn().unwrap();
        sleep(Duration::from_secs_f64(takes.as_secs_f64() * rng.random_range(0.0..1.2)));
        hits += usize::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
        let after = attempt.ended(study);
        assert!(after == before || after == all, "{after} of {all} are there");
        if kill % 3 > 0 {
            continue;
        }
        let again = attempt.command(arguments).status().unwrap();
        // A copy that is there already is not made again.
        let is_refused = arguments[0] == "copy" && after == all;
        assert_eq!(again.code(), Some(if is_refused { 1 } else { 0 }));
        assert_eq!(attempt.ended(study), all, "run again, it completes");
    }
    assert!(hits > kills / 3, "only {hits} kills came before the end");
}

/// On SQLite, and on PostgreSQL where it is installed.
fn on_each_store(check: impl Fn(&Bench)) {
    let databases = server().map(|server| server.database());
    for store in ["sqlite:manyhands.db".to_string()].into_iter().chain(databases) {
        check(&bench(store));
    }
}

#[test]
fn a_plate_is_told_completely_or_not_at_all() {
    on_each_store(|bench| killed_at_random(bench, &["tell", "study.toml", "plate.csv"], "dye", TRIALS + ROWS));
}

#[test]
fn earlier_results_are_imported_completely_or_not_at_all() {
    on_each_store(|bench| {
        bench.write("new.toml", &STUDY.replace("dye", "new"));
        killed_at_random(bench, &["import", "new.toml", "--csv", "old.csv"], "new", ROWS);
    });
}

#[test]
fn a_study_is_copied_completely_or_not_at_all() {
    on_each_store(|bench| {
        assert!(bench.run(&["import", "study.toml", "--csv", "old.csv"]).status.success());
        killed_at_random(bench, &["copy", "dye", "wider.toml"], "wider", ROWS);
    });
}
