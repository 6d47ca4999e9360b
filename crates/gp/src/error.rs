//! What can be wrong with the numbers handed to this crate.

use std::fmt;

/// A quantity that a refused number was given for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Quantity {
    /// A lengthscale of the kernel.
    Lengthscale,
    /// The variance of the noise.
    Noise,
    /// The kernel's variance.
    Variance,
    /// The prior's mean.
    PriorMean,
    /// One that no prior has, as messages name it.
    Other(&'static str),
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Lengthscale => "lengthscale",
            Self::Noise => "noise",
            Self::Variance => "variance",
            Self::PriorMean => "the prior mean",
            Self::Other(name) => name,
        })
    }
}

impl From<&'static str> for Quantity {
    fn from(name: &'static str) -> Self {
        Self::Other(name)
    }
}

/// A refusal by this crate: the offending value and what is accepted.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A quantity that must be positive and finite is not.
    #[error("{what} must be positive and finite, got {value}")]
    NotPositive {
        /// The quantity.
        what: Quantity,
        /// What was given.
        value: f64,
    },
    /// A quantity that must be finite is not.
    #[error("{what} must be finite, got {value}")]
    NotFinite {
        /// The quantity.
        what: Quantity,
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
    /// The row has no value.
    #[error("row {id} is pending; only the value of an observed row can be amended or taken back")]
    RowPending {
        /// The row's name.
        id: u64,
    },
    /// A domain's covariance could not be factored.
    #[error("the {len} x {len} covariance of the domain is not positive semi-definite and could not be factored")]
    NoFactor {
        /// How many points there are.
        len: usize,
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
    #[error("an exact sample of {points} unstructured points needs {bytes} bytes, the budget is {budget}")]
    NoRoomToSample {
        /// How many points there are.
        points: usize,
        /// The bytes needed.
        bytes: usize,
        /// The bytes allowed.
        budget: usize,
    },
    /// One of several points is wrong.
    #[error("point {index}: {problem}")]
    AtPoint {
        /// The point's place in the list, from 0.
        index: usize,
        /// What is wrong with it.
        problem: Box<Error>,
    },
    /// A list that must not be empty is.
    #[error("{what} must not be empty")]
    Empty {
        /// The list's name.
        what: &'static str,
    },
    /// A quantity is outside the range in which the arithmetic holds.
    #[error("{what} must be between {low:e} and {high:e}, got {value:e}")]
    OutOfRange {
        /// The quantity.
        what: Quantity,
        /// The smallest value allowed.
        low: f64,
        /// The largest value allowed.
        high: f64,
        /// What was given.
        value: f64,
    },
    /// A Matern kernel's smoothness is not one that can be evaluated.
    #[error("smoothness must be above 0 and at most {limit}, got {value}")]
    Smoothness {
        /// What was given.
        value: f64,
        /// The largest value allowed.
        limit: f64,
    },
    /// A point of an empirical kernel is no index of its matrix.
    #[error("index must be an integer below {len}, got {value}")]
    NoSuchIndex {
        /// What was given.
        value: f64,
        /// How many rows the matrix has.
        len: usize,
    },
    /// A covariance matrix differs from its transpose.
    #[error(
        "covariance must be symmetric within {limit:e}, got {value} at row {row}, column {column} \
         and {mirrored} at row {column}, column {row}"
    )]
    Asymmetric {
        /// The row of the entry, counted from 0.
        row: usize,
        /// Its column, counted from 0.
        column: usize,
        /// The entry.
        value: f64,
        /// The entry mirrored at the diagonal.
        mirrored: f64,
        /// How far the two may differ.
        limit: f64,
    },
    /// A covariance matrix has a negative entry on its diagonal.
    #[error("variance must not be negative, got {value} at row {index}")]
    NegativeVariance {
        /// The row, counted from 0.
        index: usize,
        /// The entry.
        value: f64,
    },
    /// A covariance matrix has nothing but zeros on its diagonal.
    #[error("covariance must have a positive variance, got 0 in all {len} rows")]
    NoVariance {
        /// How many rows the matrix has.
        len: usize,
    },
    /// A covariance matrix is not positive semi-definite.
    #[error("covariance must have no eigenvalue below {limit:e}, got {eigenvalue:e}")]
    Indefinite {
        /// The lowest eigenvalue.
        eigenvalue: f64,
        /// The lowest one that is still taken for rounding.
        limit: f64,
    },
    /// The eigenvalues of a covariance matrix could not be computed.
    #[error("eigenvalues of the {len} x {len} covariance must converge, got no convergence")]
    EigenvaluesNotFound {
        /// How many rows the matrix has.
        len: usize,
    },
    /// A kernel over a finite set was asked for a derivative.
    #[error("kernel must be defined on a continuous space to have derivatives, got the {family} kernel")]
    NoDerivative {
        /// The kernel's family.
        family: &'static str,
    },
    /// A kernel that is no function of the distance was asked for its lengthscales' derivatives.
    #[error("kernel must be a function of the distance, squared exponential or matern, got the {family} kernel")]
    NotRadial {
        /// The kernel's family.
        family: &'static str,
    },
    /// A list of the coordinates' parameters leaves one out.
    #[error("every parameter must have a coordinate, got none for parameter {parameter} (from 0)")]
    NoCoordinate {
        /// The parameter.
        parameter: usize,
    },
    /// A Matern kernel was asked for a derivative it does not have, or that is too large for a float.
    #[error("{what} at distance {distance:e} needs a Matern kernel of smoothness above {above}, got {smoothness}")]
    NotDifferentiable {
        /// Which derivative.
        what: &'static str,
        /// The smoothness that is not enough.
        above: f64,
        /// The kernel's smoothness.
        smoothness: f64,
        /// The distance of the two points, in lengthscales.
        distance: f64,
    },
    /// An interval's lower end is above its upper one.
    #[error("the interval of coordinate {coordinate} must have its lower end first, got {low} and {high}")]
    EmptyInterval {
        /// The coordinate, counted from 0.
        coordinate: usize,
        /// The lower end given.
        low: f64,
        /// The upper end given.
        high: f64,
    },
    /// A block of options reaches past the last coordinate or into another block.
    #[error(
        "a block of options must lie within {dimension} coordinates and apart from other blocks, got {start} to {end}"
    )]
    BlockMisplaced {
        /// The first coordinate.
        start: usize,
        /// The one after the last.
        end: usize,
        /// How many coordinates there are.
        dimension: usize,
    },
    /// The least circulant embedding of a grid exceeds the memory budget.
    #[error("drawing on a grid of {grid:?} points takes {needed} bytes or more, the budget is {budget}")]
    EmbeddingOverBudget {
        /// Points along each axis.
        grid: Vec<usize>,
        /// The least it takes, in bytes.
        needed: usize,
        /// What it may take, in bytes.
        budget: usize,
    },
}

