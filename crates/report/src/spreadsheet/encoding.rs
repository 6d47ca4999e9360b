//! The bytes of a spreadsheet's file as text, in the encodings that spreadsheets save.

use super::error::{BadSpreadsheet, SpreadsheetPlace};

const SAVE: &str = "save it as CSV UTF-8 and give that file";

/// The first bytes of files that spreadsheets keep their own workbooks in: .xlsx, .ods and .numbers, then .xls.
const WORKBOOKS: [&[u8]; 2] = [b"PK\x03\x04", b"\xd0\xcf\x11\xe0"];

/// The text of a file: by its byte order mark, else UTF-8, else Windows-1252. Every line ends with one line feed.
pub(super) fn decode(bytes: &[u8]) -> Result<String, BadSpreadsheet> {
    if WORKBOOKS.iter().any(|start| bytes.starts_with(start)) {
        return Err(refused("it is a workbook, and a table as text is needed", SAVE));
    }
    let text = match bytes {
        [0xef, 0xbb, 0xbf, rest @ ..] => marked_utf8(rest)?,
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes)?,
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes)?,
        _ => match std::str::from_utf8(bytes) {
            Ok(text) => text.to_string(),
            Err(_) => windows_1252(bytes)?,
        },
    };
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    match text.find('\0') {
        // Cells become arguments and environment variables of commands, and neither can hold one.
        Some(place) => {
            let line = line_of(&text, place);
            let reason = "has a NUL character, which no text has";
            Err(BadSpreadsheet::new(SpreadsheetPlace::Line(line), reason).hint(SAVE))
        }
        None => Ok(text),
    }
}

/// The number of the line that a byte is on, from 1.
pub(super) fn line_of(text: &str, place: usize) -> u64 {
    1 + text.as_bytes().iter().take(place).filter(|byte| **byte == b'\n').count() as u64
}

fn marked_utf8(bytes: &[u8]) -> Result<String, BadSpreadsheet> {
    let wrong = |_| refused("its first bytes say that it is UTF-8, and it is not", SAVE);
    std::str::from_utf8(bytes).map(str::to_string).map_err(wrong)
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<String, BadSpreadsheet> {
    let wrong = || refused("its first bytes say that it is UTF-16, and it is not", SAVE);
    let (pairs, rest) = bytes.as_chunks::<2>();
    if !rest.is_empty() {
        return Err(wrong());
    }
    let units: Vec<u16> = pairs.iter().map(|pair| unit(*pair)).collect();
    String::from_utf16(&units).map_err(|_| wrong())
}

/// What the bytes 0x80 to 0x9f stand for; the other bytes are the first 256 characters of Unicode. No spreadsheet writes the five
/// that stand for nothing (NUL here): such a file is in another encoding.
const WINDOWS_1252: [char; 32] = [
    '€', '\0', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\0', 'Ž', '\0', '\0', '‘', '’', '“', '”', '•',
    '–', '—', '˜', '™', 'š', '›', 'œ', '\0', 'ž', 'Ÿ',
];

fn windows_1252(bytes: &[u8]) -> Result<String, BadSpreadsheet> {
    let mut text = String::with_capacity(bytes.len());
    for byte in bytes {
        let c = match byte {
            0x80..=0x9f => WINDOWS_1252[usize::from(byte - 0x80)],
            _ => char::from(*byte),
        };
        if c == '\0' {
            let line = line_of(&text.replace("\r\n", "\n").replace('\r', "\n"), usize::MAX);
            let reason = format!("has the byte 0x{byte:02x}, which is neither UTF-8 nor Windows-1252 text");
            return Err(BadSpreadsheet::new(SpreadsheetPlace::Line(line), reason).hint(SAVE));
        }
        text.push(c);
    }
    Ok(text)
}

fn refused(reason: &str, hint: &str) -> BadSpreadsheet {
    BadSpreadsheet::new(SpreadsheetPlace::Whole, reason).hint(hint)
}
