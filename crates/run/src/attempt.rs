//! One trial: its command is run, again if it fails and may, until there is a value or none is to be had.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use manyhands_core::Value;
use manyhands_core::file::Placeholders;

use crate::group::{Ended, Group};
use crate::output::{Output, Printed};
use crate::value::read_value;
use crate::{Error, News, Plan, Result, Stop};

/// What says where the store is and opens it. Commands do not need it: who wants one to have it says so in `[run] env`.
const SECRETS: [&str; 6] =
    ["MANYHANDS_STORE", "MANYHANDS_STORE_FILE", "PGPASSWORD", "PGPASSFILE", "PGSERVICE", "PGSERVICEFILE"];

/// One trial and what its command needs to know.
#[derive(Debug, Clone)]
pub struct Job {
    /// The study.
    pub study: String,
    /// The trial.
    pub trial: usize,
    /// Its parameters.
    pub params: Vec<(String, Value)>,
    /// Whether it was cancelled: its command is to be stopped.
    pub called_off: Arc<AtomicBool>,
}

/// What became of a trial.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// It has a value.
    Value(f64),
    /// It failed, as often as it may.
    Failed(String),
    /// It was stopped.
    Stopped,
    /// Its command cannot be run at all.
    Impossible(Error),
}

impl Job {
    /// Runs the command until there is a value or none is to be had.
    pub fn run(&self, plan: &Plan, stop: &Stop, tell: &dyn Fn(News)) -> Outcome {
        let mut tries = 0;
        loop {
            match self.attempt(plan, stop, tell) {
                Err(error) => return Outcome::Impossible(error),
                Ok(Outcome::Failed(reason)) if tries < plan.settings.retries && !stop.is_wished() => {
                    tries += 1;
                    tell(News::Retried { trial: self.trial, reason });
                }
                Ok(outcome) => return outcome,
            }
        }
    }

    fn attempt(&self, plan: &Plan, stop: &Stop, tell: &dyn Fn(News)) -> Result<Outcome> {
        let files = Files::next(plan, self)?;
        let mut command = self.command(plan, &files)?;
        let program = command.get_program().to_string_lossy().into_owned();
        let cannot = |error: io::Error| Error::CannotStart { program: program.clone(), reason: reason(&error) };
        let unwritable = |path: &Path| {
            let path = path.to_path_buf();
            move |error: io::Error| Error::Logs { path, reason: error.to_string() }
        };
        let mut group = Group::start(&mut command).map_err(cannot)?;
        let (out, err) = (group.child().stdout.take(), group.child().stderr.take());
        let out = out.map(|out| Output::read(out, &files.out)).transpose().map_err(unwritable(&files.out))?;
        let err = err.map(|err| Output::read(err, &files.err)).transpose().map_err(unwritable(&files.err))?;
        let start = Instant::now();
        let is_late = || plan.settings.timeout.is_some_and(|limit| start.elapsed() >= limit);
        let is_enough = || stop.is_urgent() || self.called_off.load(Ordering::Relaxed);
        let ended = group.wait(|| is_enough() || is_late()).map_err(cannot)?;
        let printed = |output: Option<Output>| output.map(Output::finish).unwrap_or_default();
        let (out, err) = (printed(out), printed(err));
        for (printed, file) in [(&out, &files.out), (&err, &files.err)] {
            if let Some(trouble) = &printed.trouble {
                tell(News::Trouble { what: format!("trial {}: {trouble} ({})", self.trial, file.display()) });
            }
        }
        Ok(match ended {
            Ended::ByItself(status) => judged(status, &out, &err),
            Ended::Stopped if is_enough() => Outcome::Stopped,
            Ended::Stopped => {
                let limit = plan.settings.timeout.unwrap_or_default();
                let said = format!("timed out after {}", humantime::format_duration(limit));
                Outcome::Failed(with_tail(said, &err))
            }
        })
    }

