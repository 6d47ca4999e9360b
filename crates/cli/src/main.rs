//! The command line: parse, dispatch, and turn outcomes into exit codes.

mod bench;
#[cfg(test)]
mod picture;
mod progress;
mod reproduce;

use std::io::ErrorKind;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use serde_json::json;

use self::progress::say;

/// Bayesian optimization when several experiments run at once.
#[derive(Parser)]
#[command(version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    Reproduce(reproduce::Options),
    Bench(bench::Options),
    /// One measurement of `bench` in a process of its own, for its peak memory.
    #[command(hide = true)]
    BenchPart {
        /// The measurement, as JSON.
        part: String,
    },
}

fn main() -> ExitCode {
    let verb = Cli::parse().verb;
    let outcome = match &verb {
        Verb::Reproduce(options) => reproduce::run(options).map(|()| true),
        Verb::Bench(options) => bench::run(options),
        Verb::BenchPart { part } => bench::run_part(part).map(|()| true),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => refuse(&error, verb.speaks_json()),
    }
}

impl Verb {
    fn speaks_json(&self) -> bool {
        match self {
            Self::Reproduce(options) => options.json,
            Self::Bench(options) => options.speaks_json(),
            Self::BenchPart { .. } => false,
        }
    }
}

/// Says what is wrong and how to mend it: exit code 2 for bad usage or a bad file, 1 for what failed.
fn refuse(error: &anyhow::Error, json: bool) -> ExitCode {
    if is_reader_gone(error) {
        return ExitCode::FAILURE;
    }
    let refusal = error.downcast_ref::<manyhands_lab::Error>();
    let hint = refusal.and_then(manyhands_lab::Error::hint);
    if json {
        let code = refusal.map_or("failed", manyhands_lab::Error::code);
        say(&json!({"error": {"code": code, "message": format!("{error:#}"), "hint": hint}}).to_string());
    } else {
        say(&format!("error: {error:#}"));
        hint.inspect(|hint| say(&format!("hint: {hint}")));
    }
    if refusal.is_some_and(manyhands_lab::Error::is_bad_input) { ExitCode::from(2) } else { ExitCode::FAILURE }
}

/// Whether whoever read the output has had enough, as `head` does: nothing is wrong, and nobody listens.
fn is_reader_gone(error: &anyhow::Error) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}
