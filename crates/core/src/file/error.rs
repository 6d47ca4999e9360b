//! A mistake in a study file: where it is, what it is, how to fix it, and the line it is on.

use std::fmt;

use crate::Error;

/// How many characters of a line are shown with a mistake.
const EXCERPT: usize = 120;

/// A mistake in a study file. Shown as `5:3: message`; [`FileError::render`] shows the line too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileError {
    /// The line, from 1.
    pub line: usize,
    /// The character of the line, from 1.
    pub column: usize,
    /// What is wrong: what was found and what is allowed.
    pub message: String,
    /// How to fix it, where the message does not say.
    pub hint: Option<String>,
    /// The line as it is in the file.
    pub source_line: String,
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for FileError {}

impl FileError {
    /// The mistake with the line it is on, a caret under its place, and the hint:
    ///
    /// ```text
    /// study.toml:5:9: delta must be above 0 (from 1e-100) and at most 1, got 2
    ///   5 | delta = 2.0
    ///     |         ^
    /// ```
    pub fn render(&self, path: &str) -> String {
        let number = self.line.to_string();
        let (line, before) = self.excerpt();
        // Tabs stay tabs, so that the caret lines up with its place.
        let before = line.chars().chain(std::iter::repeat(' ')).take(before);
        let pad: String = before.map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        let gutter = " ".repeat(number.len());
        let mut text = format!("{path}:{self}\n  {number} | {line}\n  {gutter} | {pad}^");
        if let Some(hint) = &self.hint {
            text += &format!("\nhint: {hint}");
        }
        text
    }

    /// The line, or the part of a long line around the mistake; and how many of its characters precede the mistake.
    fn excerpt(&self) -> (String, usize) {
        const CUT: &str = "...";
        let (length, column) = (self.source_line.chars().count(), self.column - 1);
        if length <= EXCERPT {
            return (self.source_line.clone(), column);
        }
        let start = column.saturating_sub(EXCERPT / 2).min(length - EXCERPT);
        let shown: String = self.source_line.chars().skip(start).take(EXCERPT).collect();
        let before = if start > 0 { CUT } else { "" };
        let after = if start + EXCERPT < length { CUT } else { "" };
        (format!("{before}{shown}{after}"), before.len() + column - start)
    }
}

/// A mistake at an offset of a study file's text; [`StudyFile::locate`](super::StudyFile::locate) turns it into a
/// [`FileError`].
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    pub(super) at: usize,
    pub(super) message: String,
    pub(super) hint: Option<String>,
}

/// The result of reading a part of a study file.
pub type Checked<T> = Result<T, Fault>;

impl Fault {
    pub(super) fn new(at: usize, message: impl Into<String>) -> Self {
        Self { at, message: message.into(), hint: None }
    }

    /// With a hint on how to fix it.
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// An error of the rest of the crate, at the place in the file that caused it.
    pub(super) fn of(at: usize, error: &Error) -> Self {
        Self { at, message: error.to_string(), hint: error.hint().map(str::to_string) }
    }

    /// The mistake with its line and column in the text.
    pub(super) fn locate(self, text: &str) -> FileError {
        let at = (0..=self.at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or_default();
        let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let source_line = text[start..].split('\n').next().unwrap_or_default().trim_end_matches('\r').to_string();
        let line = text[..start].matches('\n').count() + 1;
        let column = text[start..at].trim_end_matches('\r').chars().count() + 1;
        FileError { line, column, message: self.message, hint: self.hint, source_line }
    }
}
