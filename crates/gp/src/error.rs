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
    /// A row with this name is there already.
    #[error("row {id} is in the posterior already")]
    RowExists {
        /// The row's name.
        id: u64,
    },
    /// No row has this name.
    #[error("the posterior has no row {id}")]
    NoSuchRow {
        /// The row's name.
        id: u64,
    },
    /// The row has its value already.
    #[error("row {id} is observed already; only a pending row can be settled or retracted")]
    RowObserved {
        /// The row's name.
        id: u64,
    },
    /// An iteration of linear algebra did not converge.
    #[error("{what} did not converge")]
    NoConvergence {
        /// What was computed.
        what: &'static str,
    },
    /// The coordinates of a grid's axis do not increase.
    #[error("the coordinates of a grid's axis must increase, got {before} and then {after}")]
    NotIncreasing {
        /// A coordinate.
        before: f64,
        /// The one after it.
        after: f64,
    },
    /// A domain has more points than can be numbered.
    #[error("{what} of shape {shape:?} is too large: at most {limit} points are allowed")]
    TooLarge {
        /// What was asked for.
        what: &'static str,
        /// Its shape.
        shape: Vec<usize>,
        /// The most points it may have.
        limit: usize,
    },
    /// A covariance of many points has too large a rank to be factored in the memory allowed.
    #[error(
        "the covariance of {points} points needs more than rank {rank} (variance {left:.1e} is left) and so more than \
         the budget of {budget} bytes"
    )]
    NoRoomToFactor {
        /// How many points there are.
        points: usize,
        /// The rank reached.
        rank: usize,
        /// The largest variance left out at that rank.
        left: f64,
        /// The bytes allowed.
        budget: usize,
    },
    /// A sample of the whole domain does not fit in the memory allowed.
    #[error(
        "an exact sample of {points} unstructured points needs {bytes} bytes, the budget is {budget}; use fewer points, a \
         grid with a squared exponential kernel, or an evenly spaced grid"
    )]
    NoRoomToSample {
        /// How many points there are.
        points: usize,
        /// The bytes needed.
        bytes: usize,
        /// The bytes allowed.
        budget: usize,
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
