//! One connection to a PostgreSQL server: opened when it is needed, given back when it is not, opened again when the server
//! has been away, and never waited for without a limit.
//!
//! Nothing listens for notifications: the server runs a transaction in every listening process for each of them, which was
//! measured at 160 for each trial of 64 workers. Who waits looks seldom instead.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};
use tokio::task::AbortHandle;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Config};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::address::Address;
use super::failure::Failure;
use super::transaction::{Statement, Transaction, within};
use crate::{Error, Result};

/// How long a server may be away, or without a free connection, before a call gives up.
const PATIENCE: Duration = Duration::from_secs(10);

/// The same when a store is opened, of a server without a free connection.
const FULL_PATIENCE: Duration = Duration::from_secs(60);

/// How long a transaction may take from here; the server itself gives up before ([`SETTINGS`]), unless it is frozen.
const LIMIT: Duration = Duration::from_secs(30);

/// How long to wait before the next try, at first and at most.
const PAUSES: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(1));

/// How long an unused connection is kept, so that who looks now and then keeps it; less on a server that has few left.
const IDLE: (Duration, Duration) = (Duration::from_secs(3), Duration::from_millis(50));

/// How often to look whether a connection is unused.
const LOOK: Duration = Duration::from_millis(100);

/// How often to look how many connections the server has left.
const CENSUS: Duration = Duration::from_secs(10);

/// What was answered must be on disk, regardless of the server's defaults, and no statement waits for ever.
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
    /// Drives the connection, on the thread that waits for an answer: handing it to another one and back took longer than
    /// most answers.
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
        // A server that does not answer must not hold the connection's task.
        self.driver.abort();
    }
}

/// Whether a transaction is tried for the first time, or again after its answer was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Try {
    First,
    Again,
}

impl Connection {
    /// Connects. A server that is not there now is not waited for, one without a free connection is.
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
        thread.spawn(move || give_back_when_unused(&weak)).map_err(no_thread)?;
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

    /// One short transaction, tried again while the server is away. `what` is told where it took too long.
    pub fn transact<T>(
        &self,
        what: &str,
        work: impl Fn(&Transaction<'_>, Try) -> std::result::Result<T, Failure>,
    ) -> Result<T> {
        self.persist(what, |t, time| {
            t.begin();
            let result = work(t, time);
            match &result {
                Ok(_) => t.end(true)?,
                // A connection that is gone has nothing to roll back, and its loss is what matters.
                Err(_) => drop(t.end(false)),
            }
            result
        })
    }

    /// One statement that reads, or may be repeated, tried again while the server is away.
    pub fn one<T>(&self, what: &str, work: impl Fn(&Transaction<'_>) -> std::result::Result<T, Failure>) -> Result<T> {
        self.persist(what, |t, _| work(t))
    }

    fn persist<T>(
        &self,
        what: &str,
        work: impl Fn(&Transaction<'_>, Try) -> std::result::Result<T, Failure>,
    ) -> Result<T> {
        let mut link = self.link();
        let (mut time, mut pause, start) = (Try::First, PAUSES.0, Instant::now());
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
            time = Try::Again;
            wait(&mut pause);
        }
    }

    fn attempt<T>(
        &self,
        link: &mut Option<Link>,
        work: impl FnOnce(&Transaction<'_>) -> std::result::Result<T, Failure>,
    ) -> std::result::Result<T, Failure> {
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

    fn connect(&self) -> std::result::Result<Link, Failure> {
        let Shared { config, connector, .. } = &*self.0;
        let (client, connection) = within(&self.0.runtime, LIMIT, LIMIT, config.connect(connector.clone()))?;
        // How a connection ends is told by the next statement on it.
        let driver = self.0.runtime.spawn(async { drop(connection.await) }).abort_handle();
        let now = Instant::now();
        let mut link = Link { client, driver, used: now, counted: now, crowded: false };
        let transaction = Transaction::none(&self.0.runtime, &link.client, LIMIT);
        transaction.run(SETTINGS)?;
        link.crowded = is_crowded(&transaction)?;
        Ok(link)
    }

    fn link(&self) -> MutexGuard<'_, Option<Link>> {
        // A transaction that a panic left open ends with its connection, which is not used again unless it is sound.
        self.0.link.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits a little, longer each time, and not as long as others do.
fn wait(pause: &mut Duration) {
    let part = f64::from(std::time::UNIX_EPOCH.elapsed().map_or(0, |now| now.subsec_nanos()) % 1000) / 1000.0;
    std::thread::sleep(pause.mul_f64(0.5 + part));
    *pause = (2 * *pause).min(PAUSES.1);
}

fn is_crowded(transaction: &Transaction<'_>) -> std::result::Result<bool, Failure> {
    match transaction.query_opt(Statement::new(CROWDED)) {
        Ok(row) => Ok(row.is_some_and(|row| row.get(0))),
        // A server that does not let us count has told us nothing.
        Err(failure) if failure.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE) => Ok(false),
        Err(failure) => Err(failure),
    }
}

/// Closes the connection once nobody has used it for a while: a command may run for hours.
fn give_back_when_unused(shared: &Weak<Shared>) {
    loop {
        std::thread::sleep(LOOK);
        let Some(shared) = shared.upgrade() else { return };
        let Ok(mut link) = shared.link.try_lock() else { continue };
        let is_unused = |link: &Link| link.used.elapsed() > if link.crowded { IDLE.1 } else { IDLE.0 };
        if link.as_ref().is_some_and(is_unused) {
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
