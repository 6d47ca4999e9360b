//! What a run costs: the processor time of its own thread on Linux, wall-clock time elsewhere.

use std::time::Instant;

/// Which clock a cost was read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CostClock {
    /// Processor time of the thread.
    Cpu,
    /// Wall-clock time, which includes other programs.
    Wall,
}

impl CostClock {
    /// The clock of this system.
    pub fn here() -> Self {
        if thread_seconds().is_some() { Self::Cpu } else { Self::Wall }
    }

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cpu => "CPU",
            Self::Wall => "wall-clock",
        }
    }
}

/// What `work` returns, and the seconds it took this thread.
pub(crate) fn timed_cpu<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let (wall, cpu) = (Instant::now(), thread_seconds());
    let value = work();
    let seconds = match (cpu, thread_seconds()) {
        (Some(before), Some(after)) => after - before,
        _ => wall.elapsed().as_secs_f64(),
    };
    (value, seconds)
}

/// The processor time of this thread so far, on Linux: the first number, in nanoseconds, updated at every tick of the
/// scheduler, that is, every few milliseconds.
fn thread_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(1e-9 * text.split_whitespace().next()?.parse::<f64>().ok()?)
}
