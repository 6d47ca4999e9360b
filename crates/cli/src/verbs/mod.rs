//! The verbs: one file each, and the list of them.

#[cfg(not(all(feature = "lab", feature = "plots")))]
mod absent;
mod amend;
mod ask;
mod best;
mod cancel;
mod completions;
mod copy;
mod delete;
mod enqueue;
mod export;
mod fail;
mod import;
#[cfg(feature = "plots")]
mod plot;
mod predict;
#[cfg(feature = "lab")]
mod reproduce;
mod retry;
mod run;
mod status;
mod studies;
mod tell;
mod trials;
mod verify;
mod worker;

use anyhow::Result;
use clap::{CommandFactory, Parser, Subcommand};

#[cfg(feature = "lab")]
use crate::bench;
use crate::exit;

const EXAMPLE: &str = "\
Example:
  manyhands run study.toml       run a study, as many trials at once as it says; again to continue
  manyhands status study.toml    the best point, and what may still be gained
  manyhands ask study.toml -n 5 --json    or run the trials yourself and `tell` the results";

/// Bayesian optimization when several experiments run at once.
#[derive(Parser)]
#[command(name = "manyhands", version, arg_required_else_help = true, after_help = EXAMPLE)]
pub struct Cli {
    #[command(subcommand)]
    pub verb: Verb,
}

#[derive(Subcommand)]
pub enum Verb {
    Run(run::Options),
    Worker(worker::Options),
    Ask(ask::Options),
    Tell(tell::Options),
    Fail(fail::Options),
    Cancel(cancel::Options),
    Amend(amend::Options),
    Retry(retry::Options),
    Enqueue(enqueue::Options),
    Status(status::Options),
    Best(best::Options),
    Trials(trials::Options),
    Predict(predict::Options),
    #[cfg(feature = "plots")]
    Plot(plot::Options),
    #[cfg(not(feature = "plots"))]
    #[command(hide = true)]
    Plot(absent::Options),
    Export(export::Options),
    Import(import::Options),
    Copy(copy::Options),
    Verify(verify::Options),
    Studies(studies::Options),
    Delete(delete::Options),
    #[cfg(feature = "lab")]
    Reproduce(reproduce::Options),
    #[cfg(feature = "lab")]
    Bench(bench::Options),
    #[cfg(not(feature = "lab"))]
    #[command(hide = true)]
    Reproduce(absent::Options),
    #[cfg(not(feature = "lab"))]
    #[command(hide = true)]
    Bench(absent::Options),
    /// One measurement of `bench` in a process of its own, for its peak memory.
    #[cfg(feature = "lab")]
    #[command(hide = true)]
    BenchPart {
        /// The measurement, as JSON.
        part: String,
    },
    Completions(completions::Options),
}

/// The command line, with help that is particular to the verbs that create studies.
pub fn command() -> clap::Command {
    const CREATED: &str = "A study file (its study is created on first use), or the name of a study";
    // A changed argument comes after the others unless it says its place.
    let of = |verb: clap::Command| verb.mut_arg("study", |study| study.help(CREATED).index(1));
    let all = Cli::command().mut_subcommands(with_negative_numbers);
    ["run", "worker", "ask", "enqueue"].into_iter().fold(all, |all, verb| all.mut_subcommand(verb, of))
}

/// A negative number behind an option is its value: what is wrong with it is said, and no advice to put it elsewhere.
fn with_negative_numbers(verb: clap::Command) -> clap::Command {
    let is_option = |option: &clap::Arg| option.get_action().takes_values() && !option.is_positional();
    verb.mut_args(|option| if is_option(&option) { option.allow_negative_numbers(true) } else { option })
        .mut_subcommands(with_negative_numbers)
}

impl Verb {
    /// Does it; the exit code.
    pub fn run(&self) -> Result<u8> {
        match self {
            Self::Run(options) => return run::run(options),
            Self::Worker(options) => return worker::run(options),
            #[cfg(feature = "lab")]
            Self::Bench(options) => return bench::run(options).map(exit::of_check),
            Self::Verify(options) => return verify::run(options).map(exit::of_check),
            Self::Ask(options) => ask::run(options),
            Self::Tell(options) => tell::run(options),
            Self::Fail(options) => fail::run(options),
            Self::Cancel(options) => cancel::run(options),
            Self::Amend(options) => amend::run(options),
            Self::Retry(options) => retry::run(options),
            Self::Enqueue(options) => enqueue::run(options),
            Self::Status(options) => status::run(options),
            Self::Best(options) => best::run(options),
            Self::Trials(options) => trials::run(options),
            Self::Predict(options) => predict::run(options),
            #[cfg(feature = "plots")]
            Self::Plot(options) => plot::run(options),
            #[cfg(not(feature = "plots"))]
            Self::Plot(_) => absent::refuse("plots"),
            Self::Export(options) => export::run(options),
            Self::Import(options) => import::run(options),
            Self::Copy(options) => copy::run(options),
            Self::Studies(options) => studies::run(options),
            Self::Delete(options) => delete::run(options),
            #[cfg(feature = "lab")]
            Self::Reproduce(options) => reproduce::run(options),
            #[cfg(feature = "lab")]
            Self::BenchPart { part } => bench::run_part(part),
            #[cfg(not(feature = "lab"))]
            Self::Reproduce(_) | Self::Bench(_) => absent::refuse("lab"),
            Self::Completions(options) => completions::run(options, command()),
        }?;
        Ok(exit::SUCCESS)
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
