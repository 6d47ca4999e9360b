//! Who holds a lease: a process, identified by its number and its start time.

use std::fs;
use std::sync::OnceLock;

/// A process on a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// The host's name.
    pub host: String,
    /// The boot of the host and the PID namespace.
    pub boot: String,
    /// The process's number.
    pub pid: u32,
    /// When it started, in the host's own ticks; 0 where that is not known.
    pub started: u64,
}

impl Holder {
    /// This process.
    pub(crate) fn this_process() -> Self {
        Self::here().clone()
    }

    /// This process, read once: neither the boot nor its own start time changes.
    fn here() -> &'static Self {
        static HERE: OnceLock<Holder> = OnceLock::new();
        HERE.get_or_init(|| {
            let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
            let pid = std::process::id();
            Self { host, boot: this_boot(), pid, started: start_of(pid).unwrap_or(0) }
        })
    }

    /// Whether the process runs or has ended, where that can be known: on this host, since the same boot, in the same PID
    /// namespace. Another boot may be that of another host of the same name, and the processes of another namespace (a
    /// container) are not visible.
    pub fn liveness(&self) -> Liveness {
        let here = Self::here();
        let is_seen = self.host == here.host && self.boot == here.boot && !self.boot.is_empty() && self.started != 0;
        match is_seen {
            true if start_of(self.pid) == Some(self.started) => Liveness::Runs,
            true => Liveness::Gone,
            false => Liveness::Unknown,
        }
    }

    /// Whether it has run since the same boot of the same machine as this process, so that their monotonic clocks agree.
    pub(crate) fn shares_clock(&self) -> bool {
        let machine = |holder: &Self| holder.boot.split('/').next().map(str::to_string);
        !self.boot.is_empty() && machine(self) == machine(Self::here())
    }
}

/// Whether a process runs, as far as that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Liveness {
    /// It runs, on this machine.
    Runs,
    /// It ran on this machine and has ended.
    Gone,
    /// It is not visible from here.
    Unknown,
}

impl std::fmt::Display for Holder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "process {} on {}", self.pid, self.host)
    }
}

/// The boot of this host and the PID namespace of this process; empty where the system does not say.
fn this_boot() -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let space = fs::read_link("/proc/self/ns/pid").map(|link| link.to_string_lossy().into_owned()).unwrap_or_default();
    if boot.is_empty() { String::new() } else { format!("{}/{space}", boot.trim()) }
}

/// When a process started, in clock ticks since the boot; none if it does not run, or is a zombie.
fn start_of(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is the command's name in parentheses, which may contain anything.
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
        assert_eq!(here.liveness(), Liveness::Runs);
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = child.id();
        let other = Holder { pid, started: start_of(pid).unwrap(), ..here.clone() };
        assert_eq!(other.liveness(), Liveness::Runs);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(other.liveness(), Liveness::Gone);
        let again = Holder { started: here.started + 1, ..here.clone() };
        assert_eq!(again.liveness(), Liveness::Gone, "a number used again");
        let elsewhere = Holder { host: "elsewhere".to_string(), ..other.clone() };
        assert_eq!(elsewhere.liveness(), Liveness::Unknown, "nothing is known of other hosts");
        let namesake = Holder { boot: "b/n".to_string(), ..other };
        assert_eq!(namesake.liveness(), Liveness::Unknown, "two hosts may have one name");
    }
}
