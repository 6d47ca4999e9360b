//! What is seen while a study runs: the running trials, the best so far, what is done and what is left, the certificate.

use std::cell::RefCell;
use std::io::{IsTerminal, stderr};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use manyhands_core::{CERTIFIED, Kind, TrialState, Value, counted, significant};
use manyhands_run::{Before, News, Plan, Standing};
use manyhands_store::Session;

use crate::progress::{draw_target, say};
use crate::show::{extreme, first_line, params_line, short};

/// So much of a trial's parameters is shown while it runs.
const SHOWN: usize = 60;

/// A running study on the terminal, or line by line elsewhere.
pub struct Live {
    state: RefCell<State>,
    /// None if nothing is to be said.
    screen: RefCell<Option<Screen>>,
    start: Instant,
}

struct State {
    standing: Standing,
    /// "highest" or "lowest": the best value so far, which need not be that of the best trial.
    extreme: &'static str,
    /// How many trials had ended when this began.
    ended_before: usize,
    trials: Option<usize>,
    running: Vec<(usize, ProgressBar)>,
    waiting: bool,
    /// The latest trouble: the same is not told again and again.
    trouble: Option<String>,
}

enum Screen {
    Lines,
    Terminal { all: MultiProgress, summary: ProgressBar, certificate: Sender<()> },
}

impl Live {
    /// `another` opens another session of the same study, for the certificate.
    pub fn new(session: &Session, plan: &Plan, quiet: bool, another: impl FnOnce() -> Option<Session>) -> Self {
        let standing = Standing::of(session);
        let state = State {
            standing,
            extreme: extreme(session.spec().direction()),
            ended_before: standing.ended,
            trials: plan.trials,
            running: vec![],
            waiting: false,
            trouble: None,
        };
        let screen = match (quiet, stderr().is_terminal()) {
            (true, _) => None,
            (false, false) => Some(Screen::Lines),
            (false, true) => Some(terminal(another())),
        };
        let live = Self { state: RefCell::new(state), screen: RefCell::new(screen), start: Instant::now() };
        if standing.ended > 0 {
            live.line(&format!("going on after {}", counted(standing.ended, "trial")));
        }
        live.refresh();
        live
    }

    /// Shows what happened. Drawing must never end a run: if it breaks, lines have to do.
    pub fn hear(&self, news: &News) {
        if catch_unwind(AssertUnwindSafe(|| self.show(news))).is_err() {
            // Not dropped: that draws, too.
            std::mem::forget(self.screen.replace(Some(Screen::Lines)));
            std::mem::forget(std::mem::take(&mut self.state.borrow_mut().running));
            self.show(news);
        }
    }

    fn show(&self, news: &News) {
        let line = self.state.borrow_mut().hear(news, self.screen.borrow().as_ref());
        line.into_iter().for_each(|line| self.line(&line));
        self.refresh();
        if let (Some(Screen::Terminal { certificate, .. }), News::Told { .. }) = (&*self.screen.borrow(), news) {
            // Nobody computes certificates where no second session could be opened.
            let _ = certificate.send(());
        }
    }

    /// Clears the terminal.
    pub fn finish(self) {
        let clear = || {
            if let Some(Screen::Terminal { all, summary, .. }) = &*self.screen.borrow() {
                summary.finish_and_clear();
                // A terminal that has gone cannot be cleared.
                let _ = all.clear();
            }
        };
        if catch_unwind(AssertUnwindSafe(clear)).is_err() {
            // Not dropped: that draws, too.
            std::mem::forget(self);
        }
    }

    fn line(&self, line: &str) {
        match &*self.screen.borrow() {
            Some(Screen::Terminal { all, .. }) => all.suspend(|| say(line)),
            Some(Screen::Lines) => say(line),
            None => {}
        }
    }

    fn refresh(&self) {
        if let Some(Screen::Terminal { summary, .. }) = &*self.screen.borrow() {
            summary.set_prefix(self.state.borrow().summary(self.start.elapsed()));
        }
    }
}

