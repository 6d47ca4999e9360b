//! What the command line says when something is refused: message, hint, a word for programs, and the exit code.

use std::fmt;
use std::io::ErrorKind;
use std::process::ExitCode;

use manyhands_core::Error as StudyError;
use manyhands_lab::Error as LabError;
use manyhands_run::Error as RunError;
use manyhands_store::Error as StoreError;
use serde_json::json;

use crate::progress::{say, say_json};

/// Bad usage or a bad file, found by the command line itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Usage {
    /// A word for programs.
    pub code: &'static str,
    /// What was given, and what is allowed.
    pub message: String,
    /// How to mend it.
    pub hint: Option<String>,
}

impl Usage {
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: None }
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

/// How an error is told.
struct Told {
    code: &'static str,
    hint: Option<String>,
    is_bad_input: bool,
}

/// Says what is wrong and how to mend it: exit code 2 for bad usage or a bad file, 1 for what failed.
pub fn refuse(error: &anyhow::Error, json: bool) -> ExitCode {
    if is_reader_gone(error) {
        return ExitCode::FAILURE;
    }
    let Told { code, hint, is_bad_input } = told(error);
    if json {
        say_json(&json!({"error": {"code": code, "message": format!("{error:#}"), "hint": hint}}));
    } else {
        say(&format!("error: {error:#}"));
        hint.inspect(|hint| say(&format!("hint: {hint}")));
    }
    if is_bad_input { ExitCode::from(2) } else { ExitCode::FAILURE }
}

/// Bad usage as clap found it: in JSON for those who asked for it. Help and version are no mistakes. An address among the
/// arguments is not shown: it may hold a password.
pub fn misused(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        error.exit();
    }
    let arguments: Vec<String> = std::env::args_os().map(|text| text.to_string_lossy().into_owned()).collect();
    let secrets: Vec<&str> = arguments.iter().flat_map(|argument| addresses(argument)).collect();
    let asked_for_json = arguments.iter().any(|argument| argument == "--json");
    if !asked_for_json && secrets.is_empty() {
        error.exit();
    }
    let text = secrets.iter().fold(error.to_string(), |text, secret| text.replace(secret, "..."));
    if !asked_for_json {
        say(text.trim_end());
        return ExitCode::from(2);
    }
    let (message, rest) = text.split_once("\n\n").unwrap_or((&text, ""));
    let message = message.trim().trim_start_matches("error: ");
    let hint = rest.trim().lines().next().map(|line| line.trim().trim_start_matches("tip: ").to_string());
    say_json(&json!({"error": {"code": "usage", "message": message, "hint": hint}}));
    ExitCode::from(2)
}

/// An argument that looks like the address of a store, and what stands behind its "=", longest first.
fn addresses(argument: &str) -> Vec<&str> {
    let is_address = |text: &str| ["://", "password", "@"].iter().any(|sign| text.contains(sign));
    let value = argument.split_once('=').filter(|(option, _)| option.starts_with('-')).map(|(_, value)| value);
    [Some(argument), value].into_iter().flatten().filter(|text| is_address(text)).collect()
}

fn told(error: &anyhow::Error) -> Told {
    if let Some(usage) = error.downcast_ref::<Usage>() {
        return Told { code: usage.code, hint: usage.hint.clone(), is_bad_input: true };
    }
    if let Some(error) = error.downcast_ref::<RunError>() {
        let is_bad_input = match error {
            RunError::Session(error) => is_bad_request(error),
            RunError::NoCommand { .. } => true,
            _ => false,
        };
        return Told { code: error.code(), hint: error.hint(), is_bad_input };
    }
    if let Some(error) = error.downcast_ref::<StoreError>() {
        return Told { code: error.code(), hint: error.hint(), is_bad_input: is_bad_request(error) };
    }
    if let Some(error) = error.downcast_ref::<StudyError>() {
        let hint = error.hint().map(str::to_string);
        return Told { code: error.code(), hint, is_bad_input: is_bad_value(error) };
    }
    match error.downcast_ref::<LabError>() {
        Some(error) => {
            let is_bad_input = match error {
                LabError::Store(error) => is_bad_request(error),
                error => error.is_bad_input(),
            };
            Told { code: error.code(), hint: error.hint(), is_bad_input }
        }
        None => Told { code: "failed", hint: None, is_bad_input: false },
    }
}

/// Whether what was asked for cannot be, whatever the store's state is at the moment.
fn is_bad_request(error: &StoreError) -> bool {
    match error {
        StoreError::Study(error) => is_bad_value(error),
        StoreError::Location { .. }
        | StoreError::NoStore { .. }
        | StoreError::NoTables { .. }
        | StoreError::Empty { .. }
        | StoreError::NotAStore { .. }
        | StoreError::UnknownStudy { .. }
        | StoreError::Differs { .. }
        | StoreError::BadKey { .. }
        | StoreError::KeyUsed { .. }
        | StoreError::File(_)
        | StoreError::Corrupt { .. } => true,
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

/// Whether whoever read the output has had enough, as `head` does: nothing is wrong, and nobody listens.
fn is_reader_gone(error: &anyhow::Error) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}