    fn command(&self, plan: &Plan, files: &Files) -> Result<Command> {
        let named: Vec<(&str, &Value)> = self.params.iter().map(|(name, value)| (name.as_str(), value)).collect();
        let folder = plan.folder.to_string_lossy();
        let others = Placeholders { study: &self.study, trial: self.trial, folder: &folder };
        let arguments = plan.settings.arguments(&named, &others);
        let no_command = || Error::NoCommand { study: self.study.clone() };
        let (program, rest) = arguments.split_first().ok_or_else(no_command)?;
        // A path starts at the study file's folder, whatever folder the command runs in.
        let is_path = program.contains('/');
        let mut command = if is_path { Command::new(plan.folder.join(program)) } else { Command::new(program) };
        command.args(rest).current_dir(files.work.as_deref().unwrap_or(&plan.folder));
        for name in SECRETS {
            command.env_remove(name);
        }
        command.env("MANYHANDS_PARAMS", json(&named)).env("MANYHANDS_TRIAL", self.trial.to_string());
        command.env("MANYHANDS_STUDY", &self.study).env("MANYHANDS_FOLDER", &plan.folder);
        command.envs(plan.settings.env.iter().map(|(key, value)| (key, value)));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Ok(command)
    }
}

/// Where an attempt's output goes, and where it runs if it has a folder of its own.
struct Files {
    out: PathBuf,
    err: PathBuf,
    work: Option<PathBuf>,
}

impl Files {
    /// Of the next attempt: earlier ones stay, also those of a run that died.
    fn next(plan: &Plan, job: &Job) -> Result<Self> {
        let folder = plan.folder.join(&plan.settings.logs).join(&job.study).join(format!("trial-{}", job.trial));
        let make = |folder: &Path| {
            let unmade = |error: io::Error| Error::Logs { path: folder.to_path_buf(), reason: error.to_string() };
            std::fs::create_dir_all(folder).map_err(unmade)
        };
        make(&folder)?;
        let mut attempt = 1;
        while folder.join(format!("{attempt}.out")).exists() || folder.join(attempt.to_string()).exists() {
            attempt += 1;
        }
        let work = plan.settings.own_folder.then(|| folder.join(attempt.to_string()));
        work.as_deref().map_or(Ok(()), make)?;
        let log = |extension: &str| folder.join(format!("{attempt}.{extension}"));
        Ok(Self { out: log("out"), err: log("err"), work })
    }
}

/// What a finished command means.
fn judged(status: ExitStatus, out: &Printed, err: &Printed) -> Outcome {
    use std::os::unix::process::ExitStatusExt;
    if !status.success() {
        let said = match (status.code(), status.signal()) {
            (Some(code), _) => format!("exit code {code}"),
            (None, Some(signal)) => format!("killed by signal {signal}"),
            (None, None) => "ended without an exit code".to_string(),
        };
        return Outcome::Failed(with_tail(said, err));
    }
    match read_value(&out.last_line) {
        Ok(value) => Outcome::Value(value),
        Err(unreadable) => Outcome::Failed(with_tail(unreadable.to_string(), err)),
    }
}

fn with_tail(said: String, err: &Printed) -> String {
    if err.tail.is_empty() { said } else { format!("{said}; standard error ends with:\n{}", err.tail) }
}

/// What the system said, without its number.
fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such program".to_string(),
        io::ErrorKind::PermissionDenied => "it may not be executed".to_string(),
        _ => error.to_string(),
    }
}

/// Parameters as a JSON object, in order.
fn json(named: &[(&str, &Value)]) -> String {
    let value = |value: &Value| match value {
        Value::Float(value) => serde_json::Value::from(*value),
        Value::Int(value) => serde_json::Value::from(*value),
        Value::Text(value) => serde_json::Value::from(value.as_str()),
        Value::Bool(value) => serde_json::Value::from(*value),
    };
    let map: serde_json::Map<String, serde_json::Value> =
        named.iter().map(|(name, v)| (name.to_string(), value(v))).collect();
    serde_json::Value::Object(map).to_string()
}
