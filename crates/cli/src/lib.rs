//! The command line as a library: [`main`] is the whole program, from its arguments to its exit code.
//!
//! The binary `manyhands` is one call of it; a Python wheel can be another. What the verbs compute and say is in the other
//! crates: `manyhands-store` (sessions), `manyhands-run` (workers), `manyhands-report` (JSON and text) and
//! `manyhands-plots` (pictures). A verb here parses, calls and prints.
//!
//! Features, all on by default: `postgres` (stores on PostgreSQL), `plots` (the verb `plot`, and pictures of runs) and
//! `lab` (the verbs `reproduce` and `bench`). A verb whose feature is off is refused with the feature's name.

mod assignment;
#[cfg(feature = "lab")]
mod bench;
mod caution;
mod changed_file;
mod default_store;
mod exit;
mod frame;
mod integer;
mod live;
mod output;
mod panics;
mod picture;
#[cfg(feature = "lab")]
mod progress;
mod refusal;
mod signals;
mod stderr;
mod store_option;
mod study_file;
mod table_input;
mod target;
mod trial;
mod usage;
mod verbs;
mod workers;
mod write;

use std::ffi::OsString;

use clap::FromArgMatches;

use crate::verbs::Cli;

/// Runs the program with these arguments, the first of which is its name, and gives its exit code: 0 if it did what was
/// asked, 1 if that failed, 2 for bad usage or a bad file, 130 if it was interrupted, 101 after a panic.
///
/// It reads standard input, the environment and the current folder, and writes to standard output and standard error. While
/// it runs, panics are reported in one line. `run` and `worker` handle SIGINT, SIGTERM and SIGHUP until they return; an
/// urgent stop (a second SIGINT, or SIGTERM) that is not done in time ends the whole process. It may be called again and
/// again, but not from two threads at a time.
///
/// ```
/// assert_eq!(manyhands::main(["manyhands", "--version"]), 0);
/// assert_eq!(manyhands::main(["manyhands", "unknown-verb"]), 2);
/// ```
pub fn main<T: Into<OsString>>(arguments: impl IntoIterator<Item = T>) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().map(Into::into).collect();
    let wants_json = arguments.iter().any(|argument| argument == "--json");
    panics::guarded(wants_json, || work(&arguments, wants_json))
}

fn work(arguments: &[OsString], wants_json: bool) -> u8 {
    let matches = verbs::command().try_get_matches_from(usage::without_help_of_help(arguments));
    let verb = match matches.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli.verb,
        Err(error) => return usage::report_usage_error(&error, arguments, wants_json),
    };
    match signals::survive_file_limits().and_then(|()| verb.run()) {
        Ok(code) => code,
        Err(error) => refusal::refuse(&error, wants_json),
    }
}
