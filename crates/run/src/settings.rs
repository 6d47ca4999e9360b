//! `[run]` of a study file: how trials are evaluated. It may change at any time and is no part of what a study is.

use std::time::Duration;

use manyhands_core::file::{Checked, FileError, StudyFile, TomlEntry, TomlNode, TomlTable};
use manyhands_core::study::StopRule;
use manyhands_core::text::quoted;
use manyhands_store::Source;

use crate::template::{CommandTemplate, check_braces};
use crate::{Error, Result, stop_rule};

const KEYS: [&str; 9] = ["command", "workers", "trials", "timeout", "retries", "stop", "own_folder", "logs", "env"];

/// How trials are evaluated: `[run]` of a study file, read and checked.
///
/// ```
/// use manyhands_core::file::Draft;
/// use manyhands_run::RunSettings;
/// let text = "name = \"s\"\n[space]\nx = { float = [0.0, 1.0] }\n[run]\ncommand = [\"./f\", \"{x}\"]\nworkers = 4\n";
/// let settings = RunSettings::of(&Draft::parse(text)?.finish(&[])?)?;
/// assert_eq!(settings.map(|settings| settings.workers), Some(4));
///
/// let mistyped = Draft::parse(&text.replace("{x}", "{y}"))?.finish(&[])?;
/// let refused = RunSettings::of(&mistyped).map_err(|error| error.to_string());
/// assert_eq!(refused, Err("5:19: {y} is not a parameter of this study".to_string()));
/// # Ok::<(), manyhands_core::file::FileError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct RunSettings {
    /// The program and its arguments, with placeholders.
    pub command: CommandTemplate,
    /// How many commands run at once.
    pub workers: usize,
    /// How many trials to run; none for no limit.
    pub trials: Option<usize>,
    /// How long a command may take; none for no limit.
    pub timeout: Option<Duration>,
    /// How often a failed trial is tried again.
    pub retries: usize,
    /// When the study has enough trials before it has all of them.
    pub stop: StopRule,
    /// Whether every trial runs in a folder of its own.
    pub own_folder: bool,
    /// The folder for what commands print.
    pub logs: String,
    /// Variables added to a command's environment.
    pub env: Vec<(String, String)>,
}

impl RunSettings {
    /// `[run]` of a study file; none if the file does not have it.
    pub fn of(file: &StudyFile) -> std::result::Result<Option<Self>, FileError> {
        let read = |table| RunDraft::read(table).map_err(|fault| file.locate(fault))?.finish(file);
        file.run().map(read).transpose()
    }

    /// As [`RunSettings::of`], of a study file that is in a store.
    pub fn of_stored(source: &Source) -> Result<Option<Self>> {
        let study = source.study();
        let unreadable =
            |error: FileError| Error::StoredSettings { study: study.name.clone(), reason: error.to_string() };
        Self::of(study).map_err(unreadable)
    }
}

/// `[run]` of a study file, read and checked except for the names of its placeholders: what the parameters are may depend on
/// files that are read later.
///
/// ```
/// use manyhands_core::file::Draft;
/// use manyhands_run::RunDraft;
/// let text = "name = \"s\"\n[space]\nx = { float = [0.0, 1.0] }\n[run]\ncommand = [\"./f\", \"{x}\"]\nworkers = 4\n";
/// let (draft, run) = Draft::parse_with(text, RunDraft::read)?;
/// let study = draft.finish(&[])?;
/// let settings = run.map(|run| run.finish(&study)).transpose()?;
/// assert_eq!(settings.map(|settings| settings.workers), Some(4));
/// # Ok::<(), manyhands_core::file::FileError>(())
/// ```
#[derive(Debug, Clone)]
pub struct RunDraft {
    /// Each with its place in the file.
    command: Vec<TomlNode>,
    workers: usize,
    trials: Option<usize>,
    timeout: Option<Duration>,
    retries: usize,
    stop: StopRule,
    own_folder: bool,
    logs: String,
    env: Vec<(String, String)>,
}

