//! Why a transaction failed, and whether it may be tried again.

use std::error::Error as _;
use std::time::Duration;

use tokio_postgres::error::SqlState;

use crate::address::Address;
use crate::connection::LOCK_SECONDS;
use crate::{ServerError, ServerErrorKind};

/// Why a transaction failed; the work of a transaction passes it on, and the connection decides whether to try again.
#[derive(Debug)]
pub struct CallFailure(CallFailureKind);

#[derive(Debug)]
enum CallFailureKind {
    /// The server said so, or the connection to it broke.
    Server(tokio_postgres::Error),
    /// The server did not answer in time.
    Timeout(Duration),
}

impl CallFailure {
    pub(crate) fn server(error: tokio_postgres::Error) -> Self {
        Self(CallFailureKind::Server(error))
    }

    pub(crate) fn timeout(limit: Duration) -> Self {
        Self(CallFailureKind::Timeout(limit))
    }

    pub(crate) fn code(&self) -> Option<&SqlState> {
        match &self.0 {
            CallFailureKind::Server(error) => error.code(),
            CallFailureKind::Timeout(_) => None,
        }
    }

    /// Whether the server has no free connection.
    pub(crate) fn is_full(&self) -> bool {
        self.code() == Some(&SqlState::TOO_MANY_CONNECTIONS)
    }

    /// Whether the connection is lost: the server is down, is shutting down, or does not answer.
    pub(crate) fn is_connection_lost(&self) -> bool {
        const GOING: [SqlState; 4] = [
            SqlState::ADMIN_SHUTDOWN,
            SqlState::CRASH_SHUTDOWN,
            SqlState::CANNOT_CONNECT_NOW,
            SqlState::TOO_MANY_CONNECTIONS,
        ];
        match self.code() {
            Some(code) => GOING.contains(code),
            None => !self.is_distrust(),
        }
    }

    /// Whether the failure is temporary: the same transaction may succeed in a moment.
    pub(crate) fn is_temporary(&self) -> bool {
        const COLLIDED: [SqlState; 2] = [SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED];
        let has_waited = matches!(self.0, CallFailureKind::Timeout(_));
        self.code().is_some_and(|code| COLLIDED.contains(code)) || (self.is_connection_lost() && !has_waited)
    }

    /// Whether a time limit has ended the transaction, on this side or the server's.
    fn is_out_of_time(&self) -> bool {
        matches!(self.0, CallFailureKind::Timeout(_)) || self.code() == Some(&SqlState::QUERY_CANCELED)
    }

    /// Whether the server's certificate is not trusted.
    fn is_distrust(&self) -> bool {
        let CallFailureKind::Server(error) = &self.0 else { return false };
        let source = error.source().and_then(|source| source.downcast_ref::<std::io::Error>());
        let said = source.and_then(|error| error.get_ref()).and_then(|inner| inner.downcast_ref::<rustls::Error>());
        matches!(said, Some(rustls::Error::InvalidCertificate(_) | rustls::Error::NoCertificatesPresented))
    }

    /// The error for a user: of which server, and what was waited for.
    pub(crate) fn refusal(&self, address: &Address, what: &str) -> ServerError {
        let reason = match &self.0 {
            // Only foreign text is searched for the password: a gap in our own would give it away.
            CallFailureKind::Server(error) => address.without_password(&message(error)),
            CallFailureKind::Timeout(limit) => format!("no answer within {} seconds", limit.as_secs()),
        };
        let reason = if self.is_out_of_time() { format!("{reason} ({what})") } else { reason };
        ServerError { server: address.to_string(), kind: self.kind(), reason }
    }

    fn kind(&self) -> ServerErrorKind {
        match self.code() {
            _ if self.is_distrust() => ServerErrorKind::UntrustedCertificate,
            Some(&SqlState::DISK_FULL) => ServerErrorKind::Full,
            Some(&SqlState::LOCK_NOT_AVAILABLE) => ServerErrorKind::Locked { seconds: LOCK_SECONDS },
            Some(&SqlState::TOO_MANY_CONNECTIONS) => ServerErrorKind::NoFreeConnection,
            Some(code) if *code != SqlState::QUERY_CANCELED && !self.is_temporary() => ServerErrorKind::Refused,
            _ => ServerErrorKind::Unavailable,
        }
    }
}

/// What the server said, or what broke the connection to it.
fn message(error: &tokio_postgres::Error) -> String {
    error.as_db_error().map_or_else(|| chain(error), |said| said.message().to_string())
}

/// An error with its causes.
fn chain(error: &tokio_postgres::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let said = error.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        cause = error.source();
    }
    text
}
