//! The display while a study runs: running trials, progress, the best point, what may still be gained.

use std::cell::RefCell;
use std::io::{IsTerminal, stderr};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use manyhands_core::study::OUTLOOK_VALUES;
use manyhands_core::{Aim, Study, TrialState, Value};
use manyhands_report::news::line;
use manyhands_report::run::{Progress, opening};
use manyhands_report::value::params_line;
use manyhands_report::{best, certificate, outlook};
use manyhands_run::{News, Plan, StudyProgress};
use manyhands_store::Session;

use crate::stderr::{draw_target, say};

/// The longest line of a trial's parameters while it runs, in characters.
const SHOWN: usize = 60;

/// A running study on the terminal, or line by line elsewhere.
pub struct Live {
    state: RefCell<LiveState>,
    /// None with --quiet.
    output: RefCell<Option<LiveOutput>>,
    /// Says which point is best.
    reader: RefCell<Session>,
    start: Instant,
}

struct LiveState {
    progress: Progress,
    running: Vec<(usize, ProgressBar)>,
    is_waiting: bool,
    /// The latest warning: the same one is not reported twice in a row.
    warning: Option<String>,
}

enum LiveOutput {
    Lines,
    Terminal { all: MultiProgress, summary: ProgressBar, told: Sender<()> },
}

impl Live {
    /// The best point is that of another session of the same study; on a terminal a third one computes what may still be
    /// gained, on a thread of its own.
    pub fn new(session: &Session, plan: &Plan, quiet: bool) -> Self {
        let study = StudyProgress::of(session);
        let state = LiveState {
            progress: Progress { study, ended_before: study.ended, trials: plan.settings.trials, best: String::new() },
            running: vec![],
            is_waiting: false,
            warning: None,
        };
        let output = match (quiet, stderr().is_terminal()) {
            (true, _) => None,
            (false, false) => Some(LiveOutput::Lines),
            (false, true) => Some(terminal(session.another_session())),
        };
        let (state, output) = (RefCell::new(state), RefCell::new(output));
        let reader = RefCell::new(session.another_session());
        let live = Self { state, output, reader, start: Instant::now() };
        // It may take a while where values are many, and a run must begin at once.
        if session.ledger().count(TrialState::Observed) <= OUTLOOK_VALUES {
            live.find_best();
        }
        opening(session, plan.settings.trials).into_iter().for_each(|line| live.line(&line));
        live.refresh();
        live
    }

    /// Shows what happened. A failure to draw must not end a run: from then on plain lines are printed.
    pub fn show(&self, news: &News) {
        if catch_unwind(AssertUnwindSafe(|| self.try_show(news))).is_err() {
            // Not dropped: that draws, too.
            std::mem::forget(self.output.replace(Some(LiveOutput::Lines)));
            std::mem::forget(std::mem::take(&mut self.state.borrow_mut().running));
            self.try_show(news);
        }
    }

    fn try_show(&self, news: &News) {
        let is_value = matches!(news, News::Told { .. } | News::Delivered { .. });
        if is_value {
            self.find_best();
        }
        let line = self.state.borrow_mut().update(news, self.output.borrow().as_ref());
        line.into_iter().for_each(|line| self.line(&line));
        self.refresh();
        if let (Some(LiveOutput::Terminal { told, .. }), true) = (&*self.output.borrow(), is_value) {
            // Nobody receives it where the thread could not be started.
            let _ = told.send(());
        }
    }

    /// Finds the best point.
    fn find_best(&self) {
        if self.output.borrow().is_some() {
            let best = self.reader.borrow_mut().study().ok().and_then(|study| best_text(study));
            self.state.borrow_mut().progress.best = best.unwrap_or_default();
        }
    }

