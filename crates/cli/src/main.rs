//! The command line: parse, dispatch, and turn outcomes into exit codes.

mod bench;

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
        Verb::Bench(options) => bench::run(options),
        Verb::BenchPart { part } => bench::run_part(part).map(|()| true),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
