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
    /// The least circulant embedding of a grid exceeds the memory budget.
    #[error(
        "drawing on a grid of {grid:?} points takes {needed} bytes or more, the budget is {budget}\n\
         hint: draw densely on fewer points, use a product kernel such as the squared exponential on this grid, \
         or raise the memory budget"
    )]
    EmbeddingOverBudget {
        /// Points along each axis.
        grid: Vec<usize>,
        /// The least it takes, in bytes.
        needed: usize,
        /// What it may take, in bytes.
        budget: usize,
    },
    /// No circulant embedding within the memory budget is positive semi-definite.
    #[error(
        "the covariance on a periodic grid of {padded:?} points is not positive semi-definite: its smallest \
         eigenvalue is {smallest:e} times the largest; the next larger grid takes {needed} bytes, the budget is \
         {budget}\n\
         hint: draw densely on fewer points, use a product kernel such as the squared exponential on this grid, \
         shorten the lengthscale, or raise the memory budget"
    )]
    EmbeddingIndefinite {
        /// The smallest eigenvalue of the last embedding tried, relative to its largest.
        smallest: f64,
        /// The lengths of the axes of the last embedding tried.
        padded: Vec<usize>,
        /// The peak of the next larger embedding, in bytes.
        needed: usize,
        /// What it may take, in bytes.
        budget: usize,
    },
}

/// The result of a fallible numeric routine.
pub type Result<T> = std::result::Result<T, Error>;
