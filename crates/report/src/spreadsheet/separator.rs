//! What separates the cells of a table: a first line `sep=;`, or what stands between the names of the header.

use manyhands_core::text::quoted;

use super::encoding::line_of;
use super::error::{BadSpreadsheet, SpreadsheetPlace};

/// What stands between two cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Separator {
    Comma,
    Semicolon,
    Tab,
    /// The table has one column.
    None,
}

impl Separator {
    const KNOWN: [Self; 3] = [Self::Comma, Self::Semicolon, Self::Tab];

    /// The byte that separates cells; one that no text has, where there is one column.
    pub(super) fn byte(self) -> u8 {
        match self {
            Self::Comma => b',',
            Self::Semicolon => b';',
            Self::Tab => b'\t',
            Self::None => b'\0',
        }
    }

    fn of(c: char) -> Option<Self> {
        Self::KNOWN.into_iter().find(|separator| char::from(separator.byte()) == c)
    }
}

/// The separator, and where the table begins: behind a line such as `sep=;`, which spreadsheets read and do not show, or with its
/// header.
pub(super) fn find(text: &str) -> Result<(Separator, usize), BadSpreadsheet> {
    let first = text.split('\n').next().unwrap_or_default();
    let unquoted = first.trim().trim_matches('"');
    let stated = unquoted.get(..4).filter(|start| start.eq_ignore_ascii_case("sep=")).map(|start| first.find(start));
    if let Some(Some(place)) = stated {
        // Not trimmed: the separator may be a tab.
        let named = first[place + 4..].trim_end_matches(['"', ' ']);
        let mut characters = named.chars();
        return match (characters.next().and_then(Separator::of), characters.next()) {
            (Some(separator), None) => Ok((separator, (first.len() + 1).min(text.len()))),
            _ => {
                let reason = format!("sep= must be followed by a comma, a semicolon or a tab, got {}", quoted(named));
                Err(BadSpreadsheet::new(SpreadsheetPlace::Line(1), reason))
            }
        };
    }
    of_header(text)
}

/// The separator that stands outside of quotes in the header, which is the first row that is not blank, and where that begins.
fn of_header(text: &str) -> Result<(Separator, usize), BadSpreadsheet> {
    let (mut quotes, mut start, mut is_blank, mut found) = (Quotes::default(), 0, true, [false; 3]);
    for (place, c) in text.char_indices() {
        let is_outside = quotes.is_outside_after(c);
        let separator = Separator::of(c).filter(|_| is_outside);
        if is_outside && c == '\n' {
            if !is_blank {
                break;
            }
            (start, found) = (place + 1, [false; 3]);
        }
        for (known, found) in Separator::KNOWN.into_iter().zip(&mut found) {
            *found |= separator == Some(known);
        }
        is_blank &= c.is_whitespace() || c == '"' || separator.is_some();
    }
    let separator = match found {
        // A name in a header has no tab.
        [_, _, true] => Separator::Tab,
        [true, true, false] => {
            let hint = "put quotes around a name that holds one of them, or write sep=; or sep=, as a line of its own \
                        above it";
            let reason = "the header has both a comma and a semicolon between its names";
            return Err(BadSpreadsheet::new(SpreadsheetPlace::Line(line_of(text, start)), reason).hint(hint));
        }
        [true, false, false] => Separator::Comma,
        [false, true, false] => Separator::Semicolon,
        [false, false, false] => Separator::None,
    };
    Ok((separator, start))
}

/// Which characters stand between quotes. A quote opens a cell only as its first character.
#[derive(Default)]
struct Quotes {
    is_open: bool,
    /// Whether the character before was a quote that closed a cell: another one reopens it, and stands for itself.
    has_closed: bool,
    is_in_cell: bool,
}

impl Quotes {
    /// Whether this character, the next one of the text, stands outside of quotes.
    fn is_outside_after(&mut self, c: char) -> bool {
        let opens = c == '"' && !self.is_open && (self.has_closed || !self.is_in_cell);
        let closes = c == '"' && self.is_open;
        self.is_open = opens || (self.is_open && !closes);
        self.has_closed = closes;
        let is_outside = !self.is_open && !closes;
        self.is_in_cell = !(is_outside && (c == '\n' || Separator::of(c).is_some()));
        is_outside
    }
}
