//! A running hash over a study's log: each event's hash covers the one before it, so that damage is noticed when the log is
//! read. It reveals a changed byte or a lost page; it is no protection against forgery, since anyone can compute it.

use sha2::{Digest, Sha256};

use crate::Time;
use crate::codec::VERSION;
use crate::record::{NewEvent, Record};

/// A running hash.
pub type Hash = [u8; 32];

/// What is hashed of an event.
#[derive(Debug, Clone, Copy)]
pub struct HashedEvent<'a> {
    pub sequence: i64,
    pub time: Time,
    pub kind: &'a str,
    pub version: i64,
    pub key: Option<&'a str>,
    pub body: &'a str,
}

/// The last event of a log: its sequence number, 0 if there is none, and the running hash.
#[derive(Debug, Default)]
pub struct Tail {
    pub sequence: usize,
    pub hash: Option<Vec<u8>>,
}

/// The records of events that are logged now, after this tail.
pub fn records(events: &[NewEvent], tail: Tail, now: Time) -> Vec<Record> {
    let mut before = tail.hash;
    let record = |(event, sequence): (&NewEvent, usize)| {
        let NewEvent { kind, trial, body, time, key, .. } = event.clone();
        let (kind, time) = (kind.name(), time.unwrap_or(now));
        let hashed =
            HashedEvent { sequence: sequence as i64, time, kind, version: VERSION, key: key.as_deref(), body: &body };
        let hash = Some(hashed.after(before.as_deref()).to_vec());
        before.clone_from(&hash);
        Record { sequence, time, kind: kind.to_string(), trial, body, version: VERSION, key, hash }
    };
    events.iter().zip(tail.sequence + 1..).map(record).collect()
}

impl HashedEvent<'_> {
    /// The hash of this event after one whose hash was `previous`; none before the first that has one.
    pub fn after(&self, previous: Option<&[u8]>) -> Hash {
        let parts = [
            previous.unwrap_or_default(),
            &self.sequence.to_le_bytes(),
            &self.time.micros().to_le_bytes(),
            self.kind.as_bytes(),
            &self.version.to_le_bytes(),
            if self.key.is_some() { b"key" } else { b"" },
            self.key.unwrap_or_default().as_bytes(),
            self.body.as_bytes(),
        ];
        let mut hashed = Vec::with_capacity(parts.iter().map(|part| size_of::<u64>() + part.len()).sum());
        for part in parts {
            // The length separates neighbouring parts.
            hashed.extend_from_slice(&(part.len() as u64).to_le_bytes());
            hashed.extend_from_slice(part);
        }
        Sha256::digest(&hashed).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The SHA-256 of the same bytes by Python's hashlib: stored logs depend on it.
    #[test]
    fn the_hash_of_an_event_is_what_it_always_was() {
        let hashed =
            HashedEvent { sequence: 3, time: Time::from_micros(5), kind: "told", version: 1, key: None, body: "{}" };
        let hash: String = hashed.after(Some(&[1; 32])).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hash, "1b281e4f44cd8e90d06695cc7a57396b3e94454f266750f0813d3aded7fed907");
    }

    #[test]
    fn every_part_of_an_event_and_of_those_before_it_counts() {
        let hashed =
            HashedEvent { sequence: 3, time: Time::from_micros(5), kind: "told", version: 1, key: None, body: "{}" };
        let hash = hashed.after(Some(&[1; 32]));
        assert_eq!(hash, hashed.after(Some(&[1; 32])));
        let others = [
            HashedEvent { sequence: 4, ..hashed },
            HashedEvent { time: Time::from_micros(6), ..hashed },
            HashedEvent { kind: "late", ..hashed },
            HashedEvent { version: 2, ..hashed },
            HashedEvent { key: Some(""), ..hashed },
            HashedEvent { body: "{ }", ..hashed },
        ];
        assert!(others.iter().all(|other| other.after(Some(&[1; 32])) != hash));
        assert_ne!(hashed.after(Some(&[2; 32])), hash);
        assert_ne!(hashed.after(None), hash);
    }
}
