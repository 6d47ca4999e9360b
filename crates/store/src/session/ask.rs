//! Asking: one process chooses at a time, with no transaction open, and what it chose is logged in one short one.

use std::ops::Range;
use std::time::{Duration, Instant};

use manyhands_core::{Error as Refusal, Event, Suggestion, TrialState};

use super::Session;
use crate::store::{Acquired, Append, Appended, Claim, Fence, Lease, NewEvent};
use crate::{Entry, Error, Keeper, Result, encode};

/// What is leased while trials are chosen.
const ASK: &str = "ask";

/// For how long, unless it is renewed.
const TERM: Duration = Duration::from_secs(30);

/// How long to wait for others who choose.
const PATIENCE: Duration = Duration::from_secs(600);

/// How long to wait before looking again, at first and at most.
const PAUSES: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(50));

/// A trial that a worker holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claimed {
    /// The trial's number.
    pub trial: usize,
    /// The fencing token: a result under an older one is refused.
    pub token: u64,
    resource: String,
}

impl Claimed {
    fn new(trial: usize, token: u64) -> Self {
        Self { trial, token, resource: resource(trial) }
    }

    /// A claim of an earlier process, to report under its token what that process found.
    pub fn restored(trial: usize, token: u64) -> Self {
        Self::new(trial, token)
    }

    /// The lease.
    pub fn fence(&self) -> Fence<'_> {
        Fence { resource: &self.resource, token: self.token }
    }
}

fn resource(trial: usize) -> String {
    format!("trial:{trial}")
}

fn trial_of(lease: &Lease) -> Option<usize> {
    lease.resource.strip_prefix("trial:")?.parse().ok()
}

impl Session {
    /// Suggests `count` trials, each aware of what is pending and of the ones before it, and logs them.
    pub fn ask(&mut self, count: usize) -> Result<Vec<Suggestion>> {
        let asked = self.ask_and(|session| session.check_workers(count).map(|()| count), None)?;
        let all = self.study()?.suggestions();
        Ok(all.into_iter().filter(|s| asked.contains(&s.trial)).collect())
    }

    /// As [`Session::ask`], for a worker of this process, who holds them for `term` and renews that. Fewer than `count`, or
    /// none, if more are not to be had: the study is to have `trials`, only so many may be pending, and a pool without
    /// repeats has only so many left; one that has none left is an error.
    pub fn ask_for_worker(&mut self, count: usize, trials: Option<usize>, term: Duration) -> Result<Vec<Claimed>> {
        let to_be_had = |session: &Self| {
            let to_come = trials.map_or(usize::MAX, |trials| trials.saturating_sub(session.begun()));
            let most = session.most_pending().unwrap_or(usize::MAX);
            Ok(count.min(to_come).min(most.saturating_sub(session.ledger.pending())))
        };
        let asked = self.ask_and(to_be_had, Some(term))?;
        // A new trial's first lease.
        Ok(asked.map(|trial| Claimed::new(trial, 1)).collect())
    }

    /// How many trials were suggested and not called off.
    pub fn begun(&self) -> usize {
        let counts = |trial: &&Entry| trial.suggested && trial.state != TrialState::Cancelled;
        self.ledger.trials().iter().filter(counts).count()
    }

    /// How many pending trials are held by workers of other processes.
    pub fn held_by_others(&mut self) -> Result<usize> {
        self.sync()?;
        let leases = self.store.leases(self.id)?;
        let is_held = |lease: &&Lease| {
            let pending = trial_of(lease).is_some_and(|trial| self.ledger.pending_trial(trial).is_ok());
            pending && !lease.lapsed && lease.holder != self.holder
        };
        Ok(leases.iter().filter(is_held).count())
    }

    /// A pending trial whose worker is gone: its lease has lapsed, or its process, on this host, is dead. Not one that the
    /// caller itself runs, whose lease may have lapsed while this host slept or the store was away.
    pub fn take_over(&mut self, term: Duration, own: &[usize]) -> Result<Option<Claimed>> {
        self.sync()?;
        for lease in self.store.leases(self.id)? {
            let Some(trial) = trial_of(&lease).filter(|trial| !own.contains(trial)) else { continue };
            let is_dead = lease.holder.is_dead();
            if self.ledger.pending_trial(trial).is_err() || !(lease.lapsed || is_dead) {
                continue;
            }
            // One that has lapsed may have been renewed since: its holder was only slow.
            let claim = self.claim(&lease.resource, term, is_dead.then_some(lease.token));
            if let Acquired::Granted(token) = self.store.acquire(self.id, &claim)? {
                return Ok(Some(Claimed::new(trial, token)));
            }
        }
        Ok(None)
    }

