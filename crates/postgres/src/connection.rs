//! One connection to a PostgreSQL server: opened on demand, closed when idle, reopened after the server was away; every wait
//! has a limit.
//!
//! LISTEN and NOTIFY are not used: the server runs a transaction in every listening process for each notification.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};
use tokio::task::AbortHandle;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Config};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::address::Address;
use crate::failure::CallFailure;
use crate::transaction::{Statement, Transaction, with_timeout};
use crate::{Result, ServerError, ServerErrorKind};

/// What the work of a transaction gives.
type Worked<T> = std::result::Result<T, CallFailure>;

/// How long a server may be away, or without a free connection, before a call gives up.
const PATIENCE: Duration = Duration::from_secs(10);

/// The same for the first connection, where the server has no free one.
const FULL_PATIENCE: Duration = Duration::from_secs(60);

/// How long a transaction may take on this side; the server's own limits ([`settings`]) are lower, unless it hangs.
const LIMIT: Duration = Duration::from_secs(30);

/// How long to wait before the next try, at first and at most.
const PAUSES: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(1));

/// How long an idle connection is kept, so that regular polling reuses it; the shorter time if the server has few left.
const IDLE: (Duration, Duration) = (Duration::from_secs(3), Duration::from_millis(50));

/// How often to check whether the connection is idle.
const POLL: Duration = Duration::from_millis(100);

/// How often to check how many connections the server has left.
const COUNT_INTERVAL: Duration = Duration::from_secs(10);

/// How many seconds a statement waits for a lock.
pub(crate) const LOCK_SECONDS: u64 = 10;

/// Whether nine tenths of the server's connections are taken.
const CROWDED: &str = "SELECT count(*) >= 0.9 * (current_setting('max_connections')::int - \
                       current_setting('superuser_reserved_connections')::int) FROM pg_stat_activity \
                       WHERE backend_type = 'client backend'";

/// A connection to one database, for all threads of a process: opened on demand, closed when idle, reopened after the server
/// was away. Its functions block: they must not be called from asynchronous code, nor from the work of a transaction on the
/// same connection.
pub struct Connection(Arc<Shared>);

struct Shared {
    address: Address,
    config: Config,
    connector: MakeRustlsConnect,
    open: Mutex<Option<OpenConnection>>,
    /// Drives the connection on the thread that waits for the answer: handing over to another thread and back took longer
    /// than most answers.
    runtime: Runtime,
}

/// An open connection.
struct OpenConnection {
    client: Client,
    driver: AbortHandle,
    used: Instant,
    counted: Instant,
    crowded: bool,
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        // The connection's task must not wait for a server that does not answer.
        self.driver.abort();
    }
}

/// Whether a transaction is tried for the first time, or again after its answer was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attempt {
    /// For the first time.
    First,
    /// Again: an earlier attempt may have succeeded.
    Again,
}

