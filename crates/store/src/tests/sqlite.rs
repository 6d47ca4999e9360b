//! A SQLite file that is old, new, foreign, broken, locked or without room: told apart, and never harmed.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, Barrier};

use super::common::study::{GRID, session};
use super::common::{self, again, role};
use manyhands_core::event::EventKind;
use manyhands_core::{Study, TrialState};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::backend::Backend;
use crate::record::{Append, Appended};
use crate::sqlite::Sqlite;
use crate::{Access, Error, Session, Store};

fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.db");
    (folder, path)
}

fn open(path: &Path) -> Arc<dyn Backend> {
    Arc::new(Sqlite::open(path, Access::Write).unwrap())
}

/// A store with a study that has trials.
fn make(path: &Path, trials: usize) {
    session(Arc::new(Sqlite::open(path, Access::Create).unwrap()), GRID).ask(trials).unwrap();
}

/// The refusal, and the file is as it was.
fn refusal(path: &Path) -> Error {
    let before = fs::read(path).unwrap();
    let error = Sqlite::open(path, Access::Create).unwrap_err();
    assert_eq!(fs::read(path).unwrap(), before, "{error}");
    error
}

fn pragma(path: &Path, name: &str) -> String {
    let connection = Connection::open(path).unwrap();
    connection
        .pragma_query_value(None, name, |row| row.get::<_, rusqlite::types::Value>(0))
        .map(|v| format!("{v:?}"))
        .unwrap()
}

#[test]
fn a_store_of_the_first_schema_is_upgraded_and_keeps_what_it_has() {
    let (_folder, path) = folder();
    Connection::open(&path).unwrap().execute_batch(include_str!("../../tests/fixtures/sqlite-schema-1.sql")).unwrap();
    // By many at once.
    std::thread::scope(|scope| (0..8).for_each(|_| drop(scope.spawn(|| open(&path)))));
    let store = open(&path);
    let mut session = Session::open(store.clone().into(), "old", "it").unwrap();
    let records = store.events(session.id(), 0).unwrap();
    let times: Vec<i64> = records.iter().map(|record| record.time.micros() / 1_000_000).collect();
    assert_eq!(times, [1_700_000_001, 1_700_000_002, 1_700_000_003, 1_700_000_004]);
    assert_eq!(records[1].body, "{\"trial\":0,\"value\":-0.0}");
    assert_eq!((session.ledger().trials().len(), session.ledger().late()), (2, 1));
    assert_eq!(session.survey(1, std::time::Duration::from_secs(60)).unwrap().taken[0].token, 5);
    session.ask(2).unwrap();
    Study::verify(session.spec(), session.ledger().events()).unwrap();
    assert_eq!(pragma(&path, "user_version"), "Integer(6)");
    // What the later schemas added: the log has a running hash from its first new event on.
    let hashed: Vec<bool> = store.events(session.id(), 0).unwrap().iter().map(|r| r.hash.is_some()).collect();
    assert_eq!(hashed, [false, false, false, false, true, true]);
    let twice = "INSERT INTO events SELECT study, 99, time, kind, trial, body, version, origin, key, hash, attempt FROM events \
         WHERE kind = 'told'";
    let refused = Connection::open(&path).unwrap().execute(twice, []).unwrap_err();
    assert!(refused.to_string().contains("UNIQUE"), "{refused}");
}

#[test]
fn a_newer_store_is_refused_by_its_number_and_left_alone() {
    let (_folder, path) = folder();
    make(&path, 1);
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let error = refusal(&path);
    assert!(matches!(error, Error::Newer { found: 99, known: 6, .. }));
    assert!(error.to_string().contains("its schema is 99, this one knows up to 6"), "{error}");
}

#[test]
fn what_belongs_to_another_program_is_refused_and_left_alone() {
    for sql in [
        "CREATE TABLE studies (id INTEGER)",
        "PRAGMA journal_mode = WAL; CREATE TABLE t (x); INSERT INTO t VALUES (1)",
        "PRAGMA application_id = 7; CREATE TABLE t (x)",
        "PRAGMA application_id = 7; VACUUM",
        "PRAGMA user_version = 2; VACUUM",
    ] {
        let (_folder, path) = folder();
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        let error = refusal(&path);
        assert!(error.to_string().contains("it is a database of another program"), "{sql}: {error}");
    }
    let (_folder, path) = folder();
    fs::write(&path, "name = \"a study file\"\n".repeat(100)).unwrap();
    assert!(refusal(&path).to_string().contains("it is not a SQLite database"));
}

