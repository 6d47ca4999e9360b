//! A connection that comes back: transactions are tried again when the server goes away under them.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use postgres::error::SqlState;
use postgres::{Client, Config, Transaction};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::address::Address;
use super::schema;
use crate::{Access, Error, Result};

/// How long a server may be away before a call gives up.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long to wait before the next try, at first and at most.
const PAUSES: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(1));

/// A connection to one database.
pub struct Connection {
    address: Address,
    config: Config,
    connector: MakeRustlsConnect,
    client: Mutex<Option<Client>>,
}

/// Whether a transaction is tried for the first time, or again after its answer was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Try {
    First,
    Again,
}

impl Connection {
    /// Connects, and makes or upgrades the tables where `access` says so. A server that is not there now is not waited for.
    pub fn open(address: &Address, access: Access) -> Result<Self> {
        let refuse = |reason: String| Error::Location { url: address.to_string(), reason };
        let connector = address.connector().map_err(refuse)?;
        let mut config = address.config.clone();
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(Duration::from_secs(10));
        }
        config.keepalives_idle(Duration::from_secs(30)).tcp_user_timeout(Duration::from_secs(30));
        config.application_name("manyhands");
        let connection = Self { address: address.clone(), config, connector, client: Mutex::new(None) };
        let client = connection.connect().map_err(|error| connection.refused(&error))?;
        *connection.client.lock().unwrap_or_else(PoisonError::into_inner) = Some(client);
        connection.check_schema(access)?;
        Ok(connection)
    }

    fn check_schema(&self, access: Access) -> Result<()> {
        let store = self.address.to_string();
        if access != Access::Create && self.transact(|t, _| schema::version(t))?.is_none() {
            return Err(Error::NoTables { store });
        }
        let newer = match access {
            Access::Create | Access::Write => self.transact(|t, _| schema::migrate(t))?,
            Access::Read => {
                let known = schema::STEPS.len() as i64;
                self.transact(|t, _| schema::version(t))?.filter(|version| *version > known)
            }
        };
        match newer {
            Some(found) => Err(Error::Newer { store, found, known: schema::STEPS.len() as i64 }),
            None => Ok(()),
        }
    }

    /// One short transaction, tried again while the server is away.
    pub fn transact<T>(
        &self,
        work: impl Fn(&mut Transaction<'_>, Try) -> std::result::Result<T, postgres::Error>,
    ) -> Result<T> {
        // A panic inside a transaction has closed its connection.
        let mut client = self.client.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut time, mut pause, start) = (Try::First, PAUSES.0, Instant::now());
        loop {
            let error = match self.attempt(&mut client, |t| work(t, time)) {
                Ok(result) => return Ok(result),
                Err(error) => error,
            };
            if client.as_ref().is_none_or(|client| client.is_closed()) || is_away(&error) {
                *client = None;
            }
            if !is_passing(&error) || start.elapsed() > PATIENCE {
                return Err(self.refused(&error));
            }
            time = Try::Again;
            std::thread::sleep(pause);
            pause = (2 * pause).min(PAUSES.1);
        }
    }

    fn attempt<T>(
        &self,
        client: &mut Option<Client>,
        work: impl Fn(&mut Transaction<'_>) -> std::result::Result<T, postgres::Error>,
    ) -> std::result::Result<T, postgres::Error> {
        let client = match client {
            Some(client) => client,
            none => none.insert(self.connect()?),
        };
        let mut transaction = client.transaction()?;
        let result = work(&mut transaction)?;
        transaction.commit()?;
        Ok(result)
    }

    fn connect(&self) -> std::result::Result<Client, postgres::Error> {
        let mut client = self.config.connect(self.connector.clone())?;
        // What was answered must be on disk, and who waited for a lock must see what was done, whatever this server's habit.
        client.batch_execute(
            "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off';
             SET default_transaction_isolation = 'read committed'",
        )?;
        Ok(client)
    }

    fn refused(&self, error: &postgres::Error) -> Error {
        let store = self.address.to_string();
        let reason = self.address.without_password(&match error.as_db_error() {
            Some(said) => said.message().to_string(),
            None => chain(error),
        });
        match error.code() {
            _ if is_distrust(error) => Error::Distrusted { store, reason },
            Some(&SqlState::DISK_FULL) => Error::Full { store, reason },
            Some(_) if !is_passing(error) => Error::Refused { store, reason },
            _ => Error::Unavailable { store, reason },
        }
    }
}

/// An error with its causes.
fn chain(error: &postgres::Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        let said = error.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        cause = error.source();
    }
    text
}

/// Whether the server has gone, or is going.
fn is_away(error: &postgres::Error) -> bool {
    const GOING: [SqlState; 4] = [
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::CANNOT_CONNECT_NOW,
        SqlState::TOO_MANY_CONNECTIONS,
    ];
    match error.code() {
        Some(code) => GOING.contains(code),
        None => !is_distrust(error),
    }
}

/// Whether the server's certificate is not believed.
fn is_distrust(error: &postgres::Error) -> bool {
    let source = std::error::Error::source(error).and_then(|source| source.downcast_ref::<std::io::Error>());
    let said = source.and_then(|error| error.get_ref()).and_then(|inner| inner.downcast_ref::<rustls::Error>());
    matches!(said, Some(rustls::Error::InvalidCertificate(_) | rustls::Error::NoCertificatesPresented))
}

/// Whether the same transaction may succeed later.
fn is_passing(error: &postgres::Error) -> bool {
    let collided =
        matches!(error.code(), Some(&SqlState::T_R_SERIALIZATION_FAILURE | &SqlState::T_R_DEADLOCK_DETECTED));
    collided || is_away(error)
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").field("address", &self.address).finish_non_exhaustive()
    }
}
