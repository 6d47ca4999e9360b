//! The three stores, for tests that hold on each of them.

pub mod interceptor;
#[path = "../../../tests/common/postgres.rs"]
pub mod postgres;
pub mod study;

use std::process::{Command, Stdio};
use std::sync::{Arc, OnceLock};

use manyhands_core::event::EventKind;
use proptest::prelude::ProptestConfig;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};

use self::postgres::Server;
use crate::backend::Backend;
use crate::record::NewEvent;
use crate::{Access, Location, Store};

/// The tests' PostgreSQL server; none where it is not installed.
pub fn server() -> Option<&'static Server> {
    static SERVER: OnceLock<Option<Server>> = OnceLock::new();
    SERVER.get_or_init(Server::start).as_ref()
}

/// A place for a store, with what must live as long as it.
pub struct Place {
    pub location: Location,
    pub memory: Option<Arc<dyn Backend>>,
    _folder: tempfile::TempDir,
}

impl Place {
    /// Its address, for another process.
    pub fn url(&self) -> String {
        self.location.to_string()
    }

    /// Opens the store once more, as another process would.
    pub fn open(&self) -> Arc<dyn Backend> {
        match &self.memory {
            Some(store) => store.clone(),
            None => self.location.open(Access::Create).unwrap().backend,
        }
    }
}

/// One new, empty store of each kind.
pub fn places() -> Vec<Place> {
    let folder = || tempfile::tempdir().unwrap();
    let place = |location, memory, folder| Place { location, memory, _folder: folder };
    let file = folder();
    let mut places = vec![
        place(Location::Memory, Some(Location::Memory.open(Access::Create).unwrap().backend), folder()),
        place(Location::Sqlite(file.path().join("m.db")), None, file),
    ];
    places.extend(server().map(|server| place(server.database().parse().unwrap(), None, folder())));
    places
}

/// Says to a process of this test program what it is to do instead of testing.
const ROLE: &str = "MANYHANDS_TEST_ROLE";

/// What this process is to do, if it was started by [`again`].
pub fn role() -> Option<String> {
    std::env::var(ROLE).ok()
}

/// This program once more, as another process that runs only the test of this name ("module::test"), which does what `role`
/// says.
pub fn again(test: &str, role: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", &format!("tests::{test}"), "--nocapture", "--test-threads", "1"]).env(ROLE, role);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}

/// Runs a property on so many cases, the same ones each time.
pub fn runner(cases: u32) -> TestRunner {
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]))
}

impl<T: Backend + 'static> From<Arc<T>> for Store {
    fn from(backend: Arc<T>) -> Self {
        Self { backend }
    }
}

impl From<Arc<dyn Backend>> for Store {
    fn from(backend: Arc<dyn Backend>) -> Self {
        Self { backend }
    }
}

/// An event whose content is of no matter to a store.
pub fn event(kind: EventKind, trial: Option<usize>, body: String) -> NewEvent {
    NewEvent { kind, trial, body, time: None, key: None, attempt: 0 }
}

/// An origin that no other append has.
pub fn origin() -> String {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    format!("{}/{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}
