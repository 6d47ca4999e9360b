//! One connection to a PostgreSQL server: opened on demand, closed when idle, reopened after the server was away; every wait
//! has a limit.
//!
//! LISTEN and NOTIFY are not used: the server runs a transaction in every listening process for each notification, measured
//! at 160 per trial with 64 workers. Waiting processes poll at a low rate instead.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};
use tokio::task::AbortHandle;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Config};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::address::Address;
use super::failure::CallFailure;
use super::transaction::{Statement, Transaction, within};
use crate::{Error, Result};

/// How long a server may be away, or without a free connection, before a call gives up.
const PATIENCE: Duration = Duration::from_secs(10);

/// The same when a store is opened and the server has no free connection.
const FULL_PATIENCE: Duration = Duration::from_secs(60);

/// How long a transaction may take on this side; the server's own limits ([`SETTINGS`]) are lower, unless it hangs.
const LIMIT: Duration = Duration::from_secs(30);

/// How long to wait before the next try, at first and at most.
const PAUSES: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(1));

/// How long an idle connection is kept, so that regular polling reuses it; the shorter time if the server has few left.
const IDLE: (Duration, Duration) = (Duration::from_secs(3), Duration::from_millis(50));

/// How often to check whether the connection is idle.
const LOOK: Duration = Duration::from_millis(100);

/// How often to check how many connections the server has left.
const CENSUS: Duration = Duration::from_secs(10);

/// Acknowledged events must be on disk, regardless of the server's defaults, and no statement waits for ever.
const SETTINGS: &str =
    "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off';
    SET lock_timeout = '10s'; SET statement_timeout = '20s'; SET idle_in_transaction_session_timeout = '60s'";

/// Whether nine tenths of the server's connections are taken.
const CROWDED: &str = "SELECT count(*) >= 0.9 * (current_setting('max_connections')::int - \
                       current_setting('superuser_reserved_connections')::int) FROM pg_stat_activity \
                       WHERE backend_type = 'client backend'";

/// A connection to one database, shared by all sessions of a process.
pub struct Connection(Arc<Shared>);

struct Shared {
    address: Address,
    config: Config,
    connector: MakeRustlsConnect,
    link: Mutex<Option<Link>>,
    /// Drives the connection on the thread that waits for the answer: handing over to another thread and back took longer
    /// than most answers.
    runtime: Runtime,
}

/// An open connection.
struct Link {
    client: Client,
    driver: AbortHandle,
    used: Instant,
    counted: Instant,
    crowded: bool,
}

impl Drop for Link {
    fn drop(&mut self) {
        // The connection's task must not wait for a server that does not answer.
        self.driver.abort();
    }
}

/// Whether a transaction is tried for the first time, or again after its answer was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attempt {
    First,
    Again,
}

