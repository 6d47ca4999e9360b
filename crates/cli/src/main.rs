//! The command line: parse, dispatch, and turn outcomes into exit codes.

mod bench;
mod progress;
mod reproduce;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

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
    let outcome = match &Cli::parse().verb {
        Verb::Reproduce(options) => reproduce::run(options).map(|()| true),
        Verb::Bench(options) => bench::run(options),
        Verb::BenchPart { part } => bench::run_part(part).map(|()| true),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => refuse(&error),
    }
}

/// Says what is wrong and how to mend it: exit code 2 for bad usage or a bad file, 1 for what failed.
fn refuse(error: &anyhow::Error) -> ExitCode {
    eprintln!("error: {error:#}");
    let Some(refusal) = error.downcast_ref::<manyhands_lab::Error>() else { return ExitCode::FAILURE };
    if let Some(hint) = refusal.hint() {
        eprintln!("hint: {hint}");
    }
    if refusal.is_bad_input() { ExitCode::from(2) } else { ExitCode::FAILURE }
}
