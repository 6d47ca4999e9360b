//! A PostgreSQL server that restarts, refuses, or is of another version.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use super::common::postgres::Server;
use super::common::study::{GRID, session};
use super::common::{event, origin};
use manyhands_core::event::EventKind;
use manyhands_core::{Study, TrialState};
use manyhands_postgres::{Connection, Row, ServerErrorKind, Statement};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

use crate::backend::{Backend, NewStudy};
use crate::postgres::Postgres;
use crate::record::{Append, Appended};
use crate::{Access, Error, Reported};

/// A server for these tests, one at a time: one of them restarts it.
fn alone() -> Option<(MutexGuard<'static, ()>, &'static Server)> {
    static ALONE: Mutex<()> = Mutex::new(());
    static SERVER: OnceLock<Option<Server>> = OnceLock::new();
    let guard = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    SERVER.get_or_init(Server::start).as_ref().map(|server| (guard, server))
}

fn connect(url: &str) -> Result<Postgres, Error> {
    Postgres::at(&url.parse()?, Access::Create)
}

fn open(url: &str) -> Arc<dyn Backend> {
    Arc::new(connect(url).unwrap())
}

/// The name of the database in a URL.
fn database(url: &str) -> &str {
    url.rsplit_once('/').unwrap().1
}

/// Asks and reports until it is told to stop; what was acknowledged.
fn work(url: &str, stop: &AtomicBool, done: &AtomicUsize) -> Vec<(usize, f64)> {
    let mut session = session(open(url), GRID);
    let mut acknowledged = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        let claimed = session.ask_for_worker(1, None, Duration::from_secs(60)).unwrap().remove(0);
        let value = (claimed.trial as f64).sin();
        assert_eq!(session.report(&claimed, &origin(), Ok(value.into())).unwrap(), Reported::Recorded);
        acknowledged.push((claimed.trial, value));
        done.fetch_add(1, Ordering::Relaxed);
    }
    acknowledged
}

/// Logs events that nothing but their origin keeps from being logged twice; what was acknowledged.
fn append(url: &str, thread: usize, stop: &AtomicBool, done: &AtomicUsize) -> Vec<String> {
    let store = open(url);
    let id = store.find("raw").unwrap().unwrap().id;
    let mut acknowledged = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        let body = format!("{thread}/{}", acknowledged.len());
        let events = [event(EventKind::LateResult, None, body.clone())];
        let append = Append { origin: &body, events: &events, ..Append::default() };
        assert!(matches!(store.append(id, &append).unwrap(), Appended::Stored { .. }));
        acknowledged.push(body);
        done.fetch_add(1, Ordering::Relaxed);
    }
    acknowledged
}

#[test]
fn what_was_acknowledged_is_logged_once_however_often_the_server_restarts() {
    let Some((_alone, server)) = alone() else { return };
    let url = server.database();
    let store = open(&url);
    let raw = NewStudy { name: "raw".to_string(), text: String::new(), files: vec![], events: vec![] };
    let raw = store.create(&raw).unwrap().id;
    session(store.clone(), GRID);
    let (stop, done) = (AtomicBool::new(false), AtomicUsize::new(0));
    let (told, appended) = std::thread::scope(|scope| {
        let (url, stop, done) = (&url, &stop, &done);
        let workers: Vec<_> = (0..2).map(|_| scope.spawn(move || work(url, stop, done))).collect();
        let writers: Vec<_> = (0..2).map(|thread| scope.spawn(move || append(url, thread, stop, done))).collect();
        for _ in 0..4 {
            // In the middle of things: some more must have been acknowledged first.
            let before = done.load(Ordering::Relaxed);
            while done.load(Ordering::Relaxed) < before + 40 {
                std::thread::sleep(Duration::from_millis(1));
            }
            server.restart();
        }
        stop.store(true, Ordering::Relaxed);
        let told: BTreeMap<usize, f64> = workers.into_iter().flat_map(|w| w.join().unwrap()).collect();
        let mut appended: Vec<String> = writers.into_iter().flat_map(|w| w.join().unwrap()).collect();
        appended.sort();
        (told, appended)
    });
    let mut logged: Vec<String> = store.events(raw, 0).unwrap().into_iter().map(|record| record.body).collect();
    logged.sort();
    assert_eq!(logged, appended);
    let session = session(store, GRID);
    let ledger = session.ledger();
    assert_eq!((ledger.trials().len(), ledger.late()), (told.len(), 0));
    assert_eq!(ledger.count(TrialState::Observed), told.len());
    assert!(ledger.trials().iter().map(|trial| trial.value().unwrap()).eq(told.into_values()));
    Study::verify(session.spec(), ledger.events()).unwrap();
}

