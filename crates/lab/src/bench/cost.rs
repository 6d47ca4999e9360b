//! What work costs: wall-clock seconds, processor seconds, peak memory.

use std::time::Instant;

/// What `work` returns, and how many seconds it took.
pub fn timed_wall<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = Instant::now();
    let value = work();
    (value, start.elapsed().as_secs_f64())
}

/// What `work` returns, and how many seconds of [`clock`] it took: work on two threads counts twice.
pub fn worked<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let before = processor_seconds();
    let (value, wall) = timed_wall(work);
    let seconds = before.zip(processor_seconds()).map_or(wall, |(before, after)| after - before);
    (value, seconds)
}

/// The clock of [`worked`]: processor time of all threads on Linux, wall-clock time elsewhere.
pub fn clock() -> &'static str {
    if processor_seconds().is_some() { "CPU" } else { "wall clock" }
}

/// The sum of the first numbers of the threads' schedstat files, in nanoseconds, updated every few milliseconds.
fn processor_seconds() -> Option<f64> {
    let mut nanoseconds = 0.0;
    for thread in std::fs::read_dir("/proc/self/task").ok()? {
        let text = std::fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
        nanoseconds += text.split_whitespace().next()?.parse::<f64>().ok()?;
    }
    Some(1e-9 * nanoseconds)
}

/// The most memory that this process has held so far, in bytes; none where /proc is missing.
pub fn peak_memory() -> Option<u64> {
    parse_peak(&std::fs::read_to_string("/proc/self/status").ok()?)
}

fn parse_peak(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peak_memory_is_read_from_the_status_file() {
        assert_eq!(parse_peak("Name:\tx\nVmHWM:\t    2048 kB\nVmRSS:\t 1 kB\n"), Some(2048 * 1024));
        assert_eq!(parse_peak("Name:\tx\n"), None);
    }
}