    /// Clears the terminal.
    pub fn finish(self) {
        let clear = || {
            if let Some(LiveOutput::Terminal { all, summary, .. }) = &*self.output.borrow() {
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
        match &*self.output.borrow() {
            Some(LiveOutput::Terminal { all, .. }) => all.suspend(|| say(line)),
            Some(LiveOutput::Lines) => say(line),
            None => {}
        }
    }

    fn refresh(&self) {
        if let Some(LiveOutput::Terminal { summary, .. }) = &*self.output.borrow() {
            summary.set_prefix(self.state.borrow().progress.line(self.start.elapsed()));
        }
    }
}

impl LiveState {
    /// Takes in what happened; the line about it, if there is one.
    fn update(&mut self, news: &News, output: Option<&LiveOutput>) -> Option<String> {
        let was_waiting = std::mem::replace(&mut self.is_waiting, matches!(news, News::Waiting { .. }));
        match news {
            News::Started { trial, params, aim, .. } => self.begin(*trial, params, *aim, output),
            News::Told { trial, progress, .. } => {
                self.end(*trial, *progress);
                return line(news).map(|line| line + &self.progress.suffix());
            }
            News::Failed { trial, progress, .. } => self.end(*trial, *progress),
            News::Stopped { trial }
            | News::HeldBack { trial, .. }
            | News::CalledOff { trial, .. }
            | News::TooLate { trial }
            | News::Kept { trial, .. } => self.clear(*trial),
            News::Delivered { progress, .. } => self.progress.study = *progress,
            News::Warning { what } if self.warning.as_ref() == Some(what) => return None,
            News::Warning { what } => self.warning = Some(what.clone()),
            News::Waiting { .. } if was_waiting => return None,
            _ => {}
        }
        line(news)
    }

    fn begin(&mut self, trial: usize, params: &[(String, Value)], aim: Option<Aim>, output: Option<&LiveOutput>) {
        let Some(LiveOutput::Terminal { all, .. }) = output else { return };
        let line = params_line(params.iter().map(|(name, value)| (name.as_str(), value)));
        // Under the summary, which is seen however many there are; short, so that nothing typed wraps them.
        let line: String = line.chars().take(SHOWN).collect();
        let bar = all.add(ProgressBar::new_spinner());
        if let Ok(style) = ProgressStyle::with_template("  {spinner} {prefix} {elapsed:>4}  {msg}") {
            bar.set_style(style);
        }
        let aim = aim.map_or(String::new(), |aim| format!(" {}", aim.name()));
        bar.set_prefix(format!("trial {trial}{aim}"));
        bar.set_message(line);
        bar.enable_steady_tick(Duration::from_millis(200));
        self.running.push((trial, bar));
    }

    fn end(&mut self, trial: usize, study: StudyProgress) {
        self.progress.study = study;
        self.warning = None;
        self.clear(trial);
    }

    fn clear(&mut self, trial: usize) {
        for (_, bar) in self.running.extract_if(.., |(running, _)| *running == trial) {
            bar.finish_and_clear();
        }
    }
}

fn terminal(mut session: Session) -> LiveOutput {
    let all = MultiProgress::with_draw_target(draw_target());
    let summary = all.add(ProgressBar::new_spinner());
    if let Ok(style) = ProgressStyle::with_template("{prefix}{msg}") {
        summary.set_style(style);
    }
    let (told, news) = channel::<()>();
    let bar = summary.clone();
    let watch = move || {
        while news.recv().is_ok() {
            // One look takes in all that was told so far; what is told during it makes another one due.
            while news.try_recv().is_ok() {}
            let start = Instant::now();
            bar.set_message(session.study().ok().and_then(promise_text).unwrap_or_default());
            // At most a fifth of the time goes into watching.
            std::thread::sleep(4 * start.elapsed());
        }
    };
    // Without the thread nothing is said of it before the end.
    let _ = std::thread::Builder::new().name("outlook".to_string()).spawn(watch);
    LiveOutput::Terminal { all, summary, told }
}

/// The best point, if there is one; none before a learned model is fitted, which takes a while.
fn best_text(study: &Study) -> Option<String> {
    if study.spec().learns() && study.fitted().is_none() {
        return None;
    }
    study.incumbent().ok().map(|found| best::brief(&found))
}

/// What may still be gained.
fn promise_text(study: &mut Study) -> Option<String> {
    if study.count(TrialState::Observed) > OUTLOOK_VALUES {
        // Watching would take longer than choosing; an old figure says nothing of now.
        return None;
    }
    let text = match study.spec().states_theorems() {
        true => certificate::brief(&study.certificate().ok()?),
        false => outlook::brief(&study.outlook().ok()?),
    };
    (!text.is_empty()).then(|| format!(", {text}"))
}
