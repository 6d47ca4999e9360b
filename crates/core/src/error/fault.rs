//! Which errors are the fault of what was given: bad usage or a bad file.

use crate::Error;

impl Error {
    /// Whether the request or a file is at fault, and not the state of the study, the machine or a bug.
    pub fn is_bad_input(&self) -> bool {
        match self {
            Self::Numeric(error) => error.is_bad_input(),
            Self::Setting { .. }
            | Self::UnknownName { .. }
            | Self::Needs { .. }
            | Self::Incompatible { .. }
            | Self::TooManyCandidates { .. }
            | Self::AskedForNone
            | Self::AskedForTooMany { .. }
            | Self::UnknownTrial { .. }
            | Self::Value { .. }
            | Self::ValueTooLarge { .. }
            | Self::NoParameters
            | Self::NoCandidates
            | Self::UnknownCandidate { .. }
            | Self::NotACandidate { .. }
            | Self::NotInPool { .. }
            | Self::DiscretizationTooLarge { .. }
            | Self::EmptyName
            | Self::Parameter { .. }
            | Self::NothingVaries { .. }
            | Self::ParameterValue { .. }
            | Self::ParameterCount { .. }
            | Self::MissingParameter { .. }
            | Self::UnknownParameter { .. }
            | Self::RepeatedParameter { .. }
            | Self::Constraint { .. }
            | Self::Infeasible { .. }
            | Self::Unsolved { .. }
            | Self::Violated { .. }
            | Self::Table { .. } => true,
            Self::MultiplierTooLarge { .. }
            | Self::Contradiction { .. }
            | Self::TooManyPending { .. }
            | Self::PoolExhausted { .. }
            | Self::NotPending { .. }
            | Self::NotAmendable { .. }
            | Self::NotAmended { .. }
            | Self::NotFailed { .. }
            | Self::FixedParameters { .. }
            | Self::NotIdentified { .. }
            | Self::CandidateTaken { .. }
            | Self::CandidateQueued { .. }
            | Self::NothingObserved
            | Self::NoTheorem
            | Self::BadLog { .. }
            | Self::NotReproduced { .. }
            | Self::Internal { .. } => false,
        }
    }
}