#[test]
fn a_damaged_store_is_said_to_be_damaged() {
    let (_folder, path) = folder();
    make(&path, 200);
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 4096 / 2 * 4096;
    bytes[4096..middle].fill(0xa5);
    fs::write(&path, &bytes).unwrap();
    let read = || Session::open(Store::new(Sqlite::open(&path, Access::Write)?), "grid", "it").map(drop);
    let error = read().unwrap_err();
    assert!(matches!(error, Error::Damaged { .. }) && error.hint().unwrap().contains("--salvage"), "{error}");
}

#[test]
fn a_store_is_made_where_there_is_none_and_only_where_one_can_be() {
    let (folder, path) = folder();
    assert_eq!(Sqlite::open(&path, Access::Write).unwrap_err(), Error::NoStore { path: path.clone() });
    assert!(!path.exists());
    fs::write(&path, "").unwrap();
    make(&path, 1);
    for (path, said) in [
        (folder.path().join("none/m.db"), format!("there is no folder {}/none", folder.path().display())),
        (folder.path().to_path_buf(), "it is a folder".to_string()),
        (path.join("m.db"), format!("{} is not a folder", path.display())),
    ] {
        let error = Sqlite::open(&path, Access::Create).unwrap_err();
        assert!(error.to_string().contains(&said), "{error}");
    }
}

#[test]
fn a_file_that_is_removed_or_replaced_under_a_session_is_noticed_before_anything_is_told() {
    for replaced in [false, true] {
        let (_folder, path) = folder();
        make(&path, 2);
        let mut session = session(open(&path), GRID);
        fs::rename(&path, path.with_extension("elsewhere")).unwrap();
        if replaced {
            make(&path, 1);
        }
        for refused in [session.tell(0, 1.0), session.sync()] {
            let error = refused.unwrap_err();
            assert!(
                matches!(error, Error::RefusedFile { .. }) && error.to_string().contains("removed or replaced"),
                "{error}"
            );
            assert!(!error.is_temporary());
        }
    }
}

#[test]
fn a_new_store_may_be_opened_by_many_at_once() {
    for _ in 0..20 {
        let (_folder, path) = folder();
        let ready = Barrier::new(8);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    ready.wait();
                    let store = Arc::new(Sqlite::open(&path, Access::Create).unwrap());
                    session(store, GRID);
                });
            }
        });
        assert_eq!(open(&path).studies().unwrap().len(), 1);
        assert_eq!(pragma(&path, "journal_mode"), "Text(\"wal\")");
    }
}

#[test]
fn a_store_that_another_program_locks_is_said_to_be_locked_and_can_be_read() {
    let (_folder, path) = folder();
    make(&path, 2);
    let mut session = session(open(&path), GRID);
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    session.sync().unwrap();
    assert_eq!(open(&path).studies().unwrap().len(), 1);
    let error = session.tell(0, 1.0).unwrap_err();
    assert!(matches!(error, Error::Locked { seconds: 10, .. }) && error.is_temporary(), "{error}");
    other.execute_batch("COMMIT").unwrap();
    session.tell(0, 1.0).unwrap();
}

/// This program as a user who is not root, where files have permissions.
fn without_rights(test: &str, path: &Path) -> Option<Output> {
    let mut command = again(test, path.to_str().unwrap());
    if let Some((user, group)) = common::postgres::user() {
        command.uid(user).gid(group).current_dir("/");
        for path in path.ancestors().take(2).filter(|path| path.exists()) {
            chown(path, Some(user), Some(group)).unwrap();
        }
    }
    match command.output() {
        Ok(output) => Some(output),
        Err(error) => {
            eprintln!("skipped: files without permissions (this program cannot be run by another user: {error})");
            None
        }
    }
}

#[test]
fn files_that_may_not_be_read_or_written_are_refused_by_name() {
    const TEST: &str = "sqlite::files_that_may_not_be_read_or_written_are_refused_by_name";
    if let Some(path) = role() {
        println!(
            "\n{}",
            match attempt(Path::new(&path)) {
                Ok(()) => "worked".to_string(),
                Err(error) => format!("said {error}"),
            }
        );
        return;
    }
    // The permissions of the folder and of the file, if there is one.
    for (of_folder, of_file, said) in [
        (0o755, Some(0o644), "worked"),
        (0o755, None, "worked"),
        (0o755, Some(0o444), "said permission denied: {} cannot be written"),
        (0o555, Some(0o644), "said permission denied: {} cannot be written"),
        (0o555, None, "said permission denied: {} cannot be written"),
        (0o755, Some(0o000), "said permission denied: {} cannot be read"),
        (0o000, Some(0o644), "said permission denied: {} cannot be read"),
    ] {
        let (folder, path) = folder();
        if let Some(mode) = of_file {
            make(&path, 1);
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        }
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(of_folder)).unwrap();
        let Some(output) = without_rights(TEST, &path) else { return };
        let (output, said) = (String::from_utf8_lossy(&output.stdout), said.replace("{}", &path.display().to_string()));
        assert!(output.lines().any(|line| line == said), "{of_folder:o} {of_file:?}: {said}\n{output}");
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    }
}

