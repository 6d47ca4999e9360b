//! Why a server cannot be used, in words that hold no password.

/// The result of a call to a server.
pub type Result<T> = std::result::Result<T, ServerError>;

/// Why a server cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{server}: {reason}")]
pub struct ServerError {
    /// The server's address, as far as it can hold no password.
    pub server: String,
    /// What kind of error it is.
    pub kind: ServerErrorKind,
    /// What the server or the operating system said, what was waited for, or what is wrong with the address.
    pub reason: String,
}

/// The kinds of errors that need different answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerErrorKind {
    /// The address cannot be read, or certificates that it asks for.
    Address,
    /// The server cannot be reached, or does not answer in time.
    Unavailable,
    /// The server's certificate does not prove its identity.
    UntrustedCertificate,
    /// The server has no free connection.
    NoFreeConnection,
    /// The server has no room to write.
    Full,
    /// Another client has locked what is needed for too long.
    Locked {
        /// How long was waited.
        seconds: u64,
    },
    /// Permanent refusal: retrying cannot help.
    Refused,
}
