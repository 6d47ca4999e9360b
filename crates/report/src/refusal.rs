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
    /// Whether the request or a file is at fault, and not the state of the study, the store, the machine or a bug.
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
        Self { code: error.code(), message, hint, is_bad_input: error.is_bad_input() }
    }
}

impl From<&StoreError> for Refusal {
    fn from(error: &StoreError) -> Self {
        let (message, hint) = (error.to_string(), error.hint());
        Self { code: error.code(), message, hint, is_bad_input: error.is_bad_input() }
    }
}

impl From<&RunError> for Refusal {
    fn from(error: &RunError) -> Self {
        let (message, hint) = (error.to_string(), error.hint());
        Self { code: error.code(), message, hint, is_bad_input: error.is_bad_input() }
    }
}
