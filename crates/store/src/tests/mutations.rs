//! Readers of what may have been damaged or made by hand: stored events, exported logs, addresses of stores. Whatever they are
//! given, they read it or say why not; and what they have read, they write so that it reads the same.

use std::collections::BTreeMap;

use manyhands_core::Event;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::value::RawValue;

use super::common::runner;
use super::common::study::{GRID, LEARNED, POOL, export, outside, session, value};
use crate::memory::Memory;
use crate::store::sha256;
use crate::{ExternalEvaluation, Location, Session, Store, StudyLog};

/// JSON in place of other JSON: of another type, too large, or unusual.
const VALUES: [&str; 18] = [
    "null",
    "true",
    "-1",
    "0.5",
    "1e308",
    "-1e308",
    "1e999",
    "18446744073709551616",
    "9223372036854775807",
    "-0",
    "5e-324",
    "\"\"",
    "\"\\u0000\\ud83d\\ude00\u{202e}\u{feff}\"",
    "\"\\ud800\"",
    "[]",
    "[[[[null]]]]",
    "{}",
    "{\"trial\":1}",
];

/// Text in the middle of other text.
const TEXTS: [&str; 12] = ["", "\0", "\"", "\\", "\u{10ffff}", "\u{202e}", "\n", "{", "]", "e99999", "%00", "://"];

