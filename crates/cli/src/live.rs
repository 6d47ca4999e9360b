//! The display while a study runs: running trials, progress, the best point, what may still be gained.

use std::cell::RefCell;
use std::io::{IsTerminal, stderr};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use console::measure_text_width;
use manyhands_core::study::OUTLOOK_VALUES;
use manyhands_core::text::printable;
use manyhands_core::{Aim, Study, TrialState, Value};
use manyhands_report::news::{failed_line, line};
use manyhands_report::run::{Progress, opening, whole_seconds};
use manyhands_report::value::params_line;
use manyhands_report::{best, certificate, outlook};
use manyhands_run::{News, Plan, StudyProgress};
use manyhands_store::Session;

use crate::frame::Frame;
use crate::stderr::say;

/// What is shown in turn beside a running trial.
const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// How long each of them is shown, in milliseconds.
const TURN: u128 = 200;

/// A running study on the terminal, or line by line elsewhere.
pub struct Live {
    state: RefCell<LiveState>,
    output: LiveOutput,
    /// Says which point is best.
    reader: RefCell<Session>,
    start: Instant,
}

struct LiveState {
    progress: Progress,
    is_waiting: bool,
    /// The latest warning: the same one is not reported twice in a row.
    warning: Option<String>,
}

enum LiveOutput {
    /// With --quiet.
    Nothing,
    Lines,
    Terminal {
        frame: Frame,
        shown: SharedView,
        told: Sender<()>,
    },
}

/// What a terminal shows, shared with the thread that draws it.
#[derive(Clone, Default)]
struct SharedView(Arc<Mutex<LiveView>>);

/// What a terminal shows.
#[derive(Default)]
struct LiveView {
    /// How far the run is.
    summary: String,
    /// What may still be gained.
    promise: String,
    running: Vec<RunningRow>,
}

/// A running trial.
struct RunningRow {
    trial: usize,
    /// What it is for.
    aim: Option<Aim>,
    params: String,
    start: Instant,
}

impl Live {
    /// The best point is that of another session of the same study; on a terminal a third one computes what may still be
    /// gained, on a thread of its own.
    pub fn new(session: &Session, plan: &Plan, quiet: bool) -> Self {
        let study = StudyProgress::of(session);
        let state = LiveState {
            progress: Progress { study, ended_before: study.ended, trials: plan.settings.trials, best: String::new() },
            is_waiting: false,
            warning: None,
        };
        let output = match (quiet, stderr().is_terminal()) {
            (true, _) => LiveOutput::Nothing,
            (false, false) => LiveOutput::Lines,
            (false, true) => terminal(session.another_session()),
        };
        let reader = RefCell::new(session.another_session());
        let live = Self { state: RefCell::new(state), output, reader, start: Instant::now() };
        // It may take a while where values are many, and a run must begin at once.
        if session.ledger().count(TrialState::Observed) <= OUTLOOK_VALUES {
            live.find_best();
        }
        opening(session, plan.settings.trials).into_iter().for_each(|line| live.line(&line));
        live.refresh();
        live
    }

    /// Shows what happened.
    pub fn show(&self, news: &News) {
        let is_value = matches!(news, News::Told { .. } | News::Delivered { .. });
        if is_value {
            self.find_best();
        }
        if let LiveOutput::Terminal { shown, .. } = &self.output {
            shown.view().update(news);
        }
        let line = self.state.borrow_mut().update(news);
        self.refresh();
        line.into_iter().for_each(|line| self.line(&line));
        if let (LiveOutput::Terminal { told, .. }, true) = (&self.output, is_value) {
            // Nobody receives it where the thread could not be started.
            let _ = told.send(());
        }
    }

    /// Finds the best point.
    fn find_best(&self) {
        if !matches!(self.output, LiveOutput::Nothing) {
            let best = self.reader.borrow_mut().study().ok().and_then(|study| best_text(study));
            self.state.borrow_mut().progress.best = best.unwrap_or_default();
        }
    }

    fn line(&self, line: &str) {
        match &self.output {
            LiveOutput::Terminal { frame, .. } => frame.print(&format!("{}\n", printable(line))),
            LiveOutput::Lines => say(line),
            LiveOutput::Nothing => {}
        }
    }

    fn refresh(&self) {
        if let LiveOutput::Terminal { shown, .. } = &self.output {
            shown.view().summary = self.state.borrow().progress.line(self.start.elapsed());
        }
    }
}

impl LiveState {
    /// Takes in what happened; the line about it, if there is one.
    fn update(&mut self, news: &News) -> Option<String> {
        let was_waiting = std::mem::replace(&mut self.is_waiting, matches!(news, News::Waiting { .. }));
        match news {
            News::Told { progress, .. } => {
                self.end(*progress);
                return line(news).map(|line| line + &self.progress.suffix());
            }
            News::Failed { trial, failure, took, progress } => {
                self.end(*progress);
                return Some(failed_line(*trial, failure, *took, &self.progress.count()));
            }
            News::Delivered { progress, .. } => self.progress.study = *progress,
            News::Warning { what } if self.warning.as_ref() == Some(what) => return None,
            News::Warning { what } => self.warning = Some(what.clone()),
            News::Waiting { .. } if was_waiting => return None,
            _ => {}
        }
        line(news)
    }

