//! What is said on standard error: lines, and the progress of long work.

use std::io::{IsTerminal, Write, stderr};

use indicatif::{ProgressBar, ProgressStyle};

/// The progress of some work; gone from the terminal when dropped.
pub struct Progress(ProgressBar);

impl Progress {
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
        let bar = ProgressBar::new(steps as u64).with_message(name.to_string());
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

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// A line on standard error. If that is closed, the exit code has to do.
pub fn say(line: &str) {
    writeln!(stderr(), "{line}").ok();
}
