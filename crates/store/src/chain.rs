//! A running hash over a study's log: each event's hash covers the one before it, so that damage is noticed when the log is
//! read. It tells a changed byte or a lost page; it does not keep out a forger, who can compute it too.

use sha2::{Digest, Sha256};

use crate::Time;
use crate::codec::VERSION;
use crate::store::NewEvent;

/// What is hashed of an event.
#[derive(Debug, Clone, Copy)]
pub struct Link<'a> {
    pub sequence: i64,
    pub time: Time,
    pub kind: &'a str,
    pub version: i64,
    pub key: Option<&'a str>,
    pub body: &'a str,
}

/// What an event gets when it is logged.
#[derive(Debug)]
pub struct Stamp {
    pub sequence: i64,
    pub time: Time,
    pub hash: Vec<u8>,
}

/// The stamps of events that are logged now, after one of this number and hash.
pub fn stamps(events: &[NewEvent], last: i64, hash: Option<Vec<u8>>, now: Time) -> Vec<Stamp> {
    let mut before = hash;
    let stamp = |(NewEvent { kind, body, time, key, .. }, sequence): (&NewEvent, i64)| {
        let time = time.unwrap_or(now);
        let link = Link { sequence, time, kind, version: VERSION, key: key.as_deref(), body };
        let hash = link.after(before.as_deref());
        before = Some(hash.clone());
        Stamp { sequence, time, hash }
    };
    events.iter().zip(last + 1..).map(stamp).collect()
}

impl Link<'_> {
    /// The hash of this event after one whose hash was `previous`; none before the first that has one.
    pub fn after(&self, previous: Option<&[u8]>) -> Vec<u8> {
        let mut hash = Sha256::new();
        let mut part = |bytes: &[u8]| {
            // The length keeps neighbouring parts apart.
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        };
        part(previous.unwrap_or_default());
        part(&self.sequence.to_le_bytes());
        part(&self.time.micros().to_le_bytes());
        part(self.kind.as_bytes());
        part(&self.version.to_le_bytes());
        part(if self.key.is_some() { b"key" } else { b"" });
        part(self.key.unwrap_or_default().as_bytes());
        part(self.body.as_bytes());
        hash.finalize().to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_an_event_and_of_those_before_it_counts() {
        let link = Link { sequence: 3, time: Time::from_micros(5), kind: "told", version: 1, key: None, body: "{}" };
        let hash = link.after(Some(&[1; 32]));
        assert_eq!(hash, link.after(Some(&[1; 32])));
        let others = [
            Link { sequence: 4, ..link },
            Link { time: Time::from_micros(6), ..link },
            Link { kind: "late", ..link },
            Link { version: 2, ..link },
            Link { key: Some(""), ..link },
            Link { body: "{ }", ..link },
        ];
        assert!(others.iter().all(|other| other.after(Some(&[1; 32])) != hash));
        assert_ne!(link.after(Some(&[2; 32])), hash);
        assert_ne!(link.after(None), hash);
    }
}