#[test]
fn a_server_that_refuses_is_quoted_and_the_password_is_not() {
    let Some((_alone, server)) = alone() else { return };
    server.user_with_password("guarded", "sesame", "host");
    let url =
        |password: &str, database: &str| server.url(database).replace("manyhands@", &format!("guarded:{password}@"));
    let database = database(&server.database()).to_string();
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let reload = || {
        (0..200).find_map(|_| {
            std::thread::sleep(Duration::from_millis(10));
            connect(&url("secret", &database)).err().filter(|error| error.to_string().contains("password"))
        })
    };
    let refused = |url: &str| connect(url).unwrap_err();
    for (error, said) in [
        (reload().expect("the wrong password was taken"), "password authentication failed for user \"guarded\""),
        (refused(&url("sesame", "nope")), "database \"nope\" does not exist"),
        (refused(&url("sesame", &database)), "permission denied"),
        (refused(&format!("postgres://guarded:sesame@127.0.0.1:{closed}/x")), "refused"),
        (refused(&format!("postgres://guarded:sesame@127.0.0.1:{closed}/x?sslmode=require")), "refused"),
        (refused("postgres://guarded:sesame@no-such-host.invalid/x"), "no-such-host.invalid"),
        (refused(&server.url(&database).replace("manyhands@", "guarded@")), "password"),
        (refused("postgres://guarded:sesame@127.0.0.1:x/y"), "is not a store"),
    ] {
        let shown = format!("{error} {error:?} {:?}", error.hint());
        assert!(shown.contains(said), "{said}: {shown}");
        assert!(!shown.contains("sesame") && !shown.contains("secret"), "{shown}");
    }
    server.sql(&database, "GRANT ALL ON SCHEMA public TO guarded");
    assert!(format!("{:?}", open(&url("sesame", &database))).contains("guarded@127.0.0.1"));
    assert!(!format!("{:?}", open(&url("sesame", &database))).contains("sesame"));
}

#[test]
fn what_a_server_cannot_do_has_its_kind_and_the_connection_goes_on() {
    let Some((_alone, server)) = alone() else { return };
    let address = server.database().parse().unwrap();
    let connection = Connection::open(&address).unwrap();
    let raised = |code: &str| format!("DO $$ BEGIN RAISE 'no' USING ERRCODE = '{code}'; END $$");
    let late = "canceling statement due to statement timeout (working)";
    for (sql, kind, reason) in [
        (raised("53100"), ServerErrorKind::Full, "no"),
        (raised("55P03"), ServerErrorKind::Locked { seconds: 10 }, "no"),
        (raised("23505"), ServerErrorKind::Refused, "no"),
        ("SET LOCAL statement_timeout = 1; SELECT pg_sleep(5)".to_string(), ServerErrorKind::Unavailable, late),
    ] {
        let error = connection.transact("working", |t, _| t.run(&sql)).unwrap_err();
        assert_eq!((error.kind, error.reason.as_str()), (kind, reason), "{sql}");
        let error = connection.read_at_once("working", |t| t.run(&sql)).unwrap_err();
        assert_eq!((error.kind, error.reason.as_str()), (kind, reason), "{sql}");
    }
    let waits = "SELECT current_setting('lock_timeout'), current_setting('transaction_isolation')";
    let settings = |row: Option<Row>| row.map(|row| (row.get(0), row.get(1))).unwrap();
    let read: (String, String) = settings(connection.run_one("", |t| t.query_opt(Statement::new(waits))).unwrap());
    assert_eq!(read, ("10s".to_string(), "read committed".to_string()));
    // A snapshot is ended by the connection where its work has only read.
    let read: (String, String) = settings(connection.read_at_once("", |t| t.query_opt(Statement::new(waits))).unwrap());
    assert_eq!(read.1, "repeatable read");
    let read: (String, String) = settings(connection.transact("", |t, _| t.query_opt(Statement::new(waits))).unwrap());
    assert_eq!(read.1, "read committed");
}

