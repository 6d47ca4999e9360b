//! Bad usage that clap finds, in words for people or as JSON.

use std::error::Error as _;
use std::ffi::OsString;

use clap::error::{ContextKind, ErrorKind};

use crate::exit;
use crate::refusal::bad_input;
use crate::stderr::{say, say_json};

/// Reports bad usage, or prints help and version, which are no mistakes; the exit code. An address among the arguments is not
/// shown: it may hold a password.
pub fn report_usage_error(error: &clap::Error, arguments: &[OsString], wants_json: bool) -> u8 {
    let arguments: Vec<String> = arguments.iter().map(|text| text.to_string_lossy().into_owned()).collect();
    let secrets: Vec<&str> = arguments.iter().flat_map(|argument| addresses(argument)).collect();
    let without_secrets = |text: String| secrets.iter().fold(text, |text, secret| text.replace(secret, "..."));
    if !error.use_stderr() || (!wants_json && secrets.is_empty()) {
        // If nobody reads it, the exit code has to do.
        let _ = error.print();
        return if error.use_stderr() { exit::BAD_INPUT } else { exit::SUCCESS };
    }
    if wants_json {
        say_json(&bad_input("usage", without_secrets(message(error)), Some(without_secrets(hint(error)))).json());
    } else {
        say(without_secrets(error.to_string()).trim_end());
    }
    exit::BAD_INPUT
}

/// The arguments without a --help behind `help`, which clap takes for the name of a verb.
pub fn without_help_of_help(arguments: &[OsString]) -> &[OsString] {
    match arguments {
        [_, verb, option] if verb == "help" && (option == "--help" || option == "-h") => &arguments[..2],
        all => all,
    }
}

/// What is wrong, on one line.
fn message(error: &clap::Error) -> String {
    let found = |kind| error.get(kind).map(ToString::to_string).unwrap_or_default();
    let (argument, value) = (found(ContextKind::InvalidArg), found(ContextKind::InvalidValue));
    match error.kind() {
        ErrorKind::UnknownArgument => format!("unexpected argument '{argument}' found"),
        ErrorKind::InvalidSubcommand => {
            format!("unrecognized subcommand '{}'", found(ContextKind::InvalidSubcommand))
        }
        ErrorKind::MissingRequiredArgument => format!("required arguments were not provided: {argument}"),
        ErrorKind::InvalidValue if value.is_empty() => {
            format!("a value is required for '{argument}' but none was supplied")
        }
        ErrorKind::InvalidValue => format!("invalid value '{value}' for '{argument}'"),
        ErrorKind::ValueValidation => {
            let reason = error.source().map_or(String::new(), |reason| format!(": {reason}"));
            format!("invalid value '{value}' for '{argument}'{reason}")
        }
        ErrorKind::TooManyValues => format!("unexpected value '{value}' for '{argument}' found; no more were expected"),
        ErrorKind::ArgumentConflict if argument == found(ContextKind::PriorArg) => {
            format!("the argument '{argument}' cannot be used multiple times")
        }
        ErrorKind::ArgumentConflict if !argument.is_empty() => {
            format!("the argument '{argument}' cannot be used with '{}'", found(ContextKind::PriorArg))
        }
        other => other.to_string(),
    }
}

/// What is allowed, or what was probably meant; otherwise where that can be read.
fn hint(error: &clap::Error) -> String {
    let found = |kind| error.get(kind).map(ToString::to_string).filter(|text| !text.is_empty());
    let meant = [ContextKind::SuggestedSubcommand, ContextKind::SuggestedArg, ContextKind::SuggestedValue]
        .into_iter()
        .find_map(found);
    let similar = meant.map(|meant| format!("did you mean '{meant}'?"));
    let allowed = || found(ContextKind::ValidValue).map(|values| format!("possible values: {values}"));
    similar.or_else(allowed).unwrap_or("For more information, try '--help'.".to_string())
}

/// An argument that looks like the address of a store, and what follows its "=", longest first.
fn addresses(argument: &str) -> Vec<&str> {
    let is_address = |text: &str| ["://", "password", "@"].iter().any(|sign| text.contains(sign));
    let value = argument.split_once('=').filter(|(option, _)| option.starts_with('-')).map(|(_, value)| value);
    [Some(argument), value].into_iter().flatten().filter(|text| is_address(text)).collect()
}

#[cfg(test)]
mod tests {
    use clap::error::ErrorKind;

    use super::*;

    fn refused(line: &str) -> (String, String) {
        let matches = crate::verbs::command().try_get_matches_from(line.split(' '));
        matches.err().map(|error| (message(&error), hint(&error))).unwrap_or_default()
    }

    #[test]
    fn the_help_of_help_is_that_of_the_program() {
        for option in ["--help", "-h"] {
            assert_eq!(crate::main(["manyhands", "help", option]), exit::SUCCESS);
        }
    }

    #[test]
    fn a_usage_error_says_on_one_line_what_is_wrong_and_what_is_allowed() {
        const HELP: &str = "For more information, try '--help'.";
        for (line, message, hint) in [
            ("manyhands statsu", "unrecognized subcommand 'statsu'", "did you mean 'status'?"),
            ("manyhands status s --jsno", "unexpected argument '--jsno' found", "did you mean '--json'?"),
            ("manyhands status", "required arguments were not provided: <STUDY>", HELP),
            ("manyhands ask s -n", "a value is required for '--number <N>' but none was supplied", HELP),
            ("manyhands ask s -n 1 -n 2", "the argument '--number <N>' cannot be used multiple times", HELP),
            (
                "manyhands export s --format jsonll",
                "invalid value 'jsonll' for '--format <FORMAT>'",
                "did you mean 'jsonl'?",
            ),
            (
                "manyhands export s --format x",
                "invalid value 'x' for '--format <FORMAT>'",
                "possible values: csv, jsonl, log",
            ),
            (
                "manyhands run s --trials -3",
                "invalid value '-3' for '--trials <N>': it must be an integer from 1",
                HELP,
            ),
            ("manyhands ask s -n x", "invalid value 'x' for '--number <N>': it must be an integer from 1", HELP),
        ] {
            assert_eq!(refused(line), (message.to_string(), hint.to_string()), "{line}");
        }
        let other = clap::Error::new(ErrorKind::InvalidUtf8);
        assert_eq!(message(&other), "invalid UTF-8 was detected in one or more arguments");
    }
}