impl Connection {
    /// Connects. Waits for a free connection, but not for a server that is down.
    pub fn open(address: &Address) -> Result<Self> {
        let refuse = |reason: String| Error::Location { url: address.to_string(), reason };
        let connector = address.connector().map_err(refuse)?;
        let mut config = address.config.clone();
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(Duration::from_secs(10));
        }
        config.keepalives_idle(Duration::from_secs(30)).tcp_user_timeout(LIMIT);
        config.application_name("manyhands");
        let no_thread =
            |error: std::io::Error| Error::Unavailable { store: address.to_string(), reason: error.to_string() };
        let runtime = Builder::new_current_thread().enable_all().build().map_err(no_thread)?;
        let shared = Arc::new(Shared { address: address.clone(), config, connector, link: Mutex::new(None), runtime });
        let (thread, weak) = (std::thread::Builder::new().name("postgres".to_string()), Arc::downgrade(&shared));
        thread.spawn(move || close_when_idle(&weak)).map_err(no_thread)?;
        let connection = Self(shared);
        connection.connect_first()?;
        Ok(connection)
    }

    fn connect_first(&self) -> Result<()> {
        let (start, mut pause) = (Instant::now(), PAUSES.0);
        loop {
            match self.connect() {
                Ok(link) => {
                    *self.link() = Some(link);
                    return Ok(());
                }
                Err(failure) if failure.is_full() && start.elapsed() < FULL_PATIENCE => wait(&mut pause),
                Err(failure) => return Err(failure.refusal(&self.0.address, "connecting")),
            }
        }
    }

    /// One short transaction, repeated while the server is away. `what` names it in errors about time limits.
    pub fn transact<T>(
        &self,
        what: &str,
        work: impl Fn(&Transaction<'_>, Attempt) -> std::result::Result<T, CallFailure>,
    ) -> Result<T> {
        self.persist(what, |t, time| {
            t.begin();
            let result = work(t, time);
            match &result {
                Ok(_) => t.end(true)?,
                // A lost connection has nothing to roll back, and its loss is the error to report.
                Err(_) => drop(t.end(false)),
            }
            result
        })
    }

    /// One statement that reads, or may be repeated; repeated while the server is away.
    pub fn one<T>(
        &self,
        what: &str,
        work: impl Fn(&Transaction<'_>) -> std::result::Result<T, CallFailure>,
    ) -> Result<T> {
        self.persist(what, |t, _| work(t))
    }

    fn persist<T>(
        &self,
        what: &str,
        work: impl Fn(&Transaction<'_>, Attempt) -> std::result::Result<T, CallFailure>,
    ) -> Result<T> {
        let mut link = self.link();
        let (mut time, mut pause, start) = (Attempt::First, PAUSES.0, Instant::now());
        loop {
            let failure = match self.attempt(&mut link, |t| work(t, time)) {
                Ok(result) => return Ok(result),
                Err(failure) => failure,
            };
            if link.as_ref().is_none_or(|link| link.client.is_closed()) || failure.is_away() {
                *link = None;
            }
            if !failure.is_passing() || start.elapsed() > PATIENCE {
                return Err(failure.refusal(&self.0.address, what));
            }
            time = Attempt::Again;
            wait(&mut pause);
        }
    }

    fn attempt<T>(
        &self,
        link: &mut Option<Link>,
        work: impl FnOnce(&Transaction<'_>) -> std::result::Result<T, CallFailure>,
    ) -> std::result::Result<T, CallFailure> {
        let link = match link {
            Some(link) => link,
            none => none.insert(self.connect()?),
        };
        link.used = Instant::now();
        let transaction = Transaction::none(&self.0.runtime, &link.client, LIMIT);
        if link.counted.elapsed() > CENSUS {
            (link.crowded, link.counted) = (is_crowded(&transaction)?, Instant::now());
        }
        let result = work(&transaction);
        link.used = Instant::now();
        result
    }

    fn connect(&self) -> std::result::Result<Link, CallFailure> {
        let Shared { config, connector, .. } = &*self.0;
        let (client, connection) = within(&self.0.runtime, LIMIT, LIMIT, config.connect(connector.clone()))?;
        // The next statement reports how the connection ended.
        let driver = self.0.runtime.spawn(async { drop(connection.await) }).abort_handle();
        let now = Instant::now();
        let mut link = Link { client, driver, used: now, counted: now, crowded: false };
        let transaction = Transaction::none(&self.0.runtime, &link.client, LIMIT);
        transaction.run(SETTINGS)?;
        link.crowded = is_crowded(&transaction)?;
        Ok(link)
    }

    fn link(&self) -> MutexGuard<'_, Option<Link>> {
        // A transaction that a panic left open ends with its connection, which is checked before it is used again.
        self.0.link.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Exponential backoff with jitter.
fn wait(pause: &mut Duration) {
    let part = f64::from(std::time::UNIX_EPOCH.elapsed().map_or(0, |now| now.subsec_nanos()) % 1000) / 1000.0;
    std::thread::sleep(pause.mul_f64(0.5 + part));
    *pause = (2 * *pause).min(PAUSES.1);
}

fn is_crowded(transaction: &Transaction<'_>) -> std::result::Result<bool, CallFailure> {
    match transaction.query_opt(Statement::new(CROWDED)) {
        Ok(row) => Ok(row.is_some_and(|row| row.get(0))),
        // Without the privilege to count nothing is known.
        Err(failure) if failure.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE) => Ok(false),
        Err(failure) => Err(failure),
    }
}

/// Closes the connection once it has been idle for a while: a trial's command may run for hours.
fn close_when_idle(shared: &Weak<Shared>) {
    loop {
        std::thread::sleep(LOOK);
        let Some(shared) = shared.upgrade() else { return };
        let Ok(mut link) = shared.link.try_lock() else { continue };
        let is_idle = |link: &Link| link.used.elapsed() > if link.crowded { IDLE.1 } else { IDLE.0 };
        if link.as_ref().is_some_and(is_idle) {
            *link = None;
            // The connection's task ends, and with it the connection, when it is next driven.
            shared.runtime.block_on(tokio::task::yield_now());
        }
    }
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").field("address", &self.0.address).finish_non_exhaustive()
    }
}