/// An issuer's certificate, and the certificate and key that it gave to a host.
fn certified(host: &str) -> (String, String, String) {
    let mut issuing = CertificateParams::new([]).unwrap();
    issuing.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let issuer = CertifiedIssuer::self_signed(issuing, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new([host.to_string()]).unwrap().signed_by(&key, &issuer).unwrap();
    (issuer.pem(), certificate.pem(), key.serialize_pem())
}

/// Tries while the server is about to take a change in.
fn eventually<T>(mut attempt: impl FnMut() -> Option<T>) -> T {
    let pause = || std::thread::sleep(Duration::from_millis(10));
    (0..500).find_map(|_| attempt().or_else(|| (pause(), None).1)).expect("it did not happen in time")
}

#[test]
fn a_connection_is_encrypted_and_the_server_proves_who_it_is_where_that_is_asked() {
    let Some((_alone, server)) = alone() else { return };
    let database = database(&server.database()).to_string();
    let plain = server.url(&database);
    let required = connect(&format!("{plain}?sslmode=require")).unwrap_err();
    assert!(required.to_string().contains("server does not support TLS"), "{required}");

    let (issuer, certificate, key) = certified("127.0.0.1");
    server.encrypt(&certificate, &key);
    server.user_with_password("shy", "sesame", "hostssl");
    server.sql(&database, "GRANT ALL ON SCHEMA public TO shy");
    let shy = plain.replace("manyhands@", "shy:sesame@");
    eventually(|| connect(&format!("{shy}?sslmode=require")).ok());
    assert!(connect(&shy).is_ok(), "what the server offers is taken");
    assert!(connect(&format!("{plain}?sslmode=disable")).is_ok());
    let refused = connect(&format!("{shy}?sslmode=disable")).unwrap_err();
    assert!(refused.to_string().contains("rejects connection"), "{refused}");

    let folder = tempfile::tempdir().unwrap();
    let trusting = |url: &str, issuer: &str| {
        let file = folder.path().join("issuer.pem");
        std::fs::write(&file, issuer).unwrap();
        connect(&format!("{url}?sslmode=verify-full&sslrootcert={}", file.display()))
    };
    let mut session = session(Arc::new(trusting(&shy, &issuer).unwrap()), GRID);
    assert_eq!(session.ask(2).unwrap().len(), 2);
    // The server's own certificate, whatever host it names.
    assert!(trusting(&shy.replace("127.0.0.1", "localhost"), &certificate).is_ok());
    for distrusted in
        [trusting(&shy, &certified("127.0.0.1").0), trusting(&shy.replace("127.0.0.1", "localhost"), &issuer)]
    {
        let error = distrusted.unwrap_err();
        assert!(matches!(error, Error::UntrustedCertificate { .. }), "{error}");
        assert!(error.to_string().contains("certificate") && !error.to_string().contains("sesame"), "{error}");
        assert!(error.hint().unwrap().contains("sslrootcert=FILE") && !error.is_temporary());
    }
}

#[test]
fn a_server_behind_a_socket_is_reached_without_encryption() {
    let Some((_alone, server)) = alone() else { return };
    let name = database(&server.database()).to_string();
    let folder = server.socket().display().to_string().replace('/', "%2F");
    let port = server.url("").rsplit_once(':').unwrap().1.trim_end_matches('/').to_string();
    let mut session = session(open(&format!("postgres://manyhands@{folder}:{port}/{name}")), GRID);
    assert_eq!(session.ask(1).unwrap().len(), 1);
}

#[test]
fn a_newer_store_is_refused_and_an_older_one_upgraded() {
    let Some((_alone, server)) = alone() else { return };
    let url = server.database();
    session(open(&url), GRID).ask(3).unwrap();
    server.sql(database(&url), "UPDATE manyhands_schema SET version = 99");
    let error = connect(&url).unwrap_err();
    assert!(matches!(error, Error::Newer { found: 99, known: 5, .. }), "{error}");
    let older = "DROP INDEX manyhands_beginnings, manyhands_ends, manyhands_reopenings, manyhands_origins; DROP TABLE manyhands_turns;
        ALTER TABLE manyhands_studies DROP COLUMN sha256;
        ALTER TABLE manyhands_events DROP COLUMN key, DROP COLUMN hash, DROP COLUMN attempt;
        ALTER TABLE manyhands_leases DROP COLUMN since, DROP COLUMN renewed, DROP COLUMN term;
        UPDATE manyhands_schema SET version = 1";
    server.sql(database(&url), older);
    std::thread::scope(|scope| (0..8).for_each(|_| drop(scope.spawn(|| open(&url)))));
    assert_eq!(session(open(&url), GRID).ledger().trials().len(), 3);
    server.sql(database(&url), "DROP INDEX manyhands_beginnings, manyhands_ends");
}

#[test]
fn behind_a_pooler_of_transactions_nothing_is_mixed_up() {
    let Some((_alone, server)) = alone() else { return };
    let (direct, Some(pooler)) = (server.database(), server.pooler()) else { return };
    server.sql(
        "postgres",
        &format!("ALTER DATABASE {} SET default_transaction_isolation = 'repeatable read'", database(&direct)),
    );
    let url = pooler.url(database(&direct));
    let (stop, done) = (AtomicBool::new(false), AtomicUsize::new(0));
    // More workers than connections, so that each transaction of a worker may go over another one.
    let told: Vec<(usize, f64)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..8).map(|_| scope.spawn(|| work(&url, &stop, &done))).collect();
        while done.load(Ordering::Relaxed) < 60 && workers.iter().all(|worker| !worker.is_finished()) {
            std::thread::sleep(Duration::from_millis(20));
        }
        stop.store(true, Ordering::Relaxed);
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    let session = session(open(&direct), GRID);
    assert!(told.len() >= 60 && session.ledger().trials().len() == told.len(), "{} told", told.len());
    for (trial, value) in told {
        assert_eq!(session.ledger().trial(trial).unwrap().value(), Some(value));
    }
    Study::verify(session.spec(), session.ledger().events()).unwrap();
}

