//! What `run` and `worker` give when they end, and how far a run is while it lasts.

use std::time::Duration;

use manyhands_core::BoundKind;
use manyhands_core::study::StopReason;
use manyhands_core::text::{counted, short, significant};
use manyhands_run::{StudyProgress, Summary};
use manyhands_store::Session;
use serde_json::{Value as Json, json};

use crate::news::{numbered, them};

/// What `run` gives: the study's status, whether the run was interrupted, why it stopped early, and where the picture is.
pub fn json(mut status: Json, summary: Summary, picture: Option<&str>) -> Json {
    status["interrupted"] = summary.interrupted.into();
    status["stopped"] = summary.enough.map(|reason| enough(&reason)).into();
    status["picture"] = picture.into();
    status
}

/// What `run` gives when it had to end at once.
pub fn cut_short(study: &str) -> Json {
    json!({"study": study, "interrupted": true})
}

/// The line at the end of a command that was interrupted.
pub const HOW_TO_CONTINUE: &str = "interrupted; run the same command again to continue";

/// Where the picture of a run is.
pub fn picture_line(path: &str) -> String {
    format!("picture: {path}")
}

/// The last lines of `run`: why it ended before the study has all its values. `pending` trials are left, of which those
/// `by_hand` were asked for by hand.
pub fn endings(summary: Summary, pending: usize, by_hand: &[usize]) -> Vec<String> {
    let stopped = summary.enough.map(|reason| stopped_line(&reason));
    let exhausted = summary.exhausted.then(|| "every candidate has been tried".to_string());
    let interrupted = summary.interrupted.then(|| HOW_TO_CONTINUE.to_string());
    let asked = (!by_hand.is_empty()).then(|| {
        let (numbers, them) = (numbered(by_hand), them(by_hand));
        format!("{numbers} asked for by hand, still pending: tell, fail or cancel {them}, or run {them} with --adopt")
    });
    let elsewhere = pending.saturating_sub(by_hand.len());
    let left = (!summary.interrupted && elsewhere > 0).then(|| {
        let are = if elsewhere == 1 { "is" } else { "are" };
        let advice = "tell, fail or cancel what nobody runs, or run it with --take";
        format!("{} {are} pending, run elsewhere; {advice}", counted(elsewhere, "trial"))
    });
    stopped.into_iter().chain(exhausted).chain(interrupted).chain(asked).chain(left).collect()
}

/// Why a study has enough trials.
pub(crate) fn enough(reason: &StopReason) -> String {
    enough_in(["is", "expects", "brought"], reason)
}

/// The same with these verbs.
fn enough_in([is, expects, brought]: [&str; 3], reason: &StopReason) -> String {
    match reason {
        StopReason::Gain { gain, limit, kind: BoundKind::Theorem } => {
            let (gain, limit) = (significant(*gain, 2), short(*limit));
            format!("the best point {is} within {gain} of the optimum (stop: gain = {limit})")
        }
        StopReason::Gain { gain, limit, .. } => {
            let above = if *gain > 0.0 { format!(" above {}", significant(*gain, 2)) } else { String::new() };
            format!("the model {expects} no gain{above} (stop: gain = {})", short(*limit))
        }
        StopReason::TrialsWithoutGain { trials } => {
            let values = counted(*trials, "value");
            format!("{values} in a row {brought} no better point (stop: trials_without_gain = {trials})")
        }
    }
}

/// Trials that were running then have ended since, and one of them may be the best.
fn stopped_line(reason: &StopReason) -> String {
    let reason = enough_in(["was", "expected", "had brought"], reason);
    format!("stopped when {reason}; --no-stop goes on")
}

/// The last lines of `worker`: what it recorded, and whether it was interrupted.
pub fn worker_endings(summary: Summary) -> Vec<String> {
    let (values, failures) = (counted(summary.told, "value"), counted(summary.failed, "failure"));
    let recorded = format!("this worker recorded {values} and {failures}");
    let stopped = summary.enough.map(|reason| stopped_line(&reason));
    let interrupted = summary.interrupted.then(|| HOW_TO_CONTINUE.to_string());
    [recorded].into_iter().chain(stopped).chain(interrupted).collect()
}

