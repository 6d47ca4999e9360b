//! Why a trial's command gave no value, and the text that is stored of it.

use std::fmt;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use manyhands_core::text::printable;

use crate::value::Unreadable;

/// Stands between the cause of a failure and the end of the command's standard error, in what is stored.
const TAIL_FOLLOWS: &str = "; standard error ends with:";

/// A command that gave no value. Its `Display` is the reason that is stored with the trial.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// What happened.
    pub cause: Cause,
    /// The end of the command's standard error, safe to print; empty if it wrote nothing.
    pub stderr_tail: String,
}

/// What happened to a command that gave no value. Shown on one line.
#[derive(Debug, Clone, PartialEq)]
pub enum Cause {
    /// It ended with this exit code, which is not 0.
    ExitCode(i32),
    /// A signal of this number ended it.
    Signal(i32),
    /// It ended, and the system gives neither an exit code nor a signal.
    UnknownEnd,
    /// It was stopped at its time limit.
    TimedOut(Duration),
    /// Its last line is not a value.
    NoValue(Unreadable),
    /// It gave a value that the study refuses, for this reason.
    Refused(String),
}

impl Cause {
    /// Of a command that did not end with exit code 0.
    pub(crate) fn of(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) => Self::ExitCode(code),
            (None, Some(signal)) => Self::Signal(signal),
            (None, None) => Self::UnknownEnd,
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ExitCode(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => write!(f, "killed by signal {signal}"),
            Self::UnknownEnd => f.write_str("ended without an exit code"),
            Self::TimedOut(limit) => write!(f, "timed out after {}", humantime::format_duration(*limit)),
            Self::NoValue(unreadable) => write!(f, "{unreadable}"),
            Self::Refused(reason) => f.write_str(reason),
        }
    }
}

impl Failure {
    /// A cause, with the end of what the command wrote to its standard error.
    pub(crate) fn new(cause: Cause, stderr: &str) -> Self {
        // A progress bar returns to the beginning of its line.
        let lines = stderr.replace("\r\n", "\n").replace('\r', "\n");
        Self { cause, stderr_tail: printable(&lines) }
    }

    /// Whether another trial of the same command is likely to fail as this one did, whatever its parameters. A command that
    /// gives a number can work, and one that takes long may be about to.
    pub(crate) fn may_be_a_mistake(&self) -> bool {
        match &self.cause {
            Cause::ExitCode(_) | Cause::Signal(_) | Cause::UnknownEnd => true,
            Cause::NoValue(Unreadable::NotFinite(_)) => false,
            Cause::NoValue(_) => true,
            Cause::TimedOut(_) | Cause::Refused(_) => false,
        }
    }

    /// On one line: the cause, and the last line of standard error if there is one.
    pub fn brief(&self) -> String {
        match self.last_line() {
            "" => self.cause.to_string(),
            line => format!("{} ({line})", self.cause),
        }
    }

    /// The last line of standard error that is not blank; empty if there is none.
    pub(crate) fn last_line(&self) -> &str {
        self.stderr_tail.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default().trim()
    }

    /// The first line of a reason that is read from a log, without the end of standard error: of a failure, its cause. A log
    /// holds texts, also those that users gave as reasons of their own; where a failure is at hand, its cause is this line.
    ///
    /// ```
    /// use manyhands_run::Failure;
    /// assert_eq!(Failure::headline("exit code 1; standard error ends with:\nKeyError: 'lr'"), "exit code 1");
    /// assert_eq!(Failure::headline("the plate was dropped"), "the plate was dropped");
    /// ```
    pub fn headline(reason: &str) -> &str {
        let line = reason.lines().next().unwrap_or_default();
        line.strip_suffix(TAIL_FOLLOWS).unwrap_or(line)
    }

    /// The last line of standard error of a stored reason, if it has one: what a program says last is mostly why it failed.
    ///
    /// ```
    /// use manyhands_run::Failure;
    /// let reason = "exit code 1; standard error ends with:\nTraceback\nValueError: diverged";
    /// assert_eq!(Failure::closing_line(reason), Some("ValueError: diverged"));
    /// assert_eq!(Failure::closing_line("no crystals"), None);
    /// ```
    pub fn closing_line(reason: &str) -> Option<&str> {
        let mut lines = reason.lines();
        let has_tail = lines.next().is_some_and(|first| first.ends_with(TAIL_FOLLOWS));
        lines.rfind(|line| has_tail && !line.trim().is_empty())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.stderr_tail.as_str() {
            "" => write!(f, "{}", self.cause),
            tail => write!(f, "{}{TAIL_FOLLOWS}\n{tail}", self.cause),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::value::read_value;
    use crate::value::tests::config;

    #[test]
    fn the_stored_reason_is_what_it_always_was() {
        let failure = |cause, stderr| Failure::new(cause, stderr).to_string();
        assert_eq!(failure(Cause::ExitCode(7), ""), "exit code 7");
        assert_eq!(
            failure(Cause::Signal(9), "a\r50%\r\nb"),
            "killed by signal 9; standard error ends with:\na\n50%\nb"
        );
        assert_eq!(failure(Cause::TimedOut(Duration::from_millis(1500)), ""), "timed out after 1s 500ms");
    }

    #[test]
    fn a_command_that_gave_a_number_or_took_long_may_work() {
        let nan = Cause::NoValue(Unreadable::NotFinite("nan".to_string()));
        for cause in [nan, Cause::TimedOut(Duration::from_secs(1)), Cause::Refused("too large".to_string())] {
            assert!(!Failure::new(cause, "").may_be_a_mistake());
        }
    }

    #[test]
    fn the_headline_of_any_text_is_its_first_line() {
        for (reason, headline) in [
            ("", ""),
            ("broke", "broke"),
            ("broke\nbadly", "broke"),
            ("exit code 1; standard error ends with:\nTraceback", "exit code 1"),
            ("exit code 1; standard error ends with: nothing", "exit code 1; standard error ends with: nothing"),
        ] {
            assert_eq!(Failure::headline(reason), headline);
        }
    }

    proptest! {
        #![proptest_config(config(500))]

        #[test]
        fn the_headline_of_a_stored_failure_is_its_cause(
            code in any::<i32>(), kind in 0..5, stderr in "\\PC{0,40}|[a-z\r\n;:]{0,40}", line in "\\PC{0,40}",
        ) {
            let cause = match (kind, read_value(&line)) {
                (0, _) => Cause::ExitCode(code),
                (1, _) => Cause::Signal(code),
                (2, _) => Cause::UnknownEnd,
                (3, Err(unreadable)) => Cause::NoValue(unreadable),
                _ => Cause::TimedOut(Duration::from_millis(code.unsigned_abs().into())),
            };
            let failure = Failure::new(cause.clone(), &stderr);
            let stored = failure.to_string();
            prop_assert_eq!(Failure::headline(&stored), cause.to_string());
        }
    }
}
