//! Points in time: microseconds since 1970, shown as RFC 3339 in UTC.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A point in time, to the microsecond.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Time(i64);

impl Time {
    /// Now, by this machine's clock.
    pub fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
    }

    /// From microseconds since the beginning of 1970.
    pub(crate) fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// Microseconds since the beginning of 1970.
    pub fn micros(self) -> i64 {
        self.0
    }

    /// This much later.
    pub(crate) fn after(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)))
    }

    /// The time from then to `now`; zero if it is in the future.
    pub(crate) fn until(self, now: Self) -> Duration {
        Duration::from_micros(u64::try_from(now.0.saturating_sub(self.0)).unwrap_or(0))
    }
}

/// A length of time in microseconds, as stores keep it.
pub(crate) fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX / 4)
}

impl From<Time> for SystemTime {
    fn from(time: Time) -> Self {
        UNIX_EPOCH + Duration::from_micros(u64::try_from(time.0).unwrap_or(0))
    }
}

/// The clocks of a store; tests have others.
pub trait Clock: Send + Sync + fmt::Debug {
    /// The wall clock: what users are shown. It may jump.
    fn now(&self) -> Time;

    /// A monotonic clock that stands still while the machine sleeps and is the same for all processes since the boot:
    /// leases are measured by it.
    fn ticks(&self) -> Duration;
}

/// The clocks of this machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Time {
        Time::now()
    }

    fn ticks(&self) -> Duration {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        let (seconds, nanos) = (u64::try_from(now.tv_sec).unwrap_or(0), u32::try_from(now.tv_nsec).unwrap_or(0));
        Duration::new(seconds, nanos)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The years that RFC 3339 can write: 1970 to 9999.
        let micros = u64::try_from(self.0).unwrap_or(0).min(253_402_300_799_999_999);
        write!(f, "{}", humantime::format_rfc3339_micros(UNIX_EPOCH + Duration::from_micros(micros)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_as_rfc_3339() {
        assert_eq!(Time::from_micros(1_794_819_600_000_001).to_string(), "2026-11-16T09:00:00.000001Z");
        assert_eq!(Time::from_micros(i64::MIN).to_string(), "1970-01-01T00:00:00.000000Z");
        assert_eq!(Time::from_micros(i64::MAX).to_string(), "9999-12-31T23:59:59.999999Z");
    }
}
