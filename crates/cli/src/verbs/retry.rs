//! `manyhands retry`: another attempt at a failed trial.

use anyhow::Result;
use clap::Args;
use manyhands_core::TrialState;
use manyhands_core::text::one_line;

use crate::stderr::say;
use crate::trial::TrialTarget;

const EXAMPLE: &str = "\
Example:
  manyhands retry study.toml 7
  manyhands run study.toml            a run or a worker takes it first; or run it yourself and `tell` its value

The trial keeps its number and its parameters. The failed attempt stays in the log.";

/// Make a failed trial pending again, for another attempt.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub struct Options {
    #[command(flatten)]
    of: TrialTarget,
}

pub fn run(options: &Options) -> Result<()> {
    let trial = options.of.number()?;
    let mut session = options.of.target.open_to_tell()?;
    session.reopen(trial)?;
    options.of.print_end(&session, TrialState::Pending)?;
    if !options.of.target.json {
        let params = session.params(trial)?;
        let params: Vec<String> =
            params.iter().map(|(name, value)| format!("{} = {}", one_line(name), value.short())).collect();
        say(&format!(
            "it is to be tried again at {}; `run` and `worker` take it first, and in a lab `tell` its value by its number",
            params.join(", ")
        ));
    }
    Ok(())
}
