//! The progress of long computations, as a bar on a terminal.

use std::io::{IsTerminal, stderr};

use indicatif::{ProgressBar, ProgressStyle};

use crate::stderr::{draw_target, say};

/// The progress of some work; gone from the terminal when dropped.
pub struct TerminalProgress(ProgressBar);

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
        if !stderr().is_terminal() {
            return Self::silent();
        }
        let bar = ProgressBar::with_draw_target(Some(steps as u64), draw_target()).with_message(name.to_string());
        if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} {elapsed}, {eta} left") {
            bar.set_style(style);
        }
        bar.tick();
        Self(bar)
    }

    /// Says nothing.
    pub fn silent() -> Self {
        Self(ProgressBar::hidden())
    }

    /// `steps` more are done.
    pub fn advance(&self, steps: usize) {
        self.0.inc(steps as u64);
    }
}

impl Drop for TerminalProgress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