/// What `worker` gives.
pub fn worker(summary: Summary) -> Json {
    let Summary { told, failed, interrupted, idle, enough: reason, .. } = summary;
    let stopped = reason.map(|reason| enough(&reason));
    json!({"told": told, "failed": failed, "interrupted": interrupted, "idle": idle, "stopped": stopped})
}

/// The first line of a run: what earlier runs did; none where no trial has ended. `trials` is how many the study is to have.
pub fn opening(session: &Session, trials: Option<usize>) -> Option<String> {
    let begun = session.begun();
    if let Some(trials) = trials.filter(|trials| begun >= *trials && session.ledger().pending() == 0) {
        return Some(match begun > trials {
            true => format!("the study has {}, more than the {trials} that it is to have", counted(begun, "trial")),
            false => format!("the study has all its {}", counted(begun, "trial")),
        });
    }
    let ended = StudyProgress::of(session).ended;
    (ended > 0).then(|| format!("continuing after {}", counted(ended, "trial")))
}

/// How far a run is.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// How the study stands now.
    pub study: StudyProgress,
    /// How many trials had ended when the run began.
    pub ended_before: usize,
    /// How many trials the study is to have, if that is bounded.
    pub trials: Option<usize>,
    /// The best point, as [`best::brief`](crate::best::brief) has it; empty before the first value.
    pub best: String,
}

impl Progress {
    /// At the end of a line about one trial: the best point and how many trials have ended.
    pub fn suffix(&self) -> String {
        let best = if self.best.is_empty() { String::new() } else { format!("; {}", self.best) };
        format!("{best} {}", self.count())
    }

    /// How many trials have ended, in brackets.
    pub fn count(&self) -> String {
        let of = self.trials.map_or(String::new(), |trials| format!("/{trials}"));
        format!("[{}{of}]", self.study.ended)
    }

    /// On one line: how many trials have ended, the best point, and the time that is left.
    pub fn line(&self, elapsed: Duration) -> String {
        let ended = self.study.ended;
        let of = self.trials.map_or(String::new(), |trials| format!(" of {trials}"));
        let best = if self.best.is_empty() { String::new() } else { format!(", {}", self.best) };
        let left = self.time_left(elapsed).map_or(String::new(), |left| format!(", {} left", seconds(left)));
        let noun = if self.trials.unwrap_or(ended) == 1 { "trial" } else { "trials" };
        format!("{ended}{of} {noun}{left}{best}")
    }

    /// The remaining trials at the rate of those that have ended since the run began; none where either is unknown.
    fn time_left(&self, elapsed: Duration) -> Option<Duration> {
        let ended = self.study.ended;
        let done = ended.saturating_sub(self.ended_before);
        let left = self.trials?.checked_sub(ended).filter(|left| *left > 0)?;
        if done == 0 {
            return None;
        }
        Duration::try_from_secs_f64(elapsed.as_secs_f64() / done as f64 * left as f64).ok()
    }
}

/// A length of time in whole seconds.
pub fn whole_seconds(time: Duration) -> String {
    humantime::format_duration(Duration::from_secs(time.as_secs())).to_string()
}

/// A length of time, short.
pub(crate) fn seconds(time: Duration) -> String {
    match time.as_secs() {
        0..10 => format!("{:.1}s", time.as_secs_f64()),
        _ => whole_seconds(time),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_is_that_of_the_remaining_trials_at_the_rate_so_far() {
        let best = "best 1.5 (trial 3)".to_string();
        let progress = Progress { study: StudyProgress { ended: 6 }, ended_before: 2, trials: Some(16), best };
        assert_eq!(progress.line(Duration::from_secs(8)), "6 of 16 trials, 20s left, best 1.5 (trial 3)");
        assert_eq!(progress.suffix(), "; best 1.5 (trial 3) [6/16]");
        let unbounded = Progress { trials: None, ..progress.clone() };
        assert_eq!(unbounded.line(Duration::from_secs(8)), "6 trials, best 1.5 (trial 3)");
        let fresh = Progress { ended_before: 6, best: String::new(), ..progress };
        assert_eq!(fresh.line(Duration::ZERO), "6 of 16 trials");
    }
}
