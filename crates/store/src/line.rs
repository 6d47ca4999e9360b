//! Waiting in line for a lease: each who waits has a place, and looks the more seldom the more are ahead. So a turn costs a few
//! looks, however many wait.

use std::time::{Duration, Instant};

use crate::store::{Acquired, Claim, Lease};
use crate::{Holder, Result};

/// How long a place is kept for one who is not heard of any more.
pub const KEPT: Duration = Duration::from_secs(2);

/// How long to wait before looking again, at least and at most.
const PAUSES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(250));

/// The part of the expected time after which to look again.
const EARLY: f64 = 0.7;

/// How long a turn is taken to last before any has been seen.
const TURN: Duration = Duration::from_millis(20);

/// What is seen from the line.
#[derive(Debug, Clone)]
pub struct View {
    /// The latest grant.
    pub lease: Option<Lease>,
    /// How many are ahead: of one who has no place yet, all.
    pub ahead: usize,
}

/// A place in line: the name of who waits, and for how long.
#[derive(Debug, Clone, Copy)]
pub struct Ticket<'a> {
    pub name: &'a str,
    pub patience: Duration,
}

/// A line as a store keeps it.
pub trait Line {
    /// Looks, without a lock.
    fn look(&self, claim: &Claim<'_>, name: &str) -> Result<View>;

    /// Gets in line, or stays in it.
    fn queue(&self, ticket: Ticket<'_>) -> Result<()>;

    /// Grants the lease unless someone holds it; who is granted it leaves the line.
    fn claim(&self, claim: &Claim<'_>, name: &str) -> Result<Acquired>;
}

/// Waits for a lease for as long as `patience`, or until its holder is known to be dead.
pub fn wait_in_line(line: &impl Line, claim: &Claim<'_>, patience: Duration) -> Result<Acquired> {
    let (name, mut wait, mut has_place) = (name(), Wait::new(patience), false);
    loop {
        let view = line.look(claim, &name)?;
        let held = view.lease.filter(|lease| !lease.has_lapsed() && claim.instead_of != Some(lease.token));
        if wait.is_turn(held.is_none(), view.ahead) {
            match line.claim(claim, &name)? {
                // Someone else was faster.
                Acquired::Held(_) => {}
                done => return Ok(done),
            }
        }
        if let Some(lease) = held
            && (wait.is_over() || lease.is_of_the_dead())
        {
            return Ok(Acquired::Held(lease));
        }
        if !has_place {
            line.queue(Ticket { name: &name, patience })?;
            has_place = true;
        }
        wait.pause(view.ahead);
    }
}

/// The name of whoever waits here: one for each thread, so that a wait that goes on keeps its place.
fn name() -> String {
    let (holder, thread) = (Holder::this_process(), std::thread::current().id());
    format!("{}/{}/{}/{thread:?}", holder.host, holder.pid, holder.started)
}

/// How long a wait has lasted, and how long each turn seems to last.
struct Wait {
    start: Instant,
    patience: Duration,
    turn: Duration,
    last: Option<(Instant, usize)>,
    /// Whether it was free at the last look already: whoever is ahead does not take it.
    was_free: bool,
}

impl Wait {
    fn new(patience: Duration) -> Self {
        Self { start: Instant::now(), patience, turn: TURN, last: None, was_free: false }
    }

    fn is_over(&self) -> bool {
        self.start.elapsed() >= self.patience
    }

    /// Whether to claim now: it is free and nobody is ahead, or nobody ahead takes it.
    fn is_turn(&mut self, is_free: bool, ahead: usize) -> bool {
        let was_free = std::mem::replace(&mut self.was_free, is_free);
        is_free && (ahead == 0 || was_free)
    }

    /// Waits for somewhat less than those ahead will take: who comes late holds up all who wait.
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
