//! Progress on standard error: a bar on a terminal, one line per measurement elsewhere.

use std::io::{IsTerminal, stderr};

use indicatif::{ProgressBar, ProgressStyle};

/// The progress of one measurement; gone from the terminal when dropped.
pub struct Progress(ProgressBar);

impl Progress {
    /// Begins a measurement of `steps` steps.
    pub fn new(name: &str, steps: usize) -> Self {
        if !stderr().is_terminal() {
            eprintln!("{name} ...");
            return Self::silent();
        }
        let bar = ProgressBar::new(steps as u64).with_message(name.to_string());
        if let Ok(style) = ProgressStyle::with_template("{msg:24} {bar:40} {pos}/{len} {elapsed}") {
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
