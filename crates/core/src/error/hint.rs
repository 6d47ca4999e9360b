//! What to do about an error, where its message does not say it.

use super::ParameterPart;
use crate::{Error, TrialState};

impl Error {
    /// What to do about it, where the message does not say.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Numeric(error) => error.hint(),
            Self::ValueTooLarge { .. } => Some("record it as failed (`fail`), or let the model be learned"),
            Self::MultiplierTooLarge { .. } => Some("use hallucination = \"realised\", or smaller bounds"),
            Self::Contradiction { .. } => Some("raise norm_bound or noise_bound, or change the kernel"),
            Self::Needs { need, .. } => Some(need.hint),
            Self::TooManyCandidates { .. } => Some(
                "list fewer candidates; or leave out `points`, as a space with a float is searched; or use gp-ucb, gp-ei or gp-pi",
            ),
            Self::TooManyPending { .. } => {
                Some("tell, fail or cancel pending trials first, ask for fewer, or raise max_pending")
            }
            Self::NotAmendable { state: TrialState::Pending, .. } => Some("tell its value, or fail it"),
            Self::NotAmendable { .. } | Self::NotPending { state: TrialState::Cancelled, .. } => {
                Some("record its result as an evaluation made elsewhere: manyhands import STUDY --csv FILE")
            }
            Self::NotFailed { state: TrialState::Observed, .. } => {
                Some("amend its value if that is wrong, or enqueue its point to measure it once more")
            }
            Self::NotFailed { state: TrialState::Pending, .. } => Some("tell its value, or fail it"),
            Self::NotFailed { state: TrialState::Cancelled, .. } => Some("enqueue its point to have it tried"),
            Self::FixedParameters { .. } => Some(
                "if another candidate was tried, record that one's value with `manyhands import`, and cancel this trial",
            ),
            Self::NotIdentified { .. } => Some("give all coordinates, or a column that identifies the candidate"),
            Self::PoolExhausted { .. } => Some("ask for fewer, or allow repeats"),
            Self::DiscretizationTooLarge { .. } => {
                Some("use a fixed grid as the domain; the theorem then holds for that grid")
            }
            Self::NotReproduced { .. } => {
                Some("the log was changed, or comes from another spec or another kind of CPU")
            }
            Self::NothingObserved => Some("tell the value of a trial first; `trials` lists them, and why some failed"),
            Self::NoTheorem => Some("give [model] and norm_bound; what a learned model expects is its outlook"),
            Self::NoParameters => Some("use include_candidate"),
            Self::NoCandidates => Some("use include with the values of the parameters"),
            Self::CandidateTaken { .. } => Some("tell the value by that trial's number, or allow repeats"),
            Self::CandidateQueued { .. } => Some("`ask` gives it first; `enqueue STUDY --clear` empties the queue"),
            Self::NotPending { state: TrialState::Observed, .. } => {
                Some("if its record is wrong: manyhands amend STUDY TRIAL VALUE, or --failed REASON")
            }
            Self::NotPending { state: TrialState::Failed, .. } => {
                Some("for another attempt: manyhands retry STUDY TRIAL; if it has a value after all: manyhands amend")
            }
            Self::UnknownTrial { .. } => Some("a trial's number is the `trial` field of its suggestion"),
            Self::Parameter { what: ParameterPart::ChoiceCount, .. } => {
                Some("list the settings in a table and name it in [candidates], or use levels if they have an order")
            }
            Self::NothingVaries { .. } => Some("give at least one parameter a range, levels or several choices"),
            Self::ParameterValue { value, .. } if is_decimal_comma(value) => Some("write a decimal point"),
            Self::ParameterValue { value, .. } if value.parse::<f64>().is_ok() => Some(
                "a setting outside of the space needs a study with a wider space: `manyhands copy` takes the trials along",
            ),
            Self::Constraint { .. } => {
                Some("a constraint is a sum of weights times numeric parameters, each at most once, and a bound")
            }
            Self::Violated { .. } => Some(
                "a setting that was tried may miss a sum of float parameters by up to 2 %, one that is still to be tried not",
            ),
            Self::Infeasible { .. } => Some("widen the parameters, loosen the constraint, or leave it out"),
            Self::Unsolved { .. } => Some("write fewer constraints, or weights and bounds of similar size"),
            Self::MissingParameter { .. } => {
                Some("only parameters with one value, and columns that are no coordinates, may be left out")
            }
            Self::Table { hint, .. } => *hint,
            Self::Internal { .. } => Some("please report it, with what was being done; the log is as it was"),
            _ => None,
        }
    }
}

/// Whether a text is a number with a comma in place of the point; it may be in quotes.
fn is_decimal_comma(text: &str) -> bool {
    let bare = text.trim_matches('"');
    bare.contains(',') && bare.replacen(',', ".", 1).parse::<f64>().is_ok()
}
