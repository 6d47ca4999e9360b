//! What a PostgreSQL server refuses, as errors of the store.

use manyhands_postgres::{ServerError, ServerErrorKind};

use crate::Error;

impl From<ServerError> for Error {
    fn from(error: ServerError) -> Self {
        let ServerError { server: store, kind, reason } = error;
        match kind {
            ServerErrorKind::Address => Self::Location { url: store, reason },
            ServerErrorKind::Unavailable => Self::Unavailable { store, reason },
            ServerErrorKind::UntrustedCertificate => Self::UntrustedCertificate { store, reason },
            ServerErrorKind::NoFreeConnection => Self::NoFreeConnection { store, reason },
            ServerErrorKind::Full => Self::Full { store, reason },
            ServerErrorKind::Locked { seconds } => Self::Locked { store, seconds },
            ServerErrorKind::Refused => Self::Refused { store, reason },
        }
    }
}
