//! Stopping early: once to finish what runs, twice to stop now.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// A wish to stop, shared between the one who wishes and the runner.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicU8>);

impl Stop {
    /// Nobody wishes to stop.
    pub fn new() -> Self {
        Self::default()
    }

    /// Start nothing more; a second call stops what runs.
    pub fn more(&self) {
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |level| Some((level + 1).min(2)));
    }

    /// Stop what runs.
    pub fn now(&self) {
        self.0.store(2, Ordering::Relaxed);
    }

    /// Whether nothing more is to be started.
    pub fn is_wished(&self) -> bool {
        self.0.load(Ordering::Relaxed) >= 1
    }

    /// Whether what runs is to be stopped.
    pub fn is_urgent(&self) -> bool {
        self.0.load(Ordering::Relaxed) >= 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_wish_lets_trials_finish_and_the_second_does_not() {
        let stop = Stop::new();
        assert!(!stop.is_wished() && !stop.is_urgent());
        stop.more();
        assert!(stop.is_wished() && !stop.is_urgent());
        for _ in 0..300 {
            stop.more();
        }
        assert!(stop.is_wished() && stop.is_urgent());
    }
}
