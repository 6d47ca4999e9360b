//! `[run]`: how trials are evaluated. Operational: it may change at any time and is no part of what a study is.

use std::time::Duration;

use super::error::{Checked, Fault};
use super::node::{Entry, Node, Table};
use super::template::{FORMATS, Piece, fill, pieces, quoted, written};
use crate::Value;
use crate::names::meant;
use crate::text::{beginning, escaped};

const KEYS: [&str; 8] = ["command", "workers", "trials", "timeout", "retries", "own_folder", "logs", "env"];

/// How trials are evaluated.
#[derive(Debug, Clone, PartialEq)]
pub struct RunSettings {
    /// The program and its arguments, with placeholders.
    pub command: Vec<String>,
    /// How many commands run at once.
    pub workers: usize,
    /// How many trials to run; none for no end.
    pub trials: Option<usize>,
    /// How long a command may take; none for any time.
    pub timeout: Option<Duration>,
    /// How often a failed trial is tried again.
    pub retries: usize,
    /// Whether every trial runs in a folder of its own.
    pub own_folder: bool,
    /// The folder for what commands print.
    pub logs: String,
    /// What is added to a command's environment.
    pub env: Vec<(String, String)>,
}

/// What placeholders stand for beside parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placeholders<'a> {
    /// The study's name.
    pub study: &'a str,
    /// The trial's number.
    pub trial: usize,
    /// The study file's folder.
    pub folder: &'a str,
}

impl RunSettings {
    /// The command of one trial. A placeholder is the value of a parameter, or what `others` says: `{trial}`, `{study}` and
    /// `{folder}`; a parameter of such a name goes first. `{name:sh}` is the value quoted for a POSIX shell, for words that
    /// a shell reads. No shell sees the command unless it names one.
    pub fn arguments(&self, named: &[(&str, &Value)], others: &Placeholders<'_>) -> Vec<String> {
        let value = |name: &str| match named.iter().find(|(known, _)| *known == name) {
            Some((_, value)) => Some(written(value)),
            None if name == "trial" => Some(others.trial.to_string()),
            None if name == "study" => Some(others.study.to_string()),
            None if name == "folder" => Some(others.folder.to_string()),
            None => None,
        };
        let formatted = |text: &str| match text.rsplit_once(':') {
            // A parameter's name may have a colon in it.
            Some((name, "sh")) if value(text).is_none() => value(name).map(|value| quoted(&value)),
            _ => value(text),
        };
        self.command.iter().map(|word| fill(word, formatted)).collect()
    }
}

pub(super) fn read(table: &Table) -> Checked<RunSettings> {
    table.only(&KEYS)?;
    let command = table.need("command", "for example command = [\"python3\", \"train.py\", \"--lr\", \"{lr}\"]")?;
    let whole = |key, least, most| Ok(table.count(key, least, most)?.map(|count| count as usize));
    Ok(RunSettings {
        command: words(command)?,
        workers: whole("workers", 1, 10_000)?.unwrap_or(1),
        trials: whole("trials", 1, 1_000_000_000)?,
        timeout: table.get("timeout").map(duration).transpose()?,
        retries: whole("retries", 0, 1_000_000)?.unwrap_or(0),
        own_folder: table.flag("own_folder")?.unwrap_or(false),
        logs: logs(table)?,
        env: table.get("env").map(environment).transpose()?.unwrap_or_default(),
    })
}

/// Refuses placeholders that stand for nothing in this study.
pub(super) fn check_placeholders(table: &Table, names: &[&str]) -> Checked<()> {
    let Some(command) = table.get("command") else { return Ok(()) };
    for node in command.node.list("command", "words")? {
        let word = node.text("a word of command")?;
        let lone = |brace| Fault::new(node.at, format!("{brace} in command")).hint("write {{ and }} for braces");
        for piece in pieces(word).map_err(lone)? {
            if let Piece::Placeholder(name) = piece {
                check_placeholder(node, name, names)?;
            }
        }
    }
    Ok(())
}