impl State {
    /// Takes in what happened; the line to be said of it.
    fn hear(&mut self, news: &News, screen: Option<&Screen>) -> Option<String> {
        if !matches!(news, News::Waiting { .. }) {
            self.waiting = false;
        }
        match news {
            News::Started { trial, params, before } => {
                self.begin(*trial, params, screen);
                let before = match before {
                    Before::LeftUnfinished => "left unfinished, run again",
                    Before::Silent => "taken over from a worker that is not heard of any more",
                    Before::TakenAway => "taken from whoever had it, run here",
                    Before::Nothing => return None,
                };
                Some(format!("trial {trial}: {before}"))
            }
            News::Told { trial, value, took, standing } => {
                self.end(*trial, *standing);
                let (value, took) = (short(*value), seconds(*took));
                Some(format!("trial {trial}: {value} in {took}{}", self.progress()))
            }
            News::Failed { trial, reason, took, standing } => {
                self.end(*trial, *standing);
                let reason = reason.replace('\n', "\n    ");
                Some(format!("trial {trial}: failed after {}: {reason}", seconds(*took)))
            }
            News::Retried { trial, failure } => Some(format!("trial {trial}: failed, trying again: {}", failure.cause)),
            News::Stopped { trial } => {
                self.clear(*trial);
                Some(format!("trial {trial}: stopped, to be run again"))
            }
            News::CalledOff { trial, taken } => {
                self.clear(*trial);
                let why = if *taken { "another worker was given it" } else { "it was cancelled" };
                Some(format!("trial {trial}: stopped, {why}"))
            }
            News::TooLate { trial } => {
                self.clear(*trial);
                Some(format!("trial {trial}: too late, it has ended or another worker was given it; kept as evidence"))
            }
            News::Delivered { standing, .. } => {
                self.standing = *standing;
                brief(news)
            }
            News::Kept { trial, .. } => {
                self.clear(*trial);
                brief(news)
            }
            News::Stopping { running: 0, urgent: false } => Some("stopping; Ctrl-C again to stop now".to_string()),
            News::Stopping { running: 0, urgent: true } => Some("stopping".to_string()),
            News::Stopping { running, urgent: false } => {
                Some(format!("finishing {}; Ctrl-C again to stop now", trials(*running, "running")))
            }
            News::Stopping { running, urgent: true } => {
                Some(format!("stopping {}, to be run again next time", trials(*running, "running")))
            }
            News::Trouble { what } if self.trouble.as_ref() != Some(what) => {
                self.trouble = Some(what.clone());
                brief(news)
            }
            News::Leaving { .. } => brief(news),
            News::Waiting { pending, elsewhere, most } if !self.waiting => {
                self.waiting = true;
                Some(waiting(*pending, *elsewhere, *most))
            }
            _ => None,
        }
    }

    fn begin(&mut self, trial: usize, params: &[(String, Value)], screen: Option<&Screen>) {
        let Some(Screen::Terminal { all, .. }) = screen else { return };
        let line = params_line(params.iter().map(|(name, value)| (name.as_str(), value)));
        // Under the summary, which is seen however many there are; short, so that nothing typed wraps them.
        let line: String = line.chars().take(SHOWN).collect();
        let bar = all.add(ProgressBar::new_spinner());
        if let Ok(style) = ProgressStyle::with_template("  {spinner} {prefix} {elapsed:>4}  {msg}") {
            bar.set_style(style);
        }
        bar.set_prefix(format!("trial {trial}"));
        bar.set_message(line);
        bar.enable_steady_tick(Duration::from_millis(200));
        self.running.push((trial, bar));
    }

    fn end(&mut self, trial: usize, standing: Standing) {
        self.standing = standing;
        self.trouble = None;
        self.clear(trial);
    }

    fn clear(&mut self, trial: usize) {
        for (_, bar) in self.running.extract_if(.., |(running, _)| *running == trial) {
            bar.finish_and_clear();
        }
    }

    fn progress(&self) -> String {
        let Standing { ended, best } = self.standing;
        let extreme = self.extreme;
        let best = best.map_or(String::new(), |(trial, value)| format!(" ({extreme} {}, trial {trial})", short(value)));
        let of = self.trials.map_or(String::new(), |trials| format!("/{trials}"));
        format!("{best} [{ended}{of}]")
    }

