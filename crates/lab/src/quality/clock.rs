//! What a run costs: the processor time of its own thread on Linux, wall-clock time elsewhere. Which day it is.

use std::time::{Instant, SystemTime};

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

/// The date in UTC, as 2026-01-05.
pub(super) fn today() -> String {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let (year, month, day) = date(since.as_secs() / 86_400);
    format!("{year}-{month:02}-{day:02}")
}

/// Year, month and day of a day since 1970-01-01, by counting: years from March, so that a leap day is a year's last.
fn date(day: u64) -> (u64, u64, u64) {
    // Days since 0000-03-01, in eras of 400 years.
    let day = day + 719_468;
    let (era, of_era) = (day / 146_097, day % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    // Months from March have 153 days in every five.
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Days counted by `date -d DATE +%s`, divided by 86,400.
    #[test]
    fn days_have_dates() {
        let dates = [(0, (1970, 1, 1)), (11_016, (2000, 2, 29)), (19_723, (2024, 1, 1)), (20_453, (2025, 12, 31))];
        for (day, expected) in dates {
            assert_eq!(date(day), expected);
        }
    }
}