fn check_placeholder(node: &Node, placeholder: &str, names: &[&str]) -> Checked<()> {
    const OWN: [&str; 3] = ["trial", "study", "folder"];
    let (name, format) = match placeholder.rsplit_once(':') {
        Some((name, format)) if !names.contains(&placeholder) && (names.contains(&name) || OWN.contains(&name)) => {
            (name, Some(format))
        }
        _ => (placeholder, None),
    };
    if let Some(format) = format.filter(|format| !FORMATS.contains(format)) {
        let message = format!("{} in {{{}}} is no format of a placeholder", crate::quoted(format), shown(placeholder));
        return Err(Fault::new(node.at, message).hint(format!(
            "write {{{name}:sh}} for the value quoted for a shell, or {{{name}}} for the value as it is"
        )));
    }
    if OWN.contains(&name) && names.contains(&name) {
        let message = format!("{{{name}}} is a parameter of this study and has a meaning of its own");
        return Err(
            Fault::new(node.at, message).hint("give the parameter another name, or read it from MANYHANDS_PARAMS")
        );
    }
    let known: Vec<&str> = names.iter().copied().chain(OWN).collect();
    if known.contains(&name) {
        return Ok(());
    }
    let hint = match meant(known.iter().copied(), name) {
        Some(near) => format!("did you mean {{{near}}}?"),
        None => format!("known are {}; write {{{{ and }}}} for braces", shown(&known.join(", "))),
    };
    Err(Fault::new(node.at, format!("{{{}}} is no parameter of this study", shown(name))).hint(hint))
}

/// As messages show what stands between braces.
fn shown(text: &str) -> String {
    beginning(&escaped(text))
}

fn words(entry: &Entry) -> Checked<Vec<String>> {
    let list = entry.node.list("command", "words, the program first")?;
    if list.is_empty() {
        return Err(Fault::new(entry.node.at, "command must have at least one word, got none"));
    }
    let word = |node: &Node| match node.text("a word of command")? {
        "" => Err(Fault::new(node.at, "a word of command must not be empty")),
        text if text.contains('\0') => Err(Fault::new(node.at, "a word of command must not hold a null character")),
        text => Ok(text.to_string()),
    };
    list.iter().map(word).collect()
}

fn duration(entry: &Entry) -> Checked<Duration> {
    let allowed = "a time above 0 with its unit, such as \"30s\", \"10m\" or \"1h 30m\"";
    let text = entry.node.text(&entry.key).ok();
    let found = text.and_then(|text| humantime::parse_duration(text).ok()).filter(|duration| !duration.is_zero());
    found.ok_or_else(|| entry.node.refuse(&entry.key, allowed))
}

fn logs(table: &Table) -> Checked<String> {
    match (table.text("logs")?, table.get("logs")) {
        (Some(""), Some(entry)) => Err(entry.node.refuse("logs", "the name of a folder")),
        (Some(folder), _) => Ok(folder.to_string()),
        (None, _) => Ok("manyhands-logs".to_string()),
    }
}

/// What every command finds in its environment.
const GIVEN: [&str; 4] = ["MANYHANDS_PARAMS", "MANYHANDS_TRIAL", "MANYHANDS_STUDY", "MANYHANDS_FOLDER"];

fn environment(entry: &Entry) -> Checked<Vec<(String, String)>> {
    let table = entry.node.table("env", "{ KEY = \"value\" }")?;
    let variable = |entry: &Entry| {
        if entry.key.is_empty() || entry.key.contains(['=', '\0']) {
            return Err(Fault::new(
                entry.at,
                format!("{} is no name of an environment variable", crate::quoted(&entry.key)),
            ));
        }
        if GIVEN.contains(&entry.key.as_str()) {
            return Err(Fault::new(entry.at, format!("{} is set for every trial and cannot be changed", entry.key)));
        }
        let value = entry.node.text(&entry.key)?;
        if value.contains('\0') {
            return Err(Fault::new(entry.node.at, format!("{} must not hold a null character", entry.key)));
        }
        Ok((entry.key.clone(), value.to_string()))
    };
    table.entries.iter().map(variable).collect()
}
