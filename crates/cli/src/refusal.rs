//! How errors are reported: message, hint, a word for programs, and the exit code.

use std::fmt;

use manyhands_core::Error as StudyError;
use manyhands_report::refusal::Refusal;
use manyhands_run::Error as RunError;
use manyhands_store::Error as StoreError;

use crate::exit;
use crate::stderr::{say, say_json};

/// Bad usage or a bad file, found by the command line itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Usage {
    /// A word for programs.
    pub code: &'static str,
    /// What was given, and what is allowed.
    pub message: String,
    /// How to fix it.
    pub hint: Option<String>,
}

impl Usage {
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: None }
    }

    /// A verb or an option that this program was built without.
    #[cfg(not(all(feature = "lab", feature = "plots")))]
    pub fn without_feature(feature: &str) -> Self {
        let message = format!("this manyhands was built without the feature \"{feature}\"");
        Self::new("missing-feature", message).hint(format!("build it with --features {feature}; it is on by default"))
    }

    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Usage {}

/// Reports an error; its exit code.
pub fn refuse(error: &anyhow::Error, wants_json: bool) -> u8 {
    // With the context, such as the line of a file.
    let refusal = Refusal { message: format!("{error:#}"), ..classify(error) };
    if wants_json {
        say_json(&refusal.json());
    } else {
        say(&format!("error: {}", refusal.message));
        refusal.hint.inspect(|hint| say(&format!("hint: {hint}")));
    }
    if refusal.is_bad_input { exit::BAD_INPUT } else { exit::FAILURE }
}

fn classify(error: &anyhow::Error) -> Refusal {
    if let Some(usage) = error.downcast_ref::<Usage>() {
        return bad_input(usage.code, usage.message.clone(), usage.hint.clone());
    }
    let known = None
        .or_else(|| error.downcast_ref::<RunError>().map(Refusal::from))
        .or_else(|| error.downcast_ref::<StoreError>().map(Refusal::from))
        .or_else(|| error.downcast_ref::<StudyError>().map(Refusal::from));
    #[cfg(feature = "plots")]
    let known = known.or_else(|| error.downcast_ref().map(of_plots));
    #[cfg(feature = "lab")]
    let known = known.or_else(|| error.downcast_ref().map(of_lab));
    known.unwrap_or(Refusal { code: "failed", message: error.to_string(), hint: None, is_bad_input: false })
}

/// The refusal of bad usage or of a bad file.
pub fn bad_input(code: &'static str, message: String, hint: Option<String>) -> Refusal {
    Refusal { code, message, hint, is_bad_input: true }
}

#[cfg(feature = "plots")]
fn of_plots(error: &manyhands_plots::Error) -> Refusal {
    let (message, hint) = (error.to_string(), error.hint().map(str::to_string));
    Refusal { code: error.code(), message, hint, is_bad_input: error.is_bad_input() }
}

#[cfg(feature = "lab")]
fn of_lab(error: &manyhands_lab::Error) -> Refusal {
    let (message, hint) = (error.to_string(), error.hint());
    Refusal { code: error.code(), message, hint, is_bad_input: error.is_bad_input() }
}
