//! A command in a process group of its own, which outlives neither its time limit nor the runner.
//!
//! The group's leader is a guard, a tiny shell that waits for the end of its standard input. The runner holds the other end
//! of that pipe: however the runner dies, the guard reads the end of input and kills the group. Its trial may then be run
//! again at once.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process_group};
#[cfg(target_os = "linux")]
use rustix::process::{PidfdFlags, pidfd_open};

/// How long to wait before checking whether the command is to be stopped.
const POLL: Duration = Duration::from_millis(100);

/// How long to wait before checking whether the command has ended, where the system cannot signal it.
const PAUSE: Duration = Duration::from_millis(10);

/// Waits for the end of its input, then ends its own process group.
const GUARD: &str = "trap '' TERM INT HUP QUIT; read line; kill -KILL 0";

/// A running command and its guard.
#[derive(Debug)]
pub struct Group {
    guard: Child,
    child: Child,
    /// Tells when the command ends.
    end: Option<OwnedFd>,
}

impl Group {
    /// Starts a command in a group of its own.
    pub fn start(command: &mut Command) -> Result<Self, NotStarted> {
        let quiet =
            |shell: &mut Command| shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        // It needs nothing of the environment, which may hold secrets.
        let guard = quiet(Command::new("/bin/sh").args(["-c", GUARD]).env_clear().process_group(0));
        let mut guard = guard.map_err(NotStarted::Guard)?;
        match command.process_group(guard.id() as i32).spawn() {
            Ok(child) => Ok(Self { end: end_of(&child), guard, child }),
            Err(error) => {
                // Why there is no command is the error to report; the guard ends with its input in any case.
                let _ = guard.kill().and_then(|()| guard.wait());
                Err(NotStarted::Command(error))
            }
        }
    }

    /// The command itself, for its output.
    pub fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Waits until the command ends, or until `grace` says to stop it: `grace` is the time between SIGTERM and SIGKILL. All
    /// that the command left in its group is killed too.
    pub fn wait(mut self, grace: impl Fn() -> Option<Duration>) -> io::Result<Ended> {
        let ended = loop {
            if let Some(status) = self.child.try_wait()? {
                break Ended::ByItself(status);
            }
            if grace().is_some() {
                self.stop(&grace)?;
                break Ended::Stopped;
            }
            self.pause();
        };
        self.kill()?;
        Ok(ended)
    }

    /// Sends SIGTERM to the group, and waits for the command while its grace lasts, which may become shorter meanwhile.
    fn stop(&mut self, grace: impl Fn() -> Option<Duration>) -> io::Result<()> {
        self.signal(Signal::TERM)?;
        let start = Instant::now();
        while self.child.try_wait()?.is_none() && grace().is_some_and(|grace| start.elapsed() < grace) {
            self.pause();
        }
        Ok(())
    }

    /// Waits a little, and not beyond the end of the command.
    fn pause(&self) {
        let Some(end) = &self.end else { return sleep(PAUSE) };
        let timeout = Timespec { tv_sec: 0, tv_nsec: i64::from(POLL.subsec_nanos()) };
        // The caller waits again if a signal cuts this short.
        if poll(&mut [PollFd::new(end, PollFlags::IN)], Some(&timeout)).is_err() {
            sleep(PAUSE);
        }
    }

    fn kill(&mut self) -> io::Result<()> {
        self.signal(Signal::KILL)?;
        self.child.wait()?;
        self.guard.wait()?;
        Ok(())
    }

    fn signal(&self, signal: Signal) -> io::Result<()> {
        // The guard has not been waited for, so its number, and with it the group's, is still its own.
        match Pid::from_raw(self.guard.id() as i32).map(|group| kill_process_group(group, signal)) {
            Some(Err(error)) if error != rustix::io::Errno::SRCH => Err(error.into()),
            _ => Ok(()),
        }
    }
}

/// Why there is no running command.
#[derive(Debug)]
pub enum NotStarted {
    /// Its guard cannot be started.
    Guard(io::Error),
    /// It cannot be started itself.
    Command(io::Error),
}

/// A file descriptor that becomes readable when a process ends; none on a system without them.
fn end_of(child: &Child) -> Option<OwnedFd> {
    #[cfg(target_os = "linux")]
    return pidfd_open(Pid::from_raw(child.id() as i32)?, PidfdFlags::empty()).ok();
    #[cfg(not(target_os = "linux"))]
    return None;
}

/// How a command ended.
#[derive(Debug)]
pub enum Ended {
    /// By itself, with this status.
    ByItself(ExitStatus),
    /// It was stopped.
    Stopped,
}
