//! What happens during a run, one line per piece of news.

use std::time::Duration;

use manyhands_core::text::{counted, short};
use manyhands_run::{CallOffReason, Failure, News, StartReason};
use manyhands_store::Reported;

use crate::run::{enough, seconds};
use crate::trials::first_line;

/// The line for a piece of news; none where there is nothing to say.
pub fn line(news: &News) -> Option<String> {
    if let Some((trial, text)) = about_trial(news) {
        return Some(format!("trial {trial}: {text}"));
    }
    match news {
        News::Stopping { running, urgent } => Some(stopping(*running, *urgent)),
        News::Leaving { idle, pending } => {
            let (idle, pending) = (seconds(*idle), trials(*pending, "pending"));
            Some(format!("leaving: nothing to run here for {idle}, {pending} elsewhere (--leave-when-idle)"))
        }
        News::Enough { reason, running } => {
            let finishing =
                if *running > 0 { format!("; finishing {}", trials(*running, "running")) } else { String::new() };
            Some(format!("enough: {}{finishing}", enough(reason)))
        }
        News::Warning { what } => Some(format!("warning: {what}")),
        News::NotKept { trial, what } => Some(format!("warning: trial {trial}: {what} (said once for all trials)")),
        News::Waiting { pending, elsewhere, by_hand, most } => Some(waiting(*pending, *elsewhere, by_hand, *most)),
        News::ByHand { trials } => Some(by_hand(trials)),
        News::Suspended { failed, running } => Some(suspended(*failed, *running)),
        _ => None,
    }
}

/// A trial, and what happened to it.
fn about_trial(news: &News) -> Option<(usize, String)> {
    Some(match news {
        News::Started { trial, reason, .. } => (*trial, started(*reason)?.to_string()),
        News::Told { trial, value, aim, took, .. } => {
            let aim = aim.map_or(String::new(), |aim| format!(", {}", aim.name()));
            (*trial, format!("{} in {}{aim}", short(*value), seconds(*took)))
        }
        News::Failed { trial, failure, took, .. } => (*trial, failed(failure, *took, None)),
        News::HeldBack { trial, failure, took } => (*trial, held_back(failure, *took)),
        News::Retried { trial, failure } => (*trial, format!("failed, trying again: {}", failure.cause)),
        News::Stopped { trial } => (*trial, "stopped, to be run again".to_string()),
        News::CalledOff { trial, reason: CallOffReason::GivenAway } => {
            (*trial, "stopped, another worker has it".to_string())
        }
        News::CalledOff { trial, reason: CallOffReason::Cancelled } => {
            (*trial, "stopped, it was cancelled".to_string())
        }
        News::TooLate { trial } => {
            (*trial, "too late, it has ended or another worker has it; kept as a late result".to_string())
        }
        News::Delivered { trial, outcome, reported, .. } => (*trial, delivered(outcome, *reported)),
        News::Kept { trial, path } => {
            (*trial, format!("its result could not be recorded; the next run reports it from {}", path.display()))
        }
        _ => return None,
    })
}

/// The line for a trial that has failed, with how many have ended behind its time: the reason may have several lines.
pub fn failed_line(trial: usize, failure: &Failure, took: Duration, count: &str) -> String {
    format!("trial {trial}: {}", failed(failure, took, Some(count)))
}

fn failed(failure: &Failure, took: Duration, count: Option<&str>) -> String {
    let count = count.map_or(String::new(), |count| format!(" {count}"));
    format!("failed after {}{count}: {}", seconds(took), failure.to_string().replace('\n', "\n    "))
}

fn started(reason: StartReason) -> Option<&'static str> {
    match reason {
        StartReason::LeftUnfinished => Some("left unfinished, run again"),
        StartReason::Silent => Some("taken over from a worker that no longer renews its lease"),
        StartReason::TakenAway => Some("taken over"),
        StartReason::Reopened => Some("reopened, run again"),
        StartReason::Adopted => Some("asked for by hand, run here"),
        StartReason::New => None,
    }
}

fn delivered(outcome: &Result<f64, String>, reported: Reported) -> String {
    let outcome = match outcome {
        Ok(value) => short(*value),
        Err(reason) => format!("failed: {}", first_line(reason)),
    };
    let end = match reported {
        Reported::TooLate => "too late, kept as a late result",
        Reported::Recorded => "recorded now",
    };
    format!("{outcome}, which an earlier run could not record; {end}")
}

fn stopping(running: usize, urgent: bool) -> String {
    match (running, urgent) {
        (0, false) => "stopping; Ctrl-C again to stop now".to_string(),
        (0, true) => "stopping".to_string(),
        (_, false) => format!("finishing {}; Ctrl-C again to stop now", trials(running, "running")),
        (_, true) => format!("stopping {}, to be run again next time", trials(running, "running")),
    }
}

/// What is waited for, and what to do about trials that nobody runs.
fn waiting(pending: usize, elsewhere: usize, by_hand: &[usize], most: Option<usize>) -> String {
    let mut text = format!("waiting for {}", trials(pending, "pending"));
    if elsewhere > 0 {
        let workers = if elsewhere == 1 { "another worker" } else { "other workers" };
        text += &format!(", {elsewhere} with {workers}");
    }
    if !by_hand.is_empty() {
        let numbers = numbered(by_hand);
        let them = them(by_hand);
        text += &format!("; {numbers} asked for by hand: tell, fail or cancel {them}, or let `run --adopt` run {them}");
    }
    match most.filter(|most| pending >= *most) {
        Some(most) => text + &format!("; at most {most} may be pending (max_pending, or else workers)"),
        None => text,
    }
}

/// The trials that were asked for by hand before the run began.
fn by_hand(trials: &[usize]) -> String {
    let (numbers, them) = (numbered(trials), them(trials));
    format!("{numbers} asked for by hand, not run here; --adopt runs {them}, and tell, fail or cancel end {them}")
}

/// The word for trials that were named.
pub(crate) fn them(trials: &[usize]) -> &'static str {
    if trials.len() == 1 { "it" } else { "them" }
}

/// Trials by their numbers, and the verb for them.
pub(crate) fn numbered(trials: &[usize]) -> String {
    let were = if trials.len() == 1 { "was" } else { "were" };
    format!("{} {were}", manyhands_core::text::trials(trials))
}

fn suspended(failed: usize, running: usize) -> String {
    let hope = match running {
        1 => "the running trial succeeds".to_string(),
        running => format!("one of the {running} running trials succeeds"),
    };
    format!("the first {failed} trials failed in the same way: nothing more is started unless {hope}")
}

fn held_back(failure: &Failure, took: Duration) -> String {
    format!(
        "failed after {}: {}; not recorded yet, as the command has not succeeded so far",
        seconds(took),
        failure.brief()
    )
}

fn trials(count: usize, state: &str) -> String {
    counted(count, &format!("{state} trial"))
}
