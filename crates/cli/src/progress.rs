//! The progress of long computations, as a bar on a terminal.

use std::io::{IsTerminal, stderr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use console::measure_text_width;
use manyhands_report::run::whole_seconds;

use crate::frame::Frame;
use crate::stderr::say;

/// The widest bar.
const WIDEST: usize = 80;

/// The progress of some work; gone from the terminal when dropped.
pub struct TerminalProgress {
    done: Arc<AtomicUsize>,
    /// None where nothing is drawn.
    _frame: Option<Frame>,
}

impl TerminalProgress {
    /// Begins work of `steps` steps: a bar on a terminal, one line elsewhere.
    pub fn new(name: &str, steps: usize) -> Self {
        if !stderr().is_terminal() {
            say(&format!("{name} ..."));
        }
        Self::on_terminal(name, steps)
    }

    /// Begins work of `steps` steps: a bar on a terminal, nothing elsewhere.
    pub fn on_terminal(name: &str, steps: usize) -> Self {
        let (done, start, name) = (Arc::new(AtomicUsize::new(0)), Instant::now(), name.to_string());
        let drawn = done.clone();
        let lines = move |width| {
            let work = Work { name: &name, done: drawn.load(Ordering::Relaxed), steps };
            vec![work.line(start.elapsed(), width)]
        };
        Self { done, _frame: Frame::start(Box::new(lines)) }
    }

    /// `steps` more are done.
    pub fn advance(&self, steps: usize) {
        self.done.fetch_add(steps, Ordering::Relaxed);
    }
}

/// Some work, and how much of it is done.
struct Work<'a> {
    name: &'a str,
    done: usize,
    steps: usize,
}

impl Work<'_> {
    fn line(&self, elapsed: Duration, width: usize) -> String {
        let Self { name, done, steps } = self;
        let left = (*done > 0).then(|| elapsed.mul_f64(steps.saturating_sub(*done) as f64 / *done as f64));
        let left = left.map_or(String::new(), |left| format!(", {} left", whole_seconds(left)));
        let figures = format!("{done}/{steps} {}{left}", whole_seconds(elapsed));
        // The last column stays free, and a blank is on either side of the bar.
        let room = width.saturating_sub(measure_text_width(name) + measure_text_width(&figures) + 3).min(WIDEST);
        let full = (room * done.min(steps)).checked_div(*steps).unwrap_or(room);
        format!("{name} {}{} {figures}", "█".repeat(full), "░".repeat(room - full))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_wide_as_its_terminal_and_says_how_long_it_takes() {
        let work = Work { name: "quality", done: 3, steps: 12 };
        let line = work.line(Duration::from_secs(5), 60);
        assert!(line.starts_with("quality █") && line.ends_with("░ 3/12 5s, 15s left"), "{line}");
        assert_eq!((measure_text_width(&line), line.matches('█').count(), line.matches('░').count()), (59, 8, 25));
        assert_eq!(measure_text_width(&work.line(Duration::from_secs(5), 77)), 76);
        let nothing = Work { name: "quality", done: 0, steps: 0 };
        assert!(nothing.line(Duration::ZERO, 20).contains("0/0 0s"));
    }
}
