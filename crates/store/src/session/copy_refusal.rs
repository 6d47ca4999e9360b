//! Why a study cannot be copied, and what to do about it.

use manyhands_core::text::{counted, quoted};

/// Why a study cannot go on under another description.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CopyRefusal {
    /// No trial of the old study has ended.
    #[error("no trial of the old study has ended, so that nothing can come along: {} pending", counted(*pending, "trial"))]
    NothingEnded {
        /// How many are pending.
        pending: usize,
    },
    /// No trial fits the new study.
    #[error("none of {} of the old study fits the new one: trial {trial}: {reason}", counted(*trials, "trial"))]
    NothingFits {
        /// How many there are.
        trials: usize,
        /// The first of them.
        trial: usize,
        /// Why that one does not fit.
        reason: String,
    },
    /// A parameter of the new study is not in the old one, and its value there is not stated.
    #[error("parameter {} is new, and which value it had in the old trials is not stated", quoted(name))]
    NewParameter {
        /// The parameter.
        name: String,
    },
    /// A value was stated for a parameter that is not new.
    #[error(
        "a value for the old trials is stated for {}, which {}",
        quoted(name),
        if *is_known { "the old study has too" } else { "the new study does not have" }
    )]
    NotANewParameter {
        /// The parameter.
        name: String,
        /// Whether the old study has it.
        is_known: bool,
    },
    /// A parameter of the old study, which had several values, is not in the new one.
    #[error(
        "parameter {} is not in the new study, and the old trials were made with {values} different values of it",
        quoted(name)
    )]
    LostParameter {
        /// The parameter.
        name: String,
        /// How many values it had.
        values: usize,
    },
}

impl CopyRefusal {
    /// What to do about it.
    pub fn hint(&self) -> String {
        let hint = match self {
            Self::NothingEnded { .. } => "tell their values first; a study without trials needs no copy",
            Self::NothingFits { .. } => "compare the two study files; no study was made",
            Self::NewParameter { name } => return format!("state it with --default {name}=VALUE"),
            Self::NotANewParameter { .. } => "--default NAME=VALUE is for parameters that only the new study has",
            Self::LostParameter { .. } => {
                "keep it in the new file; as { constant = VALUE } only the trials with that value come along"
            }
        };
        hint.to_string()
    }
}
