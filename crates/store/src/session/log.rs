//! A study as one text, to move it from one store to another: one line for the study, then one line per event.

use manyhands_core::Study;
use manyhands_core::text::counted;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::Session;
use super::decide::encode_applied;
use crate::backend::NewStudy;
use crate::error::Damage;
use crate::history::History;
use crate::record::{NewEvent, Record};
use crate::source::Stored;
use crate::store::{StoredFile, sha256};
use crate::{Error, Result, Source, Store, Time};

/// The version of the format.
const FORMAT: u32 = 1;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    manyhands_log: u32,
    text: String,
    files: Vec<File>,
    /// How many events follow.
    events: usize,
    /// Of the text and the lines of the events.
    sha256: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    role: String,
    name: String,
    sha256: String,
    content: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    sequence: usize,
    time: i64,
    kind: String,
    version: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    body: Box<RawValue>,
}

/// A study and its log, as lines of JSON that [`StudyLog::read`] reads.
pub(super) fn written(source: &Source, records: Vec<Record>) -> Result<String> {
    let unwritable = |error: serde_json::Error| Error::Encode { reason: error.to_string() };
    let text_of = |file: &StoredFile| {
        let content = String::from_utf8(file.content.clone());
        content.map_err(|_| Error::Encode { reason: format!("{} is not UTF-8 text", file.name) })
    };
    let file = |file: &StoredFile| {
        let (role, name, sha256) = (file.role.clone(), file.name.clone(), file.sha256.clone());
        Ok(File { role, name, sha256, content: text_of(file)? })
    };
    let files = source.files().iter().map(file).collect::<Result<_>>()?;
    let mut lines = Vec::new();
    for Record { sequence, time, kind, body, version, key, .. } in records {
        let body = RawValue::from_string(body).map_err(unwritable)?;
        let line = Line { sequence, time: time.micros(), kind, version, key, body };
        lines.push(serde_json::to_string(&line).map_err(unwritable)?);
    }
    let (text, sha256) = (source.text().to_string(), sum(source.text(), &lines));
    let head = Head { manyhands_log: FORMAT, text, files, events: lines.len(), sha256 };
    let head = serde_json::to_string(&head).map_err(unwritable)?;
    Ok([head].iter().chain(&lines).map(|line| format!("{line}\n")).collect())
}

impl Session {
    /// A study from another store, with its whole log.
    pub fn import(store: Store, log: StudyLog) -> Result<Self> {
        let row = store.backend.create(&NewStudy { events: log.events, ..log.source.new_study() })?;
        Self::unread(store, &row, log.source).following()
    }
}

/// A study and its whole log as text, read and replayed.
#[derive(Debug)]
pub struct StudyLog {
    source: Source,
    events: Vec<NewEvent>,
}

impl StudyLog {
    /// The study of this name and its log, as lines of JSON that [`StudyLog::read`] reads; `shown` names the store in errors.
    /// The user's own study file, if there is one, must describe the same study.
    pub fn export(store: &Store, name: &str, shown: &str, own: Option<Source>) -> Result<String> {
        let row = store.find_known(name, shown)?;
        row.check_text()?;
        let stored = Stored::read_checked(store, &row, own)?;
        let records = store.backend.events(row.id, 0).map_err(|error| error.of_study(&row.name))?;
        let mut history = History::default();
        records.iter().try_for_each(|record| history.apply(record)).map_err(|damage| damage.in_study(&row.name))?;
        written(&stored.source, records)
    }

    /// Reads what [`StudyLog::export`] wrote; refuses it unless all of it is there and can be replayed.
    pub fn read(text: &str) -> Result<Self> {
        let mut lines = text.lines().filter(|line| !line.trim().is_empty());
        let head = lines.next().ok_or_else(|| bad("there is nothing in it"))?;
        let lines: Vec<&str> = lines.collect();
        let head: Head = serde_json::from_str(head).map_err(bad)?;
        if head.manyhands_log != FORMAT {
            return Err(bad(format!("its format is {}, this manyhands knows {FORMAT}", head.manyhands_log)));
        }
        let sum = sum(&head.text, &lines);
        let source = Source::stored(&head.text, &stored_files(head.files)?).map_err(bad)?;
        let mut history = History::default();
        let mut events = Vec::new();
        for (index, line) in lines.iter().enumerate() {
            let line: Line = serde_json::from_str(line).map_err(|error| bad_event(index + 1, error))?;
            let Line { sequence, time, kind, version, key, body } = line;
            let time = Time::from_micros(time);
            let body = body.get().to_string();
            let record = Record { sequence, time, kind, trial: None, body, version, key: key.clone(), hash: None };
            let event = history.apply_exported(&record).map_err(Error::CorruptExportedEvent)?.clone();
            events.push(NewEvent { time: Some(time), key, ..encode_applied(history.ledger(), &event)? });
        }
        if lines.len() < head.events {
            let reason = format!("the log ends before it, and had {}", counted(head.events, "event"));
            return Err(bad_event(lines.len() + 1, reason));
        }
        if sum != head.sha256 {
            return Err(bad("the log is not what it was: its SHA-256 differs"));
        }
        Study::replay(source.study().spec.clone(), history.ledger().events())?;
        Ok(Self { source, events })
    }

    /// The study file and the files that it names.
    pub fn source(&self) -> &Source {
        &self.source
    }
}

fn bad(reason: impl ToString) -> Error {
    Error::CorruptExport { reason: reason.to_string() }
}

fn bad_event(sequence: usize, reason: impl ToString) -> Error {
    Error::CorruptExportedEvent(Damage { sequence, reason: reason.to_string() })
}

/// The files that a study names; refuses one whose checksum differs.
fn stored_files(files: Vec<File>) -> Result<Vec<StoredFile>> {
    let stored = |File { role, name, sha256: sum, content }: File| match sha256(content.as_bytes()) == sum {
        true => Ok(StoredFile { role, name, sha256: sum, content: content.into_bytes() }),
        false => Err(bad(format!("{name} is not what it was: its SHA-256 differs"))),
    };
    files.into_iter().map(stored).collect()
}

/// SHA-256 of a study's text and the lines of its log.
fn sum(text: &str, lines: &[impl AsRef<str>]) -> String {
    let lines = lines.iter().map(|line| line.as_ref());
    sha256([text].into_iter().chain(lines).collect::<Vec<_>>().join("\n").as_bytes())
}