#[derive(Debug, Clone)]
enum Mutation {
    Flip(Index, u8),
    Truncate(Index),
    Remove(Index, Index),
    Double(Index, Index),
    Insert(Index, &'static str),
}

impl Mutation {
    fn apply(&self, text: &str) -> String {
        let mut bytes = text.as_bytes().to_vec();
        let place = |index: &Index| index.index(text.len() + 1);
        let range =
            |a: &Index, b: &Index| place(a).min(place(b))..place(a).max(place(b)).min(place(a).min(place(b)) + 64);
        match self {
            Self::Flip(at, bits) if !bytes.is_empty() => bytes[at.index(text.len())] ^= bits,
            Self::Flip(..) => {}
            Self::Truncate(at) => bytes.truncate(place(at)),
            Self::Remove(a, b) => drop(bytes.drain(range(a, b))),
            Self::Double(a, b) => {
                let doubled = bytes[range(a, b)].to_vec();
                let _ = bytes.splice(range(a, b).start..range(a, b).start, doubled);
            }
            Self::Insert(at, inserted) => drop(bytes.splice(place(at)..place(at), inserted.bytes())),
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let at = any::<Index>;
    prop_oneof![
        (at(), 1..=255u8).prop_map(|(at, bits)| Mutation::Flip(at, bits)),
        at().prop_map(Mutation::Truncate),
        (at(), at()).prop_map(|(a, b)| Mutation::Remove(a, b)),
        (at(), at()).prop_map(|(a, b)| Mutation::Double(a, b)),
        (at(), prop::sample::select(TEXTS.to_vec())).prop_map(|(at, text)| Mutation::Insert(at, text)),
    ]
}

/// What happens to one key of an object.
#[derive(Debug, Clone)]
enum KeyMutation {
    Delete,
    Double,
    Rename,
    Replace(&'static str),
}

fn key_mutation() -> impl Strategy<Value = KeyMutation> {
    prop_oneof![
        1 => Just(KeyMutation::Delete),
        1 => Just(KeyMutation::Double),
        1 => Just(KeyMutation::Rename),
        4 => prop::sample::select(VALUES.to_vec()).prop_map(KeyMutation::Replace),
    ]
}

/// A JSON object with one of its keys mutated.
fn mutate_key(object: &str, at: Index, mutation: &KeyMutation) -> String {
    let fields: BTreeMap<String, Box<RawValue>> = serde_json::from_str(object).unwrap();
    let mut fields: Vec<(String, String)> =
        fields.into_iter().map(|(key, value)| (key, value.get().to_string())).collect();
    let at = at.index(fields.len());
    match mutation {
        KeyMutation::Delete => drop(fields.remove(at)),
        KeyMutation::Double => fields.push(fields[at].clone()),
        KeyMutation::Rename => fields[at].0 += "s",
        KeyMutation::Replace(value) => fields[at].1 = value.to_string(),
    }
    let fields: Vec<String> = fields.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
    format!("{{{}}}", fields.join(","))
}

/// A session that has asked, been told, failed and cancelled.
fn used(text: &str) -> Session {
    let mut session = session(Store::new(Memory::new()), text);
    session.include(&ExternalEvaluation::new(outside(text, true), Some(0.5))).unwrap();
    for suggestion in session.ask(5).unwrap() {
        session.tell(suggestion.trial, value(&suggestion)).unwrap();
    }
    let asked = session.ask(3).unwrap();
    session.fail(asked[0].trial, "diverged: \"ü\"").unwrap();
    session.cancel(asked[1].trial).unwrap();
    session
}

/// An event that is written as it was read, or a reason.
fn is_read_or_refused(kind: &str, body: &str) -> Result<(), TestCaseError> {
    match Event::from_json(kind, body) {
        Ok(event) => {
            let written = event.to_json().map_err(|error| TestCaseError::fail(error.to_string()))?;
            prop_assert_eq!(Event::from_json(kind, &written), Ok(event));
        }
        Err(error) => prop_assert!(!error.to_string().is_empty()),
    }
    Ok(())
}

#[test]
fn a_mutated_event_is_read_or_refused_with_a_reason() {
    let events: Vec<(&str, String)> = [LEARNED, GRID, POOL]
        .into_iter()
        .flat_map(|text| used(text).ledger().events().to_vec())
        .map(|event| (event.kind().name(), event.to_json().unwrap()))
        .collect();
    let input = (any::<Index>(), prop::collection::vec(mutation(), 1..3), any::<Index>(), key_mutation());
    let claim = |(which, mutations, at, key): (Index, Vec<Mutation>, Index, KeyMutation)| {
        let (kind, body) = which.get(&events);
        is_read_or_refused(kind, &mutations.iter().fold(body.clone(), |body, mutation| mutation.apply(&body)))?;
        is_read_or_refused(kind, &mutate_key(body, at, &key))
    };
    runner(16_000).run(&input, claim).unwrap();
}

/// A log that goes from store to store unchanged, or a reason.
fn is_imported_or_refused(log: &str) -> Result<bool, TestCaseError> {
    let again = |log: &str| -> crate::Result<String> {
        let session = Session::import(Store::new(Memory::new()), StudyLog::read(log)?)?;
        Ok(export(&session))
    };
    match again(log) {
        Ok(exported) => {
            prop_assert_eq!(again(&exported), Ok(exported));
            Ok(true)
        }
        Err(error) => {
            prop_assert!(!error.to_string().is_empty());
            Ok(false)
        }
    }
}

/// The log with the count and the checksum of what is in it, so that they are not all that is noticed.
fn resealed(lines: &[String]) -> String {
    let Ok(mut head) = serde_json::from_str::<serde_json::Value>(&lines[0]) else { return lines.join("\n") };
    let text = head["text"].as_str().unwrap_or_default().to_string();
    let sealed: Vec<&str> = std::iter::once(text.as_str()).chain(lines[1..].iter().map(String::as_str)).collect();
    head["sha256"] = sha256(sealed.join("\n").as_bytes()).into();
    head["events"] = (lines.len() - 1).into();
    [&[head.to_string()], &lines[1..]].concat().join("\n")
}

#[test]
fn a_mutated_log_is_imported_whole_or_refused_with_a_reason() {
    let logs: Vec<Vec<String>> = [LEARNED, GRID, POOL]
        .into_iter()
        .map(|text| export(&used(text)).lines().map(str::to_string).collect())
        .collect();
    assert!(logs.iter().all(|lines| is_imported_or_refused(&resealed(lines)).unwrap()), "the seal is that of a log");
    let lines = (0..4usize, any::<Index>(), any::<Index>());
    let input = (any::<Index>(), any::<Index>(), mutation(), key_mutation(), lines, any::<bool>());
    let claim = |(log, at, mutation, key, (change, a, b), seals): (
        Index,
        Index,
        Mutation,
        KeyMutation,
        (usize, Index, Index),
        bool,
    )| {
        let mut lines = log.get(&logs).clone();
        let (a, b) = (a.index(lines.len()), b.index(lines.len()));
        match change {
            0 => lines[a] = mutate_key(&lines[a], at, &key),
            1 => lines[a] = mutation.apply(&lines[a]),
            2 => lines.swap(a, b),
            _ => lines.insert(b, lines[a].clone()),
        }
        let log = if seals { resealed(&lines) } else { lines.join("\n") };
        is_imported_or_refused(&log).map(drop)
    };
    runner(2000).run(&input, claim).unwrap();
}

#[test]
fn a_mutated_address_is_read_or_refused_with_a_reason() {
    const ADDRESSES: [&str; 8] = [
        "sqlite:studies.db",
        "sqlite:///var/lib/studies.db",
        "sqlite:////srv/x",
        "memory:",
        "postgres://me@host/studies",
        "postgresql://me:pw@[::1]:5432/studies?sslmode=require&connect_timeout=5",
        "postgres://%2Frun%2Fpg/studies?user=me&application_name=x",
        "postgres://h1:1,h2:2/db?target_session_attrs=read-write",
    ];
    let input = (prop::sample::select(ADDRESSES.to_vec()), prop::collection::vec(mutation(), 0..3));
    let claim = |(address, mutations): (&str, Vec<Mutation>)| {
        let address = mutations.iter().fold(address.to_string(), |address, mutation| mutation.apply(&address));
        match address.parse::<Location>() {
            Ok(location) => {
                let shown = location.to_string();
                let again = shown.parse::<Location>().map(|again| again.to_string());
                prop_assert_eq!(again.as_ref(), Ok(&shown), "{}", address);
            }
            Err(error) => prop_assert!(!error.to_string().is_empty() && error.hint().is_some()),
        }
        Ok(())
    };
    runner(16_000).run(&input, claim).unwrap();
}