impl Connection {
    /// Connects. Waits for a free connection, but not for a server that is down.
    pub fn open(address: &Address) -> Result<Self> {
        let error = |kind, reason| ServerError { server: address.to_string(), kind, reason };
        let connector = address.connector().map_err(|reason| error(ServerErrorKind::Address, reason))?;
        let mut config = address.config.clone();
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(Duration::from_secs(10));
        }
        config.keepalives_idle(Duration::from_secs(30)).tcp_user_timeout(LIMIT);
        config.application_name("manyhands");
        let no_thread = |cause: std::io::Error| error(ServerErrorKind::Unavailable, cause.to_string());
        let runtime = Builder::new_current_thread().enable_all().build().map_err(no_thread)?;
        let shared = Arc::new(Shared { address: address.clone(), config, connector, open: Mutex::new(None), runtime });
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
                Ok(open) => {
                    *self.locked() = Some(open);
                    return Ok(());
                }
                Err(failure) if failure.is_full() && start.elapsed() < FULL_PATIENCE => wait(&mut pause),
                Err(failure) => return Err(failure.refusal(&self.0.address, "connecting")),
            }
        }
    }

    /// One short transaction, repeated while the server is away; it is committed, or rolled back after a failure. `what` names
    /// it in errors about time limits.
    pub fn transact<T>(&self, what: &str, work: impl Fn(&Transaction<'_>, Attempt) -> Worked<T>) -> Result<T> {
        self.retry(what, |t, time| {
            t.begin();
            ended(t, work(t, time))
        })
    }

    /// One short transaction that reads the state of one moment; repeated while the server is away.
    pub fn read_at_once<T>(&self, what: &str, work: impl Fn(&Transaction<'_>) -> Worked<T>) -> Result<T> {
        self.retry(what, |t, _| {
            t.begin_snapshot();
            ended(t, work(t))
        })
    }

    /// One statement that reads, or may be repeated; repeated while the server is away.
    pub fn run_one<T>(&self, what: &str, work: impl Fn(&Transaction<'_>) -> Worked<T>) -> Result<T> {
        self.retry(what, |t, _| work(t))
    }

    fn retry<T>(&self, what: &str, work: impl Fn(&Transaction<'_>, Attempt) -> Worked<T>) -> Result<T> {
        let mut open = self.locked();
        let (mut time, mut pause, start) = (Attempt::First, PAUSES.0, Instant::now());
        loop {
            let failure = match self.attempt(&mut open, |t| work(t, time)) {
                Ok(result) => return Ok(result),
                Err(failure) => failure,
            };
            if open.as_ref().is_none_or(|open| open.client.is_closed()) || failure.is_connection_lost() {
                *open = None;
            }
            if !failure.is_temporary() || start.elapsed() > PATIENCE {
                return Err(failure.refusal(&self.0.address, what));
            }
            time = Attempt::Again;
            wait(&mut pause);
        }
    }

    fn attempt<T>(
        &self,
        open: &mut Option<OpenConnection>,
        work: impl FnOnce(&Transaction<'_>) -> Worked<T>,
    ) -> Worked<T> {
        let open = match open {
            Some(open) => open,
            none => none.insert(self.connect()?),
        };
        open.used = Instant::now();
        let transaction = Transaction::none(&self.0.runtime, &open.client, LIMIT);
        if open.counted.elapsed() > COUNT_INTERVAL {
            (open.crowded, open.counted) = (is_crowded(&transaction)?, Instant::now());
        }
        let result = work(&transaction);
        open.used = Instant::now();
        result
    }

    fn connect(&self) -> Worked<OpenConnection> {
        let Shared { config, connector, .. } = &*self.0;
        let (client, connection) = with_timeout(&self.0.runtime, LIMIT, LIMIT, config.connect(connector.clone()))?;
        // The next statement reports how the connection ended.
        let driver = self.0.runtime.spawn(async { drop(connection.await) }).abort_handle();
        let now = Instant::now();
        let mut open = OpenConnection { client, driver, used: now, counted: now, crowded: false };
        let transaction = Transaction::none(&self.0.runtime, &open.client, LIMIT);
        transaction.run(&settings())?;
        open.crowded = is_crowded(&transaction)?;
        Ok(open)
    }

    fn locked(&self) -> MutexGuard<'_, Option<OpenConnection>> {
        // A transaction that a panic left open ends with its connection, which is checked before it is used again.
        self.0.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Commits a transaction, or rolls it back after a failure; its result.
fn ended<T>(t: &Transaction<'_>, result: Worked<T>) -> Worked<T> {
    match &result {
        Ok(_) => t.commit()?,
        // A lost connection has nothing to roll back, and its loss is the error to report.
        Err(_) => drop(t.roll_back()),
    }
    result
}

/// What is acknowledged must be on disk, regardless of the server's defaults, and no statement waits for ever.
fn settings() -> String {
    format!(
        "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off';
        SET lock_timeout = '{LOCK_SECONDS}s'; SET statement_timeout = '20s'; \
        SET idle_in_transaction_session_timeout = '60s'"
    )
}

/// Exponential backoff with jitter.
fn wait(pause: &mut Duration) {
    let part = f64::from(std::time::UNIX_EPOCH.elapsed().map_or(0, |now| now.subsec_nanos()) % 1000) / 1000.0;
    std::thread::sleep(pause.mul_f64(0.5 + part));
    *pause = (2 * *pause).min(PAUSES.1);
}

fn is_crowded(transaction: &Transaction<'_>) -> Worked<bool> {
    match transaction.query_opt(Statement::new(CROWDED)) {
        Ok(row) => Ok(row.is_some_and(|row| row.get(0))),
        // Without the privilege to count nothing is known.
        Err(failure) if failure.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE) => Ok(false),
        Err(failure) => Err(failure),
    }
}

/// Closes the connection once it has been idle for a while: it may not be needed again for hours.
fn close_when_idle(shared: &Weak<Shared>) {
    loop {
        std::thread::sleep(POLL);
        let Some(shared) = shared.upgrade() else { return };
        let Ok(mut open) = shared.open.try_lock() else { continue };
        let is_idle = |open: &OpenConnection| open.used.elapsed() > if open.crowded { IDLE.1 } else { IDLE.0 };
        if open.as_ref().is_some_and(is_idle) {
            *open = None;
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