    /// Lets go of a trial that was not finished: another worker may take it at once.
    pub fn let_go(&mut self, claimed: &Claimed) -> Result<()> {
        self.store.release(self.id, claimed.fence())
    }

    /// Keeps a trial's lease from lapsing for as long as the keeper lives.
    pub fn keep(&self, claimed: &Claimed, term: Duration) -> Keeper {
        Keeper::start(self.store.clone(), self.id, claimed.fence(), term)
    }

    /// Asks for as many as `count` says once it is this session's turn, and claims them where a term is given.
    fn ask_and(&mut self, count: impl Fn(&Self) -> Result<usize>, term: Option<Duration>) -> Result<Range<usize>> {
        loop {
            let fence = Fence { resource: ASK, token: self.wait_for_turn()? };
            let result = self.choose_and_log(&count, term, fence);
            if !matches!(result, Ok(Some(_))) {
                // A lease that cannot be given back lapses by itself; the first error is what matters.
                let released = self.store.release(self.id, fence);
                if result.is_ok() {
                    released?;
                }
            }
            // Otherwise someone else's turn has begun, or an evaluation from elsewhere has taken the number.
            if let Some(asked) = result? {
                return Ok(asked);
            }
        }
    }

    fn choose_and_log(
        &mut self,
        count: impl Fn(&Self) -> Result<usize>,
        term: Option<Duration>,
        fence: Fence<'_>,
    ) -> Result<Option<Range<usize>>> {
        let keeper = Keeper::start(self.store.clone(), self.id, fence, TERM);
        self.sync()?;
        let count = count(self)?;
        let events = if count > 0 || term.is_none() { self.propose(count, term)? } else { vec![] };
        let first = self.ledger.trials().len();
        let asked = first..first + events.iter().filter(|event| matches!(event, Event::Asked(_))).count();
        let events: Vec<NewEvent> = events.iter().map(encode).collect::<Result<_>>()?;
        let resources: Vec<String> = asked.clone().map(resource).collect();
        let claims: Vec<Claim<'_>> = match term {
            Some(term) => resources.iter().map(|resource| self.claim(resource, term, None)).collect(),
            None => vec![],
        };
        // Renewing after the release would hold up the next one.
        drop(keeper);
        let (origin, releases) = (self.origin(), [fence]);
        let append =
            Append { origin: &origin, events: &events, fence: Some(fence), claims: &claims, releases: &releases };
        let appended = self.store.append(self.id, &append);
        if appended != Ok(Appended::Stored) {
            // It holds picks that are not in the log.
            self.study = None;
        }
        let stored = appended? == Appended::Stored;
        self.look_again();
        Ok(stored.then_some(asked))
    }

    /// The events of an ask, knowing what the ledger knows. A worker gets what is left of a pool.
    fn propose(&mut self, count: usize, term: Option<Duration>) -> Result<Vec<Event>> {
        let study = self.model()?;
        match study.propose(count) {
            Err(Refusal::PoolExhausted { left, .. }) if term.is_some() && left > 0 => Ok(study.propose(left)?),
            proposed => Ok(proposed?),
        }
    }

    /// Waits until nobody else is choosing; the token of the turn.
    fn wait_for_turn(&self) -> Result<u64> {
        let (start, mut pause, mut instead_of) = (Instant::now(), PAUSES.0, None);
        loop {
            let held = match self.store.acquire(self.id, &self.claim(ASK, TERM, instead_of))? {
                Acquired::Granted(token) => return Ok(token),
                Acquired::Held(lease) => lease,
            };
            if start.elapsed() > PATIENCE {
                return Err(Error::Busy { holder: held.holder.to_string(), seconds: PATIENCE.as_secs() });
            }
            instead_of = held.holder.is_dead().then_some(held.token);
            if instead_of.is_none() {
                std::thread::sleep(pause);
                pause = (2 * pause).min(PAUSES.1);
            }
        }
    }

    fn claim<'a>(&'a self, resource: &'a str, term: Duration, instead_of: Option<u64>) -> Claim<'a> {
        Claim { resource, holder: &self.holder, term, instead_of }
    }

    /// `max_pending` is the study's own; without it the number of workers is the bound.
    fn check_workers(&self, asked: usize) -> Result<()> {
        let pending = self.ledger.pending();
        match self.workers {
            Some(workers)
                if self.spec().strategy().max_pending.is_none() && pending.saturating_add(asked) > workers =>
            {
                Err(Error::TooManyPending { asked, pending, workers })
            }
            _ => Ok(()),
        }
    }
}
