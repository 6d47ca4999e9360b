//! `manyhands amend`: what is recorded of a trial was wrong.

use anyhow::Result;
use clap::Args;
use manyhands_report as report;
use manyhands_store::Amendment;

use crate::assignment::Assignment;
use crate::output::{print, print_json};
use crate::refusal::Usage;
use crate::trial::{TrialTarget, finite};

const EXAMPLES: &str = "\
Examples:
  manyhands amend study.toml 7 9.99                     the value of trial 7 is 9.99 (999 was a typing error)
  manyhands amend study.toml 7 --failed \"well was dry\"  it gave no value after all
  manyhands amend study.toml 7 --set temp=71.3          it was made at 71.3, not at what was suggested
  manyhands amend study.toml 7 --undo                   take the last amendment of trial 7 back

The old record stays in the log. From now on the model uses the new one; suggestions made before stay as they are. Amend what
was recorded wrongly, never a value because it is surprising: certificates hold only if amending does not depend on the noise.";

/// Correct the value, the failure or the setting of a trial.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    #[command(flatten)]
    of: TrialTarget,
    /// Its value
    #[arg(value_name = "VALUE", allow_hyphen_values = true)]
    value: Option<String>,
    /// It gave no value: why
    #[arg(long, value_name = "REASON", conflicts_with = "value")]
    failed: Option<String>,
    /// The value that a parameter really had; can be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<Assignment>,
    /// Take the last amendment back
    #[arg(long, conflicts_with_all = ["value", "failed", "set"])]
    undo: bool,
}

pub fn run(options: &Options) -> Result<()> {
    let trial = options.of.number()?;
    let outcome = match (&options.value, &options.failed) {
        (Some(value), _) => Some(Ok(finite(value)?)),
        (None, reason) => reason.clone().map(Err),
    };
    if outcome.is_none() && options.set.is_empty() && !options.undo {
        let hint = "manyhands amend STUDY TRIAL VALUE, --failed REASON, --set NAME=VALUE or --undo";
        return Err(Usage::new("usage", "what the record should say is needed").hint(hint).into());
    }
    if options.failed.as_ref().is_some_and(|reason| reason.trim().is_empty()) {
        return Err(Usage::new("reason", "--failed needs a reason, got an empty text")
            .hint("say why, in a few words")
            .into());
    }
    let mut session = options.of.target.open_to_tell()?;
    let (before, trial_before) = (report::ends::record(&session, trial)?, session.trial(trial)?.clone());
    let is_changed = if options.undo {
        session.restore(trial).map(|()| true)?
    } else {
        let domain = session.spec().domain();
        let params = options.set.iter().map(|assignment| assignment.read(domain)).collect();
        session.amend(trial, &Amendment { outcome, params })?
    };
    if options.of.target.json {
        return print_json(&report::ends::amended(session.spec().domain(), session.trial(trial)?, &trial_before));
    }
    let now = report::ends::record(&session, trial)?;
    // A setting that stays is said once.
    let is_same_setting = session.trial(trial)?.logged_params() == trial_before.logged_params();
    let before = if is_same_setting { report::ends::end(&trial_before) } else { before };
    let note = if is_changed { format!("(before: {before})") } else { "(as before: nothing was recorded)".to_string() };
    print(&format!("trial {trial}: {now} {note}"))
}
