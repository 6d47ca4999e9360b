//! A stable word for each error, for programs.

use crate::Error;

impl Error {
    /// A word for programs; it stays when messages change.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Numeric(_) => "numeric",
            Self::Setting { .. } | Self::UnknownName { .. } => "setting",
            Self::Needs { need, .. } => need.code,
            Self::Incompatible { .. } => "incompatible",
            Self::TooManyCandidates { .. } => "too-many-candidates",
            Self::AskedForNone | Self::AskedForTooMany { .. } => "asked-for",
            Self::MultiplierTooLarge { .. } => "multiplier-too-large",
            Self::Contradiction { .. } => "contradiction",
            Self::TooManyPending { .. } => "too-many-pending",
            Self::PoolExhausted { .. } => "pool-exhausted",
            Self::UnknownTrial { .. } => "unknown-trial",
            Self::NotPending { .. } => "not-pending",
            Self::NotAmendable { .. } | Self::NotAmended { .. } | Self::FixedParameters { .. } => "not-amendable",
            Self::NotFailed { .. } => "not-failed",
            Self::Value { .. } | Self::ValueTooLarge { .. } => "value",
            Self::NothingObserved => "nothing-observed",
            Self::NoTheorem => "no-theorem",
            Self::NoParameters | Self::NoCandidates => "domain",
            Self::UnknownCandidate { .. } | Self::NotACandidate { .. } => "candidate",
            Self::NotInPool { .. }
            | Self::NotIdentified { .. }
            | Self::CandidateTaken { .. }
            | Self::CandidateQueued { .. } => "candidate",
            Self::Table { .. } => "table",
            Self::BadLog { .. } => "bad-log",
            Self::NotReproduced { .. } => "not-reproduced",
            Self::DiscretizationTooLarge { .. } => "discretization-too-large",
            Self::EmptyName | Self::Parameter { .. } | Self::NothingVaries { .. } => "space",
            Self::ParameterValue { .. } | Self::ParameterCount { .. } => "parameter-value",
            Self::MissingParameter { .. } => "missing-parameter",
            Self::UnknownParameter { .. } => "unknown-parameter",
            Self::RepeatedParameter { .. } => "repeated-parameter",
            Self::Constraint { .. } => "constraint",
            Self::Infeasible { .. } => "infeasible",
            Self::Unsolved { .. } => "unsolved",
            Self::Violated { .. } => "violated-constraint",
            Self::Internal { .. } => "internal",
        }
    }
}
