//! Stopping early: the first request finishes the running trials, the second stops them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// A request to stop, shared between whoever makes it and the runner.
///
/// ```
/// use manyhands_run::Stop;
/// let stop = Stop::new();
/// let from_another_thread = stop.clone();
/// from_another_thread.request();
/// assert!(stop.is_requested() && !stop.is_urgent());
/// ```
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicU8>);

impl Stop {
    /// No stop is requested yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Requests that nothing more is started; a second request stops the running trials.
    pub fn request(&self) {
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |level| Some((level + 1).min(2)));
    }

    /// Requests that the running trials are stopped.
    pub fn request_urgently(&self) {
        self.0.store(2, Ordering::Relaxed);
    }

    /// Whether nothing more is to be started.
    pub fn is_requested(&self) -> bool {
        self.0.load(Ordering::Relaxed) >= 1
    }

    /// Whether the running trials are to be stopped.
    pub fn is_urgent(&self) -> bool {
        self.0.load(Ordering::Relaxed) >= 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_request_lets_trials_finish_and_the_second_does_not() {
        let stop = Stop::new();
        assert!(!stop.is_requested() && !stop.is_urgent());
        stop.request();
        assert!(stop.is_requested() && !stop.is_urgent());
        for _ in 0..300 {
            stop.request();
        }
        assert!(stop.is_requested() && stop.is_urgent());
    }
}