impl Error {
    /// What to do about it, where that is not plain from the message.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::EmbeddingOverBudget { .. } => Some(
                "raise the memory budget, shorten the lengthscale, draw densely on fewer points, or \
                 use a product kernel such as the squared exponential on this grid",
            ),
            Self::NoRoomToSample { .. } => Some(
                "raise the memory budget, use fewer points, or a grid: evenly spaced, or with a \
                 squared exponential kernel",
            ),
            Self::NoRoomToFactor { .. } => Some("raise the memory budget, or use fewer points"),
            Self::NotPositive { what: Quantity::Noise, .. } => {
                Some("for a function without noise give about 1e-8 of the variance of its values")
            }
            Self::AtPoint { problem, .. } => problem.hint(),
            _ => None,
        }
    }

    /// Whether a quantity that was given is at fault, and not memory, convergence, or the caller's own rows.
    pub fn is_bad_input(&self) -> bool {
        match self {
            Self::AtPoint { problem, .. } => problem.is_bad_input(),
            Self::NotPositive { .. }
            | Self::NotFinite { .. }
            | Self::WrongLength { .. }
            | Self::NotIncreasing { .. }
            | Self::TooLarge { .. }
            | Self::Empty { .. }
            | Self::OutOfRange { .. }
            | Self::Smoothness { .. }
            | Self::NoSuchIndex { .. }
            | Self::Asymmetric { .. }
            | Self::NegativeVariance { .. }
            | Self::NoVariance { .. }
            | Self::Indefinite { .. }
            | Self::NoDerivative { .. }
            | Self::NotRadial { .. }
            | Self::NoCoordinate { .. }
            | Self::NotDifferentiable { .. }
            | Self::EmptyInterval { .. }
            | Self::BlockMisplaced { .. } => true,
            Self::RowExists { .. }
            | Self::NoSuchRow { .. }
            | Self::RowObserved { .. }
            | Self::RowPending { .. }
            | Self::NoFactor { .. }
            | Self::NoRoomToFactor { .. }
            | Self::NoRoomToSample { .. }
            | Self::EigenvaluesNotFound { .. }
            | Self::EmbeddingOverBudget { .. } => false,
        }
    }
}

/// The result of a fallible numeric routine.
pub type Result<T> = std::result::Result<T, Error>;