impl RunDraft {
    /// Reads the table; for [`Draft::parse_with`](manyhands_core::file::Draft::parse_with).
    pub fn read(table: &TomlTable) -> Checked<Self> {
        table.allow_only(&KEYS)?;
        let count = |key, least, most| Ok(table.integer_in(key, least, most)?.map(|count| count as usize));
        Ok(Self {
            command: words(table.require("command", COMMAND_HINT)?)?.to_vec(),
            workers: count("workers", 1, 10_000)?.unwrap_or(1),
            trials: count("trials", 1, 1_000_000_000)?,
            timeout: table.get("timeout").map(duration).transpose()?,
            retries: count("retries", 0, 1_000_000)?.unwrap_or(0),
            stop: table.get("stop").map(stop_rule::read).transpose()?.unwrap_or_default(),
            own_folder: table.flag("own_folder")?.unwrap_or(false),
            logs: logs(table)?,
            env: table.get("env").map(environment).transpose()?.unwrap_or_default(),
        })
    }

    /// The settings for the study of the same file.
    pub fn finish(self, file: &StudyFile) -> std::result::Result<RunSettings, FileError> {
        let Self { command, workers, trials, timeout, retries, stop, own_folder, logs, env } = self;
        let command = CommandTemplate::parse(&command, &file.spec.domain().names());
        let command = command.map_err(|fault| file.locate(fault))?;
        Ok(RunSettings { command, workers, trials, timeout, retries, stop, own_folder, logs, env })
    }
}

const COMMAND_HINT: &str = "for example command = [\"python3\", \"train.py\", \"--lr\", \"{lr}\"]";

/// The words of a command, each of which is a text with whole placeholders.
fn words(entry: &TomlEntry) -> Checked<&[TomlNode]> {
    let list = entry.node().list("command", "words, the program first")?;
    if list.is_empty() {
        return Err(entry.node().fault("command must have at least one word, got none"));
    }
    let check = |node: &TomlNode| match node.text("a word of command")? {
        "" => Err(node.fault("a word of command must not be empty")),
        text if text.contains('\0') => Err(node.fault("a word of command must not hold a null character")),
        _ => check_braces(node),
    };
    list.iter().try_for_each(check)?;
    Ok(list)
}

fn duration(entry: &TomlEntry) -> Checked<Duration> {
    let allowed = "a time above 0 with its unit, such as \"30s\", \"10m\" or \"1h 30m\"";
    let text = entry.node().text(entry.key()).ok();
    let found = text.and_then(|text| humantime::parse_duration(text).ok()).filter(|duration| !duration.is_zero());
    found.ok_or_else(|| entry.node().refuse(entry.key(), allowed))
}

fn logs(table: &TomlTable) -> Checked<String> {
    let folder = |entry: &TomlEntry| match entry.node().text("logs")? {
        "" => Err(entry.node().refuse("logs", "the name of a folder")),
        folder => Ok(folder.to_string()),
    };
    table.get("logs").map_or_else(|| Ok("manyhands-logs".to_string()), folder)
}

/// Variables that the runner sets for every command.
const RESERVED: [&str; 5] =
    ["MANYHANDS_PARAMS", "MANYHANDS_TRIAL", "MANYHANDS_STUDY", "MANYHANDS_FOLDER", "MANYHANDS_SLOT"];

fn environment(entry: &TomlEntry) -> Checked<Vec<(String, String)>> {
    let table = entry.node().table("env", "{ KEY = \"value\" }")?;
    let variable = |entry: &TomlEntry| {
        let key = entry.key();
        if key.is_empty() || key.contains(['=', '\0']) {
            return Err(entry.key_fault(format!("{} is not a name of an environment variable", quoted(key))));
        }
        if RESERVED.contains(&key) {
            return Err(entry.key_fault(format!("{key} is set for every trial and cannot be changed")));
        }
        let value = entry.node().text(key)?;
        if value.contains('\0') {
            return Err(entry.node().fault(format!("{key} must not hold a null character")));
        }
        Ok((key.to_string(), value.to_string()))
    };
    table.entries().iter().map(variable).collect()
}
