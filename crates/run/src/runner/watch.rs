//! When to check what other workers do: soon after something has changed, and seldom enough that waiting costs next to
//! nothing.

use std::time::{Duration, Instant};

use manyhands_store::{Error, Lease, Life, Session};

/// How often to look for what has been left behind and for cancelled trials, at most.
const LOOK: Duration = Duration::from_secs(1);

/// How often to look although nothing seems to have happened.
const SELDOM: Duration = Duration::from_secs(15);

/// What was seen of others, and when.
pub struct Watch {
    /// How long to wait between two looks.
    pace: Duration,
    term: Duration,
    looked: Option<Instant>,
    /// What the study's pulse was at the last look, and how many events were known.
    pulse: Option<u64>,
    events: usize,
    /// How long to wait for the next look where nothing tells that something has changed: longer each time that it has not.
    pause: Duration,
    /// Who held trials then.
    elsewhere: Vec<(usize, Lease)>,
    /// When cancelled trials were last looked for, and after how long they are the next time.
    checked: Instant,
    wait: Duration,
}

impl Watch {
    pub fn new(session: &Session, term: Duration) -> Self {
        let (pace, now) = (session.pace(), Instant::now());
        Self {
            pace,
            term,
            looked: None,
            pulse: None,
            events: 0,
            pause: pace,
            elsewhere: vec![],
            checked: now,
            wait: first_wait(pace),
        }
    }

    /// A trial has been started here.
    pub fn trial_started(&mut self) {
        (self.checked, self.wait) = (Instant::now(), first_wait(self.pace));
    }

    /// Records what a look at the store found; `pulse` was read before it.
    pub fn record_look(
        &mut self,
        pulse: Result<Option<u64>, Error>,
        elsewhere: Vec<(usize, Lease)>,
        session: &Session,
    ) {
        (self.looked, self.pulse, self.elsewhere) = (Some(Instant::now()), pulse.ok().flatten(), elsewhere);
        let events = session.ledger().events().len();
        self.pause = if events == self.events { (2 * self.pause).min(4 * self.pace) } else { self.pace };
        self.events = events;
    }

    /// How many trials others held at the last look.
    pub fn elsewhere(&self) -> usize {
        self.elsewhere.len()
    }

    /// Whether there was a look, and nobody else held a trial.
    pub fn has_seen_nobody(&self) -> bool {
        self.looked.is_some() && self.elsewhere.is_empty()
    }

    /// Whether a free worker should look for what has been left behind before it asks for something new.
    pub fn is_time_to_take_over(&self) -> bool {
        self.looked.is_none_or(|looked| looked.elapsed() >= LOOK.max(self.pace).min(self.term / 2))
    }

    /// Whether someone who has nothing to do should look again.
    pub fn is_time_to_look(&self, session: &Session) -> bool {
        let Some(looked) = self.looked else { return true };
        let since = looked.elapsed();
        // What this process has logged itself it need not wait to look at, nor what it can see without the store.
        let is_news = session.ledger().events().len() != self.events;
        let is_dead = |lease: &Lease| lease.holder.life() == Life::Gone;
        let lapses = |lease: &Lease| lease.holder.life() == Life::Unknown && lease.silent + since >= lease.term;
        let has_changed = || match self.pulse {
            Some(pulse) => session.pulse().ok().flatten() != Some(pulse),
            None => since >= self.pause,
        };
        is_news
            || since >= SELDOM
            || self.elsewhere.iter().any(|(_, lease)| is_dead(lease))
            || since >= self.pace && (self.elsewhere.iter().any(|(_, lease)| lapses(lease)) || has_changed())
    }

    /// Whether to look for cancelled trials among those that run here: at once if a lease is lost, and else after times
    /// that grow where a look costs a connection.
    pub fn is_time_for_cancellations(&mut self, has_lost: bool) -> bool {
        let is_due = self.checked.elapsed() >= self.wait || (has_lost && self.checked.elapsed() >= LOOK);
        if is_due {
            self.checked = Instant::now();
            self.wait = if self.pace < LOOK { LOOK } else { (2 * self.wait).min(self.term / 3).max(LOOK) };
        }
        is_due
    }
}

/// How long after its start a trial is first looked at whether it was cancelled.
fn first_wait(pace: Duration) -> Duration {
    if pace < LOOK { LOOK } else { pace }
}
