//! The command line: parse, dispatch, and turn outcomes into exit codes.

mod ask;
mod bench;
mod completions;
mod fail;
mod internal;
mod live;
mod picture;
mod plot;
mod predict;
mod progress;
mod refusal;
mod reproduce;
mod run;
mod running;
mod show;
mod signals;
mod status;
mod studies;
mod target;
mod tell;
mod trials;
mod verify;
mod whole;
mod write;

use std::process::ExitCode;

use anyhow::Result;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

const EXAMPLE: &str = "\
Example:
  manyhands run study.toml       run a study, five trials at once if it says so; again to go on
  manyhands status study.toml    the best point, and how far from the optimum it can still be
  manyhands ask study.toml -n 5 --json    or run the trials yourself, and `tell` what came of them";

/// Bayesian optimization when several experiments run at once.
#[derive(Parser)]
#[command(version, arg_required_else_help = true, after_help = EXAMPLE)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    Run(run::RunOptions),
    Worker(run::WorkerOptions),
    Ask(ask::Options),
    Tell(tell::Options),
    Fail(fail::FailOptions),
    Cancel(fail::CancelOptions),
    Status(status::StatusOptions),
    Best(status::BestOptions),
    Trials(trials::TrialsOptions),
    Predict(predict::Options),
    Plot(plot::Options),
    Export(trials::ExportOptions),
    Import(trials::ImportOptions),
    Verify(verify::Options),
    Studies(studies::StudiesOptions),
    Delete(studies::DeleteOptions),
    Reproduce(reproduce::Options),
    Bench(bench::Options),
    /// One measurement of `bench` in a process of its own, for its peak memory.
    #[command(hide = true)]
    BenchPart {
        /// The measurement, as JSON.
        part: String,
    },
    Completions(completions::Options),
}

fn main() -> ExitCode {
    internal::tell_panics();
    internal::guarded(work)
}

fn work() -> ExitCode {
    let cli = command().try_get_matches().and_then(|matches| Cli::from_arg_matches(&matches));
    let verb = match cli {
        Ok(cli) => cli.verb,
        Err(error) => return refusal::misused(&error),
    };
    match signals::survive_file_limits().and_then(|()| verb.run()) {
        Ok(code) => code,
        Err(error) => refusal::refuse(&error, verb.speaks_json()),
    }
}

/// The command line, with what only some verbs say of the study they are given.
fn command() -> clap::Command {
    const CREATED: &str = "A study file (its study is created on first use), or the name of a study";
    let of = |verb: clap::Command| verb.mut_arg("study", |study| study.help(CREATED));
    ["run", "worker", "ask"].into_iter().fold(Cli::command(), |all, verb| all.mut_subcommand(verb, of))
}

impl Verb {
    fn run(&self) -> Result<ExitCode> {
        match self {
            Self::Run(options) => return run::run(options),
            Self::Worker(options) => return run::worker(options),
            Self::Bench(options) => return bench::run(options).map(|good| ExitCode::from(u8::from(!good))),
            Self::Verify(options) => return verify::run(options).map(|good| ExitCode::from(u8::from(!good))),
            Self::Ask(options) => ask::run(options),
            Self::Tell(options) => tell::run(options),
            Self::Fail(options) => fail::fail(options),
            Self::Cancel(options) => fail::cancel(options),
            Self::Status(options) => status::status(options),
            Self::Best(options) => status::best(options),
            Self::Trials(options) => trials::trials(options),
            Self::Predict(options) => predict::run(options),
            Self::Plot(options) => plot::run(options),
            Self::Export(options) => trials::export(options),
            Self::Import(options) => trials::import(options),
            Self::Studies(options) => studies::studies(options),
            Self::Delete(options) => studies::delete(options),
            Self::Reproduce(options) => reproduce::run(options),
            Self::BenchPart { part } => bench::run_part(part),
            Self::Completions(options) => completions::run(options, command()),
        }?;
        Ok(ExitCode::SUCCESS)
    }

    fn speaks_json(&self) -> bool {
        match self {
            Self::Run(options) => options.target.json,
            Self::Worker(options) => options.target.json,
            Self::Ask(options) => options.target.json,
            Self::Tell(options) => options.target.json,
            Self::Fail(options) => options.target.json,
            Self::Cancel(options) => options.target.json,
            Self::Status(options) => options.target.json,
            Self::Best(options) => options.target.json,
            Self::Trials(options) => options.target.json,
            Self::Predict(options) => options.target.json,
            Self::Plot(options) => options.target.json,
            Self::Export(options) => options.target.json,
            Self::Verify(options) => options.target.json,
            Self::Delete(options) => options.target.json,
            Self::Studies(options) => options.json,
            Self::Reproduce(options) => options.json,
            Self::Bench(options) => options.speaks_json(),
            Self::Import(_) | Self::BenchPart { .. } | Self::Completions(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_among_the_arguments_is_read_as_what_it_is() {
        for line in [
            "run study.toml --workers 3 --trials 9",
            "worker study.toml --workers 3",
            "ask study.toml -n 3",
            "reproduce --workers 3 --horizon 9 --functions 2 --seed 1",
            "bench quality --seeds 2 --first-seed 1 --evaluations 9 --batch 3",
            "bench strategy --seeds 2 --first-seed 1",
        ] {
            let arguments = ["manyhands"].into_iter().chain(line.split(' '));
            assert!(Cli::try_parse_from(arguments).is_ok(), "{line}");
        }
    }
}
