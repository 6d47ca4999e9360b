//! A queue for a lease: everyone who waits has a place in it, and reads the queue less often the more are ahead. So each turn
//! costs a few reads, however many wait.

use std::time::{Duration, Instant};

use crate::lease::{Acquired, Claim, Lease};
use crate::{Holder, Result};

/// How long a place is kept for a process that has stopped waiting without leaving the queue.
pub const PLACE_KEPT_FOR: Duration = Duration::from_secs(2);

/// How long to wait between two reads, at least and at most.
const PAUSES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(250));

/// The part of the expected waiting time after which to read again.
const EARLY: f64 = 0.7;

/// How long a turn is assumed to last before any has been observed.
const TURN: Duration = Duration::from_millis(20);

/// The state of a lease and its queue.
#[derive(Debug, Clone)]
pub struct QueueState {
    /// The latest grant.
    pub lease: Option<Lease>,
    /// How many are ahead; all of them for a process that has no place yet.
    pub ahead: usize,
}

/// A place in the queue: the name of who waits, and for how long.
#[derive(Debug, Clone, Copy)]
pub struct Ticket<'a> {
    pub name: &'a str,
    pub patience: Duration,
}

/// A queue as a store keeps it.
pub trait Queue {
    /// Reads the state, without a lock.
    fn state(&self, claim: &Claim<'_>, name: &str) -> Result<QueueState>;

    /// Takes a place in the queue, or keeps it.
    fn enter(&self, ticket: Ticket<'_>) -> Result<()>;

    /// Grants the lease unless someone holds it; whoever is granted it leaves the queue.
    fn claim(&self, claim: &Claim<'_>, name: &str) -> Result<Acquired>;
}

/// Waits for a lease for as long as `patience`, or until its holder is known to be dead.
pub fn wait_in_queue(queue: &impl Queue, claim: &Claim<'_>, patience: Duration) -> Result<Acquired> {
    let (name, mut wait, mut has_place) = (name(), Wait::new(patience), false);
    loop {
        let state = queue.state(claim, &name)?;
        let held = state.lease.filter(|lease| claim.is_blocked_by(lease));
        if wait.is_turn(held.is_none(), state.ahead) {
            match queue.claim(claim, &name)? {
                // Someone else got there first.
                Acquired::Held(_) => {}
                done => return Ok(done),
            }
        }
        if let Some(lease) = held
            && (wait.is_over() || lease.is_orphaned())
        {
            return Ok(Acquired::Held(lease));
        }
        if !has_place {
            queue.enter(Ticket { name: &name, patience })?;
            has_place = true;
        }
        wait.pause(state.ahead);
    }
}

/// The name under which this thread waits: the same each time, so that repeated waits keep their place.
fn name() -> String {
    let (holder, thread) = (Holder::this_process(), std::thread::current().id());
    format!("{}/{}/{}/{thread:?}", holder.host, holder.pid, holder.started)
}

/// How long this wait has lasted, and how long a turn takes as far as observed.
struct Wait {
    start: Instant,
    patience: Duration,
    turn: Duration,
    last: Option<(Instant, usize)>,
    /// Whether the lease was free at the last read too: then whoever is ahead does not take it.
    was_free: bool,
}

impl Wait {
    fn new(patience: Duration) -> Self {
        Self { start: Instant::now(), patience, turn: TURN, last: None, was_free: false }
    }

    fn is_over(&self) -> bool {
        self.start.elapsed() >= self.patience
    }

    /// Whether to claim now: the lease is free, and nobody is ahead or nobody ahead takes it.
    fn is_turn(&mut self, is_free: bool, ahead: usize) -> bool {
        let was_free = std::mem::replace(&mut self.was_free, is_free);
        is_free && (ahead == 0 || was_free)
    }

    /// Sleeps for somewhat less than those ahead are expected to take: coming late would delay everyone behind.
    fn pause(&mut self, ahead: usize) {
        let now = Instant::now();
        if let Some((then, before)) = self.last
            && before > ahead
        {
            let each = (now - then) / u32::try_from(before - ahead).unwrap_or(u32::MAX);
            self.turn = (self.turn + each) / 2;
        }
        self.last = Some((now, ahead));
        let expected = self.turn.mul_f64(EARLY * ahead as f64);
        let left = self.patience.saturating_sub(self.start.elapsed());
        std::thread::sleep(expected.clamp(PAUSES.0, PAUSES.1).min(left.max(PAUSES.0)));
    }
}
