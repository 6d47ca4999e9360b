//! Who holds a lease: a process, told apart from others with the same number by when it started.

use std::fs;

/// A process on a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// The host's name.
    pub host: String,
    /// Which start of the host, and which space of process numbers.
    pub boot: String,
    /// The process's number.
    pub pid: u32,
    /// When it started, in the host's own ticks; 0 where that is not known.
    pub started: u64,
}

impl Holder {
    /// This process.
    pub fn this_process() -> Self {
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let pid = std::process::id();
        Self { host, boot: this_boot(), pid, started: start_of(pid).unwrap_or(0) }
    }

    /// Whether the process is known to be gone: it was on this host since its last start, among the processes that can be
    /// seen from here, and no such process runs. Of others nothing is known: another start of a host may be another
    /// host of the same name, and another space of process numbers (a container) cannot be looked into.
    pub fn is_dead(&self) -> bool {
        let here = Self::this_process();
        let is_seen = self.host == here.host && self.boot == here.boot && !self.boot.is_empty() && self.started != 0;
        is_seen && start_of(self.pid) != Some(self.started)
    }
}

impl std::fmt::Display for Holder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "process {} on {}", self.pid, self.host)
    }
}

/// Which start of the host and which space of process numbers this is; empty where the system does not tell.
fn this_boot() -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let space = fs::read_link("/proc/self/ns/pid").map(|link| link.to_string_lossy().into_owned()).unwrap_or_default();
    if boot.is_empty() { String::new() } else { format!("{}/{space}", boot.trim()) }
}

/// When a process started, in ticks since the host did; none if it does not run (or has ended and is not yet collected).
fn start_of(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is the command's name in parentheses, which may hold anything.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?;
    if matches!(state, "Z" | "X") {
        return None;
    }
    fields.nth(18)?.parse().ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn this_process_is_alive_and_one_that_ended_is_dead() {
        let here = Holder::this_process();
        assert!(!here.is_dead());
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = child.id();
        let other = Holder { pid, started: start_of(pid).unwrap(), ..here.clone() };
        assert!(!other.is_dead());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(other.is_dead());
        assert!(Holder { started: here.started + 1, ..here.clone() }.is_dead(), "a number used again");
        assert!(
            !Holder { host: "elsewhere".to_string(), ..other.clone() }.is_dead(),
            "nothing is known of other hosts"
        );
        assert!(!Holder { boot: "b/n".to_string(), ..other }.is_dead(), "two hosts may have one name");
    }
}
