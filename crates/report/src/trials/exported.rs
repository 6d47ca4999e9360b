//! Lines of JSON as `export --format jsonl` writes them, back as a table.

use serde_json::{Map, Value as Json};

/// A line that is none of an export.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct BadExport {
    line: usize,
    reason: String,
}

/// Whether a line is one that `export --format jsonl` writes: a trial with its state, and no object of parameters.
pub fn is_exported_line(line: &[u8]) -> bool {
    let object: Option<Map<String, Json>> = serde_json::from_slice(line).ok();
    object.is_some_and(|object| object.contains_key("trial") && object.contains_key("state"))
}

/// Exported lines as CSV, with a column for every field that any of them has.
pub fn csv_of_json_lines(text: &[u8]) -> Result<String, BadExport> {
    let text = String::from_utf8_lossy(text);
    let mut rows: Vec<Map<String, Json>> = Vec::new();
    let mut columns: Vec<String> = Vec::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let bad = |error: serde_json::Error| BadExport { line: index + 1, reason: error.to_string() };
        let row: Map<String, Json> = serde_json::from_str(line).map_err(bad)?;
        for name in row.keys() {
            if !columns.contains(name) {
                columns.push(name.clone());
            }
        }
        rows.push(row);
    }
    let unwritable = |error: csv::Error| BadExport { line: 1, reason: error.to_string() };
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(&columns).map_err(unwritable)?;
    for row in &rows {
        let cells = columns.iter().map(|name| super::csv_cell(row.get(name).unwrap_or(&Json::Null)));
        writer.write_record(cells).map_err(unwritable)?;
    }
    let bytes = writer.into_inner().map_err(|error| unwritable(error.into_error().into()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
