//! What other processes notify of: that a study has changed, or that it is someone's turn to ask. Where no notification can
//! come (the connection was given back, or a pooler keeps them), a slow clock takes their place.

use std::collections::{HashMap, HashSet};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The channel of all stores of a database.
pub const CHANNEL: &str = "manyhands";

/// How often a study is looked at where no notification comes, and where they do come.
const CLOCK: (Duration, Duration) = (Duration::from_secs(3), Duration::from_secs(15));

/// How long to wait for a turn where no notification comes.
const TURN: Duration = Duration::from_millis(200);

/// What was heard.
#[derive(Debug)]
pub struct News {
    heard: Mutex<Heard>,
    changed: Condvar,
    start: Instant,
}

#[derive(Debug, Default)]
struct Heard {
    /// How often each study has changed.
    studies: HashMap<i64, u64>,
    /// Whose turn it is.
    turns: HashSet<String>,
    /// Whether our own greeting has come back.
    works: bool,
}

impl Default for News {
    fn default() -> Self {
        Self { heard: Mutex::default(), changed: Condvar::new(), start: Instant::now() }
    }
}

impl News {
    /// What begins listening. The greeting comes back to us where notifications work.
    pub fn subscription(&self) -> String {
        format!("LISTEN {CHANNEL}; NOTIFY {CHANNEL}, '{}'", greeting())
    }

    /// A notification: a study's key, "STUDY/TICKET" for a turn, or a greeting.
    pub fn take_in(&self, payload: &str) {
        let mut heard = self.heard();
        if payload == greeting() {
            heard.works = true;
        } else if let Ok(study) = payload.parse() {
            *heard.studies.entry(study).or_default() += 1;
        } else if let Some((_, ticket)) = payload.split_once('/').filter(|(_, ticket)| is_own(ticket)) {
            heard.turns.insert(ticket.to_string());
        }
        drop(heard);
        self.changed.notify_all();
    }

    /// The connection has been given back: notifications come no more.
    pub fn lose(&self) {
        self.heard().works = false;
        self.changed.notify_all();
    }

    /// A number that changes with the study, and with the clock.
    pub fn pulse(&self, study: i64) -> u64 {
        let heard = self.heard();
        let clock = if heard.works { CLOCK.1 } else { CLOCK.0 };
        let ticks = self.start.elapsed().as_millis() / clock.as_millis();
        heard.studies.get(&study).copied().unwrap_or(0).wrapping_add((ticks as u64) << 32)
    }

    /// Waits until it is this ticket's turn, or may be.
    pub fn wait_for(&self, ticket: &str, patience: Duration) {
        let mut heard = self.heard();
        let patience = if heard.works { patience } else { patience.min(TURN) };
        let start = Instant::now();
        while !heard.turns.remove(ticket) && start.elapsed() < patience {
            let left = patience.saturating_sub(start.elapsed());
            heard = self.changed.wait_timeout(heard, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn heard(&self) -> MutexGuard<'_, Heard> {
        // Every change is a whole one.
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A ticket that no other wait has.
pub fn new_ticket() -> String {
    use std::sync::atomic::{AtomicU64, Ordering};
    static COUNT: AtomicU64 = AtomicU64::new(0);
    format!("{}-{}", own(), COUNT.fetch_add(1, Ordering::Relaxed))
}

fn is_own(ticket: &str) -> bool {
    ticket.strip_prefix(own()).is_some_and(|rest| rest.starts_with('-'))
}

fn greeting() -> String {
    format!("hello {}", own())
}

/// A name that no other process has.
fn own() -> &'static str {
    use std::sync::OnceLock;
    static OWN: OnceLock<String> = OnceLock::new();
    OWN.get_or_init(|| {
        let holder = crate::Holder::this_process();
        let text = format!("{}{}{}{}", holder.host, holder.boot, holder.pid, holder.started);
        crate::source::sha256(text.as_bytes())[..16].to_string()
    })
}
