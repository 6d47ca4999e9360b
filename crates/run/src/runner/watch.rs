//! When to check what other workers do: soon after something has changed, and seldom enough that waiting costs next to
//! nothing.

use std::time::{Duration, Instant};

use manyhands_core::TrialState;
use manyhands_store::{Error, Lease, Liveness, Session, Survey};

/// How often to look for what has been left behind and for cancelled trials, at most.
const POLL: Duration = Duration::from_secs(1);

/// How often to look although nothing seems to have happened.
const SELDOM: Duration = Duration::from_secs(15);

/// What was seen of others, and when.
pub struct Watch {
    /// How long to wait between two looks.
    poll_interval: Duration,
    term: Duration,
    looked: Option<Instant>,
    /// What the study's change counter was at the last look, and how many events were known.
    change_counter: Option<u64>,
    events: usize,
    /// How long to wait for the next look where nothing tells that something has changed: longer each time that it has not.
    pause: Duration,
    /// Who held trials then.
    elsewhere: Vec<(usize, Lease)>,
    /// The pending trials that were asked for by hand.
    by_hand: Vec<usize>,
    cancellations: CancellationCheck,
}

/// When to check whether trials that run here were cancelled.
#[derive(Clone, Copy)]
struct CancellationCheck {
    /// When that was last checked.
    checked: Instant,
    /// After how long it is checked again.
    wait: Duration,
}

impl CancellationCheck {
    /// For a trial that starts now.
    fn first(poll_interval: Duration) -> Self {
        Self { checked: Instant::now(), wait: poll_interval.max(POLL) }
    }
}

impl Watch {
    pub fn new(session: &Session, term: Duration) -> Self {
        let poll_interval = session.poll_interval();
        Self {
            poll_interval,
            term,
            looked: None,
            change_counter: None,
            events: 0,
            pause: poll_interval,
            elsewhere: vec![],
            by_hand: vec![],
            cancellations: CancellationCheck::first(poll_interval),
        }
    }

    /// A trial has been started here.
    pub fn trial_started(&mut self) {
        self.cancellations = CancellationCheck::first(self.poll_interval);
    }

    /// Records what a look at the store found; `change_counter` was read before it.
    pub fn record_look(&mut self, change_counter: Result<Option<u64>, Error>, found: Survey, session: &Session) {
        (self.looked, self.change_counter) = (Some(Instant::now()), change_counter.ok().flatten());
        (self.elsewhere, self.by_hand) = (found.elsewhere, found.by_hand);
        let events = session.ledger().events().len();
        self.pause =
            if events == self.events { (2 * self.pause).min(4 * self.poll_interval) } else { self.poll_interval };
        self.events = events;
    }

    /// Whether there was a look at what others hold.
    pub fn has_looked(&self) -> bool {
        self.looked.is_some()
    }

    /// How many trials others held at the last look, and have not ended as far as is known.
    pub fn elsewhere(&self, session: &Session) -> usize {
        self.elsewhere.iter().filter(|(trial, _)| is_pending(session, *trial)).count()
    }

    /// The trials asked for by hand at the last look that have not ended as far as is known.
    pub fn by_hand(&self, session: &Session) -> Vec<usize> {
        self.by_hand.iter().copied().filter(|trial| is_pending(session, *trial)).collect()
    }

    /// Whether there was a look, and nobody else held a trial.
    pub fn has_seen_nobody(&self) -> bool {
        self.looked.is_some() && self.elsewhere.is_empty()
    }

    /// Whether a free worker should look for what has been left behind before it asks for something new.
    pub fn is_time_to_take_over(&self) -> bool {
        self.looked.is_none_or(|looked| looked.elapsed() >= POLL.max(self.poll_interval).min(self.term / 2))
    }

    /// Whether someone who has nothing to do should look again.
    pub fn is_time_to_look(&self, session: &Session) -> bool {
        let Some(looked) = self.looked else { return true };
        let since = looked.elapsed();
        // What this process has logged itself it need not wait to look at, nor what it can see without the store.
        let is_news = session.ledger().events().len() != self.events;
        let is_dead = |lease: &Lease| lease.holder.liveness() == Liveness::Gone;
        let lapses = |lease: &Lease| lease.holder.liveness() == Liveness::Unknown && lease.silent + since >= lease.term;
        let has_changed = || match self.change_counter {
            Some(change_counter) => session.change_counter().ok().flatten() != Some(change_counter),
            None => since >= self.pause,
        };
        is_news
            || since >= SELDOM
            || self.elsewhere.iter().any(|(_, lease)| is_dead(lease))
            || since >= self.poll_interval && (self.elsewhere.iter().any(|(_, lease)| lapses(lease)) || has_changed())
    }

    /// Whether to look for cancelled trials among those that run here: at once if a lease is lost, and else after times
    /// that grow where a look costs a connection.
    pub fn is_time_for_cancellations(&mut self, is_lease_lost: bool) -> bool {
        let CancellationCheck { checked, wait } = self.cancellations;
        let is_due = checked.elapsed() >= wait || (is_lease_lost && checked.elapsed() >= POLL);
        if is_due {
            let wait = if self.poll_interval < POLL { POLL } else { (2 * wait).min(self.term / 3).max(POLL) };
            self.cancellations = CancellationCheck { checked: Instant::now(), wait };
        }
        is_due
    }
}

/// Whether a trial has not ended as far as is known; one that a session has not read of yet has just begun.
fn is_pending(session: &Session, trial: usize) -> bool {
    session.trial(trial).map_or(true, |trial| trial.state() == TrialState::Pending)
}