#[test]
fn a_server_with_other_defaults_keeps_the_log_in_order() {
    let Some((_alone, server)) = alone() else { return };
    let url = server.database();
    for habit in
        ["default_transaction_isolation = 'repeatable read'", "synchronous_commit = off", "timezone = 'Asia/Tokyo'"]
    {
        server.sql("postgres", &format!("ALTER DATABASE {} SET {habit}", database(&url)));
    }
    let id = open(&url)
        .create(&NewStudy { name: "s".to_string(), text: String::new(), files: vec![], events: vec![] })
        .unwrap()
        .id;
    std::thread::scope(|scope| {
        for thread in 0..6 {
            let url = &url;
            scope.spawn(move || {
                let store = open(url);
                for i in 0..20 {
                    let (origin, trial) = (format!("{thread}/{i}"), Some(thread * 20 + i));
                    let events = [event(EventKind::Asked, trial, origin.clone())];
                    let append = Append { origin: &origin, events: &events, ..Append::default() };
                    assert!(matches!(store.append(id, &append).unwrap(), Appended::Stored { .. }));
                }
            });
        }
    });
    let sequences: Vec<usize> = open(&url).events(id, 0).unwrap().iter().map(|record| record.sequence).collect();
    assert_eq!(sequences, (1..=120).collect::<Vec<_>>());
}
