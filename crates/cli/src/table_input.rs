//! Tables that verbs read, from a file or standard input: points, and results, which are recorded completely or not at all.

use std::fs;
use std::io::{Read, stdin};
use std::path::Path;

use anyhow::{Context, Result};
use manyhands_core::text::counted;
use manyhands_core::{Domain, Error as StudyError, Ledger, Spec, TrialState};
use manyhands_report::plate::{self, ColumnMap, PlateEntries, PointRow};
use manyhands_report::spreadsheet::{BadSpreadsheet, Spreadsheet};
use manyhands_report::trials;
use manyhands_store::{Error as StoreError, OnConflict, Recorded, Session};

use crate::output::{print, print_json};
use crate::refusal::Usage;
use crate::stderr::say;
use crate::study_file::unreadable;
use crate::target::{KnownOrNew, Target};

const CANCELLED: TrialState = TrialState::Cancelled;

/// How many faults of a table are listed.
const LISTED: usize = 20;

/// A table of results, and how it is to be read.
pub struct TableInput {
    /// The file's name in messages.
    pub shown: String,
    pub bytes: Vec<u8>,
    pub map: ColumnMap,
    pub on_conflict: OnConflict,
}

/// The content of a file, or of standard input for `-`.
pub fn content(path: &Path) -> Result<Vec<u8>> {
    if path != Path::new("-") {
        return Ok(fs::read(path).map_err(|error| unreadable(path, &error))?);
    }
    let mut bytes = Vec::new();
    stdin().read_to_end(&mut bytes).context("cannot read standard input")?;
    Ok(bytes)
}

/// A table of points of the domain: one column per parameter, one row per point.
pub fn points(path: &Path, domain: &Domain) -> Result<Vec<PointRow>> {
    let shown = match path == Path::new("-") {
        true => "standard input".to_string(),
        false => path.display().to_string(),
    };
    let wrong = |fault: BadSpreadsheet| Usage { code: "table", message: format!("{shown}: {fault}"), hint: fault.hint };
    let table = Spreadsheet::read(&content(path)?).map_err(wrong)?;
    let rows = plate::points(domain, &table).map_err(wrong)?;
    if rows.is_empty() {
        let hint = "write a header with the names of the parameters, and one row per point".to_string();
        return Err(Usage { code: "table", message: format!("{shown} has no points"), hint: Some(hint) }.into());
    }
    for PointRow { line, named } in &rows {
        domain.embed_named(named).with_context(|| format!("{shown}, line {line}"))?;
    }
    Ok(rows)
}

impl TableInput {
    /// Records the table in a study, which is created where only evaluations made elsewhere are recorded; prints what was done.
    pub fn record(&self, target: &Target) -> Result<()> {
        let table = self.table()?;
        match target.known_or_new()? {
            KnownOrNew::Known(mut session) => {
                let entries = self.entries(session.spec(), session.ledger(), &table)?;
                let recorded = session.record(&entries.entries, self.on_conflict)?;
                let recorded = recorded.map_err(|faults| self.conflicts(&entries, &faults))?;
                print_recorded(&session, &entries, &recorded, target.json)
            }
            KnownOrNew::New(source) => {
                let entries = self.entries(&source.study().spec, &Ledger::default(), &table);
                if entries.is_err() && plate::has_trials(&table, &self.map) {
                    // Its trials are those of a study, and that there is none is what is wrong.
                    target.open_to_tell()?;
                }
                let entries = entries?;
                if entries.entries.is_empty() {
                    let message = format!("{} has no results; no study was made", self.shown);
                    return Err(Usage::new("table", message).into());
                }
                let created = Session::create_with(|| target.create_store(), *source, &entries.entries)?;
                let (session, recorded) = created.map_err(|faults| self.conflicts(&entries, &faults))?;
                print_recorded(&session, &entries, &recorded, target.json)
            }
        }
    }

    /// The table, or trials as `export --format jsonl` writes them as one.
    fn table(&self) -> Result<Spreadsheet> {
        let first = self.bytes.trim_ascii_start().split(|byte| *byte == b'\n').next().unwrap_or_default();
        let table = if trials::is_exported_line(first) {
            let wrong = |fault: trials::BadExport| Usage::new("line", format!("{}: {fault}", self.shown));
            Spreadsheet::read(trials::csv_of_json_lines(&self.bytes).map_err(wrong)?.as_bytes())
        } else if first.starts_with(b"{") {
            let message = format!("{} has lines of JSON and is no table", self.shown);
            return Err(Usage::new("table", message).hint("record them with: manyhands tell STUDY FILE").into());
        } else {
            Spreadsheet::read(&self.bytes)
        };
        table.map_err(|fault| self.refused(&[fault]))
    }

    fn entries(&self, spec: &Spec, ledger: &Ledger, table: &Spreadsheet) -> Result<PlateEntries> {
        plate::read(spec, ledger, table, &self.map).map_err(|faults| self.refused(&faults))
    }

    /// The error of a table that cannot be read.
    fn refused(&self, faults: &[BadSpreadsheet]) -> anyhow::Error {
        let hint = faults.iter().find_map(|fault| fault.hint.clone());
        self.usage(faults.iter().map(ToString::to_string).collect(), hint)
    }

    /// The error of a table that differs from what is recorded, or does not fit the study.
    fn conflicts(&self, entries: &PlateEntries, faults: &[(usize, StoreError)]) -> anyhow::Error {
        let line = |(position, error): &(usize, StoreError)| format!("line {}: {error}", entries.lines[*position]);
        let is_conflict = |error: &StoreError| {
            matches!(error, StoreError::OtherValue { .. } | StoreError::OtherSetting { .. })
                || matches!(error, StoreError::Study(StudyError::NotPending { state, .. }) if *state != CANCELLED)
        };
        let is_cancelled = |error: &StoreError| match error {
            StoreError::Study(StudyError::NotPending { state, .. } | StudyError::NotAmendable { state, .. }) => {
                *state == CANCELLED
            }
            _ => false,
        };
        let hint = if faults.iter().all(|(_, error)| is_conflict(error)) {
            Some("if the table is right and the record wrong, tell it with --amend".to_string())
        } else if faults.iter().any(|(_, error)| is_cancelled(error)) {
            Some(
                "leave the cell of a cancelled trial's number blank: its result then gets a number of its own"
                    .to_string(),
            )
        } else {
            faults.iter().find_map(|(_, error)| error.hint())
        };
        self.usage(faults.iter().map(line).collect(), hint)
    }

    fn usage(&self, faults: Vec<String>, hint: Option<String>) -> anyhow::Error {
        let more = faults.len().saturating_sub(LISTED);
        let mut lines: Vec<String> = faults.into_iter().take(LISTED).collect();
        if more > 0 {
            lines.push(format!("and {}", counted(more, "further fault")));
        }
        let message = match lines.as_slice() {
            [one] => format!("{}: {one}; nothing was recorded", self.shown),
            lines => format!("{}: nothing was recorded:\n  {}", self.shown, lines.join("\n  ")),
        };
        Usage { code: "table", message, hint }.into()
    }
}

fn print_recorded(session: &Session, entries: &PlateEntries, recorded: &[Recorded], as_json: bool) -> Result<()> {
    if as_json {
        return print_json(&plate::json(recorded));
    }
    plate::lines(session, recorded)?.iter().try_for_each(|line| print(line))?;
    plate::summary(entries, recorded).iter().for_each(|line| say(line));
    Ok(())
}