/// Opens a store as a user does who has one, and writes.
fn attempt(path: &Path) -> crate::Result<()> {
    let missing = if path.ends_with("m.db") && path.exists() { Access::Write } else { Access::Create };
    let store = Store::new(Sqlite::open(path, missing)?);
    let source = common::study::source(GRID);
    Session::open_or_create(store, source)?.ask(1).map(drop)
}

#[test]
fn a_full_disk_refuses_what_it_cannot_keep_and_loses_nothing() {
    const TEST: &str = "sqlite::a_full_disk_refuses_what_it_cannot_keep_and_loses_nothing";
    if let Some(path) = role() {
        return fill(Path::new(&path));
    }
    let (_folder, path) = folder();
    make(&path, 200);
    // As little room as a limit on the size of files leaves; its signal is ignored, as the error says all.
    let program = again(TEST, path.to_str().unwrap());
    let mut limited = Command::new("/bin/sh");
    limited.args(["-c", "trap '' XFSZ; ulimit -S -f 700; exec \"$0\" \"$@\""]).arg(program.get_program());
    limited.args(program.get_args()).envs(program.get_envs().map(|(key, value)| (key, value.unwrap())));
    let output = limited.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let told: usize = said.lines().find_map(|line| line.strip_prefix("acknowledged ")).unwrap().parse().unwrap();
    assert_eq!(pragma(&path, "integrity_check"), "Text(\"ok\")");
    let session = session(open(&path), GRID);
    assert_eq!(session.ledger().count(TrialState::Failed), told);
    Study::replay(session.spec().clone(), session.ledger().events()).unwrap();
}

/// Writes until there is no room, and again once there is.
fn fill(path: &Path) {
    let mut session = session(open(path), GRID);
    let reason = "x".repeat(5000);
    let mut trials = 0..200;
    let full = trials.find(|trial| match session.fail(*trial, &reason) {
        Ok(()) => false,
        Err(error) => {
            assert!(matches!(error, Error::Full { .. }) && error.is_temporary(), "{error}");
            true
        }
    });
    let full = full.expect("there was room for all");
    assert!(full > 10, "{full}");
    assert!(matches!(session.fail(full, &reason), Err(Error::Full { .. })), "still");
    // What was refused is not there, and what was acknowledged is, for others too.
    assert_eq!(common::study::session(open(path), GRID).ledger().count(TrialState::Failed), full);
    assert_eq!(session.ledger().count(TrialState::Failed), full);
    let unlimited = rustix::process::Rlimit { current: None, maximum: None };
    rustix::process::setrlimit(rustix::process::Resource::Fsize, unlimited).unwrap();
    session.fail(full, &reason).unwrap();
    session.ask(1).unwrap();
    println!("\nacknowledged {}", full + 1);
}

#[test]
fn an_append_is_whole_or_not_there_when_its_program_is_killed() {
    const TEST: &str = "sqlite::an_append_is_whole_or_not_there_when_its_program_is_killed";
    let events = |trial: usize| {
        let event = |kind, body: usize| common::event(kind, Some(trial), "y".repeat(body));
        [event(EventKind::Asked, 3000), event(EventKind::LateResult, 9000), event(EventKind::Told, 10)]
    };
    if let Some(path) = role() {
        let store = open(Path::new(&path));
        let id = store.find("grid").unwrap().unwrap().id;
        println!();
        for trial in 0.. {
            let append = Append { origin: &trial.to_string(), events: &events(trial), ..Append::default() };
            assert!(matches!(store.append(id, &append).unwrap(), Appended::Stored { .. }));
            println!("acknowledged {trial}");
        }
    }
    let (_folder, path) = folder();
    make(&path, 1);
    let store = open(&path);
    store.delete(store.find("grid").unwrap().unwrap().id).unwrap();
    let id = session(store.clone(), GRID).id();
    let mut child = again(TEST, path.to_str().unwrap()).spawn().unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
    lines.find(|line| line.as_ref().unwrap() == "acknowledged 30").unwrap().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let last =
        lines.map_while(|line| line.ok()).filter_map(|line| line.strip_prefix("acknowledged ")?.parse().ok()).last();
    let acknowledged: usize = last.unwrap_or(30) + 1;
    drop(store);
    assert_eq!(pragma(&path, "integrity_check"), "Text(\"ok\")");
    let records = open(&path).events(id, 0).unwrap();
    assert!(
        records.len() >= 3 * acknowledged && records.len().is_multiple_of(3),
        "{} of {acknowledged}",
        records.len()
    );
}