    fn summary(&self, elapsed: Duration) -> String {
        let Standing { ended, best } = self.standing;
        let of = self.trials.map_or(String::new(), |trials| format!(" of {trials}"));
        let extreme = self.extreme;
        let best = best.map_or(String::new(), |(trial, value)| format!(", {extreme} {} (trial {trial})", short(value)));
        let since = ended.saturating_sub(self.ended_before);
        let left = match self.trials {
            Some(trials) if since > 0 && trials > ended => {
                let each = elapsed.as_secs_f64() / since as f64;
                format!(", {} left", seconds(Duration::from_secs_f64(each * (trials - ended) as f64)))
            }
            _ => String::new(),
        };
        let trials = if self.trials.unwrap_or(ended) == 1 { "trial" } else { "trials" };
        format!("{ended}{of} {trials}{best}{left}")
    }
}

/// The line of news that need no more than themselves to be told.
pub fn brief(news: &News) -> Option<String> {
    match news {
        News::Delivered { trial, outcome, too_late, .. } => {
            let outcome = match outcome {
                Ok(value) => short(*value),
                Err(reason) => format!("failed: {}", first_line(reason)),
            };
            let end = if *too_late { "too late, kept as evidence" } else { "recorded now" };
            Some(format!("trial {trial}: {outcome}, which an earlier run could not record; {end}"))
        }
        News::Kept { trial, path } => {
            let path = path.display();
            Some(format!("trial {trial}: its result could not be recorded; the next run reports it from {path}"))
        }
        News::Leaving { idle, pending } => {
            let (idle, pending) = (seconds(*idle), trials(*pending, "pending"));
            Some(format!("leaving: nothing to run here for {idle}, {pending} elsewhere (--leave-when-idle)"))
        }
        News::Trouble { what } => Some(format!("warning: {what}")),
        _ => None,
    }
}

/// What is waited for, and what to do about what nobody runs.
fn waiting(pending: usize, elsewhere: usize, most: Option<usize>) -> String {
    let by_hand = pending - elsewhere;
    let mut text = format!("waiting for {}", trials(pending, "pending"));
    if elsewhere > 0 {
        let workers = if elsewhere == 1 { "another worker" } else { "other workers" };
        text += &format!(", {elsewhere} with {workers}");
    }
    if by_hand > 0 {
        text += &format!(", {by_hand} asked for by hand (tell, fail or cancel what nobody runs)");
    }
    match most.filter(|most| pending >= *most) {
        Some(most) => text + &format!("; at most {most} may be pending (max_pending, or else workers)"),
        None => text,
    }
}

fn trials(count: usize, how: &str) -> String {
    counted(count, &format!("{how} trial"))
}

fn terminal(session: Option<Session>) -> Screen {
    let all = MultiProgress::with_draw_target(draw_target());
    let summary = all.add(ProgressBar::new_spinner());
    if let Ok(style) = ProgressStyle::with_template("{prefix}{msg}") {
        summary.set_style(style);
    }
    let (certificate, wanted) = channel::<()>();
    if let Some(mut session) = session {
        let bar = summary.clone();
        let watch = move || {
            while wanted.recv().is_ok() {
                let start = Instant::now();
                if let Some(text) = opinion(&mut session) {
                    bar.set_message(text);
                }
                // At most a tenth of the time goes into watching.
                std::thread::sleep((10 * start.elapsed()).max(Duration::from_millis(500)));
                while wanted.try_recv().is_ok() {}
            }
        };
        // Without the thread there is no certificate before the end.
        let _ = std::thread::Builder::new().name("certificate".to_string()).spawn(watch);
    }
    Screen::Terminal { all, summary, certificate }
}

fn opinion(session: &mut Session) -> Option<String> {
    let study = session.study().ok()?;
    if study.count(TrialState::Observed) > CERTIFIED {
        // Watching would take longer than choosing; an old bound says nothing of now.
        return Some(String::new());
    }
    let certificate = study.certificate().ok()?;
    let kind = if certificate.kind == Kind::Theorem { "theorem" } else { "model" };
    Some(format!(", at most {} from the optimum ({kind})", significant(certificate.regret_bound, 2)))
}

/// A length of time, short.
fn seconds(time: Duration) -> String {
    match time.as_secs() {
        0..10 => format!("{:.1}s", time.as_secs_f64()),
        10..60 => format!("{}s", time.as_secs()),
        whole => humantime::format_duration(Duration::from_secs(whole)).to_string(),
    }
}
