//! Damaged inputs: valid ones with bytes flipped, text cut off, lines deleted or repeated, tokens swapped, numbers made huge,
//! and odd characters put in.
#![allow(dead_code)]

use proptest::prelude::*;

/// Put in as they are.
const PIECES: [&str; 28] = [
    "\"",
    "'",
    "'''",
    "{",
    "}",
    "[",
    "[[",
    "]",
    "=",
    ",",
    ".",
    "\\",
    "#",
    "\n",
    "\r\n",
    "\t",
    "\u{0}",
    "é",
    "\u{feff}",
    "\u{202e}",
    "👩\u{200d}🔬",
    "true",
    "nan",
    "[]",
    "{}",
    "\"\"",
    "{ until = 2 }",
    "2020-01-01",
];

/// Put in place of a number.
const NUMBERS: [&str; 14] = [
    "0",
    "-0.0",
    "-1",
    "0.5",
    "1e-320",
    "1e308",
    "1e400",
    "-1e400",
    "9223372036854775807",
    "9223372036854775808",
    "99999999999999999999999999",
    "0x7fffffffffffffff",
    "inf",
    "1_000",
];

/// One kind of damage. Places are taken modulo the length of the input.
#[derive(Debug, Clone)]
pub enum Mutation {
    FlipByte { at: usize, mask: u8 },
    Truncate { at: usize },
    DeleteLine { at: usize },
    RepeatLine { at: usize },
    SwapTokens { one: usize, other: usize },
    ReplaceNumber { at: usize, with: &'static str },
    Insert { at: usize, piece: &'static str },
    Remove { at: usize, length: usize },
}

/// One to three kinds of damage.
pub fn mutations() -> impl Strategy<Value = Vec<Mutation>> {
    let place = || 0usize..1 << 20;
    let one = prop_oneof![
        (place(), 1u8..=255).prop_map(|(at, mask)| Mutation::FlipByte { at, mask }),
        place().prop_map(|at| Mutation::Truncate { at }),
        place().prop_map(|at| Mutation::DeleteLine { at }),
        place().prop_map(|at| Mutation::RepeatLine { at }),
        (place(), place()).prop_map(|(one, other)| Mutation::SwapTokens { one, other }),
        (place(), prop::sample::select(NUMBERS.to_vec())).prop_map(|(at, with)| Mutation::ReplaceNumber { at, with }),
        (place(), prop::sample::select(PIECES.to_vec())).prop_map(|(at, piece)| Mutation::Insert { at, piece }),
        (place(), 1usize..30).prop_map(|(at, length)| Mutation::Remove { at, length }),
    ];
    prop::collection::vec(one, 1..=3)
}

/// The input with this damage.
pub fn damaged(input: &[u8], mutations: &[Mutation]) -> Vec<u8> {
    mutations.iter().fold(input.to_vec(), |bytes, mutation| mutation.apply(bytes))
}

/// The text with this damage; bytes that are no UTF-8 become replacement characters.
pub fn damaged_text(text: &str, mutations: &[Mutation]) -> String {
    String::from_utf8_lossy(&damaged(text.as_bytes(), mutations)).into_owned()
}

impl Mutation {
    fn apply(&self, mut bytes: Vec<u8>) -> Vec<u8> {
        if bytes.is_empty() {
            return bytes;
        }
        let length = bytes.len();
        match *self {
            Self::FlipByte { at, mask } => bytes[at % length] ^= mask,
            Self::Truncate { at } => bytes.truncate(at % length),
            Self::DeleteLine { at } => _ = bytes.drain(line(&bytes, at % length)),
            Self::RepeatLine { at } => {
                let line = line(&bytes, at % length);
                let (end, again) = (line.end, bytes[line].to_vec());
                bytes.splice(end..end, again);
            }
            Self::SwapTokens { one, other } => {
                let tokens = runs(&bytes, |byte| !byte.is_ascii_whitespace() && byte != b',');
                bytes = swapped(&bytes, &tokens, one, other);
            }
            Self::ReplaceNumber { at, with } => {
                let numbers = runs(&bytes, |byte| byte.is_ascii_digit() || byte == b'.');
                if let Some(number) = numbers.get(at % numbers.len().max(1)) {
                    bytes.splice(number.clone(), with.bytes());
                }
            }
            Self::Insert { at, piece } => _ = bytes.splice(at % length..at % length, piece.bytes()),
            Self::Remove { at, length: removed } => {
                let start = at % length;
                bytes.drain(start..(start + removed).min(length));
            }
        }
        bytes
    }
}

/// The line around a place, with its end.
fn line(bytes: &[u8], at: usize) -> std::ops::Range<usize> {
    let start = bytes[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
    let end = bytes[at..].iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |newline| at + newline + 1);
    start..end
}

/// The longest runs of bytes of a kind.
fn runs(bytes: &[u8], is_inside: impl Fn(u8) -> bool) -> Vec<std::ops::Range<usize>> {
    let mut runs: Vec<std::ops::Range<usize>> = Vec::new();
    for (place, _) in bytes.iter().enumerate().filter(|(_, byte)| is_inside(**byte)) {
        match runs.last_mut() {
            Some(run) if run.end == place => run.end += 1,
            _ => runs.push(place..place + 1),
        }
    }
    runs
}

fn swapped(bytes: &[u8], tokens: &[std::ops::Range<usize>], one: usize, other: usize) -> Vec<u8> {
    let count = tokens.len().max(1);
    let (first, second) = ((one % count).min(other % count), (one % count).max(other % count));
    if first == second {
        return bytes.to_vec();
    }
    let (a, b) = (tokens[first].clone(), tokens[second].clone());
    [&bytes[..a.start], &bytes[b.clone()], &bytes[a.end..b.start], &bytes[a], &bytes[b.end..]].concat()
}
