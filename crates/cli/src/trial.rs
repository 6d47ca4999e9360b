//! TRIAL: which trial a verb is about, and the new states of trials as they are printed.

use anyhow::Result;
use clap::Args;
use manyhands_core::TrialState;
use manyhands_core::text::quoted;
use manyhands_report as report;
use manyhands_store::Session;

use crate::output::{print, print_json};
use crate::refusal::Usage;
use crate::target::Target;

/// A trial of a study.
#[derive(Debug, Args)]
pub struct TrialTarget {
    #[command(flatten)]
    pub target: Target,
    /// The trial's number
    #[arg(value_name = "TRIAL")]
    trial: String,
}

impl TrialTarget {
    /// The trial's number.
    pub fn number(&self) -> Result<usize> {
        trial_number(&self.trial)
    }

    /// Prints the trial's new state.
    pub fn print_end(&self, session: &Session, state: TrialState) -> Result<()> {
        print_ends(session, &[(self.number()?, state)], self.target.json)
    }
}

/// A trial's number.
pub fn trial_number(text: &str) -> Result<usize> {
    let wrong = || Usage::new("trial", format!("a trial's number must be an integer from 0, got {}", quoted(text)));
    Ok(text.parse().map_err(|_| wrong())?)
}

/// A value that is told.
pub fn finite(text: &str) -> Result<f64> {
    let wrong = || {
        let refused = Usage::new("value", format!("the value must be a finite number, got {}", quoted(text)));
        match text.trim().to_lowercase() {
            word if word.starts_with("fail") => {
                refused.hint("a trial without a value: manyhands fail STUDY TRIAL --reason TEXT")
            }
            number if number.contains(',') && number.replace(',', ".").parse::<f64>().is_ok() => {
                refused.hint("write a decimal point")
            }
            _ => refused,
        }
    };
    Ok(text.trim().parse::<f64>().ok().filter(|value| value.is_finite()).ok_or_else(wrong)?)
}

/// Prints the new states of trials.
pub fn print_ends(session: &Session, trials: &[(usize, TrialState)], as_json: bool) -> Result<()> {
    if as_json {
        return print_json(&report::ends::json(trials));
    }
    report::ends::lines(session, trials)?.iter().try_for_each(|line| print(line))
}
