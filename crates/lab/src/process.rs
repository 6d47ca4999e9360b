//! The one module of the lab that starts processes: other optimizers, and the manyhands binary for measurements.

use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::{Error, Result};

/// How often a process whose input has ended is checked before it is killed, and the pause between checks.
const CHECKS: usize = 50;
const PAUSE: Duration = Duration::from_millis(20);

/// The ticks of a second in `/proc`, on every Linux.
const TICKS: f64 = 100.0;

/// The manyhands binary, which measurements start where they need a process of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binary(PathBuf);

impl Binary {
    /// The binary at this path.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// Runs the binary to its end and returns its standard output; its standard error is ours.
    pub(crate) fn read(&self, arguments: &[&str]) -> Result<Vec<u8>> {
        let output = self.command().args(arguments).stderr(Stdio::inherit()).output();
        let output = output.map_err(|error| failed(arguments, &error))?;
        if !output.status.success() {
            return Err(failed(arguments, &output.status));
        }
        Ok(output.stdout)
    }

    /// Runs the binary to its end in a folder, without its output; what it says on standard error is in the refusal.
    pub(crate) fn run(&self, arguments: &[&str], folder: &Path) -> Result<()> {
        let mut command = self.command();
        command.args(arguments).current_dir(folder).stdout(Stdio::null()).stderr(Stdio::piped());
        let child = command.spawn().map_err(|error| failed(arguments, &error))?;
        let output = child.wait_with_output().map_err(|error| failed(arguments, &error))?;
        if !output.status.success() {
            return Err(failed(arguments, &String::from_utf8_lossy(&output.stderr).trim_end()));
        }
        Ok(())
    }

    /// Starts the binary with one more environment variable and without input or output.
    pub(crate) fn start(&self, arguments: &[&OsStr], (name, value): (&str, &str)) -> Result<Worker> {
        let mut command = self.command();
        command.args(arguments).env(name, value).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().map(Worker).map_err(|error| failed(arguments, &error))
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.0);
        command.stdin(Stdio::null());
        command
    }
}

fn failed<S: AsRef<OsStr>>(arguments: &[S], reason: &dyn std::fmt::Display) -> Error {
    let arguments: Vec<String> = arguments.iter().map(|text| text.as_ref().to_string_lossy().into_owned()).collect();
    Error::Process { command: format!("manyhands {}", arguments.join(" ")), reason: reason.to_string() }
}

/// A process that runs beside this one.
#[derive(Debug)]
pub(crate) struct Worker(Child);

impl Worker {
    /// Waits for the end of the process; whether it succeeded.
    pub(crate) fn succeeded(mut self) -> io::Result<bool> {
        Ok(self.0.wait()?.success())
    }
}

/// A process that is spoken to in lines: it reads ours on its standard input, and we read its standard output.
#[derive(Debug)]
pub(crate) struct Dialogue {
    child: Child,
    /// None once the dialogue is over.
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Dialogue {
    /// Starts a command with its arguments; its standard error is ours.
    pub(crate) fn start(command: &[String]) -> io::Result<Self> {
        let [program, arguments @ ..] = command else { return Err(io::Error::other("there is no command")) };
        let mut command = Command::new(program);
        let mut child = command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("it has no pipes"));
        };
        Ok(Self { child, input: Some(input), output: BufReader::new(output) })
    }

    /// Writes a line.
    pub(crate) fn send(&mut self, line: &str) -> io::Result<()> {
        let input = self.input.as_mut().ok_or_else(|| io::Error::from(io::ErrorKind::BrokenPipe))?;
        writeln!(input, "{line}")?;
        input.flush()
    }

    /// The processor seconds of the process so far, with those of its children that have ended; none without `/proc`.
    pub(crate) fn cpu_seconds(&self) -> Option<f64> {
        let text = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).ok()?;
        // The name, in parentheses, may hold anything; utime, stime, cutime and cstime are the 12th to 15th after it.
        let (_, numbers) = text.rsplit_once(')')?;
        let ticks: Vec<f64> =
            numbers.split_whitespace().skip(11).take(4).map_while(|ticks| ticks.parse().ok()).collect();
        (ticks.len() == 4).then(|| ticks.iter().sum::<f64>() / TICKS)
    }

    /// Waits for a line; none if the process has closed its output.
    pub(crate) fn receive(&mut self) -> io::Result<Option<String>> {
        let mut line = String::new();
        let read = self.output.read_line(&mut line)?;
        Ok((read > 0).then_some(line))
    }
}

impl Drop for Dialogue {
    /// The end of its input tells the process to end; one that does not end is killed.
    fn drop(&mut self) {
        drop(self.input.take());
        for _ in 0..CHECKS {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            sleep(PAUSE);
        }
        // A failure here means that the process is already gone.
        self.child.kill().and_then(|()| self.child.wait()).ok();
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn shell(script: &str) -> Dialogue {
        Dialogue::start(&["sh", "-c", script].map(String::from)).unwrap()
    }

    #[test]
    fn a_dialogue_ends_with_its_process() {
        let mut dialogue = shell("read line; echo \"heard $line\"");
        dialogue.send("hello").unwrap();
        assert_eq!(dialogue.receive().unwrap().unwrap(), "heard hello\n");
        assert_eq!(dialogue.receive().unwrap(), None);
    }

    /// A shell that counts takes time of the processor, and one that waits takes none to speak of.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_is_charged_for_what_it_computes() {
        let seconds = |script: &str| {
            let mut dialogue = shell(&format!("{script}; echo done; read line"));
            dialogue.receive().unwrap();
            dialogue.cpu_seconds().unwrap()
        };
        let busy = seconds("i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done");
        assert!(busy > 0.02 && seconds("sleep 0.1") < busy, "{busy}");
    }

    #[test]
    fn a_process_that_ignores_the_end_of_its_input_is_killed() {
        let dialogue = shell("exec sleep 600");
        let id = dialogue.child.id();
        drop(dialogue);
        assert!(!Path::new("/proc").join(id.to_string()).exists());
    }

    #[test]
    fn what_fails_is_named_with_its_arguments() {
        let error = Binary::at("/no/such/binary").read(&["bench-part", "{}"]).unwrap_err().to_string();
        assert!(error.starts_with("manyhands bench-part {} failed: "), "{error}");
        let error = Binary::at("/bin/false").run(&["ask"], Path::new("/")).unwrap_err();
        assert!(matches!(&error, Error::Process { command, .. } if command == "manyhands ask"), "{error}");
    }
}
