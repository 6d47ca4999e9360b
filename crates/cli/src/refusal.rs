//! How errors are told: message, hint, a word for programs, and the exit code.

use std::ffi::OsString;
use std::fmt;
use std::io::ErrorKind;

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

/// Tells an error; its exit code.
pub fn refuse(error: &anyhow::Error, wants_json: bool) -> u8 {
    if is_reader_gone(error) {
        return exit::FAILURE;
    }
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

fn bad_input(code: &'static str, message: String, hint: Option<String>) -> Refusal {
    Refusal { code, message, hint, is_bad_input: true }
}

#[cfg(feature = "plots")]
fn of_plots(error: &manyhands_plots::Error) -> Refusal {
    match error {
        manyhands_plots::Error::Study(error) => error.into(),
        other => Refusal { code: other.code(), message: other.to_string(), hint: None, is_bad_input: false },
    }
}

#[cfg(feature = "lab")]
fn of_lab(error: &manyhands_lab::Error) -> Refusal {
    match error {
        manyhands_lab::Error::Store(error) => error.into(),
        error => {
            let (code, message, hint) = (error.code(), error.to_string(), error.hint());
            Refusal { code, message, hint, is_bad_input: error.is_bad_input() }
        }
    }
}

/// Bad usage as clap found it, or help and version, which are no mistakes; the exit code. An address among the arguments is
/// not shown: it may hold a password.
pub fn misused(error: &clap::Error, arguments: &[OsString]) -> u8 {
    let arguments: Vec<String> = arguments.iter().map(|text| text.to_string_lossy().into_owned()).collect();
    let secrets: Vec<&str> = arguments.iter().flat_map(|argument| addresses(argument)).collect();
    let wants_json = arguments.iter().any(|argument| argument == "--json");
    if !error.use_stderr() || (!wants_json && secrets.is_empty()) {
        // If nobody reads it, the exit code has to do.
        let _ = error.print();
        return if error.use_stderr() { exit::BAD_INPUT } else { exit::SUCCESS };
    }
    let text = secrets.iter().fold(error.to_string(), |text, secret| text.replace(secret, "..."));
    if !wants_json {
        say(text.trim_end());
        return exit::BAD_INPUT;
    }
    let (message, rest) = text.split_once("\n\n").unwrap_or((&text, ""));
    let message = message.trim().trim_start_matches("error: ").to_string();
    let hint = rest.trim().lines().next().map(|line| line.trim().trim_start_matches("tip: ").to_string());
    say_json(&bad_input("usage", message, hint).json());
    exit::BAD_INPUT
}

/// An argument that looks like the address of a store, and what follows its "=", longest first.
fn addresses(argument: &str) -> Vec<&str> {
    let is_address = |text: &str| ["://", "password", "@"].iter().any(|sign| text.contains(sign));
    let value = argument.split_once('=').filter(|(option, _)| option.starts_with('-')).map(|(_, value)| value);
    [Some(argument), value].into_iter().flatten().filter(|text| is_address(text)).collect()
}

/// Whether whoever read the output has stopped reading, as `head` does: nothing is wrong, and nobody listens.
fn is_reader_gone(error: &anyhow::Error) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}
