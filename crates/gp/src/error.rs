//! What can be wrong with the numbers handed to this crate.

/// A refusal by the numeric room: the offending value and what is accepted.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A quantity that must be positive and finite is not.
    #[error("{what} must be positive and finite, got {value}")]
    NotPositive {
        /// The quantity's name.
        what: &'static str,
        /// What was given.
        value: f64,
    },
    /// A quantity that must be finite is not.
    #[error("{what} must be finite, got {value}")]
    NotFinite {
        /// The quantity's name.
        what: &'static str,
        /// What was given.
        value: f64,
    },
    /// A list has the wrong number of entries.
    #[error("{what} must have {expected} entries, got {found}")]
    WrongLength {
        /// The list's name.
        what: &'static str,
        /// How many entries it must have.
        expected: usize,
        /// How many it has.
        found: usize,
    },
    /// A list that must not be empty is.
    #[error("{what} must not be empty")]
    Empty {
        /// The list's name.
        what: &'static str,
    },
}

/// The result of a fallible numeric routine.
pub type Result<T> = std::result::Result<T, Error>;