    fn end(&mut self, study: StudyProgress) {
        self.progress.study = study;
        self.warning = None;
    }
}

impl SharedView {
    fn view(&self) -> MutexGuard<'_, LiveView> {
        // Each change is one call, so a panic leaves it consistent.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LiveView {
    /// Takes in which trials run.
    fn update(&mut self, news: &News) {
        match news {
            News::Started { trial, params, aim, .. } => self.begin(*trial, params, *aim),
            News::Told { trial, .. }
            | News::Failed { trial, .. }
            | News::HeldBack { trial, .. }
            | News::Stopped { trial }
            | News::CalledOff { trial, .. }
            | News::TooLate { trial }
            | News::Kept { trial, .. } => self.running.retain(|row| row.trial != *trial),
            _ => {}
        }
    }

    fn begin(&mut self, trial: usize, params: &[(String, Value)], aim: Option<Aim>) {
        let params = printable(&params_line(params.iter().map(|(name, value)| (name.as_str(), value))));
        self.running.push(RunningRow { trial, aim, params, start: Instant::now() });
    }

    /// The summary first, which is seen however many trials run.
    fn lines(&self, width: usize) -> Vec<String> {
        let summary = folded(&format!("{}{}", self.summary, self.promise), width.saturating_sub(1));
        let names: Vec<[String; 2]> = self.running.iter().map(RunningRow::names).collect();
        let widest = [0, 1].map(|column| names.iter().map(|names| names[column].len()).max().unwrap_or(0));
        let rows = self.running.iter().zip(&names).map(|(row, names)| row.line(names, widest));
        summary.into_iter().chain(rows).collect()
    }
}

impl RunningRow {
    /// The trial, and what it is for.
    fn names(&self) -> [String; 2] {
        [self.trial.to_string(), self.aim.map_or(String::new(), |aim| aim.name().to_string())]
    }

    /// With names of these widths, so that rows line up.
    fn line(&self, [trial, aim]: &[String; 2], [trial_width, aim_width]: [usize; 2]) -> String {
        let elapsed = self.start.elapsed();
        let turn = SPINNER[(elapsed.as_millis() / TURN % SPINNER.len() as u128) as usize];
        let (elapsed, params) = (whole_seconds(elapsed), &self.params);
        format!("  {turn} trial {trial:>trial_width$} {aim:aim_width$} {elapsed:>4}  {params}")
    }
}

/// A text of parts with commas between them, on as many lines as they need.
fn folded(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in text.split_inclusive(", ") {
        match lines.last_mut() {
            Some(line) if measure_text_width(line) + measure_text_width(part.trim_end()) <= width => {
                line.push_str(part)
            }
            _ => lines.push(part.to_string()),
        }
    }
    lines
}

fn terminal(mut session: Session) -> LiveOutput {
    let shown = SharedView::default();
    let drawn = shown.clone();
    let Some(frame) = Frame::start(Box::new(move |width| drawn.view().lines(width))) else { return LiveOutput::Lines };
    let (told, news) = channel::<()>();
    let promised = shown.clone();
    let watch = move || {
        while news.recv().is_ok() {
            // One look takes in all that was told so far; what is told during it makes another one due.
            while news.try_recv().is_ok() {}
            let start = Instant::now();
            let promise = session.study().ok().and_then(promise_text).unwrap_or_default();
            promised.view().promise = promise;
            // At most a fifth of the time goes into watching.
            std::thread::sleep(4 * start.elapsed());
        }
    };
    // Without the thread nothing is said of it before the end.
    let _ = std::thread::Builder::new().name("outlook".to_string()).spawn(watch);
    LiveOutput::Terminal { frame, shown, told }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_that_is_too_wide_is_folded_at_its_commas() {
        let text = "7 of 40 trials, 3s left, best 1.5 (trial 3), no gain above 0.01 expected";
        for width in 1..90 {
            let lines = folded(text, width);
            assert_eq!(lines.concat(), text);
            let fits =
                |line: &String| line.trim_end().len() <= width || !line.trim_end().trim_end_matches(',').contains(", ");
            assert!(lines.iter().all(fits), "{lines:?}");
        }
        assert_eq!(folded(text, 90).len(), 1);
        assert_eq!(folded("", 20), [""; 0]);
    }

    #[test]
    fn a_row_of_a_running_trial_has_all_its_parameters_and_goes_when_it_ends() {
        let mut view = LiveView { summary: "0 of 3 trials".to_string(), ..LiveView::default() };
        let params: Vec<(String, Value)> = (0..40).map(|i| (format!("parameter{i}"), Value::Int(i))).collect();
        view.begin(7, &params, Some(Aim::Wide));
        let lines = view.lines(60);
        assert_eq!(lines[0], "0 of 3 trials");
        assert!(lines[1].contains("trial 7 wide   0s  parameter0 = 0, ") && lines[1].ends_with("parameter39 = 39"));
        view.begin(12, &params, Some(Aim::Greedy));
        let lines = view.lines(60);
        assert!(lines[1].contains("trial  7 wide     0s  parameter0"), "{lines:?}");
        assert!(lines[2].contains("trial 12 greedy   0s  parameter0"), "{lines:?}");
        view.update(&News::Stopped { trial: 7 });
        assert_eq!(view.lines(60).len(), 2);
    }
}
