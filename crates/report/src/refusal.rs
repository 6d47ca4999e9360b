//! Errors: a word for programs, a message, a hint, and whether the request was at fault.

use manyhands_core::Error as StudyError;
use manyhands_run::Error as RunError;
use manyhands_store::Error as StoreError;
use serde_json::{Value as Json, json};

/// An error as users and programs meet it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// A word for programs; it stays when messages change.
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// Whether the request or a file is at fault, and not the state of the study, the store or the machine.
    pub is_bad_input: bool,
}

impl Refusal {
    /// As every verb gives it with `--json`.
    pub fn json(&self) -> Json {
        json!({"error": {"code": self.code, "message": self.message, "hint": self.hint}})
    }
}

impl From<&StudyError> for Refusal {
    fn from(error: &StudyError) -> Self {
        let (message, hint) = (error.to_string(), error.hint().map(str::to_string));
        Self { code: error.code(), message, hint, is_bad_input: is_bad_value(error) }
    }
}

impl From<&StoreError> for Refusal {
    fn from(error: &StoreError) -> Self {
        let (message, hint) = (error.to_string(), error.hint());
        Self { code: error.code(), message, hint, is_bad_input: is_bad_request(error) }
    }
}

impl From<&RunError> for Refusal {
    fn from(error: &RunError) -> Self {
        let is_bad_input = match error {
            RunError::Session(error) => is_bad_request(error),
            RunError::NoCommand { .. } | RunError::StoredSettings { .. } => true,
            _ => false,
        };
        Self { code: error.code(), message: error.to_string(), hint: error.hint(), is_bad_input }
    }
}

/// Whether the request would be refused whatever the state of the store.
fn is_bad_request(error: &StoreError) -> bool {
    match error {
        StoreError::Study(error) => is_bad_value(error),
        StoreError::Location { .. }
        | StoreError::NoPostgres
        | StoreError::NoStore { .. }
        | StoreError::NoTables { .. }
        | StoreError::Empty { .. }
        | StoreError::NotAStore { .. }
        | StoreError::UnknownStudy { .. }
        | StoreError::Differs { .. }
        | StoreError::BadKey { .. }
        | StoreError::KeyUsed { .. }
        | StoreError::File(_)
        | StoreError::CorruptStudy { .. }
        | StoreError::CorruptEvent { .. }
        | StoreError::CorruptExport { .. }
        | StoreError::CorruptExportedEvent(_) => true,
        _ => false,
    }
}

fn is_bad_value(error: &StudyError) -> bool {
    !matches!(
        error,
        StudyError::NotPending { .. }
            | StudyError::TooManyPending { .. }
            | StudyError::PoolExhausted { .. }
            | StudyError::NothingObserved
            | StudyError::NoScale
            | StudyError::BeyondFloats
            | StudyError::Contradiction { .. }
            | StudyError::CandidateTaken { .. }
            | StudyError::MultiplierTooLarge { .. }
    )
}
